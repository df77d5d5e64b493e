# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""Runs the stages that compare the results of the node's CPUs: fingerprints, and encrypted messages between cores."""

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, CPU_PIECE, Cpu, CpuTimes
    from rackcheck.burnin.node.cpu_kernels import CPU_GOLDEN, CPU_MESSAGE
    from rackcheck.burnin.node.cpu_ram import cpu_mapped
    from rackcheck.burnin.node.cpu_stdlib import cpu_stdlib_prints, cpu_stdlib_ring
    from rackcheck.burnin.node.cpu_tasks import cpu_task_times, cpu_tasks

CPU_RATE = 2000
"""Messages per second that a core is assumed not to exceed: one takes about 1 ms. Only these are compared."""

CpuAnswers = Dict[int, Tuple[List[int], "CpuTimes", List[Tuple[int, int, int]]]]
"""By CPU: the hashes, the sums, and the wrong results: for a message its seed, and the CRC before and after; for a
fingerprint the number of wrong results, the seed, and one wrong result."""


def cpu_prints(burn: "Cpu", until: float, seed: int, cpus: List[int]) -> CpuAnswers:
    """Compute fingerprints on each CPU at the same time: of `seed`, of the next seed, and so on until `until`."""
    seeds = {cpu: seed + burn.skew.get(cpu, 0) & CPU_FULL for cpu in cpus}
    if burn.kernels.variant == "stdlib":
        return cpu_stdlib_prints(burn, until, seeds)
    begun = burn.clock()
    given = {cpu: {"seed": one} for cpu, one in seeds.items()}
    tasks = cpu_tasks(burn, "fingerprint", "fingerprint", until, given, CPU_PIECE)
    return {
        cpu: (task.values(), cpu_task_times(burn, task, begun), task.found(task.done)) for cpu, task in tasks.items()
    }


def cpu_ring(burn: "Cpu", until: float) -> CpuAnswers:
    """Encrypt messages on each CPU, and decrypt them on the next CPU, until `until`."""
    seeds = {cpu: burn.seed + burn.skew.get(cpu, 0) & CPU_FULL for cpu in burn.cpus}
    if burn.kernels.variant == "stdlib":
        return cpu_stdlib_ring(burn, until, seeds)
    begun = burn.clock()
    with contextlib.ExitStack() as held:
        given = {
            cpu: {"seed": seed, "harm": burn.harm.get(cpu, 0), "at": held.enter_context(cpu_mapped(CPU_MESSAGE))}
            for cpu, seed in seeds.items()
        }
        tasks = cpu_tasks(burn, "crypto", "ring", until, given, 1 / CPU_RATE)
        return {
            cpu: (task.values(), cpu_task_times(burn, task, begun), task.found(task.done))
            for cpu, task in tasks.items()
        }


def cpu_fingerprint(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Run the same work on every core; compare the results with the known correct result, and then between cores."""
    kernels = burn.kernels
    golden, fields = CPU_GOLDEN[kernels.golden], {}  # type: Tuple[int, Dict[str, Any]]
    first = cpu_prints(burn, 0.0, 1, burn.cpus)
    for cpu, (hashes, times, _) in sorted(first.items()):
        of, got = "cpu/%d" % cpu, hashes[0]
        fields = {"from": times["from"], "seconds": times["cpu"], "hash": "%016x" % got, "seed": 1}
        fields.update(work=int(times["work"]), unit=kernels.unit, mismatches=int(got != golden))
        burn.emit("stage", of=of, stage="fingerprint", test="golden", status="done", **fields)
        if got != golden:
            burn.fault(of, "fingerprint", "disagree", hash="%016x" % got, theirs="%016x" % golden, seed=1)
    results = cpu_prints(burn, stage["until"], burn.seed, sorted(first))
    lost = cpu_vote(burn, "fingerprint", {cpu: hashes for cpu, (hashes, _, _) in results.items()})
    for cpu, (hashes, times, wrong) in sorted(results.items()):
        of = "cpu/%d" % cpu
        for count, seed, got in wrong:
            burn.fault(of, "fingerprint", "mismatch", got="%016x" % got, seed=seed, cpu=cpu, count=count)
        fields = {"unit": kernels.unit, "hash": "%016x" % hashes[0], "seed": burn.seed, "pieces": len(hashes)}
        burn.done(stage, of, "verify", times, False, mismatches=int(times["found"]) + lost[cpu], **fields)


def cpu_crypto(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Encrypt messages on each core and decrypt them on the next core.

    All cores must produce the same ciphertexts, and each decrypted text must equal the original.
    """
    try:
        results = cpu_ring(burn, stage["until"])
    except OSError as error:
        burn.undone("node", "crypto", "no memory: %s" % error)
        return
    ring = sorted(results)
    makers = dict(zip(ring, ring[-1:] + ring[:-1]))  # noqa: B905
    lost = cpu_vote(burn, "crypto", {cpu: sealed for cpu, (sealed, _, _) in results.items()})
    for cpu, (sealed, times, wrong) in sorted(results.items()):
        of = "cpu/%d" % cpu
        for seed, plain, got in wrong:
            fields = {"want": "%08x" % plain, "got": "%08x" % (got & 0xFFFFFFFF), "seed": seed, "cpu": cpu}
            burn.fault(of, "crypto", "mismatch", other="cpu/%d" % makers[cpu], blame=False, **fields)
        if not times["rounds"]:
            burn.undone(of, "crypto", "under-loaded: no message reached the next core", test="ring")
            continue
        own: Dict[str, Any] = {"unit": "B", "hash": "%08x" % sealed[0], "seed": burn.seed}
        own["rounds"] = int(times["rounds"])
        burn.done(stage, of, "ring", times, False, mismatches=int(times["found"]) + lost[cpu], **own)


def cpu_vote(burn: "Cpu", stage: str, hashes: Dict[int, List[int]]) -> "Counter[int]":
    """Compare the CPUs' results for the same work; return, by CPU, how many of its results differ from the others."""
    lost: Counter[int] = Counter()
    alike = [len(set(each)) < 2 for each in zip(*hashes.values())]  # noqa: B905  quick: nearly all are alike
    for at in range(max([len(one) for one in hashes.values()] or [0])):
        if at < len(alike) and alike[at]:
            continue
        answers = {cpu: one[at] for cpu, one in hashes.items() if at < len(one)}
        odd, blame = cpu_votes(answers)
        for cpu, theirs in sorted(odd.items()):
            lost[cpu] += 1
            fields = {"hash": "%016x" % answers[cpu], "theirs": "%016x" % theirs, "seed": burn.seed + at}
            burn.fault("cpu/%d" % cpu, stage, "disagree", blame=blame, **fields)
    return lost


def cpu_votes(answers: Dict[int, int]) -> Tuple[Dict[int, int], bool]:
    """Return the CPUs that disagree with other CPUs, each with the other CPUs' result, and whether they are at fault.

    If a majority of CPUs have the same result, the CPUs with another result are returned and are at fault. Without a
    majority, for example with two CPUs, all CPUs are returned and none is at fault.
    """
    ranked = Counter(answers.values()).most_common()
    if len(ranked) < 2:
        return {}, False
    if ranked[0][1] * 2 > len(answers):
        return {cpu: ranked[0][0] for cpu, one in answers.items() if one != ranked[0][0]}, True
    return {cpu: next(other for other, _ in ranked if other != one) for cpu, one in answers.items()}, False
