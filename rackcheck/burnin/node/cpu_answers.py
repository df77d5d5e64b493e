# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""Runs the stages that compare the results of the node's CPUs: fingerprints, and encrypted messages between cores."""

import contextlib
import queue
from collections import Counter
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, CPU_PIECE, Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_kernels import CPU_GOLDEN, CPU_MESSAGE


def cpu_fingerprint(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Run the same work on every core; compare the results with the known correct result, and then between cores."""
    kernels = burn.kernels
    golden = CPU_GOLDEN[kernels.golden]

    def work(cpu: int) -> Tuple[List[int], "CpuTimes"]:
        fields: Dict[str, Any]
        hashes: List[int]
        of, skew, times, hashes = "cpu/%d" % cpu, burn.skew.get(cpu, 0), burn.times(), []
        got, value = kernels.fingerprint(1 + skew, 0, 0.0)
        fields = {"from": times["from"], "seconds": value.cpu / 1e9, "hash": "%016x" % got, "seed": 1}
        fields.update(work=value.work, unit=kernels.unit, mismatches=int(got != golden))
        burn.emit("stage", of=of, stage="fingerprint", test="golden", status="done", **fields)
        if got != golden:
            burn.fault(of, "fingerprint", "disagree", hash="%016x" % got, theirs="%016x" % golden, seed=1)
        while not hashes or not burn.ends(stage["until"]):
            seed = burn.seed + len(hashes) + skew & CPU_FULL
            got, value = kernels.fingerprint(seed, 0, burn.left(stage["until"]))
            cpu_sum(times, value)
            hashes.append(got)
            if value.found:
                burn.fault(of, "fingerprint", "mismatch", got="%016x" % got, seed=seed, cpu=cpu, count=value.found)
        return hashes, times

    results = burn.together("fingerprint", work)
    lost = cpu_vote(burn, "fingerprint", {cpu: hashes for cpu, (hashes, _) in results.items()})
    for cpu, (hashes, times) in sorted(results.items()):
        fields = {"unit": kernels.unit, "hash": "%016x" % hashes[0], "seed": burn.seed, "pieces": len(hashes)}
        wrong = int(times["found"]) + lost[cpu]
        burn.done(stage, "cpu/%d" % cpu, "verify", times, False, mismatches=wrong, **fields)


def cpu_crypto(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Encrypt messages on each core and decrypt them on the next core.

    All cores must produce the same ciphertexts, and each decrypted text must equal the original.
    """
    kernels = burn.kernels
    ring: Dict[int, queue.Queue[Tuple[int, int, Any, int]]] = {cpu: queue.Queue() for cpu in burn.cpus}
    following = dict(zip(burn.cpus, burn.cpus[1:] + burn.cpus[:1]))  # noqa: B905

    def work(cpu: int) -> Tuple[List[int], "CpuTimes"]:
        times, skew = burn.times(), burn.skew.get(cpu, 0)
        sealed: List[int] = []
        message: Any = None
        while not burn.ends(stage["until"]):
            seed = burn.seed + len(sealed) + skew & CPU_FULL
            message, plain, hidden, value = kernels.seal(seed, message)
            cpu_sum(times, value)
            sealed.append(hidden)
            if burn.spoil is not None and kernels.unit == "FLOP":
                burn.spoil(message[1], CPU_MESSAGE)
            ring[following[cpu]].put((cpu, seed, message, plain))
            while not burn.ends(stage["until"]):
                with contextlib.suppress(queue.Empty):
                    maker, seed, message, plain = ring[cpu].get(timeout=CPU_PIECE)
                    break
            else:
                break
            got, value = kernels.unseal(message, seed)
            cpu_sum(times, value)
            times["rounds"] += 1
            if got != plain:
                times["found"] += 1
                fields = {"want": "%08x" % plain, "got": "%08x" % (got & 0xFFFFFFFF), "seed": seed, "cpu": cpu}
                burn.fault("cpu/%d" % cpu, "crypto", "mismatch", other="cpu/%d" % maker, blame=False, **fields)
        return sealed, times

    results = burn.together("crypto", work)
    lost = cpu_vote(burn, "crypto", {cpu: sealed for cpu, (sealed, _) in results.items()})
    for cpu, (sealed, times) in sorted(results.items()):
        of = "cpu/%d" % cpu
        if not times["rounds"]:
            burn.undone(of, "crypto", "under-loaded: no message reached the next core", test="ring")
            continue
        fields = {"unit": "B", "hash": "%08x" % sealed[0], "seed": burn.seed, "rounds": int(times["rounds"])}
        burn.done(stage, of, "ring", times, False, mismatches=int(times["found"]) + lost[cpu], **fields)


def cpu_vote(burn: "Cpu", stage: str, hashes: Dict[int, List[int]]) -> "Counter[int]":
    """Compare the CPUs' results for the same work; return, by CPU, how many of its results differ from the others."""
    lost: Counter[int] = Counter()
    for at in range(max([len(one) for one in hashes.values()] or [0])):
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
