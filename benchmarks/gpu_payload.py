"""Items of `make gpu-check` that run the whole payload as a node's login does: its latency, regularity and cost."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_work import PIECE, ROOT, SEED, Work, say

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = str(ROOT / "benchmarks" / "gpu_items.py")


def payload(plan: dict[str, Any], given: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the real payload, as a node's login does: its text on a pipe that stays open."""
    if not given["nvml"]:
        raise RuntimeError("pynvml is missing: make gpu-check-bundle includes it")
    sys.path.append(str(Path(given["nvml"]).parent))
    sys.path.append(str(ROOT))
    from rackcheck.burnin import pack  # noqa: PLC0415  only this item needs Python 3.11

    text = pack.payload(plan).encode()
    loader = [sys.executable, "-I", "-S", "-c", pack.LOADER.format(size=len(text))]
    process = subprocess.Popen(loader, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    return process


def whole_plan(given: dict[str, Any], *stages: tuple[str, float, float], deadline: float) -> dict[str, Any]:
    """Return a plan for a whole node, with GPUs only."""
    slots = [{"of": "gpu", "stage": stage, "from": begin, "until": until} for stage, begin, until in stages]
    return {
        "wire": 1, "tier": "smoke", "seed": SEED, "start": 0.0, "stages": slots, "tools": [], "step": 0.0,
        "ready": 8.0, "deadline": deadline, "line": "stdin", "pulse": 120.0, "root": given["root"],
        "hang": given["hang"],
    }  # fmt: skip


def heard(process: subprocess.Popen[bytes], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """Read records until a wanted one; None where there is none."""
    assert process.stdout is not None
    for row in process.stdout:
        record = json.loads(row)
        if wanted(record):
            return dict(record)
    return None


def quick(work: Work) -> None:
    """Measure the time to the payload's first verified product, and to the end of its load after its input closes."""
    own = f"gpu/{work.gpu}"
    began = time.monotonic()
    process = payload(whole_plan(work.given, ("tensor", 0.0, 0.05), deadline=60.0), work.given)
    first = heard(process, lambda record: record["k"] == "stage" and record["of"] == own)
    if first is not None and first["status"] == "done" and first["mismatches"] == 0:
        say(first=time.monotonic() - began)
    else:
        say(why_first=str((first or {}).get("why", "the payload reported no product")))
    took = time.monotonic() - began
    process.communicate(timeout=30)
    process = payload(whole_plan(work.given, ("tensor", 0.0, 40.0), deadline=60.0), work.given)
    at_work = heard(process, lambda record: record["k"] == "sample" and record["of"] == own)
    # The load is stopped when it has run for a while, also on a machine that was slow to start it.
    time.sleep(max(3.0 * min(1.0, work.scale * 10), 2.0 * took))
    ended = time.monotonic()
    rest, _ = process.communicate(timeout=30)
    took = time.monotonic() - ended
    last = [json.loads(row) for row in rest.splitlines()]
    # A stopped stage reports its stop and the work done: a load that never ran would also end at once.
    loaded = [each for each in last if each.get("why") == "stopped" and each["of"] == own and each.get("work")]
    if at_work is not None and loaded:
        say(stop=took)
    else:
        value = next((each["why"] for each in last if each["k"] == "stage" and each.get("why")), "it reported nothing")
        say(why_stop=f"there was no load to stop: {value}")


class Line:
    """Keeps a sampler's records in memory."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.records: list[dict[str, Any]] = []
        self.begun: tuple[float, float] | None = None

    def emit(self, kind: str, **fields: Any) -> None:
        """Keep a record."""
        self.records.append({"t": round(self.clock(), 3), "k": kind, **fields})

    def ask(self, **_: Any) -> None:
        """Record when the sampling begins: its first request is for the list of GPUs."""
        if self.begun is None:
            self.begun = (time.process_time(), self.clock())


def sampler(work: Work) -> None:
    """Run the sampler alone for some seconds, and return its share of a core."""
    line = Line(work.clock)
    threading.Timer(work.given["seconds"], work.stop.set).start()
    work.node.sample(line, work.stop, Path(work.given["nvml"]).read_bytes(), False, work.given["root"])
    if line.begun is not None:
        used, took = time.process_time() - line.begun[0], work.clock() - line.begun[1]
        say(core_share=used / took, samples=len(line.records))


def trace(work: Work) -> None:
    """Store NVML's samples of a smoke run, and their regularity; then the cost of sampling, in core and in rate."""
    own = f"gpu/{work.gpu}"
    scale, at = work.scale, 0.0
    stages = []
    for stage, seconds in (("memory", 2.0), ("tensor", 5.0), ("scalar", 2.0), ("links", 3.0), ("together", 2.0)):
        stages.append((stage, at, at + seconds * scale))
        at += seconds * scale
    process = payload(whole_plan(work.given, *stages, deadline=60.0), work.given)
    assert process.stdout is not None
    records = [json.loads(row) for row in process.stdout]
    process.wait(30)
    rows = [each for each in records if each["k"] == "sample" and each["of"] == own]
    say(trace=[{key: value for key, value in row.items() if key not in ("k", "of")} for row in rows])
    say(verdict=[each.get("status") for each in records if each["k"] == "verdict"])
    say(errors=[each for each in records if each["k"] == "error" and each.get("name") != "xid"][:20])
    times = [row["t"] for row in rows]
    gaps = sorted(abs(later - earlier - 0.1) for earlier, later in zip(times, times[1:]))  # noqa: B905, RUF007
    gaps = gaps[:-1]  # the last row comes at the end, whenever that is
    if gaps:
        say(jitter_p50=gaps[len(gaps) // 2], jitter_p99=gaps[min(len(gaps) - 1, int(len(gaps) * 0.99))])
    beside(work)


def beside(work: Work) -> None:
    """Multiply tiles with and without a sampler, alternating: it is paused and resumed."""
    bench = work.bench(work.driver())
    piece = PIECE * min(1.0, work.scale * 4)
    seconds = work.turns * piece * 4 + 20.0
    words = [sys.executable, ITEMS, "sampler", json.dumps({**work.given, "seconds": seconds})]
    other = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    kept: dict[bool, list[float]] = {True: [], False: []}
    try:
        time.sleep(2.0 * min(1.0, work.scale * 10))
        for turn in range(-1, work.turns):
            for on in (True, False) if turn % 2 else (False, True):
                other.send_signal(signal.SIGCONT if on else signal.SIGSTOP)
                rate = work.tensor(bench, piece)
                if turn >= 0:
                    kept[on].append(rate)
    finally:
        other.kill()
        other.wait()
    say(rate_loss=1.0 - statistics.median(kept[True]) / statistics.median(kept[False]), turns=work.turns)
    alone = {**work.given, "seconds": 10.0 * min(1.0, work.scale * 2)}
    words = [sys.executable, ITEMS, "sampler", json.dumps(alone)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60)  # noqa: S603
    say(core_share=json.loads(done.stdout.splitlines()[-1])["core_share"])
