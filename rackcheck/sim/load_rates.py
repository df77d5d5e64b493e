"""Computes the rates of a simulated GPU's tests: work per clock multiplied by the clock, reduced by faults. Pure.

The rates are from a model, not from hardware: do not derive limits from them.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from rackcheck.sim.behaviour import Ill
from rackcheck.sim.burn_parts import GpuParts
from rackcheck.sim.load_wrong import SCALAR, SMS, hash_of

PER_CLOCK = {"mma": 3.35e5, "fp64": 1.6e4, "fp32": 3.2e4, "int32": 1.6e4, "sfu": 2.0e3}
"""Work of a GPU per clock cycle: OP for int32 and sfu, FLOP for the other units."""

PER_MEMORY_CLOCK = {"fill": 1220.0, "march": 1160.0, "verify": 1180.0, "copy": 1150.0}
"""Bytes that each memory test reads and writes per cycle of the memory clock."""

PER_LANE, OVER_NVLINK = 2.1e8, 0.8
"""Rate of a PCIe lane of generation 1 in B/s, doubled by each generation; usable fraction of the rate of NVLink."""

BESIDES = 0.6
"""Rate of the matrix units while memory and links are also under load, as a fraction of the usual rate."""

COVERED, ROUNDS = 0.978, 30.0
"""Fraction of the GPU's memory that the memory test covers, and rounds of the memory test per second."""

LISTED, FREE = 0.994, 0.99
"""Fractions of the GPU's memory that CUDA lists, and that is free before the test."""

SPREAD = 0.002
"""Relative spread of rates that do not depend on the clock."""

UNITS = {"mma": "FLOP", "fp64": "FLOP", "fp32": "FLOP", "int32": "OP", "sfu": "OP"}
StageTest = tuple[str, str, float, dict[str, Any]]
"""A test: its name, its unit, its rate in units per second, and the other values of its record."""


def tests(
    parts: GpuParts, ills: Sequence[Ill], stage: str, seed: int, clock: float, work: float, rng: Random
) -> Iterator[StageTest]:
    """Yield the tests of a stage; `clock` is the GPU's clock in Hz, and `work` multiplies its work per clock cycle."""
    slow, limp = of_kind(ills, "gpu-slow"), of_kind(ills, "sm-slow")
    part = work * (1 - (slow.number("percent") / 100 if slow else 0))
    sms: dict[str, Any] = {"sms": SMS, "slowest_sm": rng.randrange(SMS), "slowest": 1.01}
    if limp:
        # Every SM has the same amount of work, so the slowest SM determines the rate.
        left = 1 - limp.number("percent") / 100
        part *= left
        sms |= {"slowest_sm": int(limp.number("sm")), "slowest": round(1 / left, 4)}
    for test in {"tensor": ("mma",), "scalar": SCALAR, "together": ("mma",)}.get(stage, ()):
        rate = PER_CLOCK[test] * part * clock * (BESIDES if stage == "together" else 1.0)
        yield test, UNITS[test], rate, {"seed": seed, "hash": hash_of(ills, test, seed), **sms}
    if stage in ("memory", "together"):
        memory = float(parts.about.get("memory_clock_max") or 2.5e9) * _left(ills, "hbm-slow")
        for test, each in PER_MEMORY_CLOCK.items():
            more: dict[str, Any] = {"coverage": COVERED, "seed": seed, **_sizes(parts)} if test == "verify" else {}
            yield test, "B", each * memory * (1 + rng.gauss(0, SPREAD)), more
        yield "rounds", "rounds", ROUNDS, {"coverage": COVERED}
    if stage in ("links", "together"):
        for test, ways in (("h2d", 1.0), ("d2h", 1.02), ("both", 1.7)):
            yield test, "B", over_pcie(parts, ills) * ways * (1 + rng.gauss(0, SPREAD)), {"seed": seed}


def _sizes(parts: GpuParts) -> dict[str, int]:
    """Return how many bytes are tested, listed by CUDA and free; nothing if the GPU's memory is not known."""
    whole = parts.about.get("memory")
    shares = {"tested": COVERED, "total": LISTED, "free": FREE}
    return {name: int(whole * share) for name, share in shares.items()} if isinstance(whole, int | float) else {}


def to_peer(parts: GpuParts, ills: Sequence[Ill], theirs: Sequence[Ill]) -> tuple[float, bool]:
    """Return the rate of a copy to another GPU in B/s, and whether the driver copies directly.

    The copy runs over NVLink, or over PCIe if the GPU has no NVLink; the slower end determines its rate.
    """
    whole = float(parts.about.get("nvlink_rate") or 0.0) * OVER_NVLINK or over_pcie(parts, ills) / 2
    slow = [ill for ill in (of_kind(ills, "nvlink-slow"), of_kind(theirs, "nvlink-slow")) if ill]
    left = min((1 - ill.number("percent") / 100 for ill in slow), default=1.0)
    return whole * left, not any(ill.words["direct"] == "no" for ill in slow)


def over_pcie(parts: GpuParts, ills: Sequence[Ill]) -> float:
    """Return the rate of a copy between host and GPU over PCIe, in B/s."""
    narrow = of_kind(ills, "link-narrow-under-load")
    lanes = narrow.number("lanes") if narrow else float(parts.lanes or parts.about.get("link_width_max") or 16)
    whole = float(PER_LANE * lanes * 2 ** (int(parts.about.get("link_gen_max") or 4) - 1))
    return whole * _left(ills, "pcie-slow")


def _left(ills: Sequence[Ill], kind: str) -> float:
    """Return the fraction of a rate that remains with a fault of this kind: 1 without the fault."""
    ill = of_kind(ills, kind)
    return 1 - ill.number("percent") / 100 if ill else 1.0


def of_kind(ills: Sequence[Ill], kind: str) -> Ill | None:
    """Return the first fault of this kind among the faults of a GPU and its node; None if there is none."""
    return next((ill for ill in ills if ill.kind == kind), None)
