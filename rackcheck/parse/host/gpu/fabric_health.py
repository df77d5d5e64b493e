"""NVML's bit mask of the NVLink fabric's health for one GPU, and NVML's summary of it.

NVML's mask has one bit field for each part of the fabric's health. The value 0 of a bit field means that the fabric
does not report this part of its health. Newer drivers may define values of a bit field that are not listed here; such a
value is shown as a number.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Value


@dataclass(frozen=True)
class MaskPart:
    """One bit field of NVML's mask: its lowest bit, its number of bits, the meanings of its values 1, 2 and so on."""

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
"""The bit fields of NVML's mask by name: four flags, and the state of the configuration (good, or what is wrong)."""

SUMMARY = MaskPart(0, 8, ("healthy", "unhealthy", "limited capacity"))


def parts(mask: Reading) -> dict[str, Reading]:
    """Return the meaning of each bit field of a mask, or for each bit field the reason why there is no mask."""
    return {name: part.of(mask) if isinstance(mask, int) else mask for name, part in PARTS.items()}


def summary(number: Reading) -> Reading:
    """Return the meaning of the number that NVML gives as the fabric's health; without a number, why it is missing."""
    return SUMMARY.of(number) if isinstance(number, int) else number
