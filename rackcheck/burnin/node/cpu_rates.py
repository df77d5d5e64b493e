# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The burn-in stages that measure rates of the node's CPUs: multiply-adds, and the memory triad.

Results are verified.
"""

import time
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_answers import cpu_vote
    from rackcheck.burnin.node.cpu_facts import cpu_available, cpu_last_cache
    from rackcheck.burnin.node.cpu_ram import cpu_mapped


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
    kernels = burn.kernels

    def work(cpu: int) -> Tuple["CpuTimes", List[float], int]:
        times, want = burn.times(), 0
        clocks: List[float] = []
        while not clocks or not burn.ends(stage["until"]):
            seed = burn.seed + burn.skew.get(cpu, 0) & CPU_FULL
            got, value = kernels.fingerprint(seed, want, burn.left(stage["until"]))
            want = want or got
            cpu_sum(times, value)
            if value.found:
                fields = {"want": "%016x" % want, "got": "%016x" % got, "seed": seed, "cpu": cpu}
                burn.fault("cpu/%d" % cpu, "fma", "mismatch", count=value.found, **fields)
            value = kernels.adds()
            clocks.append(value.work / max(1, value.cpu) * 1e9)
        return times, sorted(clocks), want

    results = burn.together("fma", work)
    lost = cpu_vote(burn, "fma", {cpu: [first] for cpu, (_, _, first) in results.items()})
    clocks = {cpu: each[len(each) // 2] for cpu, (_, each, _) in results.items()}
    peaks = [times["work"] / times["cpu"] / clocks[cpu] for cpu, (times, _, _) in results.items()]
    cycle = cpu_cycle(max(peaks or [0.0]), {"avx512": 8, "avx2": 4, "neon": 2}.get(kernels.variant, 0))
    for cpu, (times, _, got) in sorted(results.items()):
        fields = {"unit": "FLOP", "hash": "%016x" % got, "seed": burn.seed, "clock": clocks[cpu]}
        if cycle:
            fields["roof"] = clocks[cpu] * cycle
        wrong = int(times["found"]) + lost[cpu]
        burn.done(stage, "cpu/%d" % cpu, "fma", times, True, mismatches=wrong, **fields)


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
    kernels, caches = burn.kernels, cpu_last_cache(burn.cpus)
    most = cpu_available() // 12 // len(burn.cpus) >> 18 << 18
    size = max(4 * caches // len(burn.cpus), 4 << 20) + (1 << 18) - 1 >> 18 << 18
    if size > most:
        why = "no memory: %d B free, 12 x %d B of arrays needed" % (cpu_available(), size * len(burn.cpus))
        burn.undone("node", "triad", why, test="triad")
        return
    count = size // 8
    ready: List[int] = []

    def work(cpu: int) -> "CpuTimes":
        with cpu_mapped(3 * size) as at:
            arrays = [at, at + size, at + 2 * size]
            for start in range(0, count, 1 << 18):
                if burn.ends(stage["until"]):
                    break
                kernels.lay(arrays, start, min(1 << 18, count - start))
            ready.append(cpu)
            while len(ready) < len(burn.cpus) and not burn.ends(stage["until"]):
                time.sleep(0.002)
            times, where = burn.times(), 0
            while not burn.ends(stage["until"]):
                where, value = kernels.triad(arrays, count, where, burn.left(stage["until"]))
                cpu_sum(times, value)
            times["seconds"] = burn.clock()
            for start in range(0, count if times["work"] >= 3 * size else 0, 1 << 18):
                if burn.stop.is_set():
                    break
                times["found"] += kernels.laid(arrays[0], start, min(1 << 18, count - start))
            return times

    results = burn.together("triad", work)
    for cpu, times in sorted(results.items()):
        if times["found"]:
            burn.fault("cpu/%d" % cpu, "triad", "mismatch", count=int(times["found"]), cpu=cpu, seed=0)
    if len(results) < len(burn.cpus) or not all(times["work"] >= 3 * size for times in results.values()):
        burn.undone("node", "triad", "under-loaded: not every core completed one pass over its arrays", test="triad")
        return
    whole = {key: sum(times[key] for times in results.values()) for key in ("wall", "cpu", "work", "found")}
    whole["from"] = min(times["from"] for times in results.values())
    whole["seconds"] = max(times["seconds"] for times in results.values()) - whole["from"]
    fields = {"unit": "B", "mismatches": int(whole["found"]), "array": size * len(burn.cpus)}
    burn.done(stage, "node", "triad", whole, True, **fields)
