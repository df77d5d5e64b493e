"""Theoretical peak rates from observed clocks, SMs and links, and possible reasons for lower measured rates. Pure.

A limit is computed from what the machine itself reports, never looked up by model name. A function returns None if an
input is missing, or if no source documents how much work a unit does per clock.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeGuard

from rackcheck.model.pcie_tree import CODING

PER_CLOCK: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "8.0": {"tf32": 1024, "bf16": 2048, "fp16": 2048, "int8": 4096},
        "9.0": {"tf32": 2048, "bf16": 4096, "fp16": 4096, "fp8": 8192, "int8": 8192},
    }
)
"""Dense FLOP (OP for int8) per clock and SM on tensor cores, by compute capability and data type.

Source for bf16 and fp16: a moderator of NVIDIA's forum, who derives the published peaks from the white papers of A100
and H100 (forums.developer.nvidia.com/t/how-to-calculate-the-tensor-core-fp16-performance-of-h100/244727).

The values of tf32, fp8 and int8 are scaled from that of bf16 by the ratios of the published dense peaks. The peaks of
tf32, bf16 and int8 are 156, 312 and 624 TFLOP/s on A100, and 494.5, 989 and 1979 TFLOP/s on H100 (FLR-001 to 004 in
facts; the table of peaks in NVIDIA's Hopper post, as quoted in thread 218102).

No source was found for compute capabilities 10.0 and 12.0, so the table has no values for them.
"""

STACK = 1024
"""Bus width of one HBM stack, in bits.

Memory whose bus is narrower than one HBM stack is not HBM, and has another number of transfers per clock.
"""

TRANSFERS = 2
"""Data transfers of HBM per cycle of the memory clock (Linux, drm/amdgpu/powerplay, "data rate" of HBM).

NVIDIA's memory clock has the same factor: 2619 MHz, 2 transfers and 5120 bits give the 3.35 TB/s that are published for
H100.
"""

GIGATRANSFERS = tuple(sorted(CODING))
"""Transfer rate of one PCIe lane in GT/s, by generation; the first value is for generation 1."""

REASONS = {
    0x1: "GPU idle",
    0x2: "applications clocks are set",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clocks are set",
}
"""Names of the reasons that lower a GPU's clocks, by bit of NVML's NvmlClocksEventReasons (NVML API reference R550)."""

SMALL = 0.02
"""A clock (or power cap) below its maximum (or default) by no more than this fraction does not explain a low rate."""

MEMORY, COMPUTE, PCIE, NVLINK = "memory", "compute", "pcie", "nvlink"


@dataclass(frozen=True, slots=True)
class Observed:
    """Values of one GPU observed during its work; None if not reported. Clocks are in Hz, power caps in W.

    `gen` and `width` are the generation and the number of lanes of the PCIe link. `reasons` has the bits of all NVML
    clock event reasons that were reported during the work.
    """

    clock: float | None = None
    clock_max: float | None = None
    memory_clock: float | None = None
    memory_clock_max: float | None = None
    limit: float | None = None
    limit_default: float | None = None
    reasons: int | None = None
    gen: int | None = None
    gen_max: int | None = None
    width: int | None = None
    width_max: int | None = None
    nvlinks: int | None = None
    nvlinks_max: int | None = None
    ecc: bool | None = None


def memory(clock: float | None, width: int | None) -> float | None:
    """Return the peak rate of HBM in B/s, from the memory clock in Hz and the bus width in bits.

    The result is None if the clock or the bus width is unknown, or if the bus is too narrow for HBM.
    """
    if not _known(clock) or not _known(width) or width < STACK:
        return None
    return clock * TRANSFERS * width / 8


def tensor(capability: str, sms: int | None, clock: float | None, kind: str = "bf16") -> float | None:
    """Return the peak dense rate of the tensor cores of `sms` SMs at `clock` Hz, in FLOP/s or OP/s; None if unknown."""
    per_clock = PER_CLOCK.get(capability, {}).get(kind)
    if per_clock is None or not _known(sms) or not _known(clock):
        return None
    return sms * per_clock * clock


def pcie(gen: int | None, width: int | None) -> float | None:
    """Return the peak one-way rate of a PCIe link in B/s, by generation and lanes, without the encoding overhead."""
    if gen is None or not 1 <= gen <= len(GIGATRANSFERS) or not _known(width):
        return None
    speed = GIGATRANSFERS[gen - 1]
    return speed * 1e9 * CODING[speed] * width / 8


def nvlink(links: int | None, rate: float | None) -> float | None:
    """Return the peak one-way rate of `links` NVLinks together in B/s; `rate` is the one-way rate of one link."""
    return links * rate if _known(links) and _known(rate) else None


def reached(rate: float | None, limit: float | None) -> float | None:
    """Return a rate as a fraction of its limit; a result above 1 means that the rate, the limit or a clock is wrong."""
    return rate / limit if _known(limit) and rate is not None and math.isfinite(rate) and rate >= 0 else None


def reasons(bits: int) -> tuple[str, ...]:
    """Return the names of all bits that are set, lowest bit first; a bit without a name becomes `reason 0x200`."""
    each = (1 << n for n in range(max(0, bits).bit_length()))
    return tuple(REASONS.get(bit, f"reason {bit:#x}") for bit in each if bits & bit)


def explanations(of: str, seen: Observed) -> tuple[str, ...]:
    """Return one sentence for each observation that may explain why a rate is below its limit or below its peers.

    `of` is the kind of rate: `memory`, `compute`, `pcie` or `nvlink`; any other value raises ValueError. An observation
    that was not reported neither explains nor excludes anything.
    """
    ways = {MEMORY: _of_memory, COMPUTE: _of_compute, PCIE: _of_pcie, NVLINK: _of_nvlink}
    if of not in ways:
        raise ValueError(f"unknown rate {of!r}: not one of {', '.join(ways)}")
    return tuple(ways[of](seen))


def _of_memory(seen: Observed) -> Iterator[str]:
    if _below(seen.memory_clock, seen.memory_clock_max):
        yield f"the memory clock was {_mhz(seen.memory_clock)}, its maximum is {_mhz(seen.memory_clock_max)}"
    if seen.ecc:
        yield "ECC is on, which costs bandwidth if check bits are stored among the data"
    yield from _of_compute(seen)


def _of_compute(seen: Observed) -> Iterator[str]:
    if _below(seen.limit, seen.limit_default):
        yield f"the power cap is {seen.limit:.0f} W, its default is {seen.limit_default:.0f} W"
    why = reasons(seen.reasons) if seen.reasons is not None else ()
    text = f": {', '.join(why)}" if why else "" if seen.reasons is not None else ", reason not reported"
    if _below(seen.clock, seen.clock_max):
        yield f"the clock was {_mhz(seen.clock)}, its maximum is {_mhz(seen.clock_max)}{text}"
    elif why:
        yield f"the clock was reduced at times{text}"


def _of_pcie(seen: Observed) -> Iterator[str]:
    if seen.gen is not None and seen.gen_max is not None and seen.gen < seen.gen_max:
        yield f"the link ran as PCIe {seen.gen}, its maximum is PCIe {seen.gen_max}"
    if seen.width is not None and seen.width_max is not None and seen.width < seen.width_max:
        yield f"the link used {seen.width} of {seen.width_max} lanes"


def _of_nvlink(seen: Observed) -> Iterator[str]:
    if seen.nvlinks is not None and seen.nvlinks_max is not None and seen.nvlinks < seen.nvlinks_max:
        yield f"{seen.nvlinks} of {seen.nvlinks_max} NVLinks were up"


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and 0 < value < math.inf


def _below(value: float | None, most: float | None) -> bool:
    return value is not None and most is not None and value < most * (1 - SMALL)


def _mhz(hertz: float | None) -> str:
    return f"{(hertz or 0) / 1e6:.0f} MHz"
