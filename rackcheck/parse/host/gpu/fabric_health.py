"""NVML's bit mask of the NVLink fabric's health for one GPU, and NVML's summary of it.

The mask consists of bit fields, one for each part of the health. The value 0 means that the fabric does not report the
part; the meanings of the other values are listed here. A value without a meaning is shown as a number, as newer drivers
may define more values.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Value


@dataclass(frozen=True)
class MaskPart:
    """One bit field of the mask: its lowest bit, its number of bits, and the meanings of its values 1, 2 and so on."""

    start: int
    bits: int
    words: tuple[Value, ...]

    def of(self, mask: int) -> Reading:
        """Return the meaning of this bit field's value in a mask; absent if the value is 0 (not reported)."""
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
"""The bit fields of the mask by name: four flags, and the kind of misconfiguration."""

SUMMARY = MaskPart(0, 8, ("healthy", "unhealthy", "limited capacity"))


def parts(mask: Reading) -> dict[str, Reading]:
    """Return the meaning of each bit field; if there is no mask, each has the reason why the mask is missing."""
    return {name: part.of(mask) if isinstance(mask, int) else mask for name, part in PARTS.items()}


def summary(number: Reading) -> Reading:
    """Return the meaning of NVML's summary number of the fabric's health; if there is no number, the reason."""
    return SUMMARY.of(number) if isinstance(number, int) else number
