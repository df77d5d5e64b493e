# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The burn-in stage for the matrix units (AMX) of Intel processors: exact products of integers, in the time of `fma`.

A processor without AMX has no such stage. A kernel that does not grant AMX to the process leaves the stage untested.
"""

import os
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, CPU_PIECE, Cpu, CpuTimes
    from rackcheck.burnin.node.cpu_answers import cpu_vote
    from rackcheck.burnin.node.cpu_rates import CPU_ADDS
    from rackcheck.burnin.node.cpu_tasks import cpu_task_times, cpu_tasks

CPU_AMX = {"int8": (1, 2048, "OP"), "bf16": (2, 1024, "FLOP")}
"""For each type of operand: its bit in the result of `amx` (kernels/cpu.c), a core's operations per cycle, the unit.

Intel states 2,048 operations of int8 and 1,024 of bf16 per cycle: one product of two tiles begins every 16 cycles.
"""
CPU_AMX_SHARE = 1 / 3.0
"""Share of the time of each stage `fma` that the stage `amx` gets, at its end."""


def cpu_amx_types(found: int) -> List[str]:
    """Return the types of operands that the processor's AMX has, whether or not the kernel grants AMX."""
    return [name for name in sorted(CPU_AMX) if found & CPU_AMX[name][0]]


def cpu_amx_refused(found: int) -> str:
    """Return why AMX cannot be used although the processor has it; "" if it can."""
    return "unsupported: the kernel does not grant AMX: %s" % os.strerror(found >> 8) if found >> 8 else ""


def cpu_amx_stages(stages: List[Dict[str, Any]], found: int) -> List[Dict[str, Any]]:
    """Return the stages, with a stage `amx` at the end of each stage `fma` if the processor's AMX can be used."""
    if not cpu_amx_types(found) or cpu_amx_refused(found):
        return stages
    divided: List[Dict[str, Any]] = []
    for stage in stages:
        if stage["stage"] != "fma":
            divided.append(stage)
            continue
        middle = stage["until"] - CPU_AMX_SHARE * (stage["until"] - stage["from"])
        divided += [dict(stage, until=middle), dict(stage, stage="amx", **{"from": middle})]
    return divided


def cpu_amx(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Multiply matrices of int8, and then of bf16, on all cores at once; report each CPU's rate and wrong products.

    Each product is compared on its own core with a product of plain integer arithmetic, and the first product with that
    of the other cores. Logical CPUs of one core share the core's AMX unit, so each gets a part of the limit (`roof`).
    """
    types = cpu_amx_types(burn.amx)
    for at, name in enumerate(types):
        now = burn.clock()
        _cpu_amx_type(burn, stage, name, now + (stage["until"] - now) / (len(types) - at))


def _cpu_amx_type(burn: "Cpu", stage: Dict[str, Any], name: str, until: float) -> None:
    bit, cycle, unit = CPU_AMX[name]
    begun = burn.clock()
    given = {
        cpu: {"seed": burn.seed + burn.skew.get(cpu, 0) & CPU_FULL, "flip": bit - 1, "harm": burn.harm.get(cpu, 0)}
        for cpu in burn.cpus
    }
    results: Dict[int, Tuple[CpuTimes, float, int]] = {}
    for cpu, task in cpu_tasks(burn, "amx", "amx", until, given, CPU_PIECE).items():
        clocks = sorted(CPU_ADDS * 1e9 / max(1, each) for each in task.values())
        results[cpu] = cpu_task_times(burn, task, begun), clocks[len(clocks) // 2], task.first
        for seed, want, got in task.found(task.done):
            fields = {"want": "%08x" % want, "got": "%08x" % got, "seed": seed, "cpu": cpu}
            burn.fault("cpu/%d" % cpu, "amx", "mismatch", test=name, **fields)
    lost = cpu_vote(burn, "amx", {cpu: [first] for cpu, (_, _, first) in results.items()})
    for cpu, (times, clock, first) in sorted(results.items()):
        own: Dict[str, Any] = {"unit": unit, "hash": "%016x" % first, "seed": burn.seed}
        own.update(clock=clock, roof=clock * cycle, mismatches=int(times["found"]) + lost[cpu])
        burn.done(stage, "cpu/%d" % cpu, name, times, False, **own)
