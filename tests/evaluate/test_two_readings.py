"""Two readings of one run: `steady` and `rate`, judged, collected, stored and judged again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from command import rackcheck
from waiting import PATIENCE, until

from rackcheck.evaluate.verdict import Status, Verdict, judge
from rackcheck.evaluate.waiver import pinned
from rackcheck.model.catalogue import Catalogue, Entry, collection, integer, quantity, text
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Later, Leaf, Tree
from rackcheck.profile import library
from rackcheck.profile.document import BadFile

KINDS = {
    "mode": text("A word"),
    "size": quantity("GiB", "A size"),
    "errors": integer("Errors since the start", Class.COUNTER),
    "plain": integer("A number that counts nothing"),
    "port": collection("Ports"),
    "port/*.errors": integer("Errors of a port", Class.COUNTER),
}
CATALOGUE = Catalogue.of(Entry(path, kind, Plane.OS, "os") for path, kind in KINDS.items())
TIMEOUT = Unknown(Reason.TIMEOUT, "no answer within 10 s")
MINUTE = {Plane.OS: (60.0, 60.0)}


def tree(facts: Mapping[str, Reading]) -> Tree:
    kind = {path: KINDS[path if "/" not in path else "port/*.errors"] for path in facts}
    return Tree({path: Leaf(value, kind[path], Plane.OS, "os") for path, value in facts.items()})


def judged(
    folder: Path, rule: str, first: Mapping[str, Reading], second: Mapping[str, Reading] | None,
    apart: Mapping[Plane, tuple[float, float]] = MINUTE,
) -> Verdict:  # fmt: skip
    """The verdict of one rule on two readings."""
    (folder / "p.yaml").write_text(f"rackcheck: 1\nprofile: p\nversion: 1\nrules:\n  r: {rule}\n")
    rules = library.load(str(folder / "p.yaml"), CATALOGUE).own
    later = None if second is None else Later(tree(second), apart)
    return judge(rules, replace(tree(first), later=later))[0]


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("on", "on", Status.PASS),
        ("on", "off", Status.FAIL),
        ("on", Absent("gone"), Status.FAIL),
        (Absent("none"), Absent("none"), Status.FAIL),
        (TIMEOUT, "on", Status.UNKNOWN),
        ("on", TIMEOUT, Status.UNKNOWN),
        (Absent("none"), TIMEOUT, Status.FAIL),
    ],
)
def test_a_steady_fact_has_the_same_value_twice(
    tmp_path: Path, first: Reading, second: Reading, status: Status
) -> None:
    assert judged(tmp_path, "{ fact: mode, steady: true }", {"mode": first}, {"mode": second}).status is status


def test_a_quantity_that_is_read_with_another_last_digit_is_steady(tmp_path: Path) -> None:
    found = judged(tmp_path, "{ fact: size, steady: true }", {"size": 1.0}, {"size": 1.0 + 1e-12})
    assert found.status is Status.PASS


@pytest.mark.parametrize(
    ("first", "second", "most", "apart", "status"),
    [
        (5, 5, "0/h", (0.0, inf), Status.PASS),
        (5, 6, "0/h", (0.0, inf), Status.UNKNOWN),
        (5, 6, "0/h", (60.0, 62.0), Status.FAIL),
        (5, 6, "60/h", (60.0, 60.0), Status.PASS),
        (5, 7, "60/h", (60.0, 60.0), Status.FAIL),
        (5, 6, "60/h", (59.0, 61.0), Status.UNKNOWN),
        (5, 6, "1/min", (60.0, 60.0), Status.PASS),
        (5, 65, "1/s", (60.0, 60.0), Status.PASS),
        (5, 4, "60/h", (60.0, 60.0), Status.UNKNOWN),
    ],
)
def test_a_rate_is_held_against_both_ends_of_the_time_that_passed(
    tmp_path: Path, first: int, second: int, most: str, apart: tuple[float, float], status: Status
) -> None:
    rule = f"{{ fact: errors, rate: {{ at-most: {most} }} }}"
    found = judged(tmp_path, rule, {"errors": first}, {"errors": second}, {Plane.OS: apart})
    assert found.status is status


def test_a_counter_that_fell_was_reset_and_is_unknown_by_that_name(tmp_path: Path) -> None:
    found = judged(tmp_path, "{ fact: errors, rate: { at-most: 0/h } }", {"errors": 9}, {"errors": 2})
    assert "counter reset: from 9 to 2" in found.reason


def test_a_reason_states_both_readings_and_the_time_between(tmp_path: Path) -> None:
    found = judged(tmp_path, "{ fact: errors, rate: { at-most: 5/h } }", {"errors": 10}, {"errors": 14})
    assert found.reason == "errors is 10, then 14 after 60 s, may rise by at most 5/h"


def test_stability_is_unknown_in_a_run_with_one_reading(tmp_path: Path) -> None:
    found = judged(tmp_path, "{ fact: mode, steady: true }", {"mode": "on"}, None)
    assert (found.status, "the fact was read only once" in found.reason) == (Status.UNKNOWN, True)


def test_each_item_is_held_against_its_own_second_reading(tmp_path: Path) -> None:
    rule = "{ each: port, fact: errors, rate: { at-most: 0/h } }"
    first: dict[str, Reading] = {"port/1.errors": 3, "port/2.errors": 0}
    found = judged(tmp_path, rule, first, {"port/1.errors": 3, "port/2.errors": 1})
    assert (found.status, [e.item for e in found.evidence]) == (Status.FAIL, ["port/2.errors"])


WRONG = {
    "{ fact: plain, rate: { at-most: 1/h } }": "`rate` applies to counters; this is a fact of type integer",
    "{ fact: size, rate: { at-most: 1/h } }": "`rate` applies to counters",
    "{ fact: errors, rate: { at-most: 5 } }": "a rate is a number per hour, minute or second, as 5/h",
    "{ fact: errors, rate: { at-most: 5 W } }": "a rate is a number per hour, minute or second, as 5/h",
    "{ fact: errors, rate: { at-most: -1/h } }": "a counter never decreases",
    "{ fact: mode, is: on, when: { fact: errors, steady: true } }": "`when` is evaluated on one",
    "{ each: port, where: { fact: errors, steady: true }, fact: errors, is: 0 }": "`where` is evaluated on one",
    "{ no: port, fact: errors, steady: true }": "`no` is evaluated on one",
    "{ count: port, steady: true }": "`steady` cannot be combined with `count`",
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_cannot_be_compared_is_refused_where_it_stands(tmp_path: Path, rule: str) -> None:
    with pytest.raises(BadFile) as error:
        judged(tmp_path, rule, {}, {})
    assert [WRONG[rule] in problem.text for problem in error.value.problems] == [True]


# ---- read, stored, judged again --------------------------------------------------------------------------------------

PROFILE = """
rackcheck: 1
profile: twice
version: 1
rules:
  asked: { fact: os.asked, rate: { at-most: 0/h } }
  kernel: { fact: kernel.release, steady: true }
  memory: { fact: memory.total, at-least: 1 MiB }
"""


def site(folder: Path, body: str = "echo x >> {count}; wc -l < {count}") -> dict[str, str]:
    """An environment with one more probe, which counts how often it runs."""
    package = folder / "lib" / "counting.py"
    package.parent.mkdir()
    command = body.format(count=folder / "count")
    package.write_text(
        "from rackcheck import Class, Shell, integer, probe\n"
        f"@probe(Shell({command!r}), gives={{'os.asked': integer('Times asked.', Class.COUNTER)}})\n"
        "def counting(raw):\n    yield 'os.asked', int(raw)\n"
    )
    info = package.parent / "counting-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\ncounting = counting\n")
    (folder / "twice.yaml").write_text(PROFILE)
    return {**os.environ, "PYTHONPATH": str(package.parent)}


def run(env: Mapping[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rackcheck", *map(str, words)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_run_reads_facts_compared_over_time_twice_and_keeps_both(tmp_path: Path) -> None:
    env = site(tmp_path)
    done = run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "2", "-o", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    assert "os.asked is 1, then 2 after" in done.stdout
    assert "rules pass: kernel, memory" in done.stdout.replace("identity.parts, ", "")
    assert "nodes are read twice, 2 s apart, for 2 rules that compare two readings" in done.stderr
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    answers = [event for event in events if event["event"] == "answered"]
    assert [answer.get("reading", 1) for answer in answers] == [1, 2]
    least, most = answers[1]["apart"]
    assert 2 <= least <= most < 60
    assert answers[0]["raw"] != answers[1]["raw"]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["again"] == 2
    again = run(env, "audit", "--from", tmp_path / "run")
    assert (again.returncode, again.stdout) == (1, done.stdout)
    assert (tmp_path / "count").read_text() == "x\nx\n"  # judging again contacts no node


def test_without_a_second_reading_such_rules_are_out_of_scope_and_reported(tmp_path: Path) -> None:
    done = run(site(tmp_path), "audit", "-p", tmp_path / "twice.yaml", "--json", "-q")
    found = json.loads(done.stdout)
    assert (done.returncode, found["total"], found["outcome"]) == (0, 2, "PASS")
    note = "2 rules not judged, because there is no second reading (audit --again SECONDS): asked, kernel"
    assert note in found["notes"]


def test_a_second_reading_that_fails_is_unknown_and_not_a_pass(tmp_path: Path) -> None:
    env = site(tmp_path, "test -e {count} && exit 3; echo x >> {count}; wc -l < {count}")
    done = run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "1", "--json", "-q")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (done.returncode, finding["rule"], finding["status"]) == (3, "asked", "unknown")


def test_facts_of_a_run_that_read_twice_are_those_of_the_first_reading(tmp_path: Path) -> None:
    env = site(tmp_path)
    run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "1", "-o", tmp_path / "run", "-q")
    result = run(env, "facts", "localhost", "--from", tmp_path / "run", "os.asked", "--json")
    assert '"value": 1' in result.stdout


def test_an_unused_second_reading_or_one_after_the_deadline_is_an_error(tmp_path: Path) -> None:
    assert "no rule of linux-server compares two readings" in rackcheck("audit", "-p", "linux-server", "--again", 5).err
    env = site(tmp_path)
    done = run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "60", "--deadline", "30")
    assert (done.returncode, "--deadline 30 must be more than --again 60" in done.stderr) == (2, True)


def test_a_run_stopped_before_its_second_reading_states_it_for_each_rule(tmp_path: Path) -> None:
    words = ("--again", "60", "--deadline", "61")
    env = site(tmp_path)
    started = [sys.executable, "-m", "rackcheck", "audit", "-p", tmp_path / "twice.yaml", *words, "--json", "-q"]
    with subprocess.Popen(list(map(str, started)), env=env, stdout=subprocess.PIPE, text=True) as process:
        until((tmp_path / "count").exists, "the first reading does not begin")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
    found = json.loads(out)
    assert (process.returncode, found["outcome"]) == (130, "INCOMPLETE")
    assert {f["rule"]: f["status"] for f in found["findings"]} == {"asked": "unknown", "kernel": "unknown"}


@pytest.mark.parametrize(
    "values",
    [
        {"reading": 3}, {"reading": True}, {"reading": 2.0}, {"reading": 1}, {"apart": [60]}, {"apart": [5, 3]},
        {"apart": [-1, 3]}, {"apart": ["1", "2"]}, {"apart": [0, 10**400]},
    ],
    ids=str,
)  # fmt: skip
def test_an_edited_second_answer_is_reported_and_not_judged(tmp_path: Path, values: dict[str, object]) -> None:
    env = site(tmp_path)
    run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "1", "-o", tmp_path / "run", "-q")
    events = tmp_path / "run" / "events.jsonl"
    lines = events.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if '"reading":2' in line)
    lines[at] = json.dumps(json.loads(lines[at]) | values)
    events.write_text("\n".join(lines) + "\n")
    done = run(env, "audit", "--from", tmp_path / "run")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


@pytest.mark.parametrize("again", ["true", "-1", "0", "1e400", "NaN", '"5"', "1" + "0" * 400])
def test_an_impossible_time_between_readings_is_reported(tmp_path: Path, again: str) -> None:
    env = site(tmp_path)
    run(env, "audit", "-p", tmp_path / "twice.yaml", "--again", "1", "-o", tmp_path / "run", "-q")
    head = tmp_path / "run" / "run.json"
    head.write_text(head.read_text().replace('"again": 1.0', f'"again": {again}'))
    done = run(env, "audit", "--from", tmp_path / "run")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


@pytest.mark.parametrize("option", ["--again", "--deadline", "--timeout"])
def test_what_is_no_number_is_no_time(option: str) -> None:
    done = rackcheck("audit", "-p", "linux-server", option, "nan")
    assert (done.status, "nan is not a time" in done.err) == (2, True)


def test_a_waiver_of_a_rate_does_not_hide_the_same_rise_in_less_time(tmp_path: Path) -> None:
    rule = "{ fact: errors, rate: { at-most: 5/h } }"
    slow, fast = (
        judged(tmp_path, rule, {"errors": 0}, {"errors": 6}, {Plane.OS: (passed, passed)}) for passed in (3600.0, 3.0)
    )
    assert pinned(slow.evidence[0]) != pinned(fast.evidence[0])
