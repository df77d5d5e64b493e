"""The tools that a node may have, and the arguments of their commands.

No argument comes from a user: each is fixed here, or is a disk's or NIC's kernel name that matches a strict pattern.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.tool_accelerators import (
        HL_QUAL_SECONDS,
        HL_QUAL_SETTINGS,
        tool_amd_smi,
        tool_foreign,
        tool_hl_qual,
        tool_rocblas,
        tool_rvs,
        tool_rvs_asked,
        tool_transferbench,
    )
    from rackcheck.burnin.node.tool_server import tool_free_port

TOOL_COPIES = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce")
"""The tests of nvbandwidth that are run: copies whose minimum rates are published."""

TOOL_DISK = re.compile(r"(?:nvme[0-9]{1,3}n[0-9]{1,3}|[sv]d[a-z]{1,2})\Z")
"""Pattern of disks that are read; partitions, loop devices and device-mapper devices do not match."""

TOOL_NIC = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}\Z")
"""Pattern of an RDMA device's kernel name."""

TOOL_MOST = 16
"""Maximum number of disks, and of NICs, that are tested."""

FIO_SECONDS = 4
"""Duration of each of fio's two jobs on a disk, in seconds."""

STRESS_SECONDS = 10
"""Duration of the test by stress-ng, in seconds."""

WRITE_SECONDS = 5
"""Duration of the test by ib_write_bw, in seconds."""


class ToolNode(NamedTuple):
    """The node as seen by a tool: its files below `root`, and the output of the tool's version command as `help`."""

    root: str
    help: str = ""

    def names(self, folder: str, form: Any) -> List[str]:
        """Return the first TOOL_MOST names in a folder that match a pattern, sorted; none if the folder is missing."""
        try:
            found = (each.name for each in Path(self.root, folder).iterdir())
            return sorted(name for name in found if form.match(name))[:TOOL_MOST]
        except OSError:
            return []

    def line(self, name: str) -> str:
        """Return the text of a small file; empty if the file cannot be read."""
        try:
            with Path(self.root, name).open("rb") as file:
                return file.read(4096).decode("utf-8", "replace").strip()
        except OSError:
            return ""


class Tool(NamedTuple):
    """A tool: its executable, the arguments that print its version, its minimum and maximum seconds, and its commands.

    A command is not started if fewer than `least` seconds are left. `commands` takes the tool's path and the node, and
    yields for each command the part that it tests, such as `disk/sda`, and its arguments. `asked` takes the arguments
    of a command, and returns the names of the tests that its configuration lists, as a field of the record. `settings`
    are environment variables of the tool; a tool with settings runs in its own folder. `foreign` returns the processes
    that already use the parts under test; if there are any, the tool does not run.
    """

    command: str
    version: Sequence[str]
    least: float
    most: float
    commands: Callable[[str, ToolNode], Iterator[Tuple[str, List[str]]]]
    asked: Callable[[Sequence[str]], Dict[str, List[str]]] = lambda _: {}
    settings: Sequence[Tuple[str, str]] = ()
    foreign: Callable[[ToolNode], str] = lambda _: ""


def _tool_dcgm(level: int) -> Callable[[str, ToolNode], Iterator[Tuple[str, List[str]]]]:
    return lambda exe, _: iter([("node", [exe, "diag", "-r", str(level), "-j"])])


def _tool_nvbandwidth(exe: str, node: ToolNode) -> Iterator[Tuple[str, List[str]]]:
    # Older versions have no JSON output, and reject all arguments if one of them is unknown.
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
    """Return the command that reads a disk, first sequentially and then randomly; the command writes nothing."""
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
    "rvs": Tool("rvs", ("--version",), 120.0, 3600.0, tool_rvs, tool_rvs_asked, foreign=tool_foreign),
    "transferbench": Tool("TransferBench", (), 60.0, 900.0, tool_transferbench, foreign=tool_foreign),
    "rocblas-bench": Tool("rocblas-bench", ("--version",), 5.0, 120.0, tool_rocblas, foreign=tool_foreign),
    "amd-smi": Tool("amd-smi", ("version",), 2.0, 60.0, tool_amd_smi),
    "hl_qual": Tool(
        "hl_qual", (), HL_QUAL_SECONDS + 60.0, HL_QUAL_SECONDS + 600.0, tool_hl_qual, settings=HL_QUAL_SETTINGS
    ),
}
"""The tools that can be run, by their names in a plan."""
