"""The frame of a burn-in: one text for any python3, a supervisor that ends all load, records from any process."""

import ast
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joined import joined
from payloads import OLD, Running, of_session, plan, start
from waiting import until

from rackcheck.burnin import pack
from rackcheck.burnin.node_stream import LONGEST, TURN, Talk
from rackcheck.model.burn_record import Burn
from rackcheck.model.fact import Reason
from rackcheck.parse.burnin.plan import (
    AGAIN,
    CLOSEST,
    HOLD,
    PEERS,
    QUIET,
    QUIET_REPEATED,
    RAMP,
    START,
    WIDEST,
    Tier,
    document,
    slots,
    starts,
)
from rackcheck.transport import local
from rackcheck.transport.wire import ShellLimits

BUSY = {"k": "stage", "status": "done"}


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Iterator[Running]:
    found = start(getattr(request, "param", None) or plan(30.0))
    yield found
    found.process.kill()
    found.process.wait()
    for pipe in (found.process.stdin, found.process.stdout, found.process.stderr):
        assert pipe is not None
        with suppress(BrokenPipeError):  # input that the ended process did not read
            pipe.close()


def test_the_text_that_travels_is_small_and_parses_as_older_pythons() -> None:
    text = pack.payload(document(Tier.SOAK, seed=1, tools=("dcgm-2",)))
    assert len(text.encode()) <= pack.LARGEST
    carried = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    packed = [value for value in carried if isinstance(value, str) and len(value) > 500]
    unpacked = [zlib.decompress(base64.b85decode(value)) for value in packed if value[0] != "{"]
    sources = [data.decode() for data in unpacked if b"\ndef " in data]
    assert [("class Supervisor" in each, "def nvmlInit" in each) for each in sources] == [(False, True), (True, False)]
    for version in ((3, 8), (3, 6)):
        for source in (text, *sources):
            ast.parse(source, feature_version=version)


@pytest.mark.skipif(not OLD.exists(), reason="no Python 3.8 on this machine")
def test_what_is_left_out_of_the_program_that_travels_is_read_by_no_interpreter() -> None:
    """Apart from docstrings and blocks for type checkers, the program is the same, name by name and text by text."""

    def program(text: str) -> str:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            for name in ("body", "orelse"):
                body = getattr(node, name, None)
                if isinstance(body, list):
                    unread = [one for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
                    checked = [one for one in body if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.dump(one.test)]
                    kept = [one for one in body if one not in [*unread, *checked] and not isinstance(one, ast.Pass)]
                    setattr(node, name, kept)
        return ast.dump(tree)

    whole = pack.sources()
    assert program(pack.stripped(whole)) == program(whole)
    assert len(pack.stripped(whole)) < 0.8 * len(whole)
    text = 'def f():\n    """Doc."""\n    # why\n    return "# kept"\n\nclass A:\n    """Doc."""\n'
    assert pack.stripped(text) == 'def f():\n    return "# kept"\nclass A:\n    pass\n'


def test_python_3_8_runs_it_to_its_end() -> None:
    old = start(plan(0.5), str(OLD))
    old.end()
    assert [old.kind("verdict")[0][name] for name in ("status", "why")] == ["whole", ""]
    assert old.kind("hello")[0]["python"].startswith("3.8.")
    assert old.kind("error") == []


def test_it_greets_first_and_returns_a_verified_result_within_a_second() -> None:
    found = start(plan(0.5))
    first = found.until(BUSY)
    assert found.records[0]["k"] == "hello"
    assert found.records[0]["t"] < 10
    assert first["t"] < 10
    assert first["mismatches"] == 0
    found.end()
    assert found.process.returncode == 0
    assert found.records[-1]["k"] == "verdict"
    assert found.records[-1]["status"] == "whole"


def test_it_also_runs_from_a_plain_pipe() -> None:
    made = plan(0.3, line="stdout")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-"],
        input=pack.payload(made).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["k"], last["status"], done.stderr) == ("verdict", "whole", b"")


def test_a_line_that_closes_ends_the_load_within_a_second(running: Running) -> None:
    first = running.until(BUSY)["stage"]
    assert running.process.stdin is not None
    running.process.stdin.close()
    assert running.end() < 15  # of 30
    assert running.records[-1]["why"] == "the connection was closed"
    assert of_session(running.process.pid) == []
    # On a busy machine, the process of the node is killed before it reports the stages that are left.
    assert {r["stage"] for r in running.kind("stage") if r["status"] == "done"} == {first}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_load_within_a_second(running: Running, number: int) -> None:
    running.until(BUSY)
    running.process.send_signal(number)
    assert running.end() < 15  # of 30
    assert running.records[-1]["why"] == "stopped by a signal"
    assert of_session(running.process.pid) == []


def test_a_closed_reader_ends_the_load(running: Running) -> None:
    running.until(BUSY)
    assert running.process.stdout is not None
    running.process.stdout.close()
    running.process.wait(25)
    assert of_session(running.process.pid) == []


@pytest.mark.parametrize("running", [plan(30.0, pulse=1.0)], indirect=True)
def test_a_silent_line_ends_the_load(running: Running) -> None:
    running.until(BUSY)
    running.alive = False
    running.end(25)
    assert running.records[-1]["why"] == "the connection is silent"


@pytest.mark.parametrize("running", [plan(5.0, deadline=2.0)], indirect=True)
def test_its_own_clock_ends_the_load(running: Running) -> None:
    running.end(25)
    assert running.records[-1]["why"] == "its time limit was reached"


def test_a_killed_supervisor_takes_its_children_with_it(running: Running) -> None:
    running.until(BUSY)
    assert len(of_session(running.process.pid)) > 1
    running.process.kill()
    running.process.wait()
    until(lambda: not of_session(running.process.pid), "a child outlived the supervisor")


def test_a_killed_child_is_a_named_finding_and_costs_no_other(running: Running) -> None:
    running.until(BUSY)
    child = sorted(set(of_session(running.process.pid)) - {running.process.pid})[1]  # it began after the sampler
    os.kill(child, signal.SIGKILL)
    crash = running.until({"k": "error", "name": "crash"})
    assert (crash["of"], crash["said"]) == ("node", "ended by signal 9")
    running.end()
    assert running.kind("verdict")[0]["status"] == "whole"


def test_a_child_that_the_kernel_killed_for_lack_of_memory_is_untested_and_no_fault(tmp_path: Path) -> None:
    """As the test above, but the kernel's count of such kills has risen."""
    counts = tmp_path / "proc" / "vmstat"
    counts.parent.mkdir()
    counts.write_text("oom_kill 0\n")
    found = start(plan(5.0, root=str(tmp_path)))
    try:
        found.until(BUSY)
        child = sorted(set(of_session(found.process.pid)) - {found.process.pid})[1]
        counts.write_text("oom_kill 1\n")
        os.kill(child, signal.SIGKILL)
        found.end()
    finally:
        found.process.kill()
        found.process.wait()
    assert found.kind("error") == []
    undone = {one["stage"]: one["why"] for one in found.kind("stage") if one["status"] != "done"}
    why = "no memory: the kernel killed the process that tests this part"
    assert undone == dict.fromkeys(("fingerprint", "crypto", "fma", "triad", "ram"), why)


def test_the_steps_of_a_stop_take_less_than_a_second_together() -> None:
    """Counted, not measured: the controller's turn, the supervisor's, the time of its children, and the turn that kills."""
    shipped = joined("child", "supervisor")
    steps = (TURN, shipped.LOOP, shipped.GRACE, shipped.LOOP)
    assert sum(steps) == pytest.approx(0.9)
    assert sum(steps) < 1.0


def test_nothing_is_left_on_the_node(tmp_path: Path) -> None:
    places = [tmp_path / "home", tmp_path / "tmp"]
    for place in places:
        place.mkdir()
    before = _files(Path("/tmp"), Path("/dev/shm"))
    found = start(plan(0.5), HOME=str(places[0]), TMPDIR=str(places[1]), XDG_CACHE_HOME=str(places[0]))
    found.until({"k": "hello"})
    mine = found.process.pid
    found.end()
    assert [list(place.iterdir()) for place in places] == [[], []]
    assert of_session(mine) == []
    fresh = _files(Path("/tmp"), Path("/dev/shm")) - before
    assert not {path for path in fresh if "rackcheck-burnin" in path or path.startswith("/dev/shm/")}


def _files(*folders: Path) -> set[str]:
    return {str(path) for folder in folders if folder.is_dir() for path in folder.iterdir()}


def test_tiers_take_the_named_time_and_stages_of_a_kind_never_overlap() -> None:
    for tier in Tier:
        for of in ("cpu", "gpu"):
            mine = [slot for slot in slots(tier) if slot.of == of]
            assert mine[0].begin == 0
            assert tier.seconds - 6 <= mine[-1].until <= tier.seconds
            assert all(a.until <= b.begin for a, b in pairwise(mine))


def test_the_hosts_memory_is_not_under_load_while_links_are_measured_also_if_the_gpus_start_late() -> None:
    for tier in Tier:
        links = [slot for slot in slots(tier) if slot.stage == "links"]
        loads = [slot for slot in slots(tier) if slot.of == "cpu" and slot.stage in {"triad", "ram"}]
        assert links
        assert loads
        for late in (0.0, 1.05, START):
            assert not [
                (load, link)
                for load in loads
                for link in links
                if load.until > link.begin + late and load.begin < link.until + late
            ]


@given(st.integers(0, 3000))
def test_nodes_begin_one_after_the_other_within_the_ramp_and_at_most_ten_in_a_second(count: int) -> None:
    begins = list(starts([f"n{i}" for i in range(count)]).values())
    assert begins == sorted(begins)
    assert all(0 <= begin <= max(RAMP, CLOSEST * (count - 1)) + 0.001 for begin in begins)
    assert all(CLOSEST - 0.002 <= b - a <= WIDEST + 0.001 for a, b in pairwise(begins))
    assert CLOSEST == 0.1


# ---- the controller's side of the line -------------------------------------------------------------------------------


def spoken(program: str, seconds: float = 20.0, stop: threading.Event | None = None) -> tuple[Talk, Any]:
    """Communicate with a program in sh instead of a payload."""
    talk = Talk(b"", stop or threading.Event(), lambda _: None)
    return talk, local.talk(program, ShellLimits(deadline=seconds), talk)


def test_what_a_node_prints_between_records_is_kept_and_counted() -> None:
    hello = json.dumps({"k": "hello", "t": 0, "wire": 1})
    end = json.dumps({"k": "verdict", "t": 1, "status": "whole", "why": ""})
    talk, _ = spoken(f"echo 'Welcome to n1'; echo '{hello}'; echo '[1, 2]'; echo '{end}'")
    burn = Burn.of(talk.records)
    assert talk.ended
    assert burn.whole
    assert burn.unread == 2
    assert "Welcome" in burn.odd


def test_a_burn_in_without_a_verdict_reports_its_error_output() -> None:
    talk, reply = spoken("echo 'Illegal instruction' >&2; exit 132")
    assert not talk.ended
    assert reply.cut.reason is Reason.UNREACHABLE
    assert "Illegal instruction" in reply.cut.detail


def test_a_node_without_python_lacks_a_tool() -> None:
    _, reply = spoken("exit 127")
    assert reply.cut.reason is Reason.TOOL_MISSING


def test_a_record_without_an_end_is_dropped_and_the_rest_is_read() -> None:
    end = json.dumps({"k": "verdict", "t": 1, "status": "whole", "why": ""})
    talk, _ = spoken(f"head -c {3 * LONGEST} /dev/zero | tr '\\0' x; echo; echo '{end}'")
    burn = Burn.of(talk.records)
    assert burn.whole
    assert 1 <= burn.unread <= 4  # a piece for each limit that it exceeded


def test_a_node_that_never_ends_is_left_by_the_deadline_and_one_that_is_stopped_by_us() -> None:
    _, reply = spoken("trap '' HUP TERM; while :; do echo x; sleep 0.1; done", seconds=1.0)
    assert reply.cut.reason is Reason.TIMEOUT
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    _, reply = spoken("trap '' HUP TERM; while :; do echo x; sleep 0.1; done", stop=stop)
    assert time.monotonic() - began < 10
    assert reply.cut.reason is Reason.NOT_COLLECTED


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
_NAMES = "k t of stage status why name rate mismatches from gpus wire temp power reasons count seed fans hash"
_FIELDS = st.sampled_from(sorted(set(_NAMES.split(" "))))
_RECORD = st.dictionaries(
    _FIELDS,
    _JSON
    | st.sampled_from(
        ["hello", "about", "stage", "sample", "error", "verdict", "done", "not tested", "gpu/0", "memory"]
    ),
    max_size=10,
)


@given(st.lists(_RECORD, max_size=8))
def test_no_record_breaks_the_reader_and_each_is_read_or_counted(records: list[dict[str, Any]]) -> None:
    burn = Burn.of(records)
    taken = len(burn.stages) + len(burn.faults) + sum(map(len, burn.samples.values())) + len(burn.tools)
    assert taken + burn.unread <= len(records)
    assert all(stage.done or stage.why for stage in burn.stages)
    assert burn.unread == 0 or burn.odd


def test_a_record_with_one_wrong_field_is_left_out_as_a_whole() -> None:
    good = {"k": "stage", "t": 1, "of": "gpu/0", "stage": "memory", "status": "done", "rate": 1.0, "mismatches": 0}
    for wrong in ({"mismatches": -1}, {"mismatches": "0"}, {"rate": float("nan")}, {"status": "fine"}, {"rate": True}):
        burn = Burn.of([{**good, **wrong}])
        assert (burn.stages, burn.unread) == ((), 1)
    assert Burn.of([good]).stages[0].number("rate") == 1.0


class _Ended:
    """A connection whose other end is closed while some of its output is still unread."""

    def __init__(self, *words: bytes) -> None:
        self.words = [*words, b""]

    def send(self, data: bytes, seconds: float) -> None:
        if data == b"\n":
            raise OSError("Socket is closed")

    def receive(self, seconds: float) -> bytes | None:
        time.sleep(0.6)
        return self.words.pop(0)

    def finish(self) -> None: ...

    def close(self) -> None: ...

    def ended(self) -> tuple[int | None, str]:
        return 0, ""


def test_what_a_node_wrote_before_it_ended_is_read_though_it_hears_nothing_more() -> None:
    talk = Talk(b"text", threading.Event(), lambda _: None)
    talk(
        _Ended(b'{"k":"hello","t":0,"wire":1}\n', b'{"k":"beat","t":1}\n', b'{"k":"verdict","t":2,"status":"whole"}\n')
    )
    assert talk.ended
    assert len(talk.records) == 3


def test_no_import_for_type_checkers_travels_to_a_node_and_all_other_lines_do() -> None:
    text = pack.sources()
    assert "if TYPE_CHECKING:" not in text
    assert "rackcheck.burnin.node" not in text
    for name in pack.SOURCES:
        file = Path(str(pack.__file__)).with_name("node") / f"{name}.py"
        defined = [
            node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]
        assert all(f" {each}" in text for each in defined), name


def test_nothing_that_travels_to_a_node_can_change_it() -> None:
    """No call sets, resets or clears anything on a GPU, and no file is opened for writing."""
    text = pack.sources()
    assert "nvmlDeviceGet" in text
    for verb in ("Set", "Reset", "Clear", "Freeze", "Modify", "RegisterEvents"):
        assert f"nvmlDevice{verb}" not in text, verb
        assert f"nvmlUnit{verb}" not in text
    tree = ast.parse(text)
    opened = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in {"open", "Path.open"}
    ]
    modes = [arg.value for node in opened for arg in node.args[1:2] if isinstance(arg, ast.Constant)]
    assert not [mode for mode in modes if isinstance(mode, str) and set(mode) & set("wax+")]
    assert not {"write_text", "write_bytes", "mkdir", "rename", "symlink_to"} & {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_only_a_soak_keeps_patterns_in_memory_and_its_deadline_leaves_time_to_repeat_that() -> None:
    for tier in Tier:
        given = document(tier, seed=1)
        held = [stage for stage in given["stages"] if "hold" in stage]
        assert len(held) == (10 if tier is Tier.SOAK else 0)
        assert all((stage["of"], stage["stage"], stage["hold"]) == ("gpu", "memory", HOLD) for stage in held)
        assert all(stage["until"] - stage["from"] > 2 * stage["hold"] for stage in held)
        copies = [stage["until"] - stage["from"] for stage in given["stages"] if stage["stage"] == "links"]
        loads = [stage["until"] - stage["from"] for stage in given["stages"] if stage["stage"] in QUIET_REPEATED]
        assert (len(copies), len(loads)) == ((10, 20) if held else (1, 2))
        links = sum(PEERS + max(QUIET, length + max(loads)) for length in copies)
        assert given["deadline"] - tier.seconds - START - 5.0 - AGAIN - links == (12 * HOLD if held else 0.0)
    assert document(Tier.SOAK, seed=1, gpus=False)["deadline"] == Tier.SOAK.seconds + START + 5.0 + AGAIN
