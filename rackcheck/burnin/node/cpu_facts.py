# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""Reads the node's processors and memory from the kernel's files."""

import contextlib
from pathlib import Path
from typing import Dict, List, Optional


def cpu_text(path: str) -> str:
    """Read a small file of the kernel; return an empty text if the file cannot be read."""
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


def cpu_list(text: str) -> List[int]:
    """Parse a CPU list in the kernel's format: 0-3,8."""
    ends = [part.split("-") for part in text.strip().split(",") if part]
    return [cpu for part in ends for cpu in range(int(part[0]), int(part[-1]) + 1)]


def cpu_nodes(cpus: List[int]) -> Dict[str, List[int]]:
    """Return the allowed CPUs of each NUMA node; if sysfs has no NUMA nodes, all CPUs are returned as node 0."""
    nodes = {}
    for path in Path("/sys/devices/system/node").glob("node*"):
        mine = [cpu for cpu in cpu_list(cpu_text("%s/cpulist" % path)) if cpu in cpus]
        if mine:
            nodes[path.name[4:]] = mine
    return nodes or {"0": cpus}


def cpu_model() -> str:
    """Return the processor's name; on aarch64 its implementer and part number, because the kernel reports no name."""
    lines = dict(line.partition(":")[::2] for line in cpu_text("/proc/cpuinfo").splitlines())
    values = {key.strip(): value.strip() for key, value in lines.items()}
    return values.get("model name") or "%s %s" % (values.get("CPU implementer", ""), values.get("CPU part", ""))


def cpu_memory(field: str, node: Optional[str] = None) -> int:
    """Return a field of meminfo in bytes, for the system or for one NUMA node; 0 if the field cannot be read."""
    text = cpu_text("/sys/devices/system/node/node%s/meminfo" % node) if node else ""
    for line in (text or cpu_text("/proc/meminfo")).splitlines():
        words = line.split()
        if field + ":" in words:
            return int(words[words.index(field + ":") + 1]) * 1024
    return 0


def cpu_available() -> int:
    """Return the available memory in bytes: MemAvailable, or less if a cgroup sets a lower limit."""
    free = [cpu_memory("MemAvailable")]
    for line in cpu_text("/proc/self/cgroup").splitlines():
        _, kind, path = line.split(":", 2)
        root, most, used = ("/sys/fs/cgroup", "memory.max", "memory.current")
        if kind == "memory":
            root, most, used = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        elif kind:
            continue
        while path:
            texts = [cpu_text("%s%s/%s" % (root, path, name)).strip() for name in (most, used)]
            if all(text.isdigit() for text in texts):
                free.append(max(0, int(texts[0]) - int(texts[1])))
            path = path.rpartition("/")[0]
    return min(free)


def cpu_last_cache(cpus: List[int]) -> int:
    """Return the total size, in bytes, of the last-level caches that `cpus` use; 32 MiB per CPU if unknown."""
    caches = {}
    for cpu in cpus:
        for level in (3, 2):
            path = "/sys/devices/system/cpu/cpu%d/cache/index%d/" % (cpu, level)
            size, shared = cpu_text(path + "size").strip(), cpu_text(path + "shared_cpu_list").strip()
            if size:
                caches[shared] = int(size.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(size[-1:], 0)
                break
    return sum(caches.values()) or len(cpus) << 25
