# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The burn-in stages that measure rates of the node's CPUs: multiply-adds, and the memory triad.

Results are verified.
"""

import contextlib
import time
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, CPU_PIECE, CPU_SHARED, Cpu, CpuTimes
    from rackcheck.burnin.node.cpu_answers import cpu_vote
    from rackcheck.burnin.node.cpu_facts import CPU_NODES, cpu_available, cpu_last_cache, cpu_list, cpu_memory, cpu_text
    from rackcheck.burnin.node.cpu_ram import cpu_free, cpu_homes, cpu_mapped
    from rackcheck.burnin.node.cpu_tasks import cpu_task_times, cpu_tasks

CPU_ADDS = 64 * 6000
"""Dependent additions, one per cycle, of one measurement of the clock (kernels/cpu.c)."""
CPU_LOCAL = 0.9
"""Least share of the arrays of a NUMA node's CPUs that must be on this node, else their rate is not its memory's."""
CPU_LAID = 5.0
"""Time, in seconds, that the triad may take after its stage to verify its result: one pass over the arrays."""


def cpu_fma(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Run multiply-adds on all cores at once and compare the results; report each CPU's rate and its theoretical limit.

    The limit (`roof`) is the core's measured clock times its peak operations per cycle: two operations times the vector
    lanes of the variant, times the number of multiply-add units. No register reports the number of units, so it is
    taken as the smallest of 1, 2 and 4 that allows the rate of the node's best CPU. Logical CPUs of one core share the
    core's multiply-add units.

    Because the theoretical limit is derived from the rate of the node's best CPU, each CPU is in effect compared with
    the best CPU of its node. If all CPUs of a node lost half of their units, only a comparison between nodes shows the
    defect.
    """
    kernels, begun = burn.kernels, burn.clock()
    given = {cpu: {"seed": burn.seed + burn.skew.get(cpu, 0) & CPU_FULL} for cpu in burn.cpus}
    results: Dict[int, Tuple[CpuTimes, List[float], int]] = {}
    for cpu, task in cpu_tasks(burn, "fma", "fma", stage["until"], given, CPU_PIECE).items():
        clocks = sorted(CPU_ADDS * 1e9 / max(1, each) for each in task.values())
        results[cpu] = cpu_task_times(burn, task, begun), clocks, task.first
        for count, seed, got in task.found(task.done):
            fields = {"want": "%016x" % task.first, "got": "%016x" % got, "seed": seed, "cpu": cpu}
            burn.fault("cpu/%d" % cpu, "fma", "mismatch", count=count, **fields)
    lost = cpu_vote(burn, "fma", {cpu: [first] for cpu, (_, _, first) in results.items()})
    middle = {cpu: each[len(each) // 2] for cpu, (_, each, _) in results.items()}
    peaks = [times["work"] / times["cpu"] / middle[cpu] for cpu, (times, _, _) in results.items()]
    cycle = cpu_cycle(max(peaks or [0.0]), {"avx512": 8, "avx2": 4, "neon": 2}.get(kernels.variant, 0))
    for cpu, (times, _, got) in sorted(results.items()):
        fields = {"unit": "FLOP", "hash": "%016x" % got, "seed": burn.seed, "clock": middle[cpu]}
        fields["core"] = burn.kinds.get(cpu, "")
        if cycle:
            fields["roof"] = middle[cpu] * cycle
        wrong = int(times["found"]) + lost[cpu]
        burn.done(stage, "cpu/%d" % cpu, "fma", times, True, CPU_SHARED, mismatches=wrong, **fields)


def cpu_cycle(reached: float, lanes: int) -> int:
    """Return a core's peak FLOP per cycle, estimated from the FLOP per cycle that it reached.

    A core has 1, 2 or 4 multiply-add units; the smallest of these numbers that allows `reached` is assumed. Return 0 if
    even 4 units are too few, or if `reached` is 0.
    """
    return next((2 * lanes * units for units in (1, 2, 4) if reached <= 2.2 * lanes * units), 0) if reached else 0


def cpu_triad(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Measure the rate of a = b + 3 c on all cores, each with its own arrays in memory.

    The arrays `a` of all cores together are at least four times as large as the caches, and so are the arrays `b` and
    `c`. After the measurement, every element of the array `a` is verified.
    """
    caches, free = cpu_last_cache(burn.cpus, burn.root), cpu_available(burn.root)
    size = max(4 * caches // len(burn.cpus), 4 << 20) + (1 << 18) - 1 >> 18 << 18
    if size > free // 12 // len(burn.cpus) >> 18 << 18:
        why = "no memory: %d B free, 12 x %d B of arrays needed" % (free, size * len(burn.cpus))
        burn.undone("node", "triad", why, test="triad")
        return
    results: Dict[int, CpuTimes] = {}
    home = {cpu: node for node, cpus in burn.nodes.items() for cpu in cpus}
    try:
        with contextlib.ExitStack() as held:
            given = {cpu: {"at": held.enter_context(cpu_mapped(3 * size)), "bytes": 3 * size} for cpu in burn.cpus}
            cpu_tasks(burn, "triad", "lay", stage["until"], given)
            places = {cpu: cpu_homes((one["at"], one["bytes"]), home[cpu]) for cpu, one in given.items()}
            begun = burn.clock()
            tasks = cpu_tasks(burn, "triad", "triad", stage["until"], given)
            results = {cpu: cpu_task_times(burn, task, begun) for cpu, task in tasks.items()}
            ended = max([task.ended for task in tasks.values()] or [0]) / 1e9 - time.monotonic() + burn.clock()
            passed = len(tasks) == len(burn.cpus) and all(times["work"] >= 3 * size for times in results.values())
            if passed:
                checked = cpu_tasks(burn, "triad", "laid", stage["until"] + CPU_LAID, given)
                passed = len(checked) == len(burn.cpus)
                for cpu, task in checked.items():
                    results[cpu]["found"] = task.sum.found
                    passed = passed and task.done == size // 8
            cpu_free(burn, "triad", {cpu: (one["at"], one["bytes"]) for cpu, one in given.items()})
    except OSError as error:
        burn.undone("node", "triad", "no memory: %s" % error, test="triad")
        return
    for cpu, times in sorted(results.items()):
        if times["found"]:
            burn.fault("cpu/%d" % cpu, "triad", "mismatch", count=int(times["found"]), cpu=cpu, seed=0)
    if not passed:
        burn.undone("node", "triad", "under-loaded: not every core completed one pass over its arrays", test="triad")
        return
    whole = {key: sum(times[key] for times in results.values()) for key in ("wall", "cpu", "work", "found")}
    whole.update({"from": begun, "seconds": ended - begun})
    fields: Dict[str, Any] = {"unit": "B", "mismatches": int(whole["found"]), "array": size * len(burn.cpus)}
    burn.done(stage, "node", "triad", whole, True, **fields)
    for node, cpus in sorted(burn.nodes.items()):
        if len(burn.nodes) > 1 and cpu_memory("MemTotal", node, burn.root):
            _cpu_triad_node(burn, stage, node, {cpu: results[cpu] for cpu in cpus}, places, begun, ended - begun)


def _cpu_triad_node(
    burn: "Cpu", stage: Dict[str, Any], node: str, results: Dict[int, "CpuTimes"], places: Dict[int, Dict[str, float]],
    begun: float, seconds: float,
) -> None:  # fmt: skip
    """Report the memory bandwidth of one NUMA node's CPUs, while those of the other nodes worked too.

    `unlisted` is the number of the node's CPUs that this process may not use: other work may run there unseen.
    """
    local = sum(places[cpu].get(node, 0.0) for cpu in results) / len(results)
    if local < CPU_LOCAL:
        why = "under-loaded: %.0f %% of the arrays are on other NUMA nodes" % (100 - 100 * local)
        burn.undone("numa/" + node, "triad", why, test="triad")
        return
    whole = {key: sum(times[key] for times in results.values()) for key in ("wall", "cpu", "work")}
    whole.update({"from": begun, "seconds": seconds})
    unlisted = len(set(cpu_list(cpu_text("%s%snode%s/cpulist" % (burn.root, CPU_NODES, node)))) - set(results))
    fields: Dict[str, Any] = {"unit": "B", "threads": len(results), "unlisted": unlisted}
    burn.done(stage, "numa/" + node, "triad", whole, True, **fields)
