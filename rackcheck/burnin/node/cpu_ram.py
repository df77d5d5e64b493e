# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The burn-in stage that verifies the node's memory: each CPU repeatedly fills, verifies and inverts its part.

Memory is allocated where it is first written, so the CPUs of a NUMA node write and verify memory of this node. A node
without CPUs, such as CXL memory, is tested by the CPUs of the nearest node. The kernel is queried on which NUMA node
the pages are; the coverage of a node counts only pages that are on it.
"""

import contextlib
import ctypes
import mmap
import os
import platform
import struct
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_facts import CPU_NODES, cpu_memory, cpu_shares, cpu_text
    from rackcheck.burnin.node.cpu_tasks import CpuTask, cpu_tasks

CPU_STEP = 0x9E3779B97F4A7C15
CPU_FIRST, CPU_FAR = 0.3, 0.25
"""Maximum share of the time for the first fill; share of a stage's time for nodes without CPUs, if there are any."""
CPU_HOME = 8 << 20
"""One page of each of these many bytes is looked up to learn on which NUMA node memory is."""
CPU_CALLS = {"x86_64": {"mbind": 237, "move_pages": 279}, "aarch64": {"mbind": 235, "move_pages": 239}}
"""Numbers of the system calls, from the kernel's tables (syscall_64.tbl, asm-generic/unistd.h)."""

CpuArea = Tuple[int, int]
"""The address and the size, in bytes, of the memory that one CPU tests."""


def cpu_ram(burn: "Cpu", stage: Dict[str, Any]) -> None:
    """Test the memory of each NUMA node, first of the nodes with CPUs, and then of the other nodes that have RAM.

    The stage's `share` is the tested fraction of the free memory, by default 0.5 and at most 0.9. If the stage has
    `seeds`, the test of a node ends after this many seeds.
    """
    until = stage["until"]
    far = {node: near for node, near in burn.far.items() if near}
    shares = cpu_shares(list(burn.nodes) + list(far), burn.root)
    part = min(0.9, stage.get("share", 0.5))
    quotas = {node: int(size * part) for node, size in shares.items()}
    if far:
        until -= CPU_FAR * (until - burn.clock())
    _cpu_ram_pass(burn, stage, burn.nodes, quotas, until, bound=False)
    for at, (node, near) in enumerate(sorted(far.items())):
        until = burn.clock() + (stage["until"] - burn.clock()) / (len(far) - at)
        _cpu_ram_pass(burn, stage, {node: burn.nodes[near]}, quotas, until, bound=True)
    for node in sorted(set(burn.far) - set(far)):
        why = "unsupported: NUMA node %s has no CPU, and is no known kind of RAM" % node
        if cpu_text("%s%snode%s/cpulist" % (burn.root, CPU_NODES, node)).strip():
            why = "denied: this process may not use the CPUs of NUMA node %s" % node
        burn.undone("numa/" + node, "ram", why, test="march")


def _cpu_ram_pass(
    burn: "Cpu", stage: Dict[str, Any], nodes: Dict[str, List[int]], quotas: Dict[str, int], until: float, bound: bool
) -> None:
    """Test memory of `nodes` by their CPUs until `until`, and report each node; `bound` places memory by a policy."""
    begun, homes, refused = burn.clock(), {cpu: node for node, cpus in nodes.items() for cpu in cpus}, ""
    with contextlib.ExitStack() as held:
        areas: Dict[int, CpuArea] = {}
        for cpu, node in sorted(homes.items()):
            quota = quotas[node] // len(nodes[node]) >> 21 << 21
            try:
                if quota:
                    areas[cpu] = held.enter_context(cpu_mapped(quota)), quota
            except OSError as error:
                burn.undone("cpu/%d" % cpu, "ram", "no memory: %s" % error)
        try:
            for cpu, area in areas.items() if bound else ():
                cpu_bind(area, int(homes[cpu]))
        except OSError as error:
            areas, refused = {}, "unsupported: memory cannot be bound to this NUMA node: %s" % error
        results, pages = _cpu_march(burn, stage, areas, homes, begun, until)
        cpu_free(burn, "ram", areas)
    for node, cpus in sorted(nodes.items()):
        parts = [results[cpu] for cpu in cpus if cpu in results]
        whole = {key: sum(part[key] for part in parts) for key in ("wall", "cpu", "work", "found")}
        covered = sum(each.get(node, 0.0) * results[cpu]["covered"] for cpu, each in pages.items())
        if not covered:
            why = refused or "no memory: %d B are free" % quotas[node]
            if sum(part["covered"] for part in parts):
                why = "under-loaded: the kernel allocated the memory on other NUMA nodes"
            elif any(cpu in areas for cpu in cpus):
                why = "under-loaded: nothing was verified before the time limit"
            burn.undone("numa/" + node, "ram", why, test="march")
            continue
        whole.update({"from": begun, "seconds": max(part["wall"] for part in parts)})
        fields: Dict[str, Any] = {"unit": "B", "mismatches": int(whole["found"]), "seed": burn.seed}
        total = cpu_memory("MemTotal", node, burn.root)
        if total:
            fields["coverage"] = min(1.0, covered / total)
        fields.update(tested=int(covered), seeds=min(int(part["rounds"]) for part in parts))
        burn.done(stage, "numa/" + node, "march", whole, False, **fields)


def _cpu_march(
    burn: "Cpu", stage: Dict[str, Any], areas: Dict[int, CpuArea], homes: Dict[int, str], begun: float, until: float
) -> Tuple[Dict[int, "CpuTimes"], Dict[int, Dict[str, float]]]:
    """Fill memory with a pattern, verify and invert it, verify it again; repeat with new seeds until `until`.

    The first fill ends after at most CPU_FIRST of the time. Return the sums of each CPU, and which shares of its memory
    are on which NUMA nodes.
    """
    seed, most = burn.seed, stage.get("seeds", 1 << 30)
    times = {cpu: burn.times() for cpu in areas}

    def run(kind: str, end: float, **fields: int) -> Dict[int, "CpuTask"]:
        given = {cpu: dict(fields, at=at, bytes=size, seed=seed) for cpu, (at, size) in areas.items()}
        tasks = cpu_tasks(burn, "ram", kind, end, given)
        for cpu in set(areas) - set(tasks):
            del areas[cpu], times[cpu]
        for cpu, task in tasks.items():
            cpu_sum(times[cpu], task.sum)
        return tasks

    def whole(tasks: Dict[int, "CpuTask"]) -> bool:  # after a part, the next step would find the rest to be wrong
        return bool(tasks) and all(task.done == areas[cpu][1] for cpu, task in tasks.items())

    for cpu, task in run("fill", begun + CPU_FIRST * (until - begun)).items():
        areas[cpu] = areas[cpu][0], int(task.done)
    pages = {cpu: cpu_homes(area, homes[cpu]) for cpu, area in areas.items()}
    for round_ in range(most):
        if not areas or burn.ends(until) or (round_ and not whole(run("fill", until))):
            break
        if burn.spoil is not None:
            for area in areas.values():
                burn.spoil(*area)
        turned = run("verify", until, turn=1, flip=0)
        back = run("verify", until, turn=0, flip=CPU_FULL) if whole(turned) else {}
        for tasks in (turned, back):
            for cpu, task in tasks.items():
                _cpu_report(burn, cpu, task, homes[cpu], areas)
        for cpu, task in turned.items():
            if cpu in areas:
                times[cpu]["covered"] = max(times[cpu]["covered"], task.done)
                times[cpu]["rounds"] += cpu in back and 0 < back[cpu].done == areas[cpu][1]
        if not whole(back):
            break
        seed = seed + 1 & CPU_FULL
    return times, {cpu: pages[cpu] for cpu in areas}


def _cpu_report(burn: "Cpu", cpu: int, task: "CpuTask", home: str, areas: Dict[int, CpuArea]) -> None:
    """Report the wrong words that a CPU found; a word that belongs to another address of the tested memory is named."""
    wrong = task.found(task.sum.found)
    for address, want, got in wrong:
        of = "numa/" + max(cpu_homes((address, 1), home).items(), key=lambda one: one[1])[0]
        fields: Dict[str, Any] = {"address": address, "want": "%016x" % want, "got": "%016x" % got}
        fields.update(seed=task.seed, cpu=cpu, bits=bin(want ^ got).count("1"))
        fields["pattern"] = "turned" if task.flip else "filled"
        physical, other = cpu_physical(address), cpu_index(got ^ task.flip, task.seed) * 8
        if physical:
            fields["physical"] = physical
        if any(at <= other < at + size for at, size in areas.values()):
            burn.fault(of, "ram", "alias", other=other, **fields)
        else:
            burn.fault(of, "ram", "mismatch", **fields)
    if task.sum.found > len(wrong):
        fields = {"address": task.at, "size": task.bytes, "count": task.sum.found, "seed": task.seed, "cpu": cpu}
        burn.fault("numa/" + home, "ram", "mismatch", **fields)


def cpu_free(burn: "Cpu", stage: str, areas: Dict[int, CpuArea]) -> None:
    """Return memory to the kernel, on all CPUs at once: one thread would need seconds for a terabyte."""
    cpu_tasks(burn, stage, "free", 0.0, {cpu: {"at": at, "bytes": size} for cpu, (at, size) in areas.items()})


def cpu_bind(area: CpuArea, node: int) -> None:
    """Let memory that was not written yet be allocated on a NUMA node, if it has free memory; raises OSError."""
    mask = (ctypes.c_ulong * 16)()  # 1,024 nodes, the most that Linux supports
    mask[node // 64] = 1 << node % 64
    preferred = 1  # MPOL_PREFERRED
    _cpu_call("mbind", area[0], area[1], preferred, ctypes.addressof(mask), 1024, 0)


def cpu_homes(area: CpuArea, home: str) -> Dict[str, float]:
    """Return which share of an area is on which NUMA node, by one page of each 8 MiB; all at `home` if unreadable."""
    places = range(area[0], area[0] + area[1], CPU_HOME)
    pages, nodes = (ctypes.c_void_p * len(places))(*places), (ctypes.c_int * len(places))()
    found: Counter[str] = Counter()
    with contextlib.suppress(OSError, KeyError):
        _cpu_call("move_pages", 0, len(places), ctypes.addressof(pages), 0, ctypes.addressof(nodes), 0)
        found = Counter(str(node) for node in nodes if node >= 0)
    if not found:
        return {home: 1.0}
    return {node: count / sum(found.values()) for node, count in found.items()}


def _cpu_call(name: str, *given: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    number = CPU_CALLS[platform.machine()][name]
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(one) for one in given]) < 0:
        raise OSError(ctypes.get_errno(), "%s: %s" % (name, os.strerror(ctypes.get_errno())))


def cpu_index(word: int, seed: int) -> int:
    """Return the index of the 64-bit word for which the pattern of `seed` has the value `word`."""
    word ^= word >> 13 ^ word >> 26 ^ word >> 39 ^ word >> 52
    word = (word ^ word << 21 ^ word << 42 ^ word << 63) & CPU_FULL
    word ^= word >> 32
    return (word - seed) * pow(CPU_STEP, (1 << 62) - 1, 1 << 64) & CPU_FULL


@contextlib.contextmanager
def cpu_mapped(size: int) -> Iterator[int]:
    """Map memory, in huge pages if the system has them; yield its address.

    Raises OSError if there is not enough memory.
    """
    # Private: memory that is shared would be freed only when it is unmapped, by one thread.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
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
