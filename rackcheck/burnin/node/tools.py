
"""Tools that the node has already: found, asked their version and run with fixed words; what they say is written down.

Nothing is installed, and no word of a command is a user's: each is fixed here, or the name of a disk or of a NIC as the
kernel spells it, held against a closed form. No shell runs. A tool has a time, an answer of bounded size and a process
group of its own, which gets SIGTERM and then SIGKILL when the time is over or the burn-in stops; should this process be
killed, the kernel ends the tool. Times are seconds of `clock`.

One `tool` record is written for each command: `name`, `of`, `argv`, `version`, `status` (its exit status, below zero
a signal's; null where it did not run to its end), `seconds`, `out`, `err`; `why` where the status is null; `cut`, how
many bytes of the answer were dropped.
"""

import ctypes
import glob
import os
import re
import selectors
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

TOOL_OUT = 512 * 1024
"""Bytes of standard output that are kept: its beginning."""

TOOL_ERR = 4 * 1024
"""Bytes of standard error that are kept: a quarter from its beginning, the rest from its end."""

TOOL_STEP = 0.05
"""Seconds between two looks at `stop`."""

TOOL_GRACE = 1.5
"""Seconds between SIGTERM and SIGKILL: `dcgmi` uses them to end what it began in the host engine."""

TOOL_FOLDERS = (
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/opt/nccl-tests/build",
    "/usr/libexec/datacenter-gpu-manager-4/plugins/cuda[0-9]*",
)  # fmt: skip
"""Where tools lie that are not on PATH."""

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
            port = str(_tool_free_port())
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


TOOLS = {
    "dcgm-1": Tool("dcgmi", ("--version",), 5.0, 120.0, _tool_dcgm(1)),
    "dcgm-2": Tool("dcgmi", ("--version",), 30.0, 600.0, _tool_dcgm(2)),
    "dcgm-3": Tool("dcgmi", ("--version",), 120.0, 3600.0, _tool_dcgm(3)),
    "nvbandwidth": Tool("nvbandwidth", ("-h",), 5.0, 300.0, _tool_nvbandwidth),
    "all_reduce": Tool("all_reduce_perf", (), 5.0, 300.0, _tool_all_reduce),
    "ib_write_bw": Tool("ib_write_bw", ("--version",), WRITE_SECONDS + 2.0, WRITE_SECONDS + 15.0, _tool_ib_write_bw),
    "fio": Tool("fio", ("--version",), 2.0 * FIO_SECONDS + 2.0, 2.0 * FIO_SECONDS + 15.0, _tool_fio),
    "stress-ng": Tool("stress-ng", ("--version",), STRESS_SECONDS + 2.0, STRESS_SECONDS + 15.0, _tool_stress_ng),
}  # type: Dict[str, Tool]
"""The tools that can be run, by the names that a plan gives them."""


def run_tools(
    names: Sequence[str],
    tell: Callable[..., None],
    clock: Callable[[], float],
    stop: Any,
    until: float,
    root: str = "/",
    folders: Optional[Sequence[str]] = None,
) -> None:
    """Run tools one after the other, and write a `tool` record for each command; over by `until`, or soon after `stop`.

    The thread that calls this must live until it returns: the kernel ends a tool when its thread is gone.
    """
    for name in dict.fromkeys(names):
        tool = TOOLS.get(name)
        if tool is None:
            _tool_untested(tell, name, "node", "unsupported: this version knows no such tool")
            continue
        exe = find_tool(tool.command, folders)
        if exe is None:
            _tool_untested(tell, name, "node", "tool missing")
            continue
        said = ""
        if tool.version:
            asked = _tool_run([exe, *tool.version], clock, stop, until, 10.0)
            said = asked["out"] + asked["err"]
        version = re.search(r"(?:version[: ]{1,3}|fio-)v?([0-9]{1,5}(?:\.[0-9]{1,6}){1,3})", said, re.IGNORECASE)
        tried = False
        for of, argv in tool.commands(exe, ToolNode(root, said)):
            tried = True
            number = version.group(1) if version else None
            left = until - clock()
            if stop.is_set() or left < tool.least:
                why = "stopped" if stop.is_set() else f"stopped: {max(left, 0.0):.0f} s were left"
                _tool_untested(tell, name, of, why, argv, number)
                continue
            runs = _tool_with_server if name == "ib_write_bw" else _tool_run
            told = runs(argv, clock, stop, until, tool.most)
            tell("tool", name=name, of=of, argv=argv, version=number, **told)
        if not tried:
            _tool_untested(tell, name, "node", "unsupported: this node has nothing that it could try")


def find_tool(command: str, folders: Optional[Sequence[str]] = None) -> Optional[str]:
    """Give the place of a tool; none where there is no such file that may be run, and that not everybody may change."""
    places = os.environ.get("PATH", "").split(os.pathsep) + list(TOOL_FOLDERS) if folders is None else folders
    for place in filter(os.path.isabs, places):
        for folder in sorted(glob.glob(place), reverse=True):  # noqa: PTH207  pathlib's raises where PATH is no pattern
            file = Path(folder, command)
            try:
                mode = file.stat().st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode) and not mode & stat.S_IWOTH and os.access(str(file), os.X_OK):
                return str(file)
    return None


def _tool_untested(
    tell: Callable[..., None], name: str, of: str, why: str, argv: Sequence[str] = (), version: Optional[str] = None
) -> None:
    tell("tool", name=name, of=of, argv=list(argv), version=version, status=None, seconds=0.0, out="", err="", why=why)


def _tool_with_server(
    argv: List[str], clock: Callable[[], float], stop: Any, until: float, most: float
) -> Dict[str, Any]:
    """Run a command whose last word is the place of a server: without that word it is the server."""
    port, ready = int(argv[argv.index("-p") + 1]), min(until, clock() + WRITE_SECONDS)
    try:
        server = _tool_start(argv[:-1])
    except (OSError, subprocess.SubprocessError):
        return _tool_run(argv, clock, stop, until, most)  # it will be refused likewise, and say why
    try:
        while server.poll() is None and not _tool_listens(port) and clock() < ready and not stop.is_set():
            time.sleep(TOOL_STEP)
        return _tool_run(argv, clock, stop, until, most)
    finally:
        _tool_end(server)
        for pipe in (server.stdout, server.stderr):
            if pipe is not None:
                pipe.close()


def _tool_run(argv: List[str], clock: Callable[[], float], stop: Any, until: float, most: float) -> Dict[str, Any]:
    """Run a command to its end, or until it must end; give what a record tells of it."""
    begun = clock()

    def over() -> str:
        if stop.is_set() or clock() >= until:
            return "stopped" if stop.is_set() else "stopped: the time of the burn-in was over"
        return f"hang: it had not ended after {most:.0f} s" if clock() >= begun + most else ""

    try:
        child = _tool_start(argv)
    except (OSError, subprocess.SubprocessError) as error:
        return {"status": None, "seconds": 0.0, "out": "", "err": "", "why": f"denied: {error}"}
    kept = {"out": _ToolKept(TOOL_OUT, 0), "err": _ToolKept(TOOL_ERR // 4, TOOL_ERR - TOOL_ERR // 4)}
    why = ""
    with selectors.DefaultSelector() as waiting:
        for name, pipe in (("out", child.stdout), ("err", child.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                waiting.register(pipe, selectors.EVENT_READ, name)
        # A grandchild may hold a pipe open after the tool has ended: the tool's end is the end.
        while waiting.get_map() and child.poll() is None:
            why = over()
            if why:
                break
            for key, _ in waiting.select(TOOL_STEP):
                _tool_take(key, waiting, kept)
        while child.poll() is None and not why:  # both pipes are shut, and it goes on
            why = over()
            time.sleep(TOOL_STEP)
        seconds = clock() - begun
        _tool_end(child)
        for key in list(waiting.get_map().values()):
            _tool_take(key, waiting, kept)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    told = {"status": None if why else child.returncode, "seconds": round(seconds, 3)}  # type: Dict[str, Any]
    told.update((name, part.text()) for name, part in kept.items())
    if why:
        told["why"] = why
    if kept["out"].cut:
        told["cut"] = kept["out"].cut
    return told


class _ToolKept:
    """What is kept of a stream: so many bytes of its beginning, and so many of its end."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last, self.cut = first, last, 0
        self.head, self.tail = bytearray(), bytearray()

    def take(self, data: bytes) -> None:
        """Take what came; what no longer fits is counted."""
        room = self.first - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        over = len(self.tail) - self.last
        if over > 0:
            self.cut += over
            del self.tail[:over]

    def text(self) -> str:
        """Give it as text; a mark stands where bytes were dropped between the two."""
        between = b"\n...\n" if self.cut and self.last else b""
        return bytes(self.head + between + self.tail).decode("utf-8", "replace")


def _tool_take(key: Any, waiting: Any, kept: Dict[str, _ToolKept]) -> None:
    """Take what lies in a pipe now, at most a second's worth of a tool that prints without end."""
    for _ in range(64):
        try:
            data = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        if not data:
            waiting.unregister(key.fileobj)
            return
        kept[key.data].take(data)


_TOOL_PRCTL = ctypes.PyDLL(None).prctl  # looked up here: after a fork only what is loaded already is safe


def _tool_follow() -> None:
    _TOOL_PRCTL(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG


def _tool_start(argv: List[str]) -> Any:
    """Start a command in a session of its own, with an environment in which a user's settings do not stand."""
    keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return subprocess.Popen(  # noqa: S603  its words are fixed
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=dict(keep, LC_ALL="C", CUDA_CACHE_DISABLE="1"),
        start_new_session=True,
        preexec_fn=_tool_follow,  # noqa: PLW1509  it imports nothing and waits for nobody
    )


def _tool_end(child: Any) -> None:
    """End what is left of a command and of all that it started."""
    for number, seconds in ((signal.SIGTERM, TOOL_GRACE), (signal.SIGKILL, TOOL_GRACE)):
        try:
            os.killpg(child.pid, number)
        except OSError:
            break
        limit = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
    child.poll()


def _tool_free_port() -> int:
    """Give a TCP port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _tool_listens(port: int) -> bool:
    """Whether somebody listens on a TCP port: a trial connection would be taken for the client."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with Path(table).open() as file:
                rows = [row.split()[:4] for row in file]
        except OSError:
            continue
        if any(len(row) == 4 and row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows):
            return True
    return False
