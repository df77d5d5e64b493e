"""A physical model of a simulated GPU: its clock at the power cap, its power and its temperature. Pure.

The values are from a model, not from hardware: do not derive limits from them. The power draw is proportional to the
clock raised to an exponent. The clock is the highest clock that the power limit allows, multiplied by factors for the
slot, the node and the chip. The temperature approaches its final value exponentially.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from rackcheck.sim.behaviour import Ill
from rackcheck.sim.burn_parts import GpuParts

STEEP = 2.2
"""Power is proportional to the clock raised to this exponent."""

DEMAND = {"memory": 0.62, "tensor": 1.63, "scalar": 0.75, "links": 0.35, "together": 1.5}
"""Power draw of each stage at the highest clock, as a fraction of the default power limit."""

RESISTANCE, LAG, LEAK, SMOOTH = 0.063, 5.0, 4e-4, 0.25
"""Thermal resistance (K/W) and its time constant (s), and two constants of the clock and the power.

LEAK is the fraction of the clock that is lost per degree C above 60 C, and SMOOTH the averaging time of the power, in
seconds.
"""

WARMER, MINUTES = 3.0, 300.0
"""Degrees by which the intake air warms under load, and seconds until 63 % of this warming."""

CAPPED, IDLE = 0x4, 0x1
"""Throttle reasons in NVML's bit mask: the power cap, and idle."""


@dataclass(frozen=True)
class Chip:
    """The properties that vary between GPUs.

    `clock` multiplies the GPU's clock, `work` multiplies its work per clock cycle, `resistance` is the thermal
    resistance in K/W, and `lag` the thermal time constant in seconds.
    """

    clock: float
    work: float
    resistance: float
    lag: float


def chip(seed: int, number: int, place: str) -> Chip:
    """Draw the properties of a GPU at random: each is a product of random factors of the slot, the node and the GPU."""
    slot, node = Random(f"{seed} slot {place}"), Random(f"{seed} node {number}")  # noqa: S311  a model, not a secret
    own = Random(f"{seed} chip {number} {place}")  # noqa: S311
    clock = (1 + slot.gauss(0, 0.015)) * (1 + node.gauss(0, 0.005)) * (1 + own.gauss(0, 0.01))
    warm = RESISTANCE * (1 + slot.gauss(0, 0.02)) * (1 + own.gauss(0, 0.03))
    return Chip(clock, 1 + own.gauss(0, 0.002), warm, LAG * (1 + own.gauss(0, 0.03)))


class Heat:
    """A GPU's thermal state: `temp` (degrees C), `power` (W, a short-term mean), `energy` (J).

    `limit` is the power limit in W, `highest` the highest clock in Hz, and `base` the start of the load in seconds.
    """

    def __init__(self, parts: GpuParts, chip: Chip, ills: Sequence[Ill], base: float) -> None:
        self.chip, self._parts, self._base = chip, parts, base
        self._t, self.energy = 0.0, 0.0
        self.temp, self.power = parts.temperature, parts.idle
        about = parts.about
        self.highest = float(about.get("clock_max") or 2e9)
        self._usual = float(about.get("limit_default") or about.get("limit") or 500.0)
        caps = [ill.number("watts") for ill in ills if ill.kind == "cap-low"]
        self.limit = min([float(about.get("limit") or self._usual), *caps])
        self._stuck = next((ill.number("mhz") * 1e6 for ill in ills if ill.kind == "clock-stuck"), None)
        self._poor = 1 - sum(ill.number("percent") for ill in ills if ill.kind == "chip-poor") / 100
        self._light = 1 - sum(ill.number("percent") for ill in ills if ill.kind == "power-low") / 100
        self._warming = [ill for ill in ills if ill.kind in {"gpu-hot", "fan-stopped"}]

    def drawn(self, stage: str) -> tuple[float, float, int]:
        """Return the clock (Hz), the power draw (W) and the throttle reasons; `stage` is empty if no stage runs."""
        if not stage:
            return self._parts.idle_clock, self._parts.idle, IDLE
        clock, power, reasons = self._loaded(stage)
        return clock, power * self._light, reasons

    def _loaded(self, stage: str) -> tuple[float, float, int]:
        demand = DEMAND.get(stage, 0.5) * self._usual
        if self._stuck is not None:
            clock = min(self.highest, self._stuck)
            return clock, min(self.limit, demand * (clock / self.highest) ** STEEP), 0
        free = self.highest * (self.limit / demand) ** (1 / STEEP) * self.chip.clock * (1 - LEAK * (self.temp - 60))
        free *= self._poor
        if free < self.highest:
            return free, self.limit, CAPPED
        return self.highest, demand, 0

    def go_on(self, t: float, stage: str) -> None:
        """Advance the time to `t`; `stage` is the running stage, or empty if no stage is running."""
        step = max(0.0, t - self._t)
        _, power, _ = self.drawn(stage)
        self.energy += power * step
        self.power += (power - self.power) * (1 - math.exp(-step / SMOOTH))
        resistance = self.chip.resistance
        for ill in self._warming:
            if ill.kind == "gpu-hot" or t - self._base >= ill.number("second"):
                resistance *= 1 + ill.number("percent") / 100
        air = self._parts.temperature - self.chip.resistance * self._parts.idle + WARMER * (1 - math.exp(-t / MINUTES))
        target = air + resistance * power
        self.temp = target + (self.temp - target) * math.exp(-step / self.chip.lag)
        self._t = max(t, self._t)
