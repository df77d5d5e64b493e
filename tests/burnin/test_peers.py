"""Copies between GPUs: one process keeps all contexts, the pairs are in rounds, and a bad pair spoils no other pair."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest
from burn_nodes import Node, libraries
from joined import joined, source
from payloads import of_session

from rackcheck.model.burn_record import Burn, Stage
from rackcheck.model.capture import BurnCapture
from rackcheck.parse.burnin.readings import described

Record = dict[str, Any]
GPUS = 4
PAIRS = {f"peer/{a}-{b}" for a, b in permutations(range(GPUS), 2)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries(tmp_path_factory.mktemp("nvidia"))


@dataclass(frozen=True)
class Links:
    """A node whose GPUs copy; `log` are the contexts, modules and copies of all processes, in order."""

    node: Node
    patch: pytest.MonkeyPatch

    def burn(self, cuda: str = "", *stages: str, seconds: float = 0.05, **how: Any) -> Burn:
        slots = [{"of": "gpu", "stage": stage, "from": 0.0, "until": 0.0} for stage in stages or ("links",)]
        self.patch.setenv("FAKE_CUDA_COPIED", str(self.node.folder / "copied"))
        found = self.node.burn(cuda=cuda, seconds=seconds, stages=slots, **{"deadline": 40.0, "round": 0.05, **how})
        found.end(60)
        assert found.process.stderr is not None
        assert found.process.stderr.read() == b""
        burn = BurnCapture(tuple(found.records)).burn
        assert (burn.unread, burn.whole) == (0, True), (burn.odd, burn.why)
        assert of_session(found.process.pid) == []
        return burn

    def log(self) -> list[tuple[int, str, int, int]]:
        file = self.node.folder / "copied"
        rows = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        return [(int(pid), what, int(a), int(b)) for pid, what, a, b in rows]


@pytest.fixture
def links(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Links:
    return Links(Node(built, tmp_path, gpus=GPUS), monkeypatch)


def copies(burn: Burn) -> dict[str, Stage]:
    return {stage.of: stage for stage in burn.stages if stage.kind == "peer"}


def done(burn: Burn) -> set[str]:
    return {of for of, stage in copies(burn).items() if stage.done}


# -- one process, and rounds -------------------------------------------------------------------------------------------


def test_one_process_opens_each_gpu_once_and_makes_all_copies_of_all_stages(links: Links) -> None:
    burn = links.burn("speed=1000", "links", "scalar", "links")
    assert burn.faults == ()
    assert done(burn) == PAIRS
    assert len([stage for stage in burn.stages if stage.kind == "peer" and stage.done]) == 2 * len(PAIRS)
    assert {(stage.number("mismatches"), stage.number("direct")) for stage in copies(burn).values()} == {(0, 1.0)}
    log = links.log()
    (process,) = {pid for pid, what, _, _ in log if what == "copy"}
    for what in ("context", "module"):
        assert sorted(gpu for pid, kind, gpu, _ in log if (pid, kind) == (process, what)) == list(range(GPUS))
    assert {f"peer/{a}-{b}" for _, what, a, b in log if what == "copy"} == PAIRS


def test_no_gpu_is_in_two_pairs_at_the_same_time_and_both_directions_are(links: Links) -> None:
    links.burn("speed=1000")
    log = [(a, b) for _, what, a, b in links.log() if what == "copy"]
    spans: dict[frozenset[int], tuple[int, int]] = {}
    for at, way in enumerate(log):
        spans[frozenset(way)] = (spans.get(frozenset(way), (at, at))[0], at)
    assert len(spans) == GPUS * (GPUS - 1) // 2
    overlap = [
        (one, other)
        for one, other in combinations(spans, 2)
        if spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
    ]
    assert [pairs for pairs in overlap if pairs[0] & pairs[1]] == []
    assert len(overlap) == GPUS - 1  # the two pairs of each round
    for pair, (first, last) in spans.items():
        a, b = sorted(pair)
        between = log[first : last + 1]
        assert between.index((b, a)) < len(between) - 1 - between[::-1].index((a, b))


def test_each_pair_of_ten_gpus_is_direct_although_a_gpu_has_access_to_eight_at_most(
    built: Path, tmp_path: Path
) -> None:
    burn = Links(Node(built, tmp_path, gpus=10), pytest.MonkeyPatch()).burn(
        "speed=1000", warm=0.0, wait=60.0, peers=60.0
    )
    assert burn.faults == ()
    assert len(done(burn)) == 90
    assert {stage.number("direct") for stage in copies(burn).values()} == {1.0}


def test_after_the_copies_the_gpus_go_on_one_after_the_other(links: Links) -> None:
    burn = links.burn("speed=1000", "links", "scalar", step=0.3)
    copied = max(stage.t for stage in copies(burn).values())
    for gpu in range(GPUS):
        begun = [stage.number("from") or 0 for stage in burn.of_stage("scalar", f"gpu/{gpu}")]
        assert min(begun) >= copied + 0.3 * gpu - 0.01


# -- what is measured --------------------------------------------------------------------------------------------------


def rates(burn: Burn) -> dict[tuple[str, str], Stage]:
    return {(stage.of, stage.test): stage for stage in burn.stages if stage.stage == "links"}


def test_each_rate_comes_from_half_a_second_of_copies_without_the_first(links: Links) -> None:
    burn = links.burn("speed=1000 cold=3", warm=0.5, seconds=0.01, wait=30.0, peers=30.0)
    found = rates(burn)
    assert set(found) == {*((f"gpu/{n}", test) for n in range(GPUS) for test in ("h2d", "d2h", "both")),
                          *((of, "copy") for of in PAIRS)}  # fmt: skip
    for (of, test), stage in found.items():
        assert stage.done, (of, test)
        assert (stage.number("seconds") or 0) >= 0.5, (of, test)
        whole = 2e9 if test == "both" else 1e9  # a first copy of 3 s, if it were measured, would leave a seventh
        assert stage.number("rate") == pytest.approx(whole, rel=1e-3), (of, test)


def test_a_driver_that_compiles_for_two_seconds_measures_as_long_as_one_that_does_not(links: Links) -> None:
    two, stages = Links(replace(links.node, gpus=2), links.patch), ("scalar", "links")
    with_jit = two.burn("cc=100 speed=1000 jit=2", *stages, seconds=0.01, warm=0.3)
    without = two.burn("cc=100 speed=1000", *stages, seconds=0.01, warm=0.3)
    assert done(with_jit) == {"peer/0-1", "peer/1-0"}
    seconds = {key: stage.number("seconds") for key, stage in rates(with_jit).items()}
    assert seconds == {key: stage.number("seconds") for key, stage in rates(without).items()}
    begun = [stage.number("from") or 0 for stage in with_jit.stages if stage.stage == "scalar"]
    assert min(begun) >= 2.0


def test_a_stage_after_two_seconds_of_compiling_has_its_whole_time(links: Links) -> None:
    burn = Links(replace(links.node, gpus=2), links.patch).burn("cc=100 jit=2", "memory", "scalar", seconds=0.4)
    assert {stage.word("code") for stage in burn.stages if stage.word("code")} == {"ptx"}
    for stage in burn.stages:
        if stage.kind == "gpu":
            assert stage.done
            assert stage.t - (stage.number("from") or 0) >= 0.3


# -- a bad pair --------------------------------------------------------------------------------------------------------


def test_a_pair_that_is_not_direct_is_named_and_the_other_pairs_are_direct(links: Links) -> None:
    found = copies(links.burn("speed=1000 far=1:3"))
    assert {of for of, stage in found.items() if stage.number("direct") == 0} == {"peer/1-3", "peer/3-1"}
    slow = {of for of, stage in found.items() if (stage.number("rate") or 0) < 0.5e9}
    assert slow == {"peer/1-3", "peer/3-1"}
    assert {of for of, stage in found.items() if stage.done} == PAIRS


def test_a_pair_whose_data_is_wrong_is_named_in_its_direction_and_loses_no_result(links: Links) -> None:
    burn = links.burn("speed=1000 peer=0:2")
    assert {(fault.of, fault.name, fault.number("bits")) for fault in burn.faults} == {("peer/0-2", "mismatch", 1)}
    assert done(burn) == PAIRS
    wrong = {of: stage.number("mismatches") for of, stage in copies(burn).items()}
    assert (wrong.pop("peer/0-2") or 0) > 0
    assert set(wrong.values()) == {0}


BROKEN = {
    "peer_hang=1:2": ("hang", "a copy to GPU 2 on GPU 1 did not complete within 2.5 s (from gpu/1 to gpu/2)"),
    "peer_stall=1:2": ("hang", "cuMemcpyPeerAsync did not complete within 2.5 s (from gpu/1 to gpu/2)"),
    "peer_fault=1:2:719": ("cuda", "cuMemcpyPeerAsync: code 719"),
    "peer_crash=1:2": ("crash", "ended by signal 11"),
}


@pytest.mark.parametrize("state", BROKEN)
def test_a_pair_that_breaks_is_named_with_both_gpus_and_no_other_pair_is_lost(links: Links, state: str) -> None:
    name, said = BROKEN[state]
    burn = links.burn(f"speed=1000 {state}", "links", "scalar", hang=2.5)  # sound copies on a loaded machine are slow
    (fault,) = burn.faults
    assert (fault.name, fault.word("stage")) == (name, "links")
    assert fault.of in ({"peer/1-2", "peer/2-1"} if name == "crash" else {"peer/1-2"})
    assert fault.word("said").startswith(said)
    text = described(fault, burn)
    assert all(f"serial number {1650000000000 + gpu} " in text for gpu in (1, 2))
    assert not any(f"serial number {1650000000000 + gpu} " in text for gpu in (0, 3))
    assert done(burn) == PAIRS - {"peer/1-2", "peer/2-1"}
    untested = {of: stage for of, stage in copies(burn).items() if not stage.done}
    assert set(untested) == {"peer/1-2", "peer/2-1"}
    assert {stage.of for stage in burn.stages if stage.stage == "scalar" and stage.done} == {
        f"gpu/{n}" for n in range(GPUS)
    }


def killed(links: Links, oom: bool) -> Burn:
    """Kill the process that copies during a copy, as the kernel does without memory, or as a user does."""
    slots = [{"of": "gpu", "stage": stage, "from": 0.0, "until": 0.0} for stage in ("links", "scalar")]
    links.patch.setenv("FAKE_CUDA_COPIED", str(links.node.folder / "copied"))
    vmstat = links.node.folder / "root" / "proc" / "vmstat"
    vmstat.parent.mkdir(parents=True)
    vmstat.write_text("pgfault 1\noom_kill 3\n")
    found = links.node.burn(cuda="speed=1000 peer_stall=0:3", seconds=0.05, stages=slots, deadline=60.0, hang=60.0)
    end = time.monotonic() + 60
    while not [row for row in links.log() if row[1:] == ("copy", 0, 3)]:
        assert time.monotonic() < end
        found.read(0.1)
    vmstat.write_text(f"pgfault 1\noom_kill {4 if oom else 3}\n")
    os.kill(next(row[0] for row in links.log() if row[1:] == ("copy", 0, 3)), signal.SIGKILL)
    found.end(60)
    return BurnCapture(tuple(found.records)).burn


@pytest.mark.parametrize(
    ("oom", "why"),
    [
        (True, "no memory: the kernel killed the process that tests this part"),
        (False, "lost: another process killed the process that copies between GPUs"),
    ],
)
def test_a_process_that_the_kernel_kills_for_memory_is_no_fault_of_a_pair(links: Links, oom: bool, why: str) -> None:
    burn = killed(links, oom)
    assert burn.whole
    assert burn.faults == ()
    untested = {of: stage.why for of, stage in copies(burn).items() if not stage.done}
    assert {"peer/0-3", "peer/3-0"} <= set(untested)
    assert set(untested.values()) == {why}
    assert {stage.of for stage in burn.stages if stage.stage == "scalar" and stage.done} == {
        f"gpu/{n}" for n in range(GPUS)
    }


def test_one_of_two_copies_that_both_hang_is_named_only_after_it_hung_alone(links: Links) -> None:
    """A call that blocks also stops the other pair of its round: that pair is copied afterwards, and is sound."""
    burn = links.burn("speed=1000 peer_stall=1:2", hang=0.8)
    assert {(fault.of, fault.name) for fault in burn.faults} == {("peer/1-2", "hang")}
    hung = [row for row in links.log() if row[1:] == ("copy", 1, 2)]
    assert len({pid for pid, *_ in hung}) == 2, "in a round of two pairs, and then alone"
    assert {"peer/0-3", "peer/3-0"} <= done(burn)


def test_copies_that_hang_only_beside_others_name_no_pair() -> None:
    turns = Turns(4)
    turns.waits(0, 1, 2, 3)
    turns.step()
    turns.turns.received({"round": [[0, 3], [1, 2]]})
    turns.turns.received({"hung": "a copy did not complete within 5 s"})
    turns.turns.ended("ended")
    assert turns.rows == []
    assert turns.step(running=False) == {"start": []}
    ((rounds,),) = [[order["rounds"]] for order in turns.step().values()]
    assert all(len(pairs) == 1 for pairs in rounds)
    for pairs in rounds:
        turns.copied(*pairs)
    turns.step()
    assert [(row["of"], row["name"]) for row in turns.rows if row["k"] == "error"] == [("node", "hang")]
    assert turns.untested() == {}


def test_a_gpu_that_disappears_during_the_copies_loses_its_own_pairs_only(links: Links) -> None:
    burn = links.burn("vanish=0:3:999", "links", "scalar")
    assert {(fault.of, fault.name) for fault in burn.faults} == {("peer/0-3", "lost"), ("gpu/3", "lost")}
    lost = {of for of in PAIRS if "3" in of}
    assert done(burn) == PAIRS - lost
    assert {of for of, stage in copies(burn).items() if not stage.done} == lost
    assert {stage.of for stage in burn.stages if stage.stage == "scalar" and stage.done} == {"gpu/0", "gpu/1", "gpu/2"}


def test_a_gpu_that_is_lost_before_the_copies_is_in_no_pair_and_the_others_are_copied(links: Links) -> None:
    burn = links.burn("lost=2:1:999", "scalar", "links")
    lost = {of for of in PAIRS if "2" in of}
    assert {fault.of for fault in burn.faults} == {"gpu/2"}
    assert done(burn) == PAIRS - lost
    assert {copies(burn)[of].why for of in lost} == {"lost: gpu/2 was not tested any further"}


def test_a_stop_during_a_copy_that_hangs_ends_all_processes_and_reports_the_pairs_as_stopped(links: Links) -> None:
    slots = [{"of": "gpu", "stage": "links", "from": 0.0, "until": 0.0}]
    links.patch.setenv("FAKE_CUDA_COPIED", str(links.node.folder / "copied"))
    found = links.node.burn(cuda="speed=1000 peer_stall=0:3", seconds=0.05, stages=slots, deadline=200.0, hang=60.0)
    end = time.monotonic() + 60
    while not [row for row in links.log() if row[1:] == ("copy", 0, 3)]:
        assert time.monotonic() < end
        found.read(0.1)
    assert found.process.stdin is not None
    found.process.stdin.close()
    found.end(30)
    assert of_session(found.process.pid) == []
    burn = BurnCapture(tuple(found.records)).burn
    assert (burn.ended, burn.why) == ("stopped", "the connection was closed")
    assert {copies(burn)[of].why for of in ("peer/0-3", "peer/3-0")} == {"stopped"}
    assert burn.faults == ()


# -- the process alone -------------------------------------------------------------------------------------------------

ALONE = """
import json, sys, threading, time
exec(compile(sys.stdin.read(), "payload", "exec"))
orders = json.loads(sys.argv[2])
def send(kind="message", **fields):
    sys.stdout.write(json.dumps(dict(fields, k=kind)) + "\\n")
    sys.stdout.flush()
def order(seconds):
    send("waits", ends=seconds < 9)
    return orders.pop(0)
blobs = {"ptx": b"ptx"}
plan = {"seed": 7, "warm": 0.0}
gpu_peers_child(plan, send, time.monotonic, threading.Event(), blobs, {}, send, order, sys.argv[1])
"""


def alone(built: Path, folder: Path, state: str, *orders: Mapping[str, Any]) -> list[Record]:
    """Run the process that copies, with these orders; return its records and messages."""
    (folder / "state").write_text(state.replace(" ", "\n") + "\n")
    words = ["cuda", "gpu_parts", "gpu_truth", "gpu_bench", "gpu_links", "gpu", "gpu_peers"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(built / "libcuda.so.1"), json.dumps(orders)], input=source(*words),
        env={**os.environ, "FAKE_CUDA_STATE": str(folder / "state")}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


COPY: Record = {"rounds": [[[0, 1]], [[0, 2]], [[1, 2]]], "until": 0.0}


@pytest.mark.parametrize("times", [1, 2])
def test_a_gpu_whose_memory_is_being_tested_is_opened_later(built: Path, tmp_path: Path, times: int) -> None:
    rows = alone(built, tmp_path, f"gpus=3 full=1:{times}", *[{}] * (times - 1), COPY, {"end": True})
    assert [row["pair"] for row in rows if "pair" in row] == [[0, 1], [0, 2], [1, 2]]
    assert not [row for row in rows if "out" in row]
    assert [row["ends"] for row in rows if row["k"] == "waits"] == [True] * times + [False]


def test_a_gpu_without_memory_when_the_copies_begin_is_left_out_with_this_reason(built: Path, tmp_path: Path) -> None:
    rows = alone(built, tmp_path, "gpus=3 full=1:9", COPY, {"end": True})
    ((out, why),) = [(row["out"], row["why"]) for row in rows if "out" in row]
    assert (out, why.partition(":")[0]) == (1, "no memory")
    assert [row["pair"] for row in rows if "pair" in row] == [[0, 2]]


@pytest.mark.parametrize("name", ["child", "gpu_links", "gpu_peers", "gpu_quiet", "gpu_turns", "gpu_work", "wire"])
def test_the_node_may_have_python_3_6(name: str) -> None:
    ast.parse(source(name), feature_version=(3, 6))


# -- whose turn it is --------------------------------------------------------------------------------------------------

node_side = joined("gpu_truth", "gpu_bench", "gpu_turns")


@dataclass
class Turns:
    """The supervisor's part in the turns, by a clock of its own."""

    gpus: int
    stages: int = 1
    now: float = 0.0
    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        plan = {"warm": 0.5, "wait": 10.0, "peers": 15.0}
        self.alive = set(range(self.gpus))
        self.turns = node_side.GpuTurns(plan, self.alive, self.stages, self.emit, self.clock)

    def emit(self, kind: str, **fields: Any) -> None:
        self.rows.append({"k": kind, **fields})

    def clock(self) -> float:
        return self.now

    def waits(self, *gpus: int, until: float = 3.0) -> None:
        for gpu in gpus:
            self.turns.received({"turn": "links", "index": gpu, "until": until})

    def step(self, running: bool = True) -> dict[str, Any]:
        return dict(self.turns.step(self.alive, running))

    def copied(self, *pairs: tuple[int, int]) -> None:
        for pair in pairs:
            self.turns.received({"pair": list(pair)})

    def untested(self) -> dict[str, str]:
        return {row["of"]: row["why"] for row in self.rows if row["k"] == "stage"}


@pytest.mark.parametrize("gpus", [2, 3, 8, 16])
def test_when_all_gpus_wait_every_pair_is_ordered_once_and_then_all_go_on(gpus: int) -> None:
    turns = Turns(gpus)
    turns.waits(*range(gpus - 1))
    assert turns.step() == {}
    turns.waits(gpus - 1, until=2.0)
    order = turns.step()["copy"]
    met = [pair for pairs in order["rounds"] for pair in pairs]
    assert sorted(met) == list(combinations(range(gpus), 2))
    assert all(len({gpu for pair in pairs for gpu in pair}) == 2 * len(pairs) for pairs in order["rounds"])
    assert order["until"] == 2.0
    assert turns.step() == {}
    turns.copied(*met)
    assert turns.step() == {"go": list(range(gpus)), "end": None}
    assert turns.rows == []


def test_a_gpu_that_comes_too_late_is_in_no_pair_and_its_pairs_are_not_tested() -> None:
    turns = Turns(3)
    turns.waits(0, 1)
    turns.now = 10.1
    assert turns.step()["copy"]["rounds"] == [[(0, 1)]]
    why = "under-loaded: gpu/2 was not ready for copies in time"
    assert turns.untested() == dict.fromkeys(["peer/0-2", "peer/2-0", "peer/1-2", "peer/2-1"], why)
    turns.waits(2)
    assert turns.step() == {"go": [2]}
    turns.copied((0, 1))
    assert turns.step() == {"go": [0, 1], "end": None}


def test_a_gpu_that_cannot_run_the_kernels_is_no_partner_and_has_no_record() -> None:
    turns = Turns(3)
    turns.turns.received({"turn": "unable", "index": 2})
    turns.alive -= {2}
    turns.waits(0, 1)
    assert turns.step()["copy"]["rounds"] == [[(0, 1)]]
    assert turns.rows == []


def test_after_two_bad_pairs_a_gpu_is_left_out_and_its_partners_are_not() -> None:
    turns = Turns(4)
    turns.waits(*range(4))
    turns.step()
    for other in (0, 1):
        turns.turns.received({"pair": [other, 3], "why": "hang: x", "ends": True})
        turns.turns.ended("ended")
    order = turns.step(running=False)
    assert order == {"start": [3]}
    assert sorted(pair for pairs in turns.step()["copy"]["rounds"] for pair in pairs) == [(0, 1), (0, 2), (1, 2)]
    assert turns.untested()["peer/2-3"] == "lost: copies between gpu/3 and 2 other GPUs failed"
    assert set(turns.untested()) == {of for of in PAIRS if "3" in of}


def test_copies_that_do_not_end_in_time_are_not_tested_and_the_gpus_go_on() -> None:
    turns = Turns(2)
    turns.waits(0, 1)
    turns.step()
    turns.now = 3.0 + 15.0 + 2 * 0.5
    assert turns.step() == {}
    turns.now += 0.1
    assert turns.step() == {"stop": None, "go": [0, 1], "end": None}
    why = "under-loaded: the time limit of the copies was reached"
    assert turns.untested() == {"peer/0-1": why, "peer/1-0": why}


def test_a_gpu_that_gets_too_hot_stops_the_copies_only_while_it_copies() -> None:
    turns = Turns(4)
    turns.waits(*range(4))
    turns.step()
    turns.turns.received({"round": [[0, 1], [2, 3]]})
    turns.copied((0, 1))
    assert turns.turns.leave_out(0, "stopped: the GPU is too hot") is True  # later rounds of the order have it
    assert turns.turns.leave_out(3, "stopped: the GPU is too hot") is True
    turns.turns.stopped()
    turns.turns.ended("ended by signal 9")
    assert turns.step(running=False) == {"start": [0, 3]}
    assert turns.step()["copy"]["rounds"] == [[(1, 2)]]
    assert [row for row in turns.rows if row["k"] == "error"] == []


def test_a_gpu_that_gets_too_hot_after_its_last_copy_stops_no_other() -> None:
    turns = Turns(4)
    turns.waits(*range(4))
    turns.step()
    turns.turns.received({"round": [[0, 1], [2, 3]]})
    turns.copied((0, 1), (0, 2), (0, 3))
    turns.turns.received({"round": [[1, 2]]})
    assert turns.turns.leave_out(0, "stopped: the GPU is too hot") is False
    before = Turns(3)
    before.waits(0, 1, 2)
    assert before.turns.leave_out(0, "stopped: the GPU is too hot") is False  # nothing was ordered


@pytest.mark.parametrize("late", [False, True])
def test_a_gpu_whose_copies_were_not_quiet_is_in_no_pair_of_this_stage_and_in_all_of_the_next(late: bool) -> None:
    turns, why = Turns(3, stages=2), "contended: the load on the host's memory did not end before the copies"
    if not late:
        turns.turns.received({"skip": 2, "why": why})
        turns.waits(2)
    turns.waits(0, 1)
    turns.now = 10.1
    assert turns.step()["copy"]["rounds"] == [[(0, 1)]]
    missed = why if not late else "under-loaded: gpu/2 was not ready for copies in time"
    assert turns.untested() == dict.fromkeys(["peer/0-2", "peer/2-0", "peer/1-2", "peer/2-1"], missed)
    turns.copied((0, 1))
    assert turns.step() == {"go": [0, 1] if late else [0, 1, 2]}
    if late:  # its report belongs to the stage that the others have ended
        turns.turns.received({"skip": 2, "why": why})
        turns.waits(2)
        assert turns.step() == {"go": [2]}
    turns.rows.clear()
    turns.waits(0, 1, 2, until=63.0)
    assert sorted(pair for pairs in turns.step()["copy"]["rounds"] for pair in pairs) == [(0, 1), (0, 2), (1, 2)]
    assert turns.rows == []


def test_a_pair_that_failed_is_not_tried_again_in_a_later_stage() -> None:
    turns = Turns(3, stages=2)
    turns.waits(0, 1, 2)
    turns.step()
    turns.turns.received({"pair": [0, 1], "why": "hang: x", "ends": True})
    turns.turns.ended("ended")
    turns.step(running=False)
    turns.step()
    turns.copied((0, 2), (1, 2))
    assert turns.step() == {"go": [0, 1, 2]}
    turns.rows.clear()
    turns.waits(0, 1, 2, until=63.0)
    assert sorted(pair for pairs in turns.step()["copy"]["rounds"] for pair in pairs) == [(0, 2), (1, 2)]
    failed = "lost: a copy between these GPUs failed before"
    assert turns.untested() == {"peer/0-1": failed, "peer/1-0": failed}


def test_pairs_that_are_copied_one_by_one_have_time_for_each() -> None:
    turns = Turns(8)
    turns.waits(*range(8))
    turns.step()
    turns.turns.received({"round": [[0, 1], [2, 3]]})
    turns.turns.ended("ended by signal 9")
    turns.step(running=False)
    turns.now = 15.0 + 28 * 2 * 0.5
    assert list(turns.step()) == ["copy"]


def test_if_cuda_does_not_start_for_the_copies_their_pairs_are_not_tested() -> None:
    turns = Turns(2)
    turns.turns.received({"dead": "no driver: cuInit: code 999", "ends": True})
    turns.turns.ended("ended")
    turns.waits(0, 1)
    assert turns.step(running=False) == {"go": [0, 1]}
    assert turns.untested() == dict.fromkeys(["peer/0-1", "peer/1-0"], "no driver: cuInit: code 999")


def test_a_process_that_dies_twice_before_any_copy_is_not_started_again() -> None:
    turns = Turns(2)
    turns.waits(0, 1)
    assert turns.step(running=False) == {"start": []}
    turns.turns.ended("ended by signal 11")
    assert turns.step(running=False) == {"start": []}
    turns.turns.ended("ended by signal 11")
    assert turns.step(running=False) == {"go": [0, 1]}
    assert turns.untested() == dict.fromkeys(["peer/0-1", "peer/1-0"], "lost: ended by signal 11")
    assert [(row["of"], row["name"]) for row in turns.rows if row["k"] == "error"] == [("node", "crash")]


# -- a process that does not end ---------------------------------------------------------------------------------------

SUPERVISION = (
    "wire", "gpu_parts", "gpu_truth", "gpu_bench", "gpu_turns", "gpu_quiet", "node_files", "nvml_driver", "gpu_listing", "child",
)  # fmt: skip
supervision = joined(*SUPERVISION, "supervisor")


def test_a_process_that_a_kill_does_not_end_is_left_behind_and_named() -> None:
    (out, inlet), (read, write), (listen, control) = os.pipe(), os.pipe(), os.pipe()
    plan = {"start": 0.0, "deadline": 1e9, "ready": 8.0, "tools": [], "stages": [], "pulse": 1e9}
    supervisor = supervision.Supervisor(plan, {"gpu": {}}, time.monotonic(), inlet, listen)
    stuck = supervision.Child("gpu/3", 0, read, control)
    stuck.kill = lambda: None  # as in a call of the driver that cannot be interrupted
    supervisor.children["gpu/3"] = stuck
    stuck.stop()
    stuck.terminated_at -= 1.0
    supervisor.look(False)
    assert stuck.killed
    assert list(supervisor.children) == ["gpu/3"]
    stuck.terminated_at -= 10.0
    supervisor.look(False)
    assert supervisor.children == {}
    records = [json.loads(line) for line in os.read(out, 1 << 16).splitlines()]
    (about,) = (record for record in records if record["k"] == "about")
    assert about["troubles"] == [{"of": "node", "why": "hang: the process of gpu/3: it did not end when killed"}]
    for number in (out, inlet, write, listen, supervisor.woken, supervisor.waker):
        os.close(number)
