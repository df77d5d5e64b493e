"""Audit of 1,000 BMCs of 300 resources each, at 50 ms a reply; 5 % of them accept connections and never answer.

The claim: the wall time is at most 1.5 times the larger of two bounds, which no client can undercut. The first is the
slowest chain of requests of one BMC: the time between the connection and the last reply in an audit of one BMC alone,
as its server sees it, or the time after which an audit of one silent BMC alone gives it up. The second is the CPU time
of the client divided by the number of cores.

The client is the program as users run it, as a process. Its CPU time, with that of its own processes, and the peak of
the largest process are those of wait4; the memory of all its processes is sampled. The BMCs are one other process,
which shares the cores with the client, so that the wall time is an upper bound: one loop serves all connections, so
that the CPU time of this process is small; it is printed. All BMCs have the tree of a simulated DGX H100, with as many
entries in the firmware inventory as are needed for the number of resources; every body of a BMC differs from those of
the others. Whole collections ($expand) are not used for this kind of BMC: each resource takes a GET. `others` is the
CPU time of all other processes of this machine; `net` is the ratio without their share of the wall time.
This is a lower bound: others may have used a core that the client leaves idle.

    python benchmarks/bmc_thousand.py [--bmcs 1000] [--resources 300] [--milliseconds 50] [--silent 0.05] [--rounds 3]
        [--shards 2] [-- OPTION...]

With `--shards N`, the client is `audit --on local:N --by N`, which asks with N processes. Options after `--` are passed
to the client.
"""

import argparse
import contextlib
import errno
import json
import os
import resource
import select
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: one of its benchmarks has the name of the DMTF's library

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.profile import Phase
from rackcheck.model.resource import ROOT, Body
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import machine
from rackcheck.sim.certificate import certificate

BAR = 1.5
"""Greatest permitted wall time, as a multiple of the larger bound."""

SITE = {"bios_version": "1.5.3", "bmc_firmware": "24.09.17"}
PROFILE = "h100-dgx"
USER, PASSWORD = "audit", "not-a-secret"
PORT = 8443
NETS = range(130, 250)
"""The loopback networks of these BMCs: N in 127.N.0.0/16, none of which a simulated rack uses."""

FIRMWARE = f"{ROOT}/UpdateService/FirmwareInventory"
SESSIONS = f"{ROOT}/SessionService/Sessions"
SAMPLE = 0.5
"""Seconds between two samples of the client's memory."""

BUFFER = 1 << 20
"""Bytes of a socket's buffer: most replies are sent by one call."""


def tree(resources: int) -> dict[str, Body]:
    """Return the tree of one BMC, of which the audit asks this many resources."""
    bodies = dict(machine.load(machine.shipped()["dgx-h100"], "node", 1).bmc.bodies)
    kept: dict[str, Body] = {uri: body for uri, body in bodies.items() if isinstance(body, dict)}
    listed = kept[FIRMWARE]["Members"]
    more = resources - len(asked(kept))
    if more < -len(listed):
        sys.exit(f"an audit of this BMC asks at least {resources - more - len(listed)} resources")
    for number in range(more):
        uri = f"{FIRMWARE}/Part_{number}"
        kept[uri] = {**kept[listed[0]["@odata.id"]], "@odata.id": uri, "Id": f"Part_{number}"}
        listed = [*listed, {"@odata.id": uri}]
    listed = listed[: len(listed) + min(0, more)]
    kept[FIRMWARE] = {**kept[FIRMWARE], "Members": listed, "Members@odata.count": len(listed)}
    return {uri: kept[uri] for uri in asked(kept) if uri in kept}


def asked(bodies: dict[str, Body]) -> list[str]:
    """Return the URIs that the audit asks of a BMC with these resources."""
    known = registry()
    plan = known.planned(library.load(PROFILE, known.catalogue, SITE), {Phase.CONFIG})
    found: dict[str, Body | Unknown] = {ROOT: bodies[ROOT]}
    docs = Documents(found)
    while todo := docs.wanted(plan.links):
        found |= {uri: bodies.get(uri.rstrip("/"), Unknown(Reason.NOT_COLLECTED, "HTTP 404")) for uri in todo}
    return list(found)


# The BMCs, a process of their own.


@dataclass
class Bmc:
    """One BMC: its requests, its sessions, and the times of its first connection and its last reply."""

    number: int
    silent: bool
    requests: int = 0
    began: float = 0.0
    ended: float = 0.0
    sessions: set[str] = field(default_factory=set)


@dataclass
class Line:
    """A connection to a BMC, with the bytes of a request that is not complete yet."""

    bmc: Bmc
    line: ssl.SSLSocket
    data: bytes = b""
    shaken: bool = False


class Server:
    """All BMCs, in one loop: each request is answered a fixed time after it has arrived."""

    def __init__(self, bodies: dict[str, bytes], seconds: float, file: str) -> None:
        self.bodies, self.seconds = bodies, seconds
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(file)
        self.epoll = select.epoll()
        self.doors: dict[int, tuple[socket.socket, Bmc]] = {}
        self.lines: dict[int, Line] = {}
        self.mute: list[socket.socket] = []
        self.due: deque[tuple[float, Line, bytes]] = deque()
        self.bmcs: list[Bmc] = []
        self.connections = self.missing = 0
        self.late = 0.0

    def open(self, place: str, bmc: Bmc) -> None:
        """Listen for one BMC; raises OSError if the address is in use."""
        door = socket.socket()
        try:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            door.bind((place, PORT))
        except OSError:
            door.close()
            raise
        door.listen(16)
        door.setblocking(False)
        self.epoll.register(door, select.EPOLLIN)
        self.doors[door.fileno()] = door, bmc
        self.bmcs.append(bmc)

    def close(self) -> None:
        """Close every listening socket; other addresses may be opened then."""
        for door, _ in self.doors.values():
            door.close()
        self.doors.clear()
        self.bmcs.clear()

    def run(self) -> None:
        """Serve until standard input ends."""
        self.epoll.register(0, select.EPOLLIN | select.EPOLLHUP)
        while True:
            wait = max(0.0, self.due[0][0] - time.monotonic()) if self.due else -1
            for number, _ in self.epoll.poll(wait):
                if number == 0:
                    return
                if number in self.doors:
                    self._accept(*self.doors[number])
                elif (line := self.lines.get(number)) is not None:
                    self._read(line)
            self._answer()

    def value(self) -> dict[str, Any]:
        """Return what was seen; times are seconds."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "requests": sum(bmc.requests for bmc in self.bmcs),
            "most": max(bmc.requests for bmc in self.bmcs),
            "connections": self.connections,
            "missing": self.missing,
            "longest": max(bmc.ended - bmc.began for bmc in self.bmcs),
            "sessions": sum(len(bmc.sessions) for bmc in self.bmcs),
            "cpu": used.ru_utime + used.ru_stime,
            "late": self.late / max(1, sum(bmc.requests for bmc in self.bmcs)),
        }

    def _accept(self, door: socket.socket, bmc: Bmc) -> None:
        plain, _ = door.accept()
        self.connections += 1
        bmc.began = bmc.began or time.monotonic()
        if bmc.silent:
            self.mute.append(plain)
            return
        plain.setblocking(False)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = self.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        self.lines[line.fileno()] = Line(bmc, line)
        self.epoll.register(line, select.EPOLLIN)

    def _read(self, line: Line) -> None:
        try:
            if not line.shaken:
                line.line.do_handshake()
                line.shaken = True
            while True:
                data = line.line.recv(1 << 16)
                if not data:
                    return self._close(line)
                line.data += data
                self._take(line)
        except ssl.SSLWantReadError:
            return None
        except OSError:
            return self._close(line)

    def _close(self, line: Line) -> None:
        self.lines.pop(line.line.fileno(), None)
        line.line.close()

    def _take(self, line: Line) -> None:
        """Take a request, if it is complete: the client sends the next one after the reply."""
        head, end, rest = line.data.partition(b"\r\n\r\n")
        if not end:
            return
        lower = head.lower()
        at = lower.find(b"content-length:")
        if at >= 0 and len(rest) < int(lower[at + 15 :].split(b"\r\n", 1)[0]):
            return
        line.data = b""
        line.bmc.requests += 1
        method, uri, _ = head.split(b" ", 2)
        self.due.append((time.monotonic() + self.seconds, line, self._reply(line.bmc, method, uri.decode(), lower)))

    def _reply(self, bmc: Bmc, method: bytes, uri: str, head: bytes) -> bytes:
        place = uri.rstrip("/")
        if method == b"POST" and place == SESSIONS:
            name = f"s{bmc.requests}"
            bmc.sessions.add(name)
            more = f"X-Auth-Token: token-{bmc.number}-{name}\r\nLocation: {SESSIONS}/{name}\r\n".encode()
            return _http(b"201 Created", b"{}", more)
        if place != ROOT and f"x-auth-token: token-{bmc.number}-".encode() not in head:
            return _http(b"401 Unauthorized", b"{}")
        if method == b"DELETE":
            bmc.sessions.discard(place.rpartition("/")[2])
            return _http(b"200 OK", b"{}")
        body = self.bodies.get(place)
        if body is None:
            self.missing += 1
            return _http(b"404 Not Found", b"{}")
        return _http(b"200 OK", b'{"Number":%d,' % bmc.number + body[1:])

    def _answer(self) -> None:
        now = time.monotonic()
        while self.due and self.due[0][0] <= now:
            until, line, data = self.due.popleft()
            try:
                sent = line.line.send(data)
            except ssl.SSLWantWriteError:
                sent = 0
            except OSError:
                self._close(line)
                continue
            if sent < len(data):  # the rest later: the client has not read yet
                self.due.append((now + 0.001, line, data[sent:]))
                continue
            line.bmc.ended = time.monotonic()
            self.late += line.bmc.ended - until


def _http(status: bytes, body: bytes, more: bytes = b"") -> bytes:
    return (
        b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nOData-Version: 4.0\r\n%bContent-Length: %d\r\n\r\n"
        % (status, more, len(body))
    ) + body


def serve(given: argparse.Namespace) -> None:
    """Run the BMCs until standard input ends: print the network of their addresses first, and what was seen last."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    bodies = {uri: json.dumps(body).encode() for uri, body in tree(given.resources).items()}
    server = Server(bodies, given.milliseconds / 1000, given.serve)
    quiet = round(given.bmcs * given.silent)
    for net in NETS:
        try:
            for number in range(given.bmcs):
                silent = quiet > 0 and (number + 1) * quiet // given.bmcs > number * quiet // given.bmcs
                server.open(address(net, number), Bmc(number, silent))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            server.close()  # connections of an earlier server may linger at some of the addresses
        else:
            break
    print(net, flush=True)
    server.run()
    print(json.dumps(server.value()), flush=True)


def address(net: int, number: int) -> str:
    """Return the address of a BMC."""
    high, low = divmod(number, 250)
    return f"127.{net}.{high}.{low + 1}"


# The client.


@dataclass
class Round:
    """One audit: wall and CPU seconds, memory in MiB, the outcomes of its BMCs, and what the BMCs saw.

    `busy` is the CPU time of all processes of the machine meanwhile.
    """

    wall: float
    cpu: float
    one: float
    all: float
    answers: Counter[str]
    busy: float
    seen: dict[str, Any]


def measured(given: argparse.Namespace, bmcs: int, silent: float, shards: int, place: Path) -> Round:
    """Audit `bmcs` BMCs once."""
    made = certificate(place)
    sizes = ("--resources", str(given.resources), "--milliseconds", str(given.milliseconds))
    words = [sys.executable, __file__, "--bmcs", str(bmcs), "--silent", str(silent), *sizes, "--serve", str(made.file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        assert server.stdin is not None and server.stdout is not None  # noqa: PT018
        net = int(server.stdout.readline())
        inventory = place / "inventory.yaml"
        rows = [
            f'  n{number:05}: {{ bmc: {{ url: "https://{address(net, number)}:{PORT}" }}, rack: r{number // 8:04} }}\n'
            for number in range(bmcs)
        ]
        head = f'user: {USER}, password: "file:{place}/password", fingerprint: "{made.fingerprint}"'
        inventory.write_text(f"rackcheck: 1\ndefaults:\n  bmc: {{ {head} }}\nnodes:\n{''.join(rows)}")
        (place / "password").write_text(PASSWORD)
        (place / "password").chmod(0o600)
        took = client(given, inventory, shards, place)
        server.stdin.close()
        return Round(*took, json.loads(server.stdout.readline()))


def client(
    given: argparse.Namespace, inventory: Path, shards: int, place: Path
) -> tuple[float, float, float, float, Counter[str], float]:
    """Run the client; returns its wall and CPU seconds, its memory, its BMCs by outcome, and the machine's CPU time."""
    program = str(Path(sys.executable).with_name("rackcheck"))
    values = [word for name, value in SITE.items() for word in ("--set", f"{name}={value}")]
    parts = ["--on", f"local:{shards}", "--by", str(shards)] if shards > 1 else []
    run = place / "run"
    words = [program, "audit", "-i", str(inventory), "-p", PROFILE, *values, "--planes", "bmc", *parts, *given.options]
    with (
        (place / "out.json").open("wb") as out,
        (place / "err.txt").open("wb") as err,
        tempfile.TemporaryDirectory() as home,
    ):
        before, busy = time.monotonic(), machine_busy()
        process = subprocess.Popen(  # noqa: S603  the program itself
            [*words, "-o", str(run), "-q", "--json"],
            stdout=out, stderr=err, env={**os.environ, "RACKCHECK_HOME": home, "XDG_CACHE_HOME": home},
        )  # fmt: skip
        with sampled(process.pid) as peak:
            _, status, used = os.wait4(process.pid, 0)
            wall, busy = time.monotonic() - before, machine_busy() - busy
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1, 3}:
        sys.exit(f"exit status {process.returncode}: {(place / 'err.txt').read_text()[-2000:]}")
    answers: Counter[str] = Counter()
    with (run / "events.jsonl").open(encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event.get("event") == "answered":
                answers[event.get("unknown", "complete")] += 1
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, max(peak) / 1024, answers, busy


def machine_busy() -> float:
    """Return the CPU seconds of all processes since the machine was started."""
    user, nice, system, _, _, *more = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:])
    return (user + nice + system + sum(more[:3])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def sampled(process: int) -> Iterator[list[int]]:
    """Sample the memory of a process and its descendants within the block: their proportional set sizes, in KiB."""
    peak, ended = [0], threading.Event()

    def work() -> None:
        while not ended.wait(SAMPLE):
            peak.append(sum(map(_memory, _family(process))))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def _family(process: int) -> Iterator[int]:
    yield process
    with contextlib.suppress(OSError):
        for thread in (Path("/proc") / str(process) / "task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _memory(process: int) -> int:
    with contextlib.suppress(OSError):
        for line in (Path("/proc") / str(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def main() -> None:
    """Measure, print the table, and whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bmcs", type=int, default=1000)
    parser.add_argument("--resources", type=int, default=300)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--silent", type=float, default=0.05, help="the share of silent BMCs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("options", nargs="*", help="further options of the client")
    given = parser.parse_args()
    if given.serve:
        serve(given)
        return
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        count = iter(range(10**6))

        def once(bmcs: int, silent: float, shards: int) -> Round:
            place = Path(folder) / str(next(count))
            place.mkdir()
            return measured(given, bmcs, silent, shards, place)

        alone = once(1, 0, 1)
        mute = once(1, 1, 1)
        # A silent BMC has no reply: its chain is the time that the audit of it takes more than its own work.
        given_up = mute.wall - mute.cpu
        chain = max(alone.seen["longest"], given_up if given.silent else 0)
        print(
            f"one BMC alone: {alone.seen['requests']} requests over {alone.seen['connections']} connections, "
            f"{alone.seen['longest']:.2f} s from the first connection to the last reply; "
            f"{alone.wall:.2f} s wall, {alone.cpu:.2f} s CPU\n"
            f"one silent BMC alone: {mute.wall:.2f} s wall, {mute.cpu:.2f} s CPU; given up after {given_up:.2f} s\n"
            f"{given.bmcs} BMCs, {given.resources} resources, {given.milliseconds:g} ms, {given.silent:.0%} silent, "
            f"{given.shards} process{'es' if given.shards > 1 else ''} that ask, {cores} cores"
        )
        print(
            f"{'wall':>7} {'CPU':>7} {'CPU/cores':>9} {'chain':>6} {'ratio':>6} {'one MiB':>8} {'all MiB':>8} "
            f"{'requests':>8} {'server CPU':>10} {'others':>7} {'net':>5} {'late ms':>7}"
        )
        ratios, walls = [], []
        for _ in range(given.rounds):
            got = once(given.bmcs, given.silent, given.shards)
            seen, bound = got.seen, max(chain, got.cpu / cores)
            others = max(0.0, got.busy - got.cpu - seen["cpu"])
            net = (got.wall - others / cores) / bound
            ratios.append(got.wall / bound)
            walls.append(got.wall)
            print(
                f"{got.wall:7.1f} {got.cpu:7.1f} {got.cpu / cores:9.1f} {chain:6.1f} {ratios[-1]:6.2f} {got.one:8.0f} "
                f"{got.all:8.0f} {seen['requests']:8} {seen['cpu']:10.1f} {others:7.1f} {net:5.2f} "
                f"{seen['late'] * 1000:7.1f}  "
                f"{', '.join(f'{n} {why}' for why, n in sorted(got.answers.items()))}; "
                f"longest BMC {seen['longest']:.1f} s, {seen['sessions']} sessions left",
                flush=True,
            )
    ratio = statistics.median(ratios)
    print(f"median {statistics.median(walls):.1f} s, ratio {ratio:.2f} (bar {BAR})")
    sys.exit(ratio > BAR)


if __name__ == "__main__":
    main()
