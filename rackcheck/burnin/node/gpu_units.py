# ruff: noqa: C401, PLR0915, RUF005, UP031  for a node: Python 3.6, and one namespace for all files
"""The GPU's matrix units and scalar units, on the node, SM by SM."""

import ctypes
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Sequence, Set, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.gpu_bench import GpuBench, GpuPace, GpuTally, GpuTeller, GpuWork
    from rackcheck.burnin.node.gpu_truth import (
        GPU_MASK,
        gpu_blocks,
        gpu_chain_hash,
        gpu_chains,
        gpu_golden,
        gpu_mix,
        gpu_odd_ones,
        gpu_ring,
    )

GPU_POOL = 8
"""Tiles that are on the GPU at once; one is exchanged with each launch."""


def gpu_faults(bench: "GpuBench") -> "List[Any]":
    """The SM on which a kernel is to err, and its wrong bits: none, but where a proof asks for it."""
    return [ctypes.c_uint32(bench.inject.get("sm", 0xFFFFFFFF)), ctypes.c_uint32(bench.inject.get("bits", 0))]


def gpu_sm_told(
    teller: "GpuTeller", stage: str, test: str, name: str, wrong: "Dict[int, Dict[str, Any]]", sms: int, seed: int
) -> None:
    """Name each SM that erred; where more than half did it is the GPU, and one finding says how many."""
    if len(wrong) * 2 > sms:
        first = wrong[min(wrong)]
        teller.error(stage, test, name, (test, "all"), sms=len(wrong), seed=seed, **first)
        return
    for sm in sorted(wrong):
        teller.error(stage, test, name, (test, sm), sm=sm, seed=seed, **wrong[sm])


class GpuSms:
    """The fewest ticks that each SM took for a unit of work, so that a slow one shows."""

    def __init__(self) -> None:
        self.best: Dict[int, float] = {}
        self._ticks, self._seconds = 0, 0.0

    def add(self, blocks: "Sequence[Sequence[int]]", seconds: float) -> None:
        """Learn from the blocks of a launch, all of which began with it."""
        self._ticks += max(block[1] for block in blocks)
        self._seconds += seconds
        for _, ticks, work, sm, _ in blocks:
            if work:
                self.best[sm] = min(self.best.get(sm, float("inf")), float(ticks) / work)

    def fields(self) -> "Dict[str, Any]":
        """The SMs' clock (Hz), how many worked, the slowest, and its ticks as a ratio to the median's."""
        ticks = sorted(self.best.values())
        if not ticks or not ticks[len(ticks) // 2]:
            return {"sms": len(ticks)}
        clock = self._ticks / self._seconds
        slowest = max(self.best, key=lambda sm: (self.best[sm], -sm))
        ratio = self.best[slowest] / ticks[(len(ticks) - 1) // 2]
        return {"clock": round(clock), "sms": len(ticks), "slowest_sm": slowest, "slowest": round(ratio, 4)}


def gpu_tensor_work(
    bench: "GpuBench", tally: "GpuTally", teller: "GpuTeller", seed: int, until: float, beside: int = 2
) -> "GpuWork":
    """Multiply tiles of exact integers on every SM, held against what this CPU computes; new tiles all the time.

    So many blocks lie beside each other on an SM: two fill its registers, one leaves room for other work.
    """
    driver, stream, slots = bench.driver, bench.stream(), bench.slots(2)
    golden, tiles = bench.take(GPU_POOL * 8192), bench.take(GPU_POOL * 8)
    staging, back, sent = [bench.pinned(8200) for _ in range(2)], [bench.pinned(8200) for _ in range(2)], [b"", b""]
    spoiled: Set[int] = set()
    grid, warps = min(bench.sms * beside, 1024), bench.threads // 32
    pace, sms, done, launches = GpuPace(1, 1 << 16), GpuSms(), 0, 0
    pending: Deque[Tuple[Any, int, int]] = deque()

    def exchange(number: int, side: int) -> None:
        """Put a new tile where the oldest lies, and read it back; the stream orders it between the launches."""
        tile, slot = gpu_mix((seed + number) & GPU_MASK), number % GPU_POOL
        sent[side] = gpu_golden(tile) + struct.pack("<Q", tile)
        ctypes.memmove(staging[side], sent[side], 8200)
        for at, offset, size in ((golden + slot * 8192, 0, 8192), (tiles + slot * 8, 8192, 8)):
            driver.call("cuMemcpyHtoDAsync_v2", at, staging[side].value + offset, size, stream)
            driver.call("cuMemcpyDtoHAsync_v2", back[side].value + offset, at, size, stream)

    def arrived(side: int) -> None:
        """See that a tile came as it was sent: an SM is not to be blamed for what a copy changed."""
        was, now = sent[side], ctypes.string_at(back[side], 8200)
        if was != now:
            spoiled.add(struct.unpack_from("<Q", was, 8192)[0])
            place = min(n for n in range(8200) if was[n] != now[n]) // 4 * 4
            words = [was[place : place + 4][::-1].hex(), now[place : place + 4][::-1].hex()]
            bits = bin(int(words[0], 16) ^ int(words[1], 16)).count("1")
            more = {"address": hex(place), "want": words[0], "got": words[1], "bits": bits, "seed": seed}
            teller.error(tally.stage, "golden", "mismatch", ("golden", place), count=1, **more)

    for number in range(GPU_POOL):
        exchange(number, number % 2)
        driver.call("cuEventRecord", slots[0].done, stream)
        yield from bench.until_come(slots[0].done, "a copy")
        arrived(number % 2)
    while launches == 0 or pending or bench.clock() < until:
        if launches == 0 or (len(pending) < 2 and bench.clock() < until):
            count = GPU_POOL if not launches else pace.next()
            slot = slots[launches % 2]
            if launches:
                exchange(GPU_POOL + launches - 1, launches % 2)
            words: List[Any] = [ctypes.c_uint64(tiles), ctypes.c_uint64(golden)]
            words += [ctypes.c_uint32(x) for x in (GPU_POOL, done % GPU_POOL, count)] + gpu_faults(bench)
            bench.go(slot, stream, "tensor", *words, grid=grid)
            pending.append((slot, count, launches))
            done, launches = done + count, launches + 1
            continue
        slot, count, launch = pending.popleft()
        seconds, report = yield from bench.wait(slot, "the product of tiles")
        pace.took(count, seconds)
        arrived(launch % 2)
        found, ring = gpu_ring(report)
        blocks = gpu_blocks(report, grid)
        sms.add(blocks, seconds)
        ring = [row for row in ring if row[6] not in spoiled]
        tally.add("mma", "FLOP", count * warps * grid * 1024 * 4096, seconds, len(ring) if spoiled else found)
        tally.say("mma", seed=seed, **sms.fields())
        if launch == 0:
            tally.say("mma", hash="%016x" % blocks[0][0], code=bench.code)
        if ring:
            gpu_tensor_told(teller, tally.stage, ring, [] if spoiled else blocks, bench.sms, seed)


def gpu_tensor_told(
    teller: "GpuTeller", stage: str, ring: "Sequence[Any]", blocks: "Sequence[Any]", sms: int, seed: int
) -> None:
    """Name the SMs whose tiles were wrong, with the first wrong element of each."""
    wrong: Dict[str, Dict[int, Dict[str, Any]]] = {}
    for index, got, _, _, _, want, tile, sm, _ in sorted(ring):
        name = "not finite" if got >> 23 & 0xFF == 0xFF else "mismatch"
        if sm not in wrong.setdefault(name, {}):
            count = sum(block[4] for block in blocks if block[3] == sm)
            wrong[name][sm] = {
                "row": index // 32, "column": index % 32, "want": "%08x" % want, "got": "%08x" % got,
                "bits": bin(want ^ got).count("1"), "tile": "%016x" % tile, "count": count or 1,
            }  # fmt: skip
    for block in blocks:  # a ring that one SM filled does not hide another
        if block[4] and not any(block[3] in named for named in wrong.values()):
            wrong.setdefault("mismatch", {})[block[3]] = {"count": block[4]}
    for name in sorted(wrong):
        gpu_sm_told(teller, stage, "mma", name, wrong[name], sms, seed)


GPU_CHAIN_WORK = {"fp64": ("FLOP", 4), "fp32": ("FLOP", 4), "int32": ("OP", 4), "sfu": ("OP", 3)}
"""Of each kind of chain: its unit, and how many of it are in one step."""


def gpu_scalar_work(bench: "GpuBench", tally: "GpuTally", teller: "GpuTeller", seed: int, until: float) -> "GpuWork":
    """Run the chains of FP64, FP32, INT32 and the approximate units on every SM by turns, seed after seed."""
    stream, slot = bench.stream(), bench.slots(1)[0]
    grid, launches = min(bench.sms * 2, 1024), 0
    pace = {kind: GpuPace(64, 1 << 24) for kind in GPU_CHAIN_WORK}
    sms = {kind: GpuSms() for kind in GPU_CHAIN_WORK}
    sums: Dict[str, Any] = {}
    while launches == 0 or bench.clock() < until:
        now = gpu_mix((seed + launches // 8) & GPU_MASK)
        for kind, (unit, each) in GPU_CHAIN_WORK.items():
            if launches % 8 == 0 and kind != "sfu":
                sums[kind] = gpu_chains(kind, now)
            rounds = 64 if not launches else pace[kind].next()
            words = [ctypes.c_uint64(now), ctypes.c_uint32(rounds)] + gpu_faults(bench)
            bench.go(slot, stream, kind, *words, grid=grid)
            seconds, report = yield from bench.wait(slot, kind)
            pace[kind].took(rounds, seconds)
            blocks = gpu_blocks(report, grid)
            sms[kind].add(blocks, seconds)
            golden = None if kind == "sfu" else gpu_chain_hash(sums[kind], rounds, bench.threads)
            count = gpu_votes_told(teller, tally.stage, kind, blocks, golden, now)
            tally.add(kind, unit, rounds * each * 4 * 64 * bench.threads * grid, seconds, count)
            tally.say(kind, seed=seed, **sms[kind].fields())
            if not launches:
                tally.say(kind, hash="%016x" % blocks[0][0], code=bench.code)
        launches += 1


def gpu_votes_told(
    teller: "GpuTeller", stage: str, kind: str, blocks: "Sequence[Any]", golden: "Any", seed: int
) -> int:
    """Let SMs vote, or hold them against the golden where there is one; answers with the blocks that were wrong."""
    answers = [(block[3], block[0]) for block in blocks]
    sms = len(set(sm for sm, _ in answers))
    if golden is not None:
        theirs, name = golden, "mismatch"
        odd = [(sm, answer) for sm, answer in answers if answer != golden]
    else:
        theirs, odd = gpu_odd_ones(answers)
        name = "disagree"
        if theirs is None:
            rows = ["%016x" % answer for answer in sorted(set(answer for _, answer in answers))[:2]]
            teller.error(stage, kind, name, (kind, "all"), hash=rows[0], theirs=rows[1], sms=sms, seed=seed)
            return sms
    words = ("hash", "theirs") if name == "disagree" else ("got", "want")
    wrong: Dict[int, Dict[str, Any]] = {
        sm: {words[0]: "%016x" % answer, words[1]: "%016x" % theirs, "count": 1} for sm, answer in sorted(odd)
    }
    gpu_sm_told(teller, stage, kind, name, wrong, sms, seed)
    return len(odd)
