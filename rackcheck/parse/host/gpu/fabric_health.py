"""NVML's mask of the NVLink fabric's health for one GPU, and its summary.

The mask is a row of small numbers, one for each part of the fabric. 0 means not reported by the fabric, the others have
words; a number without a word is shown, as newer drivers may define more of them.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Value


@dataclass(frozen=True)
class MaskPart:
    """One part of the mask: its lowest bit, how many bits it has, and the words of its numbers from 1 on."""

    start: int
    bits: int
    words: tuple[Value, ...]

    def of(self, mask: int) -> Reading:
        """Read this part of a mask; absent if the fabric does not report it."""
        number = mask >> self.start & (1 << self.bits) - 1
        if not number:
            return Absent("the fabric does not tell")
        return self.words[number - 1] if number <= len(self.words) else f"number {number}"


PARTS = {
    "degraded_bandwidth": MaskPart(0, 2, (True, False)),
    "route_recovery": MaskPart(2, 2, (True, False)),
    "route_unhealthy": MaskPart(4, 2, (True, False)),
    "access_timeout_recovery": MaskPart(6, 2, (True, False)),
    "configuration": MaskPart(
        8,
        4,
        (
            "good",
            "incorrect system guid",
            "incorrect chassis serial number",
            "no partition",
            "insufficient nvlinks",
            "incompatible gpu firmware",
            "invalid location",
            "invalid gpu state",
        ),
    ),
}
"""The parts of the mask: flags, and what is configured wrongly."""

SUMMARY = MaskPart(0, 8, ("healthy", "unhealthy", "limited capacity"))


def parts(mask: Reading) -> dict[str, Reading]:
    """Read every part of the mask; why there is no mask is why there is no part."""
    return {name: part.of(mask) if isinstance(mask, int) else mask for name, part in PARTS.items()}


def summary(number: Reading) -> Reading:
    """Read NVML's one number of the fabric's health."""
    return SUMMARY.of(number) if isinstance(number, int) else number
