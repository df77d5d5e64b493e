"""NVML's mask of the NVLink fabric's health for one GPU, and its summary.

The mask consists of small numbers, one for each part. 0 means that the fabric does not report the part; other numbers
have words. A number without a word is shown as a number, as newer drivers may define more of them.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Value


@dataclass(frozen=True)
class MaskPart:
    """One part of the mask: its lowest bit, its number of bits, and the words for its numbers, starting with 1."""

    start: int
    bits: int
    words: tuple[Value, ...]

    def of(self, mask: int) -> Reading:
        """Read this part of a mask; absent if the fabric does not report it."""
        number = mask >> self.start & (1 << self.bits) - 1
        if not number:
            return Absent("the fabric does not report it")
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
"""The parts of the mask: flags, and the kind of misconfiguration."""

SUMMARY = MaskPart(0, 8, ("healthy", "unhealthy", "limited capacity"))


def parts(mask: Reading) -> dict[str, Reading]:
    """Read every part of the mask; if there is no mask, every part has the reason why the mask is missing."""
    return {name: part.of(mask) if isinstance(mask, int) else mask for name, part in PARTS.items()}


def summary(number: Reading) -> Reading:
    """Read NVML's summary number of the fabric's health."""
    return SUMMARY.of(number) if isinstance(number, int) else number
