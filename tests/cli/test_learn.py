"""Warnings of `rackcheck profile learn`: nodes that failed, or that differ from their role, would pass the profile."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import rack_runs
from command import rackcheck

from rackcheck.signoff.waivers import load

FAILED, DIFFER = "warning: rules failed on", "warning: nodes differ from most nodes of role"


def test_a_node_that_failed_is_named_with_its_rules_and_would_pass_the_learned_profile(tmp_path: Path) -> None:
    first, written = rack_runs.folder() / "first", tmp_path / "ours.yaml"
    done = rackcheck("profile", "learn", "--from", first, "-o", written)
    assert done.status == 0
    (line,) = [line for line in done.err.splitlines() if line.startswith(FAILED)]
    assert line.startswith(f"{FAILED} n1 in run ")
    assert line.endswith("the learned profile would accept these nodes:")
    assert "    nic.rate on n1\n" in done.err
    assert "    n1: nic/mlx5_4.port/1.state is DOWN, 2 of 3 have ACTIVE\n" in done.err
    assert "Nodes that pass in their run: --nodes 'n2'\n" in done.err
    comment = " ".join(line.removeprefix("# ") for line in written.read_text().split("rackcheck: 1")[0].splitlines())
    assert "Warning: rules failed on n1 in run" in comment
    assert "nic.rate on n1" in comment
    rules = [line for line in rackcheck("audit", "--from", first, "-p", written).out.splitlines() if "FAIL" in line]
    assert not any("n1" in line for line in rules), rules


def test_nodes_that_pass_are_learned_from_without_a_warning(tmp_path: Path) -> None:
    first, written = rack_runs.folder() / "first", tmp_path / "ours.yaml"
    done = rackcheck("profile", "learn", "--from", first, "--nodes", "n2", "-o", written)
    assert (done.status, "warning" in done.err) == (0, False)
    assert "# Warning" not in written.read_text()


def test_a_node_that_differs_is_compared_with_the_nodes_that_are_not_selected() -> None:
    done = rackcheck("profile", "learn", "--from", rack_runs.folder() / "first", "--nodes", "n1")
    assert f"{DIFFER} compute" in done.err
    assert "2 of 3 have ACTIVE" in done.err
    assert "n2" not in done.err
    assert "Nodes that pass" not in done.err


@pytest.mark.parametrize("word", ["cut off", "interrupted"])
def test_a_run_that_was_stopped_is_named_on_the_terminal_and_in_the_file(tmp_path: Path, word: str) -> None:
    run, written = rack_runs.copied("first", tmp_path), tmp_path / "ours.yaml"
    *events, done = (run / "events.jsonl").read_text().splitlines(keepends=True)
    ended = json.dumps(json.loads(done) | {"interrupted": True}) + "\n" if word == "interrupted" else ""
    (run / "events.jsonl").write_text("".join([*events, ended]))
    name = json.loads((run / "run.json").read_text())["run"]
    learned = rackcheck("profile", "learn", "--from", run, "--nodes", "n2", "-o", written)
    assert learned.status == 0
    lines = [line for line in learned.err.splitlines() if line.startswith("warning: ")]
    wanted = f"run {name} was {word} before it had read everything, and facts that it did not read give no rule"
    assert lines == [f"warning: {wanted}"]
    comment = " ".join(line.removeprefix("# ") for line in written.read_text().split("rackcheck: 1")[0].splitlines())
    assert f"Warning: {wanted}." in comment


def test_a_finding_that_is_waived_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    first, waivers = rack_runs.folder() / "first", tmp_path / "w.yaml"
    until = (datetime.now(UTC) + timedelta(days=90)).date()
    made = rackcheck(
        "waive", "nic.rate", "--nodes", "n1", "--from", first, "--by", "jo", "--ticket", "OPS-12",
        "--reason", "cables ordered", "--until", until, "--file", waivers,
    )  # fmt: skip
    assert made.status == 0, made.err
    run = rack_runs.copied("first", tmp_path)
    (run / "waivers").mkdir()
    waivers.rename(run / "waivers" / "w.yaml")
    rack_runs.edited(run, waivers={"w.yaml": load(run / "waivers" / "w.yaml").digest})
    assert "    nic.rate (waived) on n1\n" in rackcheck("profile", "learn", "--from", run).err


def test_two_nodes_that_differ_are_named_without_a_majority(tmp_path: Path) -> None:
    done = rackcheck("profile", "learn", "--from", without("n3", tmp_path))
    assert "warning: n[1-2] differ, and are too few for a majority" in done.err
    assert "    nic/mlx5_4.port/1.state\n" in done.err


def test_a_single_node_has_nothing_to_differ_from() -> None:
    assert "differ" not in rackcheck("profile", "learn", "--from", rack_runs.folder() / "one").err


def without(node: str, folder: Path) -> Path:
    """A copy of the first run that has not read this node."""
    run = rack_runs.copied("os", folder)
    head = json.loads((run / "run.json").read_text())
    rack_runs.edited(run, nodes=[one for one in head["nodes"] if one["name"] != node])
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    kept = [event for event in events if event.get("node") != node]
    for event in kept:
        if event["event"] == "run started":
            event["nodes"] = [name for name in event["nodes"] if name != node]
    (run / "events.jsonl").write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in kept))
    return run
