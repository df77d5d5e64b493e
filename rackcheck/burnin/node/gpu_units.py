# ruff: noqa: C401, PLR0915, RUF005, UP031  for a node: Python 3.6, and one namespace for all files
"""Tests the GPU's matrix units and scalar units on the node, and reports errors by SM."""

import ctypes
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Sequence, Set, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.gpu_bench import GpuBench, GpuPace, GpuRecordWriter, GpuTally, GpuWork
    from rackcheck.burnin.node.gpu_truth import (
        GPU_MASK,
        gpu_blocks,
        gpu_chain_hash,
        gpu_chains,
        gpu_golden,
        gpu_grid,
        gpu_mix,
        gpu_odd_ones,
        gpu_ring,
    )


GPU_POOL = 8
"""Number of tiles on the GPU at the same time; each launch replaces one of them."""


def gpu_faults(bench: "GpuBench") -> "List[Any]":
    """Return the SM with injected errors and the bits to flip in its results; errors are injected only in tests."""
    return [ctypes.c_uint32(bench.inject.get("sm", 0xFFFFFFFF)), ctypes.c_uint32(bench.inject.get("bits", 0))]


def report_gpu_sm(
    writer: "GpuRecordWriter", stage: str, test: str, name: str, wrong: "Dict[int, Dict[str, Any]]", sms: int, seed: int
) -> None:
    """Report each SM that had errors; if more than half of the SMs had errors, report one finding with their number."""
    if len(wrong) * 2 > sms:
        first = wrong[min(wrong)]
        writer.error(stage, test, name, (test, "all"), sms=len(wrong), seed=seed, **first)
        return
    for sm in sorted(wrong):
        writer.error(stage, test, name, (test, sm), sm=sm, seed=seed, **wrong[sm])


class GpuSms:
    """The fewest clock ticks that each SM needed for one unit of work, from which slow SMs are found."""

    def __init__(self) -> None:
        self.best: Dict[int, float] = {}
        self._ticks, self._seconds = 0, 0.0

    def add(self, blocks: "Sequence[Sequence[int]]", seconds: float) -> None:
        """Add the clock ticks and the work of a launch's thread blocks, which all started together."""
        self._ticks += max(block[1] for block in blocks)
        self._seconds += seconds
        for _, ticks, work, sm, _ in blocks:
            if work:
                self.best[sm] = min(self.best.get(sm, float("inf")), float(ticks) / work)

    def fields(self) -> "Dict[str, Any]":
        """Return the SMs' clock (Hz), their number, the slowest SM, and its ticks divided by the SMs' median ticks."""
        ticks = sorted(self.best.values())
        if not ticks or not ticks[len(ticks) // 2]:
            return {"sms": len(ticks)}
        clock = self._ticks / self._seconds
        slowest = max(self.best, key=lambda sm: (self.best[sm], -sm))
        ratio = self.best[slowest] / ticks[(len(ticks) - 1) // 2]
        return {"clock": round(clock), "sms": len(ticks), "slowest_sm": slowest, "slowest": round(ratio, 4)}


def gpu_tensor_work(
    bench: "GpuBench", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float, beside: int = 0
) -> "GpuWork":
    """Multiply tiles of exact integers on every SM and compare with the CPU's results; replace tiles during the test.

    `beside` is the number of blocks on each SM; without it, they are as many as run at the same time.
    """
    driver, stream, slots = bench.driver, bench.stream(), bench.slots(2)
    golden, tiles = bench.take(GPU_POOL * 8192), bench.take(GPU_POOL * 8)
    staging, back, sent = [bench.pinned(8200) for _ in range(2)], [bench.pinned(8200) for _ in range(2)], [b"", b""]
    spoiled: Set[int] = set()
    grid, warps = gpu_grid(bench.sms, beside or bench.resident["tensor"]), bench.threads // 32
    pace, sms, done, launches = GpuPace(1, 1 << 16), GpuSms(), 0, 0
    pending: Deque[Tuple[Any, int, int]] = deque()

    def exchange(number: int, side: int) -> None:
        """Queue copies that replace the oldest tile on the GPU by a new one, and copies that read the new tile back."""
        tile, slot = gpu_mix((seed + number) & GPU_MASK), number % GPU_POOL
        sent[side] = gpu_golden(tile) + struct.pack("<Q", tile)
        ctypes.memmove(staging[side], sent[side], 8200)
        for at, offset, size in ((golden + slot * 8192, 0, 8192), (tiles + slot * 8, 8192, 8)):
            driver.call("cuMemcpyHtoDAsync_v2", at, staging[side].value + offset, size, stream)
            driver.call("cuMemcpyDtoHAsync_v2", back[side].value + offset, at, size, stream)

    def arrived(side: int) -> None:
        """Check that a tile was copied to the GPU unchanged, so that no SM is blamed for a damaged copy."""
        was, now = sent[side], ctypes.string_at(back[side], 8200)
        if was != now:
            spoiled.add(struct.unpack_from("<Q", was, 8192)[0])
            place = min(n for n in range(8200) if was[n] != now[n]) // 4 * 4
            words = [was[place : place + 4][::-1].hex(), now[place : place + 4][::-1].hex()]
            bits = bin(int(words[0], 16) ^ int(words[1], 16)).count("1")
            more = {"address": hex(place), "want": words[0], "got": words[1], "bits": bits, "seed": seed}
            writer.error(tally.stage, "golden", "mismatch", ("golden", place), count=1, **more)

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
        tally.add_fields("mma", seed=seed, **sms.fields())
        if launch == 0:
            tally.add_fields("mma", hash="%016x" % blocks[0][0], code=bench.code)
        if ring:
            report_gpu_tensor(writer, tally.stage, ring, [] if spoiled else blocks, bench.sms, seed)


def report_gpu_tensor(
    writer: "GpuRecordWriter", stage: str, ring: "Sequence[Any]", blocks: "Sequence[Any]", sms: int, seed: int
) -> None:
    """Report the SMs whose tiles were wrong, with the first wrong element of each."""
    wrong: Dict[str, Dict[int, Dict[str, Any]]] = {}
    for index, got, _, _, _, want, tile, sm, _ in sorted(ring):
        name = "not finite" if got >> 23 & 0xFF == 0xFF else "mismatch"
        if sm not in wrong.setdefault(name, {}):
            count = sum(block[4] for block in blocks if block[3] == sm)
            wrong[name][sm] = {
                "row": index // 32, "column": index % 32, "want": "%08x" % want, "got": "%08x" % got,
                "bits": bin(want ^ got).count("1"), "tile": "%016x" % tile, "count": count or 1,
            }  # fmt: skip
    for block in blocks:  # the errors of one SM may fill the ring: the others' errors are in their blocks' reports
        if block[4] and not any(block[3] in named for named in wrong.values()):
            wrong.setdefault("mismatch", {})[block[3]] = {"count": block[4]}
    for name in sorted(wrong):
        report_gpu_sm(writer, stage, "mma", name, wrong[name], sms, seed)


GPU_CHAIN_WORK = {"fp64": ("FLOP", 4), "fp32": ("FLOP", 4), "int32": ("OP", 4), "sfu": ("OP", 3)}
"""For each kernel that runs chains of dependent operations: the unit of work, and the operations in one step."""


def gpu_scalar_work(
    bench: "GpuBench", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float
) -> "GpuWork":
    """Run chains of FP64, FP32, INT32 and approximate operations on every SM, in turn; change the seed repeatedly."""
    stream, slot = bench.stream(), bench.slots(1)[0]
    grids, launches = {kind: gpu_grid(bench.sms, bench.resident[kind]) for kind in GPU_CHAIN_WORK}, 0
    pace = {kind: GpuPace(64, 1 << 24) for kind in GPU_CHAIN_WORK}
    sms = {kind: GpuSms() for kind in GPU_CHAIN_WORK}
    sums: Dict[str, Any] = {}
    while launches == 0 or bench.clock() < until:
        now = gpu_mix((seed + launches // 8) & GPU_MASK)
        for kind, (unit, each) in GPU_CHAIN_WORK.items():
            if launches % 8 == 0 and kind != "sfu":
                sums[kind] = gpu_chains(kind, now)
            rounds, grid = 64 if not launches else pace[kind].next(), grids[kind]
            words = [ctypes.c_uint64(now), ctypes.c_uint32(rounds)] + gpu_faults(bench)
            bench.go(slot, stream, kind, *words, grid=grid)
            seconds, report = yield from bench.wait(slot, kind)
            pace[kind].took(rounds, seconds)
            blocks = gpu_blocks(report, grid)
            sms[kind].add(blocks, seconds)
            golden = None if kind == "sfu" else gpu_chain_hash(sums[kind], rounds, bench.threads)
            count = report_gpu_votes(writer, tally.stage, kind, blocks, golden, now)
            tally.add(kind, unit, rounds * each * 4 * 64 * bench.threads * grid, seconds, count)
            tally.add_fields(kind, seed=seed, **sms[kind].fields())
            if not launches:
                tally.add_fields(kind, hash="%016x" % blocks[0][0], code=bench.code)
        launches += 1


def report_gpu_votes(
    writer: "GpuRecordWriter", stage: str, kind: str, blocks: "Sequence[Any]", golden: "Any", seed: int
) -> int:
    """Compare each SM's hash with the expected one, else with that of the majority; return the number of wrong blocks.

    If no hash is expected and none has a majority, return the number of SMs.
    """
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
            writer.error(stage, kind, name, (kind, "all"), hash=rows[0], theirs=rows[1], sms=sms, seed=seed)
            return sms
    words = ("hash", "theirs") if name == "disagree" else ("got", "want")
    wrong: Dict[int, Dict[str, Any]] = {
        sm: {words[0]: "%016x" % answer, words[1]: "%016x" % theirs, "count": 1} for sm, answer in sorted(odd)
    }
    report_gpu_sm(writer, stage, kind, name, wrong, sms, seed)
    return len(odd)
