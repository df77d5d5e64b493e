"""Copies of GPUs and the load on the host's memory: never at the same time, however late the driver starts."""

import ast
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from burn_nodes import Node, libraries
from joined import CPU, NODE, joined, source

from rackcheck.model.burn_record import Burn, Stage
from rackcheck.model.capture import BurnCapture
from rackcheck.parse.burnin.plan import QUIET, QUIET_REPEATED
from rackcheck.parse.burnin.readings import span

Record = dict[str, Any]
HEAVY = ("triad", "ram")
LOUD = "contended: the load on the host's memory did not end before the copies"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries(tmp_path_factory.mktemp("nvidia"))


@pytest.fixture
def node(built: Path, tmp_path: Path) -> Node:
    return Node(built, tmp_path)


def stage(of: str, name: str, begin: float, until: float) -> Record:
    return {"of": of, "stage": name, "from": begin, "until": until, "share": 0.02}


PLAN = [stage("gpu", "links", 0.0, 0.5), stage("gpu", "scalar", 0.5, 0.8), stage("cpu", "fingerprint", 0.0, 0.5),
        stage("cpu", "ram", 1.0, 5.0), stage("cpu", "triad", 5.0, 6.0), stage("cpu", "fma", 6.0, 6.5)]  # fmt: skip
"""In this plan, the copies end before the load on memory begins."""


def burnt(node: Node, cuda: str, **how: Any) -> Burn:
    running = node.burn(cuda=f"speed=1000 {cuda}", stages=[], deadline=60.0, ready_most=60.0, **how)
    running.end(90)
    assert running.process.stderr is not None
    assert running.process.stderr.read() == b""
    return BurnCapture(tuple(running.records)).burn


class Late(Node):
    """A node with this file's plan; the processors' stages begin `after` seconds later than in it."""

    after = 0.0

    def plan(self, seconds: float, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().plan(seconds, given), "stages": [self._moved(each) for each in PLAN]}

    def _moved(self, stage: Record) -> Record:
        late = self.after if stage["of"] == "cpu" else 0.0
        return {**stage, "from": stage["from"] + late, "until": stage["until"] + late}


@pytest.fixture
def late(built: Path, tmp_path: Path) -> Late:
    return Late(built, tmp_path)


def of(burn: Burn, *names: str) -> list[Stage]:
    return [each for each in burn.stages if each.stage in names]


ROUNDED = 0.001
"""Times are stored in milliseconds: of two stages that follow one another, one may seem to begin before the other's end."""


def beside(burn: Burn) -> list[tuple[Stage, Stage]]:
    """The copies, each with a load on memory at the same time."""
    return [
        (copies, load)
        for copies in of(burn, "links")
        for load in of(burn, *HEAVY)
        if span(copies)[0] + ROUNDED < span(load)[1] and span(load)[0] + ROUNDED < span(copies)[1]
    ]


def copied(node: Node, cuda: str, fits: Callable[[float, float], bool]) -> Burn:
    """A burn-in whose copies begin and end when they should; a machine that is busy may need another run."""
    for _ in range(4):
        burn = burnt(node, cuda)
        times = [span(each) for each in of(burn, "links")]
        if times and fits(min(begin for begin, _ in times), max(end for _, end in times)):
            return burn
    raise AssertionError(f"in four runs, the copies were never when they should be: {times}")


def test_copies_that_begin_late_are_not_beside_the_load_on_memory_and_both_are_tested(late: Late) -> None:
    burn = copied(late, "slow_init=2", lambda begin, _: 1.0 < begin < 4.5)  # where the plan has the load on memory
    links, loads = of(burn, "links"), of(burn, *HEAVY)
    assert burn.whole
    assert burn.faults == ()
    assert {(each.of.partition("/")[0], each.test) for each in links} == {
        ("gpu", "h2d"), ("gpu", "d2h"), ("gpu", "both"), ("peer", "copy"),
    }  # fmt: skip
    assert {each.stage for each in loads} == set(HEAVY)
    assert all(each.done for each in (*links, *of(burn, "ram")))
    assert beside(burn) == []
    (ram,) = {span(each)[0] for each in loads if each.stage == "ram"}
    assert ram > max(span(each)[1] for each in links)
    ends = {each.stage: each.t for each in of(burn, "ram", "triad", "fma")}
    assert ends["ram"] - ram >= 3.5  # repeated in full
    assert ends["ram"] < ends["triad"] < ends["fma"]


def test_copies_of_the_plan_change_no_stage_of_the_cpu(late: Late) -> None:
    late.after = 4.0
    burn = copied(late, "", lambda _, end: end < 5.0)
    assert burn.whole
    assert beside(burn) == []
    (ram,) = of(burn, "ram")
    assert span(ram)[0] < 6.0  # the plan has it at 5 s; what is repeated begins anew


ALONE = """
import json, sys, threading, time
exec(compile(sys.stdin.read(), "payload", "exec"))
def emit(kind, **fields):
    sys.stdout.write(json.dumps(dict(fields, k=kind)) + "\\n")
def turn(**words):
    emit("turn", turn=words["turn"])
    return words["turn"] != "quiet" or sys.argv[2] == "quiet"
stages = [{"of": "gpu", "stage": name, "from": 0.0, "until": 0.1} for name in ("links", "scalar")]
plan = {"seed": 7, "warm": 0.0, "stages": stages}
gpu_child(plan, 0, emit, time.monotonic, threading.Event(), {"ptx": b"ptx"}, sys.argv[1], turn=turn)
"""


@pytest.mark.parametrize("answer", ["quiet", "loud"])
def test_copies_that_could_not_wait_for_the_end_of_the_load_are_not_tested(
    built: Path, tmp_path: Path, answer: str
) -> None:
    (tmp_path / "state").write_text("gpus=1\n")
    words = ["cuda", "gpu_parts", "gpu_truth", "gpu_bench", "gpu_units", "gpu_links", "gpu_quiet", "gpu"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(built / "libcuda.so.1"), answer], input=source(*words),
        env={**os.environ, "FAKE_CUDA_STATE": str(tmp_path / "state")}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["turn"] for row in rows if row["k"] == "turn" if row["turn"] != "started"] == ["quiet", "loud"]
    found = {(row["stage"], row["status"], row.get("why", "")) for row in rows if row["k"] == "stage"}
    links = ("links", "done", "") if answer == "quiet" else ("links", "not tested", LOUD)
    assert found == {links, ("scalar", "done", "")}


@pytest.mark.parametrize(
    ("orders", "free", "skipped"),
    [
        ([{"quiet": 1}, {}], [True], []),
        ([{}, {"quiet": 1}, {}], [False], [LOUD]),
        ([None, None], [True], []),
        ([{}, {"quiet": 1}, {}, {"quiet": 2}, {}], [False, True], [LOUD]),
        ([{}, {}, {"quiet": 1}, {}, {}], [False, False], [LOUD, LOUD]),
    ],
)
def test_a_gpu_takes_no_late_answer_for_the_present_one_and_misses_only_the_turn_without_an_answer(
    orders: list[Record | None], free: list[bool], skipped: list[str]
) -> None:
    side, asked, left, now = joined("gpu_quiet", "gpu_work"), list[Record](), list(orders), [0.0]

    def following(seconds: float = 0.0) -> Record | None:
        order = left.pop(0)
        now[0] += seconds if order == {} else 0.0
        return order

    line = SimpleNamespace(
        ask=lambda **words: asked.append(words), orders=SimpleNamespace(next=following), clock=lambda: now[0], emit=None
    )
    given: list[bool] = []

    def child(*_: Any, turn: Any, **__: Any) -> None:
        for _number in free:
            given.append(turn(turn="quiet"))
            turn(turn="links", until=1.0)

    side.gpu_child = child
    side.gpu_work(side.GpuLoad({"stages": []}, 0.0, {}, {}), 3)(line, None)
    assert given == free
    assert [words["why"] for words in asked if words.get("skip") == 3] == skipped
    assert not [words for words in asked if "out" in words]
    assert left == []


def test_the_gpu_waits_for_as_long_as_the_deadline_of_the_plan_allows() -> None:
    assert gpu_side.GPU_QUIET == QUIET
    assert cpu_side.CPU_HEAVY == QUIET_REPEATED


# -- what the records say ---------------------------------------------------------------------------------------------


def copies_of(*stages: str) -> Burn:
    """A soak whose stages `links` were each quiet (`done`), `loud`, or loud with a wrong result (`wrong`)."""
    records: list[Record] = []
    for number, how in enumerate(stages):
        for part, tests in (("gpu/0", ("h2d", "d2h", "both")), ("peer/0-1", ("copy",) if how == "done" else ("",))):
            more: Record = {"status": "done"} if how == "done" else {"status": "not tested", "why": LOUD}
            more.update({"mismatches": int(how == "wrong")} if part == "gpu/0" else {})
            records += [
                {"k": "stage", "t": 60.0 * number + 5, "of": part, "stage": "links", "test": test, "rate": 5e10, **more}
                for test in tests
            ]
    return Burn.of(records)


@pytest.mark.parametrize(
    ("stages", "untested"),
    [
        (("done", "done"), set()),
        (("loud", "done"), set()),
        (("done", "loud", "done"), set()),
        (("loud",), {LOUD}),
        (("done", "loud"), {LOUD}),
        (("loud", "loud", "done"), {LOUD}),
        (("loud", "done", "loud", "done"), {LOUD}),
    ],
)
def test_copies_that_were_not_quiet_once_count_as_tested_only_if_a_later_stage_tested_them(
    stages: tuple[str, ...], untested: set[str]
) -> None:
    burn = copies_of(*stages)
    for part in ("gpu/0", "peer/0-1"):
        found = [stage for stage in burn.stages if stage.of == part]
        assert {stage.why for stage in found if not stage.done} == untested
        assert sum(stage.done for stage in found) == stages.count("done") * (3 if part == "gpu/0" else 1)


def test_a_wrong_result_of_copies_that_were_not_quiet_is_never_left_out() -> None:
    assert sum(int(stage.number("mismatches") or 0) for stage in copies_of("wrong", "done").stages) == 3


# -- the two sides alone ----------------------------------------------------------------------------------------------

gpu_side, cpu_side = joined("gpu_quiet"), joined(*CPU)


def request(index: int, number: int) -> Record:
    return {"turn": "quiet", "index": index, "request": number}


def test_a_gpu_copies_only_after_the_answer_to_the_last_request() -> None:
    quiet, both = gpu_side.GpuQuiet(), {0, 1}
    assert quiet.step(both, True) == []
    assert quiet.received(request(0, 1))
    assert quiet.step(both, True) == [("quiet", 1)]
    assert quiet.step(both, True) == []
    assert quiet.received({"quiet": 1})
    assert quiet.step(both, True) == [("copy", {0: 1})]
    assert quiet.received(request(1, 1))
    assert quiet.step(both, True) == [("copy", {1: 1})]  # it is quiet already
    assert quiet.received({"turn": "loud", "index": 0})
    assert quiet.step(both, True) == []
    assert quiet.step({0}, True) == [("quiet", 0)]  # the other GPU's process has ended
    assert quiet.received(request(0, 2))
    assert quiet.step(both, True) == [("quiet", 2)]
    assert quiet.received({"quiet": 1})  # the answer to the first request
    assert quiet.step(both, True) == []
    assert quiet.received({"quiet": 2})
    assert quiet.step(both, True) == [("copy", {0: 2})]


def test_without_a_process_of_the_cpu_a_gpu_does_not_wait_and_other_messages_are_left_alone() -> None:
    quiet = gpu_side.GpuQuiet()
    quiet.received(request(3, 1))
    assert quiet.step({3}, False) == [("quiet", 1), ("copy", {3: 1})]
    assert not quiet.received({"turn": "links", "index": 3, "until": 1.0})
    assert not quiet.received({"pair": [0, 1]})


def test_load_on_memory_is_answered_at_its_end_and_one_that_ends_soon_is_not_stopped() -> None:
    now, answers = [0.0], list[int]()
    quiet = cpu_side.CpuQuiet(lambda: now[0], answers.append)
    quiet.order({"quiet": 1})
    assert answers == [1]  # no stage loads the memory
    quiet.order({"quiet": 0})
    for at, cut in ((3.0, True), (9.8, False)):
        stop = threading.Event()
        assert quiet.begin(10.0, stop) == 0.0
        now[0] = at
        quiet.order({"quiet": 2})
        assert quiet.cut is cut
        assert answers == [1]
        assert quiet.end() is cut
        assert answers == [1, 2]
        quiet.order({"quiet": 0})
        del answers[1:]
        now[0] = 0.0


def test_a_stage_that_waits_for_copies_does_not_begin_after_a_stop() -> None:
    quiet, stop = cpu_side.CpuQuiet(time.monotonic, lambda _: None), threading.Event()
    quiet.order({"quiet": 1})
    threading.Timer(0.1, stop.set).start()
    assert quiet.begin(1e9, stop) is None


@pytest.mark.skipif(not (NODE.parent / "kernels" / f"cpu-{os.uname().machine}.so").exists(), reason="no kernels")
@pytest.mark.parametrize("spoilt", [False, True])
def test_a_stopped_stage_is_repeated_in_full_and_an_error_that_it_found_counts(spoilt: bool) -> None:
    records: list[Record] = []
    began, times = time.monotonic(), 0

    def spoil(at: int, _: int) -> None:
        nonlocal times
        times += 1
        if spoilt and times == 1:
            import ctypes  # noqa: PLC0415

            ctypes.c_uint64.from_address(at + 8).value ^= 4

    def clock() -> float:
        return time.monotonic() - began

    def emit(kind: str, **fields: Any) -> None:
        records.append({"k": kind, "t": clock(), **fields})

    library = (NODE.parent / "kernels" / f"cpu-{os.uname().machine}.so").read_bytes()
    worker = cpu_side.Cpu(
        emit, clock, threading.Event(), library, 7, cool=0.05, faults=cpu_side.CpuFaults({}, {}, spoil)
    )
    answers: list[float] = []
    worker.quiet = cpu_side.CpuQuiet(clock, lambda _: answers.append(clock()))
    threading.Timer(0.8, worker.quiet.order, [{"quiet": 1}]).start()
    threading.Timer(1.6, worker.quiet.order, [{"quiet": 0}]).start()
    share = (6 << 20) * len(worker.cpus) / cpu_side.cpu_available()
    worker.run([{**stage("cpu", "ram", 0.0, 2.0), "share": share}, stage("cpu", "fingerprint", 2.0, 2.2)])
    rows = [r for r in records if r["k"] == "stage" and r["stage"] == "ram" and "from" in r]
    assert 0.8 <= answers[0] < 1.5
    assert (len(rows), len([r for r in records if r["k"] == "error"])) == ((2, 1) if spoilt else (1, 0))
    assert rows[-1]["from"] >= 1.6
    assert rows[-1]["t"] - rows[-1]["from"] >= 1.9
    after = min(r["from"] for r in records if r["k"] == "stage" and r["stage"] == "fingerprint" and "from" in r)
    assert after >= rows[-1]["from"] + 1.9


@pytest.mark.parametrize("name", ["cpu_quiet", "gpu_quiet"])
def test_the_node_may_have_python_3_6(name: str) -> None:
    ast.parse(source(name), feature_version=(3, 6))
