# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The burn-in stage that verifies the node's memory: each CPU repeatedly fills, verifies and inverts its part."""

import contextlib
import ctypes
import mmap
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_facts import cpu_available, cpu_memory

CPU_BLOCK, CPU_SLICE = 64 << 20, 8 << 20
"""Size in bytes of one memory mapping, and of the part of it that one kernel call fills or verifies."""
CPU_STEP = 0x9E3779B97F4A7C15


def cpu_ram(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Fill memory with a pattern, verify and invert it, verify it again; repeat with new seeds.

    The first fill ends after at most 30 % of the stage's time. Each core uses memory of its own NUMA node, because
    memory is allocated where it is first written. The stage's `share` is the tested fraction of the free memory, by
    default 0.5 and at most 0.9. If the stage has `seeds`, it ends after this many seeds.
    """
    begun, until, most = burn.clock(), stage["until"], stage.get("seeds", 1 << 30)
    free = cpu_available()
    quota = int(free * min(0.9, stage.get("share", 0.5))) // len(burn.cpus) >> 21 << 21
    blocks: List[Tuple[int, int]] = []

    def work(cpu: int) -> "CpuTimes":
        times = burn.times()
        mine: List[Tuple[int, int]] = []
        with contextlib.ExitStack() as held:
            filled = 0
            while filled + (2 << 20) <= quota and not burn.ends(begun + 0.3 * (until - begun)):
                size = min(CPU_BLOCK, quota - filled)
                try:
                    mine.append((held.enter_context(cpu_mapped(size)), size))
                except OSError:
                    if not mine:
                        raise
                    break
                blocks.append(mine[-1])
                filled += _cpu_fill(burn, mine[-1:], until, times, burn.seed)
            seed, round_ = burn.seed, 0
            while filled and round_ < most and not burn.ends(until):
                if round_:
                    _cpu_fill(burn, mine, until, times, seed)
                if burn.spoil is not None:
                    for at, size in mine:
                        burn.spoil(at, size)
                read = _cpu_verify(burn, cpu, mine, until, times, seed, blocks, turn=True)
                times["covered"] = max(times["covered"], read)
                round_ += _cpu_verify(burn, cpu, mine, until, times, seed, blocks, turn=False) == filled
                seed = seed + 1 & CPU_FULL
            times["rounds"] = round_
        return times

    results = burn.together("ram", work)
    for node, cpus in sorted(burn.nodes.items()):
        parts = [results[cpu] for cpu in cpus if cpu in results]
        whole = {key: sum(part[key] for part in parts) for key in ("wall", "cpu", "work", "found", "covered")}
        if not whole["covered"]:
            why = (
                "under-loaded: nothing was verified before the time limit"
                if quota
                else "no memory: %d B are free" % free
            )
            burn.undone("numa/" + node, "ram", why, test="march")
            continue
        whole["from"] = min(part["from"] for part in parts)
        whole["seconds"] = max(part["wall"] for part in parts)
        fields: Dict[str, Any] = {"unit": "B", "mismatches": int(whole["found"]), "seed": burn.seed}
        total = cpu_memory("MemTotal", node)
        if total:
            fields["coverage"] = min(1.0, whole["covered"] / total)
        fields.update(tested=int(whole["covered"]), seeds=min(int(part["rounds"]) for part in parts))
        burn.done(stage, "numa/" + node, "march", whole, False, **fields)


def _cpu_fill(burn: "Cpu", mine: List[Tuple[int, int]], until: float, times: "CpuTimes", seed: int) -> int:
    done = 0
    for at, size in cpu_slices(mine):
        if burn.ends(until):
            break
        cpu_sum(times, burn.kernels.fill(at, size, seed))
        done += size
    return done


def _cpu_verify(
    burn: "Cpu",
    cpu: int,
    mine: List[Tuple[int, int]],
    until: float,
    times: "CpuTimes",
    seed: int,
    blocks: Any,
    turn: bool,
) -> int:
    """Verify filled memory and invert it (`turn` is true), or verify inverted memory (false); return the bytes read."""
    done, flip = 0, 0 if turn else CPU_FULL
    of = "numa/" + next((node for node, cpus in burn.nodes.items() if cpu in cpus), "0")
    for at, size in cpu_slices(mine):
        if burn.ends(until):
            break
        wrong, value = burn.kernels.verify(at, size, seed, flip, int(turn))
        cpu_sum(times, value)
        done += size
        for address, want, got in wrong:
            fields: Dict[str, Any] = {"address": address, "want": "%016x" % want, "got": "%016x" % got}
            fields.update(seed=seed, cpu=cpu, bits=bin(want ^ got).count("1"), pattern="turned" if flip else "filled")
            physical, other = cpu_physical(address), cpu_index(got ^ flip, seed) * 8
            if physical:
                fields["physical"] = physical
            if any(start <= other < start + length for start, length in blocks):
                burn.fault(of, "ram", "alias", other=other, **fields)
            else:
                burn.fault(of, "ram", "mismatch", **fields)
        if value.found > len(wrong):
            fields = {"address": at, "size": size, "count": value.found, "seed": seed, "cpu": cpu}
            burn.fault(of, "ram", "mismatch", **fields)
    return done


def cpu_index(word: int, seed: int) -> int:
    """Return the index of the 64-bit word for which the pattern of `seed` has the value `word`."""
    word ^= word >> 13 ^ word >> 26 ^ word >> 39 ^ word >> 52
    word = (word ^ word << 21 ^ word << 42 ^ word << 63) & CPU_FULL
    word ^= word >> 32
    return (word - seed) * pow(CPU_STEP, (1 << 62) - 1, 1 << 64) & CPU_FULL


def cpu_slices(blocks: List[Tuple[int, int]]) -> Iterator[Tuple[int, int]]:
    """Yield the address and size of each slice of some memory blocks; one kernel call processes one slice."""
    for at, size in blocks:
        for start in range(0, size, CPU_SLICE):
            yield at + start, min(CPU_SLICE, size - start)


@contextlib.contextmanager
def cpu_mapped(size: int) -> Iterator[int]:
    """Map memory, in huge pages if the system has them; yield its address.

    Raises OSError if there is not enough memory.
    """
    memory = mmap.mmap(-1, size)
    view = ctypes.c_char.from_buffer(memory)
    at = ctypes.addressof(view)
    ctypes.CDLL(None).madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 14)  # MADV_HUGEPAGE
    try:
        yield at
    finally:
        del view
        memory.close()


def cpu_physical(address: int) -> int:
    """Return the physical address, which identifies the DIMM if the board is known; 0 if only root may read it."""
    with contextlib.suppress(OSError, struct.error), Path("/proc/self/pagemap").open("rb") as file:
        file.seek(address // mmap.PAGESIZE * 8)
        frame = struct.unpack("=Q", file.read(8))[0] & (1 << 55) - 1
        return int(frame * mmap.PAGESIZE + address % mmap.PAGESIZE) if frame else 0
    return 0
