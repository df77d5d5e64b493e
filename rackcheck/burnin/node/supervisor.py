"""Runs on the node: a single-threaded supervisor with a child process for each part under load; writes records.

The supervisor runs no tests itself: it forwards its children's records and sends keep-alives. The supervisor ends all
children within a second if the connection to the controller is cut, silent or closed, if a signal arrives, or if the
time limit is reached. A child that crashes, hangs or is lost affects only its own stages.
"""

import json
import os
import platform
import select
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List

if TYPE_CHECKING:
    from rackcheck.burnin.node.child import Child, Orders, StopEvent, die_with_parent, oom_kills
    from rackcheck.burnin.node.cpu import Cpu
    from rackcheck.burnin.node.cpu_quiet import CpuQuiet
    from rackcheck.burnin.node.disk import DiskWork
    from rackcheck.burnin.node.gpu_listing import GpuListing
    from rackcheck.burnin.node.gpu_parts import gpu_parts
    from rackcheck.burnin.node.gpu_quiet import GpuQuiet
    from rackcheck.burnin.node.gpu_turns import GpuTurns
    from rackcheck.burnin.node.gpu_work import GpuLoad, gpu_work, peers_work
    from rackcheck.burnin.node.main import sample
    from rackcheck.burnin.node.tools import run_tools
    from rackcheck.burnin.node.wire import RecordStream

BEAT = 0.5
"""Seconds without a record after which the supervisor sends a keep-alive."""

LOOP = 0.05
"""Longest time, in seconds, of one turn of the supervisor's loop in which no child sends anything."""

GRACE = 0.6
"""Time, in seconds, that a child has to end after it was asked to stop."""

STUCK = 10.0
"""Time, in seconds, after which a child that was killed, and has not ended, is left behind.

A process in a call of a driver that hangs may not end. It would keep the others waiting. A choice.
"""

BACKLOG = 8 << 20
"""Maximum number of bytes that wait for the controller; if more bytes wait, the burn-in is stopped."""

PEERS = "peers"
"""Name of the child process that copies between GPUs; no record has this name."""

PlanDict = Dict[str, Any]
Work = Callable[[Any, threading.Event], None]


class Supervisor:
    """Runs a plan.

    `carried` has the kernels and the source of pynvml; `source` and `out` are the file descriptors of input and output.
    """

    def __init__(self, plan: PlanDict, carried: Dict[str, Any], began: float, out: int, source: int) -> None:
        self.plan, self.carried, self.began = plan, carried, began
        self.out, self.source = out, source
        self.children: Dict[str, Child] = {}
        self.backlog = b""
        self.last = self.heard = time.monotonic()
        self.ending = ""
        self.known, self.slow = False, ""
        self.listing = GpuListing(plan, self.clock)
        self.parts: Dict[int, Dict[str, str]] = {}
        self.turns, self.quiet = GpuTurns(plan, (), 0, self.emit, self.clock), GpuQuiet()
        self.tools = list(plan["tools"])
        self.base = plan["start"]
        self.woken, self.waker = os.pipe()
        self.killings = oom_kills(plan.get("root", ""))

    def clock(self) -> float:
        """Return the seconds since the burn-in began."""
        return time.monotonic() - self.began

    # -- the output --------------------------------------------------------------------------------------------------

    def emit(self, kind: str, **fields: Any) -> None:
        """Write one of the supervisor's own records."""
        record = dict(fields, k=kind, t=round(self.clock(), 3))
        self.pass_on((json.dumps(record, separators=(",", ":")) + "\n").encode("ascii"))

    def pass_on(self, data: bytes) -> None:
        """Queue bytes for the controller, and write as many as it accepts without waiting."""
        self.backlog += data
        self.last = time.monotonic()
        self.flush()

    def flush(self) -> None:
        """Write as much as the controller accepts, without blocking."""
        while self.backlog:
            try:
                self.backlog = self.backlog[os.write(self.out, self.backlog) :]
            except BlockingIOError:
                if len(self.backlog) > BACKLOG:
                    self.abort("the controller does not read the output")
                return
            except OSError:
                self.backlog = b""
                self.abort("the connection was cut")
                return

    # -- children -----------------------------------------------------------------------------------------------------

    def start(self, name: str, work: Work) -> None:
        """Fork a child process that runs `work(line, stop)`: `line` is its output, `stop` is set to end it."""
        read, write = os.pipe()
        listen, control = os.pipe()
        pid = os.fork()
        if pid == 0:
            self.become(name, work, read, write, listen, control)
        os.close(write)
        os.close(listen)
        os.set_blocking(read, False)
        self.children[name] = Child(name, pid, read, control)

    def become(self, name: str, work: Work, read: int, write: int, listen: int, control: int) -> None:
        """Run as a child process; never returns."""
        code = 0
        try:
            os.setpgid(0, 0)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            for other in self.children.values():
                os.close(other.out)
                if not other.terminated_at:
                    os.close(other.control)
            for mine in (read, control, self.woken, self.waker):
                os.close(mine)
            die_with_parent()
            stop = StopEvent()
            orders = Orders(stop)
            watch = threading.Thread(target=orders.listen, args=(listen,))
            watch.daemon = True
            watch.start()
            line = RecordStream(write, self.began, orders)
            try:
                work(line, stop)
            except BaseException as error:  # noqa: BLE001  a worker's failure is a record, and affects no other worker
                message = f"{type(error).__name__}: {error}"
                if name == PEERS:
                    line.ask(crash=message[:200])
                else:
                    line.emit("error", of=name, stage="", name="crash", said=message[:200])
                code = 1
        except BaseException:  # noqa: BLE001  nothing receives a record any more
            code = 1
        finally:
            os._exit(code)

    def hear(self, child: "Child") -> None:
        """Read a child's output; a line that begins with `!` is a message for the supervisor."""
        try:
            data = os.read(child.out, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self.bury(child)
            return
        lines = (child.rest + data).split(b"\n")
        child.rest = lines.pop()
        if len(child.rest) > 1 << 20:
            child.rest = b""
        whole = [line for line in lines if line[:1] != b"!"]
        if whole:
            self.pass_on(b"\n".join(whole) + b"\n")
        for line in lines:
            if line[:1] == b"!":
                self.obey(json.loads(line[1:].decode("ascii")))

    def obey(self, word: Dict[str, Any]) -> None:
        """Handle a message of a child.

        The sampler sends its progress, the list of GPUs, or a GPU that must stop: it is too hot, or it cannot be read
        any more whether it is. The other messages are those of gpu_turns.py.
        """
        if "doing" in word:
            self.listing.progress(word["doing"], word["index"])
        elif "gpus" in word:
            self.known = True
            self.listing.done()
            alone = self.slow or ("" if self.stages("gpu") else "not used: the plan has no work for GPUs")
            self.parts = gpu_parts(word["gpus"], dict.fromkeys(word["gpus"], alone) if alone else word["refused"])
            for index in sorted(self.parts):
                why = self.parts[index]["refused"]
                if why:
                    self.refuse(index, why)
                elif not self.ending:
                    self.start(f"gpu/{index}", gpu_work(self.load(), index))
            usable = [index for index in self.parts if not self.parts[index]["refused"]]
            links = sum(stage["stage"] == "links" for stage in self.stages("gpu"))
            self.turns = GpuTurns(self.plan, usable, links, self.emit, self.clock)
            if self.turns.needed and not self.ending:
                self.start(PEERS, peers_work(self.load(), sorted(self.turns.out)))
        elif "hot" in word:
            self.end_load(int(word["hot"]), "", "stopped: the GPU is too hot")
        elif "unguarded" in word:
            self.end_load(int(word["unguarded"]), word["why"], word["why"])
        elif word.get("turn") == "started":
            self.listing.started(word["late"])
        elif not self.quiet.received(word):
            self.turns.received(word)
            if word.get("ends") and PEERS in self.children:
                self.children[PEERS].stop()  # it may be stuck in the driver

    def end_load(self, index: int, why: str, left: str) -> None:
        """Stop the load of one GPU for the reason `why`, and copy no more to or from it for the reason `left`."""
        if f"gpu/{index}" in self.children:
            self.children[f"gpu/{index}"].stop(why)
        if self.turns.leave_out(index, left) and PEERS in self.children:
            self.turns.stopped()
            self.children[PEERS].stop()

    def take_turns(self) -> None:
        """Let the GPUs' processes wait while another process copies between the GPUs."""
        alive = {int(name[4:]) for name in self.children if name.startswith("gpu/")}
        for what, given in self.quiet.step(alive, "node" in self.children):
            if what == "copy":
                for index, request in given.items():
                    self.children[f"gpu/{index}"].order({"quiet": request})
            elif "node" in self.children:
                self.children["node"].order({"quiet": given})
        for what, given in self.turns.step(alive, PEERS in self.children):
            if what == "start":
                self.start(PEERS, peers_work(self.load(), sorted(self.turns.out)))
            elif what in ("copy", "end"):
                self.children[PEERS].order(given if what == "copy" else {"end": True})
            elif what == "stop":
                self.children[PEERS].stop()
            else:
                for index in given:
                    if index in alive:
                        self.children[f"gpu/{index}"].order({})

    def load(self) -> "GpuLoad":
        """Return what the processes of the GPUs need."""
        times = {"deadline": self.listing.deadline, "latest": self.listing.latest, "ready": self.listing.ready}
        return GpuLoad(dict(self.plan, **times), self.base, self.parts, self.carried["gpu"])

    def refuse(self, index: int, why: str) -> None:
        """Report every stage of a refused GPU as not tested."""
        for stage in self.stages("gpu") or [{"stage": name} for name in ("memory", "tensor", "scalar", "links")]:
            self.emit("stage", of=f"gpu/{index}", stage=stage["stage"], test="", status="not tested", why=why)

    def stages(self, of: str) -> List[Dict[str, Any]]:
        """Return the plan's stages for a kind of part."""
        return [stage for stage in self.plan["stages"] if stage["of"] == of]

    def bury(self, child: "Child") -> None:
        """Close the pipes of a child that ended, and kill the processes that it started; report a crash."""
        del self.children[child.name]
        os.close(child.out)
        if not child.terminated_at:
            os.close(child.control)
        child.kill()  # this also ends the processes that it started
        _, status = os.waitpid(child.pid, 0)
        message = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended"
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and not child.terminated_at
        why = self.no_memory() if killed else ""
        if child.name == PEERS:
            if killed:
                self.turns.killed(why or "lost: another process killed the process that copies between GPUs")
            self.turns.ended(message)
        elif why:
            self.untested(child.name, why)
        elif os.WIFSIGNALED(status) and not child.terminated_at:
            self.emit("error", of=child.name, stage="", name="crash", said=message)
        if child.name == "telemetry" and not child.terminated_at:
            self.unguarded(message)

    def no_memory(self) -> str:
        """Return why a child was killed, if the kernel killed a process for lack of memory since the last time."""
        before, self.killings = self.killings, oom_kills(self.plan.get("root", ""))
        return "no memory: the kernel killed the process that tests this part" if self.killings > before else ""

    def untested(self, name: str, why: str) -> None:
        """Report all stages of a child that the kernel killed for lack of memory as not tested."""
        if name.startswith("gpu/"):
            self.refuse(int(name[4:]), why)
        for stage in self.stages("cpu") if name == "node" else []:
            self.emit("stage", of="node", stage=stage["stage"], test="", status="not tested", why=why)
        # Without its samples, GPUs may be missing from the list.
        of = "node" if name == "telemetry" else "cpu" if name == "node" else name
        self.emit("about", troubles=[{"of": of, "why": f"{why}: the process of {name}"}])

    def unguarded(self, message: str) -> None:
        """Stop the load of the GPUs, because no process reads their temperatures any more."""
        guarded = [one for one in self.children.values() if one.name.startswith("gpu/") or one.name == PEERS]
        if guarded and not self.ending:
            why = f"lost: the process that samples the GPUs {message}; their load was stopped"
            self.emit("about", troubles=[{"of": "node", "why": why}])
        for one in guarded:
            one.stop()

    def leave_behind(self, child: "Child") -> None:
        """Go on without a child that was killed and has not ended; the kernel ends it when its call returns."""
        del self.children[child.name]
        os.close(child.out)
        why = "it did not end when killed"
        if child.name == PEERS:
            self.turns.ended(why)
        self.emit("about", troubles=[{"of": "node", "why": f"hang: the process of {child.name}: {why}"}])

    # -- the loop -----------------------------------------------------------------------------------------------------

    def abort(self, why: str) -> None:
        """Stop all children for the reason `why`; later reasons are ignored."""
        self.ending = self.ending or why
        for child in self.children.values():
            child.stop()

    def begin(self) -> None:
        """Send the first record, and start the child processes that run from the beginning of the plan."""
        plan, carried = self.plan, self.carried
        version = ".".join(map(str, sys.version_info[:3]))
        self.emit(
            "hello", wire=plan["wire"], time=round(time.time(), 3), python=version, machine=platform.machine(),
            tier=plan["tier"], seed=plan["seed"], version=plan.get("version", ""),
        )  # fmt: skip
        base, cpu = self.base, self.stages("cpu")

        def compute(line: Any, stop: threading.Event) -> None:
            library = carried["cpu"].get(platform.machine())
            worker = Cpu(line.emit, line.clock, stop, library, plan["seed"], root=plan.get("root", ""))
            worker.quiet = CpuQuiet(line.clock, lambda request: line.ask(quiet=request))
            line.orders.each(worker.quiet.order)
            line.emit("about", **worker.hello())
            worker.run([dict(s, **{"from": s["from"] + base, "until": s["until"] + base}) for s in cpu])

        def watch(line: Any, stop: threading.Event) -> None:
            sample(line, stop, carried["nvml"], bool(self.stages("gpu")), plan.get("root", ""))

        def scratch(line: Any, stop: threading.Event) -> None:
            named = plan["scratch"]
            work = DiskWork(line.emit, line.clock, stop, named["path"], plan["seed"])
            work.run(named["size"], base + max(stage["until"] for stage in plan["stages"]))

        self.start("telemetry", watch)
        if plan.get("scratch"):
            self.start("disk", scratch)
        self.start("node", compute)

    def run(self) -> bool:
        """Run the plan to its end; return whether it was completed."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        os.set_blocking(self.waker, False)
        signal.set_wakeup_fd(self.waker)
        self.begin()
        lifeline = self.plan["line"] == "stdin"
        while self.children:
            self.go_on()
            inputs = [c.out for c in self.children.values()] + [self.woken] + ([self.source] if lifeline else [])
            ready, _, _ = select.select(inputs, [self.out] if self.backlog else [], [], LOOP)
            self.flush()
            for child in list(self.children.values()):
                if child.out in ready:
                    self.hear(child)
            if self.woken in ready:
                os.read(self.woken, 64)
                self.abort("stopped by a signal")
            if lifeline and self.source in ready:
                if not os.read(self.source, 4096):
                    lifeline = False
                    self.abort("the connection was closed")
                self.heard = time.monotonic()
            self.look(lifeline)
            if not self.ending:
                self.take_turns()
        self.turns.close("stopped")
        self.emit("verdict", status="stopped" if self.ending else "whole", why=self.ending)
        until = time.monotonic() + 2.0
        while self.backlog and time.monotonic() < until:
            select.select([], [self.out], [], 0.05)
            self.flush()
        return not self.ending

    def go_on(self) -> None:
        """Handle GPUs that are not listed in time; run the tools after the load, and then stop the sampler."""
        if not self.known and (self.listing.late() or "telemetry" not in self.children):
            self.known = True
            if self.stages("gpu"):
                self.unlisted()
        if not self.known or set(self.children) - {"telemetry"}:
            return
        if self.tools and not self.ending:
            names, until, parts = self.tools, self.listing.deadline, self.parts
            self.tools = []
            self.start("tools", lambda line, stop: run_tools(names, line.emit, line.clock, stop, until, parts=parts))
        elif "telemetry" in self.children:
            self.children["telemetry"].stop()

    def unlisted(self) -> None:
        """Report why the GPUs are not tested: the driver starts slowly, or hangs at one GPU, or the sampler ended."""
        of, self.slow = self.listing.why()
        if self.ending:
            self.slow = f"stopped: {self.ending}"
        elif "telemetry" not in self.children:
            self.slow = "lost: the process that lists the GPUs ended"
        elif of:
            self.emit("error", of=of, stage="", name="hang", said=self.slow.partition(": ")[2])
        self.emit("about", troubles=[{"of": "node", "why": self.slow}])

    def look(self, lifeline: bool) -> None:
        """Check all time limits: keep-alives, the connection, the deadline, and children that must end."""
        now = time.monotonic()
        if now - self.last > BEAT:
            self.emit("beat")
        if lifeline and now - self.heard > self.plan["pulse"]:
            self.abort("the connection is silent")
        if self.clock() > self.listing.deadline:
            self.abort("its time limit was reached")
        for child in list(self.children.values()):
            if child.terminated_at and now - child.terminated_at > GRACE and not child.killed:
                child.killed = True
                child.kill()
                known = child.name != PEERS and (child.name != "telemetry" or self.listing.listed)
                if not self.ending and known:  # to release the contexts of many GPUs takes time, and is no fault
                    self.emit("error", of=child.name, stage="", name="hang", said="it did not end when requested")
            elif child.killed and now - child.terminated_at > STUCK:
                self.leave_behind(child)
