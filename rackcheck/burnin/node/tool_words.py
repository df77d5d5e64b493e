"""The tools that a node may have, and the words that each is run with.

No word is a user's: each is fixed here, or the name of a disk or of a NIC as the kernel spells it, held against a
closed form.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.tool_server import tool_free_port

TOOL_COPIES = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce")
"""What nvbandwidth measures: the copies whose floors are published."""

TOOL_DISK = re.compile(r"(?:nvme[0-9]{1,3}n[0-9]{1,3}|[sv]d[a-z]{1,2})\Z")
"""Disks that are read; a partition, a loop and a map of other disks are none."""

TOOL_NIC = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}\Z")
"""An RDMA device, as the kernel names it."""

TOOL_MOST = 16
"""Disks, and NICs, that are tried."""

FIO_SECONDS = 4
"""Seconds of each of fio's two jobs on a disk."""

STRESS_SECONDS = 10
"""Seconds of stress-ng."""

WRITE_SECONDS = 5
"""Seconds of ib_write_bw."""


class ToolNode(NamedTuple):
    """The files of the node, below a root, and what the tool itself said of its use."""

    root: str
    help: str = ""

    def names(self, folder: str, form: Any) -> List[str]:
        """Give the names in a folder that have a form, in order; none where there is no such folder."""
        try:
            found = (each.name for each in Path(self.root, folder).iterdir())
            return sorted(name for name in found if form.match(name))[:TOOL_MOST]
        except OSError:
            return []

    def line(self, name: str) -> str:
        """Give the text of a small file; empty where it cannot be read."""
        try:
            with Path(self.root, name).open("rb") as file:
                return file.read(4096).decode("utf-8", "replace").strip()
        except OSError:
            return ""


class Tool(NamedTuple):
    """A tool: what it is called, how it tells its version, how many seconds it takes at least and may take, and more.

    `commands` gives, from the tool's place, what each of its commands tries and its words.
    """

    command: str
    version: Sequence[str]
    least: float
    most: float
    commands: Callable[[str, ToolNode], Iterator[Tuple[str, List[str]]]]


def _tool_dcgm(level: int) -> Callable[[str, ToolNode], Iterator[Tuple[str, List[str]]]]:
    return lambda exe, _: iter([("node", [exe, "diag", "-r", str(level), "-j"])])


def _tool_nvbandwidth(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    # Its older versions know no JSON, and refuse all words where they do not know one.
    yield "node", [exe, *(["-j"] if "--json" in node.help else []), "-t", *TOOL_COPIES]


def _tool_all_reduce(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    gpus = len(node.names("proc/driver/nvidia/gpus", re.compile(r"[0-9a-fA-F:.]{1,20}\Z")))
    if gpus > 1:
        yield "node", [exe, "-b", "8M", "-e", "8G", "-f", "2", "-c", "1", "-g", str(gpus)]


def _tool_ib_write_bw(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    for nic in node.names("sys/class/infiniband", TOOL_NIC):
        if "ACTIVE" in node.line(f"sys/class/infiniband/{nic}/ports/1/state"):
            port = str(tool_free_port())
            words = ["-d", nic, "-i", "1", "-p", port, "-D", str(WRITE_SECONDS), "-F", "--report_gbits"]
            yield "nic/" + nic, [exe, *words, "127.0.0.1"]


def fio_words(exe: str, disk: str, file: str) -> List[str]:
    """Give the command that reads a disk, first in a row and then here and there; it writes nothing."""
    both = ["--filename=" + file, "--readonly", "--direct=1", "--ioengine=libaio", "--time_based"]
    both += [f"--runtime={FIO_SECONDS}", "--group_reporting"]
    row = ["--name=" + disk + ":row", "--rw=read", "--bs=1M", "--iodepth=32"]
    here = ["--name=" + disk + ":random", "--stonewall", "--rw=randread", "--bs=4k", "--iodepth=16", "--numjobs=16"]
    return [exe, "--output-format=json", *row, *both, *here, *both]


def _tool_fio(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    for disk in node.names("sys/block", TOOL_DISK):
        if node.line(f"sys/block/{disk}/removable") == "0":
            yield "disk/" + disk, fio_words(exe, disk, "/dev/" + disk)


def _tool_stress_ng(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    cpus = str(len(os.sched_getaffinity(0)))
    free = re.search(r"^MemAvailable:\s{1,20}([0-9]{1,15}) kB$", node.line("proc/meminfo"), re.MULTILINE)
    words = ["--cpu", cpus, "--matrix", cpus]
    if free:
        words += ["--vm", "1", "--vm-bytes", f"{min(int(free.group(1)) // 4, 1 << 20)}K"]
    yield (
        "node",
        [exe, *words, "--verify", "--timeout", f"{STRESS_SECONDS}s", "--metrics", "--yaml", "/dev/stdout"],
    )


TOOLS: Dict[str, Tool] = {
    "dcgm-1": Tool("dcgmi", ("--version",), 5.0, 120.0, _tool_dcgm(1)),
    "dcgm-2": Tool("dcgmi", ("--version",), 30.0, 600.0, _tool_dcgm(2)),
    "dcgm-3": Tool("dcgmi", ("--version",), 120.0, 3600.0, _tool_dcgm(3)),
    "nvbandwidth": Tool("nvbandwidth", ("-h",), 5.0, 300.0, _tool_nvbandwidth),
    "all_reduce": Tool("all_reduce_perf", (), 5.0, 300.0, _tool_all_reduce),
    "ib_write_bw": Tool("ib_write_bw", ("--version",), WRITE_SECONDS + 2.0, WRITE_SECONDS + 15.0, _tool_ib_write_bw),
    "fio": Tool("fio", ("--version",), 2.0 * FIO_SECONDS + 2.0, 2.0 * FIO_SECONDS + 15.0, _tool_fio),
    "stress-ng": Tool("stress-ng", ("--version",), STRESS_SECONDS + 2.0, STRESS_SECONDS + 15.0, _tool_stress_ng),
}
"""The tools that can be run, by the names that a plan gives them."""
