"""What was not read comes first in a list of work, and a list without work is no success while something is unread."""

import json
from pathlib import Path

import pytest
from command import rackcheck
from damaged import clean
from incomplete import OTHER, node, other, profile, summary
from rack_runs import folder
from single_faults import NODES, events

from rackcheck.evaluate.verdict import Outcome
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.views.not_read import MOST, NotRead, lines, not_read
from rackcheck.views.summary import summarize

HEAD = "# INCOMPLETE: what was not read"


def test_a_node_that_no_run_has_read_and_a_machine_of_another_kind_are_named(tmp_path: Path) -> None:
    made = summary(profile(tmp_path), node("n1", Outcome.PASS), other("n2"), asked=("n3",))
    found = {each.where: each for each in not_read(made, ("n1", "n2", "n3"))}
    assert found["n2"].why == OTHER
    assert found["n3"].why.startswith("not read by any run")
    assert "n1" not in found
    assert not_read(made, ("n1",)) == ()


def test_an_unknown_deciding_rule_of_a_failing_node_is_named(tmp_path: Path) -> None:
    made = summary(profile(tmp_path), node("n1", Outcome.FAIL))
    (only,) = not_read(made, ("n1",))
    assert (only.nodes, only.rules) == (("n1",), ("gpu.four",))
    assert not_read(made, ("n1",), ("gpu.some",)) == ()


def test_a_plane_that_returned_nothing_is_one_line_for_its_nodes() -> None:
    run = folder() / "first"
    text = rackcheck("remedy", run).out.split("\n")
    begin = next(at for at, line in enumerate(text) if line.startswith(HEAD))
    assert begin == 3
    assert text[begin + 1].startswith("#     n3: the bmc plane was not read: ")


def test_a_run_that_was_read_completely_has_no_such_line() -> None:
    run = summarize(events(clean()), library.load("h100-dgx", registry().catalogue))
    assert [each for each in not_read(run, NODES) if "bios_version" not in each.why] == []
    assert list(lines(())) == []


@pytest.mark.parametrize(("nodes", "status"), [("n3", 3), ("n2", 0)])
def test_nothing_to_do_is_no_success_while_something_is_unread(nodes: str, status: int) -> None:
    words = ("remedy", folder() / "first", "--nodes", nodes, "--rule", "bios.turbo")
    done = rackcheck(*words)
    assert done.status == status
    assert (HEAD in done.out) is (status == 3)
    assert ("# No rule fails or warns." in done.out) is (status == 0)
    assert rackcheck(*words, "--json").status == status
    assert bool(json.loads(rackcheck(*words, "--json").out)["incomplete"]) is (status == 3)


def test_many_causes_are_counted_and_a_text_of_a_node_stays_in_its_line() -> None:
    text = list(lines([NotRead((f"n{n}",), "a\nb\x1b[31m") for n in range(MOST + 5)]))
    assert len(text) == MOST + 2
    assert text[-1].strip().startswith("and 5 more")
    assert not any("\n" in line or "\x1b" in line for line in text)
