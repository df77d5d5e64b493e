"""`runs`, `history`, `diff` and `drift` on the command line: what they print, and how they exit."""

import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click
import pytest
from command import Done, rackcheck
from stored_runs import events, made, stored

from rackcheck.cli import guarded
from rackcheck.cli.diff import diff
from rackcheck.cli.drift import complete_like, drift
from rackcheck.cli.history import history
from rackcheck.run import store
from rackcheck.signoff import acceptance

NODES = {
    f"n{n}": {
        "node.serial": ("identity", f"S{n}"), "gpu/0.serial": ("identity", f"G{n}"), "firmware.bmc": ("version", "1.0"),
        "sysctl.vm.swappiness": ("config", 10), "fan": ("measurement", 100.0), "errors": ("counter", 5),
    }
    for n in range(1, 5)
}  # fmt: skip

Nodes = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RACKCHECK_INDEX", raising=False)
    made("r1", NODES)
    return tmp_path


def ran(command: click.Command, *words: object) -> Done:
    """Run one command as the command line does."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = guarded(lambda: command.main([str(w) for w in words], prog_name="rackcheck", standalone_mode=False))
        sys.stdout.flush()
        sys.stderr.flush()
    texts = []
    for stream in (out, err):
        assert isinstance(stream.buffer, io.BytesIO)
        texts.append(stream.buffer.getvalue().decode())
    return Done(status, texts[0], texts[1])


def nodes(changes: Mapping[str, Mapping[str, tuple[str, object]]]) -> Nodes:
    """The four nodes with some facts changed."""
    return {name: {**facts, **changes.get(name, {})} for name, facts in NODES.items()}


def drifted(*words: object) -> Done:
    """Drift by the index; the runs themselves give the same output."""
    by_index = ran(drift, "--against", "r1", *words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_INDEX", "/dev/null/index.sqlite")
        by_folders = ran(drift, "--against", "r1", *words)
    assert (by_index.status, by_index.out) == (by_folders.status, by_folders.out)
    return by_index


def test_nothing_drifts_where_only_counters_and_measurements_moved() -> None:
    made("r2", nodes({"n1": {"errors": ("counter", 9), "fan": ("measurement", 50.0)}}))
    done = drifted()
    assert (done.status, done.out) == (0, "")
    assert "no drift between r1 and r2 on 4 nodes" in done.err


def test_drift_is_folded_over_the_nodes_by_class() -> None:
    made(
        "r2",
        nodes(
            {
                n: {"sysctl.vm.swappiness": ("config", 60), "firmware.bmc": ("version", "1.1")}
                for n in ("n1", "n2", "n4")
            }
        ),
    )
    done = drifted()
    assert done.status == 1
    assert done.out.splitlines() == [
        "sysctl.vm.swappiness 10 -> 60 on 3 of 4: n[1-2,4]",
        "firmware.bmc 1.0 -> 1.1 on 3 of 4: n[1-2,4]",
    ]
    assert drifted("--class", "version").out == "firmware.bmc 1.0 -> 1.1 on 3 of 4: n[1-2,4]\n"
    assert drifted("--class", "identity").status == 0


def test_a_part_that_is_new_was_swapped_and_one_from_another_node_was_moved() -> None:
    made("r2", nodes({"n1": {"gpu/0.serial": ("identity", "NEW")}, "n3": {"gpu/0.serial": ("identity", "G1")}}))
    done = drifted()
    assert (done.status, done.out.splitlines()) == (
        1,
        [
            "gpu G1 moved: n1 gpu/0 -> n3 gpu/0",
            "gpu/0.serial gone (G3) on 1 of 4: n3",
            "gpu/0.serial new: NEW on 1 of 4: n1",
        ],
    )
    made("r3", nodes({"n1": {"gpu/0.serial": ("identity", "NEW")}}))
    assert drifted().out == "gpu/0.serial swapped G1 -> NEW on 1 of 4: n1\n"


def seated(name: str, *nodes: str, rack: str = "r1", host: str = "", targets: str = "all") -> str:
    """Write a run of these nodes, each with its rack and address."""
    place = made(name, dict.fromkeys(nodes, NODES["n1"]))
    listed = [
        {"name": node, "role": "compute", "rack": rack, "host": f"{node}{host}" if host else ""} for node in nodes
    ]
    head = {"rackcheck": store.FORMAT, "run": name, "targets": targets, "nodes": listed}
    (place / "run.json").write_text(json.dumps(head))
    return name


def suggested(*words: object) -> str:
    done = ran(drift, *words)
    assert (done.status, done.out) == (2, "")
    return done.err.strip()


def test_drift_suggests_only_runs_of_the_same_nodes_for_a_name_that_is_missing() -> None:
    mine, other = seated("20260101T000000Z-aa", "n1", "n2"), seated("20260101T000000Z-ab", "m1", "m2")
    last = seated("20260102T000000Z-cc", "n1")
    assert suggested("--against", "20260101T000000Z-ac", last).endswith(f"did you mean {mine}?")
    assert suggested("--against", "20260101T000000Z-ac", other).endswith("; no other run has the same nodes")
    assert suggested("--against", "pod8", last).endswith(f"no run or acceptance pod8; of the same nodes: {mine}")
    assert suggested("--against", last, "20260101T000000Z-ac").endswith(f"did you mean {mine}?")


def test_drift_refuses_runs_without_a_common_node_and_suggests_those_that_have_one() -> None:
    mine, other = seated("20260101T000000Z-aa", "n1", "n2"), seated("20260101T000000Z-ab", "m1", "m2")
    last = seated("20260102T000000Z-cc", "n1")
    error = suggested("--against", other, last)
    assert f"{other} (m[1-2]) and {last} (n1) have no node in common" in error
    assert error.endswith((f"did you mean {mine}?", f"of the same nodes: {mine}"))
    assert ran(drift, "--against", mine, last).status == 1  # n2 is gone: a run of some of the nodes fits


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ({"rack": "r1"}, {"rack": "r2"}),
        ({"host": ".a.example"}, {"host": ".b.example"}),
        ({"targets": "all 1 nodes of sim:clean"}, {"targets": "all 1 nodes of sim:dgx-h100"}),
    ],
    ids=["rack", "address", "simulated rack"],
)
def test_nodes_of_another_rack_with_the_same_name_are_not_suggested(
    mine: dict[str, str], other: dict[str, str]
) -> None:
    last, first = seated("20260102T000000Z-cc", "n1", **mine), seated("20260101T000000Z-aa", "n1", **mine)
    seated("20260101T000000Z-ab", "n1", **other)
    assert suggested("--against", "pod8", last).endswith(f"of the same nodes: {first}")
    context = click.Context(drift, info_name="drift")
    context.params = {"run": last}
    assert [item.value for item in complete_like(context, drift.params[1], "")] == [first]
    assert complete_like(context, drift.params[1], "20260102") == []


def renumbered() -> None:
    """Two runs: the second finds a GPU that the first lacked, so later GPUs have other numbers."""
    lacking, whole = (dict(enumerate(letters)) for letters in ("ABD", "ABCD"))
    for name, parts in (("r2", lacking), ("r3", whole)):
        facts: dict[str, tuple[str, object]] = {"gpu": ("config", [str(i) for i in parts])}
        for i, letter in parts.items():
            facts |= {f"gpu/{i}.serial": ("identity", letter), f"gpu/{i}.pci": ("identity", f"at {letter}")}
        made(name, {"n1": facts})


def test_a_part_that_only_got_another_number_was_not_swapped_in_history_diff_and_drift() -> None:
    renumbered()
    rows = ["gpu D moved: n1 gpu/2 -> gpu/3", "gpu/2.serial new: C"]
    items = ran(history, "n1").out.splitlines()
    assert [line.strip() for line in items if line.startswith(" ")][:2] == rows
    for done in (ran(drift, "--against", "r2", "r3"), ran(diff, "r2", "r3")):
        assert (done.status, done.out.splitlines()) == (1, [rows[0], f"{rows[1]} on 1 of 1: n1"])


def test_a_renumbered_part_is_a_move_in_every_document() -> None:
    renumbered()
    ends = {"before": {"node": "n1", "item": "gpu/2"}, "after": {"node": "n1", "item": "gpu/3"}}
    wanted = [{"part": "gpu", "names": {"serial": "D"}, **ends}]
    assert json.loads(ran(drift, "--against", "r2", "r3", "--json").out)["moved"] == wanted
    assert json.loads(ran(diff, "r2", "r3", "--json").out)["moved"] == wanted
    assert json.loads(ran(history, "n1", "--json").out)["runs"][0]["moved"] == wanted


def test_a_fact_explained_by_a_move_is_shown_when_filtered_for() -> None:
    renumbered()
    done = ran(diff, "r2", "r3", "--where", "gpu/2.pci")
    assert (done.status, done.out) == (1, "gpu/2.pci at D -> at C on 1 of 1: n1\n")
    assert ran(diff, "r2", "r3", "--where", "gpu/3.serial").out == "gpu D moved: n1 gpu/2 -> gpu/3\n"


def test_a_part_is_not_gone_while_nodes_are_unread_where_it_may_be() -> None:
    made("r2", {"n1": {**NODES["n1"], "gpu/0.serial": ("identity", "NEW")}})
    assert drifted().out.splitlines()[1:] == ["gpu/0.serial G1 -> NEW on 1 of 1: n1"]
    made("r2", {"n1": {**NODES["n1"], "gpu/0.serial": ("identity", "G4")}})
    assert drifted().out.splitlines()[1:] == [
        "gpu G4 moved: n4 gpu/0 -> n1 gpu/0",
        "gpu/0.serial no longer G1 (which may be elsewhere now) on 1 of 1: n1",
    ]


def accepted(*runs: tuple[str, Mapping[str, Mapping[str, tuple[str, object]]], int]) -> None:
    """An acceptance of the four nodes, with runs of some of them, each on its day."""
    place = {"role": "", "host": "", "bmc": "", "rack": "", "slot": "", "u": 0, "height": 1}
    profile = {"name": "p", "version": "1", "digest": "0" * 64, "set": {}}
    head = {"time": "t", "profile": profile, "inventory": {"digest": "0" * 64}, "planes": ["bmc", "os"]}
    acceptance.create("pod7", {**head, "nodes": [{"name": name, **place} for name in NODES]}, {})
    for name, facts, day in runs:
        rows = events(name, facts)
        rows[0]["time"] = f"2026-01-{day:02d}T00:00:00Z"
        run = store.find(str(stored(name, rows)))
        event = {"event": "run added", "run": name, "folder": str(run.folder), "kind": "audit", "time": "t"}
        acceptance.append(acceptance.home() / "pod7", {**event, "digest": acceptance.digest_of(run)})


def test_an_acceptance_stands_for_the_newest_reading_of_each_of_its_nodes() -> None:
    mended = {"n1": {**NODES["n1"], "sysctl.vm.swappiness": ("config", 60)}}
    # The run of the newer day has the lesser name: the day counts.
    accepted(("z1", NODES, 1), ("a2", mended, 2))
    made("r9", nodes({"n2": {"firmware.bmc": ("version", "1.1")}}))
    rows = ["sysctl.vm.swappiness 60 -> 10 on 1 of 4: n1", "firmware.bmc 1.0 -> 1.1 on 1 of 4: n2"]
    done = ran(drift, "--against", "pod7", "r9")
    assert (done.status, done.out.splitlines()) == (1, rows)
    assert ran(diff, "pod7", "r9").out.splitlines() == rows
    doc = json.loads(ran(drift, "--against", "pod7", "r9", "--json").out)
    assert (doc["before"], doc["new"]["nodes"], doc["nodes"]) == ("pod7", [], 4)
    assert "firmware.bmc" not in ran(diff, "n1", "n2", "--from", "pod7").out
    made("r10", nodes({"n1": mended["n1"]}))
    same = ran(drift, "--against", "pod7", "r10")
    assert (same.status, same.out) == (0, "")
    assert "no drift between pod7 and r10 on 4 nodes" in same.err


def test_a_node_in_no_run_of_an_acceptance_is_not_new_but_unread() -> None:
    accepted(("a1", {name: NODES[name] for name in ("n1", "n2", "n3")}, 1))
    done = ran(drift, "--against", "pod7", "r1")
    assert (done.status, done.out) == (3, "no facts in at least one of the runs on 1 of 4: n4\n")


def test_a_cut_run_that_did_not_come_to_a_node_leaves_its_earlier_reading() -> None:
    accepted(("a1", NODES, 1))
    rows = [e for e in events("a2", NODES, done=False) if e.get("node") != "n4"]
    run = store.find(str(stored("a2", rows)))
    event = {"event": "run added", "run": "a2", "folder": str(run.folder), "kind": "audit", "time": "t"}
    acceptance.append(acceptance.home() / "pod7", {**event, "digest": acceptance.digest_of(run)})
    assert ran(drift, "--against", "pod7", "r1").status == 0


def test_an_acceptance_of_which_a_run_was_changed_is_compared_with_nothing() -> None:
    accepted(("a1", NODES, 1))
    made("a1", nodes({"n1": {"firmware.bmc": ("version", "1.1")}}))
    done = ran(drift, "--against", "pod7", "r1")
    assert (done.status, done.out) == (2, "")
    assert "was changed since it was added" in done.err


def test_words_count_one_node_and_one_fact_as_one() -> None:
    for name in ("o1", "o2"):
        made(name, {"n1": {"firmware.bmc": ("version", None)}})
    done = ran(drift, "--against", "o1", "o2")
    assert "no drift between o1 and o2 on 1 node\n" in done.err
    assert "1 fact is unknown in both runs and was not compared" in done.err


def test_what_is_unknown_now_is_never_no_drift() -> None:
    made("r2", nodes({"n2": {"firmware.bmc": ("version", None)}}))
    done = drifted()
    assert (done.status, done.out) == (3, "firmware.bmc unknown now: denied (was 1.0) on 1 of 4: n2\n")
    back = ran(drift, "--against", "r2", "r1")
    assert (back.status, back.out) == (3, "firmware.bmc known again, was denied: 1.0 on 1 of 4: n2\n")


def test_a_plane_that_was_silent_both_times_is_never_no_drift() -> None:
    for name in ("r1", "r2"):
        rows = events(name, NODES)
        rows[1].update(unknown="timeout")
        del rows[1]["raw"]
        rows[2]["facts"] = {}
        stored(name, rows)
    done = drifted()
    assert (done.status, done.out) == (3, "os: no answer in either run on 1 of 4: n1\n")
    assert drifted("--class", "identity").status == 3
    assert ran(diff, "r1", "r2").status == 3


def test_facts_unknown_in_both_runs_are_counted_by_class() -> None:
    hidden = nodes({"n1": {"firmware.bmc": ("version", None), "sysctl.vm.swappiness": ("config", None)}})
    made("r1", hidden)
    made("r2", hidden)
    assert [json.loads(drifted("--json", *words).out)["unknown-in-both"] for words in ((), ("--class", "version"))] == [
        2,
        1,
    ]
    done = drifted()
    assert done.status == 0
    assert "2 facts are unknown in both runs and were not compared" in done.err


def test_a_rule_that_only_one_run_judged_is_a_difference() -> None:
    rows = events("r2", NODES)
    for event in rows:
        if event["event"] == "judged":
            event["verdicts"].append({"rule": "c", "status": "pass"})
    stored("r2", rows)
    done = ran(diff, "r1", "r2")
    assert (done.status, done.out) == (1, "c not judged -> pass on 4 of 4: n[1-4]\n")


def test_a_node_that_a_cut_run_did_not_come_to_is_not_missing() -> None:
    rows = [e for e in events("r2", NODES, done=False) if e.get("node") != "n4"]
    stored("r2", rows)
    done = drifted()
    assert (done.status, done.out) == (3, "no facts in at least one of the runs on 1 of 4: n4\n")


def test_nodes_that_are_new_or_missing_are_drift() -> None:
    made("r2", {**{n: NODES[n] for n in ("n1", "n2", "n3")}, "n9": NODES["n4"]})
    done = drifted()
    assert done.status == 1
    assert done.out.splitlines()[:2] == ["new in r2: n9", "missing in r2: n4"]


def test_measurements_drift_beyond_the_percent_with_their_unit() -> None:
    rows = events("r2", nodes({"n1": {"fan": ("measurement", 94.0)}, "n2": {"fan": ("measurement", 96.0)}}))
    for event in rows:
        if event["event"] == "facts":
            event["facts"]["fan"]["unit"] = "rpm"
    stored("r2", rows)
    before = events("r1", NODES)
    for event in before:
        if event["event"] == "facts":
            event["facts"]["fan"]["unit"] = "rpm"
    stored("r1", before)
    done = drifted("--class", "measurement")
    assert (done.status, done.out) == (1, "fan 100 rpm -> 94 rpm (-6.0 %) on 1 of 4: n1\n")
    assert drifted("--class", "measurement", "--percent", "10").status == 0


def test_a_run_in_a_folder_elsewhere_needs_no_index(tmp_path: Path) -> None:
    place = stored("accepted", events("accepted", nodes({"n1": {"sysctl.vm.swappiness": ("config", 60)}})), tmp_path)
    done = ran(drift, "--against", place)
    assert (done.status, done.out) == (1, "sysctl.vm.swappiness 60 -> 10 on 1 of 4: n1\n")
    assert not (tmp_path / "home" / "index.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--against", "r11"], "no run or acceptance r11; `rackcheck runs list` shows the runs"),
        (["--against", "r1", "--class", "verson"], "class 'verson' is not allowed"),
        (["--against", "r1", "--class", "counter"], "counters never count as drift"),
        ([], "--against"),
    ],
)
def test_a_usage_error_suggests_the_nearest_right_word(words: list[str], text: str) -> None:
    done = ran(drift, *words)
    assert (done.status, done.out) == (2, "")
    assert text in done.err


def test_drift_as_a_document_holds_the_same() -> None:
    made("r2", nodes({"n1": {"sysctl.vm.swappiness": ("config", 60)}, "n2": {"firmware.bmc": ("version", None)}}))
    doc = json.loads(drifted("--json").out)
    (change,) = doc["changes"]
    assert (change["fact"], change["before"], change["after"], change["nodes"]) == (
        "sysctl.vm.swappiness", {"value": 10}, {"value": 60}, ["n1"],
    )  # fmt: skip
    assert [one["kind"] for one in doc["unknown"]] == ["unknown now"]


def test_two_runs_differ_by_facts_and_by_verdicts_that_turned() -> None:
    made("r2", nodes({"n1": {"sysctl.vm.swappiness": ("config", 60)}}), {"n2": "b"})
    done = ran(diff, "r1", "r2")
    assert done.status == 1
    assert done.out.splitlines() == [
        "sysctl.vm.swappiness 10 -> 60 on 1 of 4: n1",
        "b pass -> fail on 1 of 4: n2",
    ]
    assert ran(diff, "r1", "r2", "--where", "b").out == "b pass -> fail on 1 of 4: n2\n"
    assert ran(diff, "r1", "r1").status == 0
    assert "errors" not in done.out


def test_counters_are_compared_only_with_the_all_option() -> None:
    made("r2", nodes({"n1": {"errors": ("counter", 9)}}))
    assert ran(diff, "r1", "r2").status == 0
    assert ran(diff, "r1", "r2", "--all").out == "errors 5 -> 9 on 1 of 4: n1\n"


def test_two_nodes_differ_by_their_serials_without_it_being_a_difference() -> None:
    done = ran(diff, "n1", "n2")
    assert (done.status, done.out) == (0, "2 identities differ, as expected of two machines; --all shows them\n")
    assert "gpu/0.serial G1 -> G2" in ran(diff, "n1", "n2", "--all").out
    made("r2", nodes({"n1": {"firmware.bmc": ("version", None)}}), {"n2": "a"})
    value = ran(diff, "n1", "n2")
    assert value.status == 1
    assert value.out.splitlines()[:2] == ["firmware.bmc known again, was denied: 1.0", "a pass -> fail"]
    assert ran(diff, "n1", "n2", "--from", "r1").status == 0
    assert ran(diff, "n1", "n2", "--where", "firmware").status == 3


def test_a_node_that_no_run_has_is_named_with_the_nearest() -> None:
    done = ran(diff, "n1", "n22")
    assert (done.status, done.out) == (2, "")
    assert "no run n22, and no node n22 in r1; did you mean n2?" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("r1", "nosuch"), "no run nosuch, and no node nosuch in r1"),
        (("last", "n22"), "no run n22, and no node n22 in r1; did you mean n2?"),
        (("lst", "r1"), "no run lst, and no node lst in r1; did you mean last?"),
        (("r1", "n2"), "r1 is a run, and n2 is a node: name the node first, rackcheck diff n2 r1"),
        (("r1", "peers"), "r1 is a run: only a node is compared with `peers`"),
        (("peers", "n1"), "no run peers, and no node peers in r1"),
        (("r1", "n1", "--from", "r1"), "r1 is a run, and n1 is a node"),
        (("r1", "r1", "--from", "r1"), "no node r1 in r1"),
    ],
)
def test_of_two_words_the_one_that_is_neither_a_run_nor_a_node_is_named(words: tuple[str, ...], message: str) -> None:
    done = ran(diff, *words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert "no run r1" not in done.err
    assert "no run last" not in done.err


def test_the_history_of_a_node_shows_changes_and_folds_the_rest() -> None:
    made("r2", NODES)
    made("r3", nodes({"n1": {"sysctl.vm.swappiness": ("config", 60)}}), {"n1": "b"})
    made("r4", nodes({"n1": {"sysctl.vm.swappiness": ("config", 60)}}), {"n1": "b"})
    done = ran(history, "n1")
    assert done.status == 0
    heads = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert "r4  2 identical runs" in heads[0]
    assert heads[0].endswith("r3  FAIL")
    assert "r2  2 identical runs" in heads[1]
    assert heads[1].endswith("r1  PASS  (its first run)")
    assert [line.strip() for line in done.out.splitlines() if line.startswith(" ")] == [
        "sysctl.vm.swappiness 10 -> 60",
        "b pass -> fail: 7 of 8",
    ]


PARTS = {
    "gpu/module-6.serial": ("identity", "1650005000003"), "gpu/module-6.pci": ("identity", "0000:52:00.0"),
    "bmc.gpu/SXM_3.serial": ("identity", "1650005000003"), "bmc.gpu/SXM_3.slot": ("config", "SXM3"),
    "bmc.gpu/SXM_4.serial": ("identity", "1650005000004"), "bmc.gpu/SXM_4.slot": ("config", "SXM4"),
}  # fmt: skip


def failing(name: str, reason: str) -> None:
    """Write a run in which the rule `b` fails on n1 for this reason."""
    rows = events(name, {"n1": PARTS}, {"n1": "b"})
    for row in rows:
        for verdict in row.get("verdicts", ()):
            verdict["reason"] = reason if verdict["status"] == "fail" else ""
    stored(name, rows)


@pytest.mark.parametrize(
    ("reason", "part"),
    [
        (
            "gpu/module-6.link.width is 8, must be 16",
            "GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650005000003)",
        ),
        ("x is bmc.gpu/SXM_4, must be none", "GPU SXM_4 (slot SXM4, serial 1650005000004)"),
        ("count of gpu is 1, must be 2", "GPU SXM_4 (slot SXM4, serial 1650005000004) is missing"),
    ],
)
def test_the_history_of_a_node_names_the_part_of_a_failure_and_its_reason(reason: str, part: str) -> None:
    made("r2", {"n1": PARTS})
    failing("r3", reason)
    (line,) = [line.strip() for line in ran(history, "n1").out.splitlines() if line.strip().startswith("b ")]
    assert line == f"b pass -> fail: {part}: {reason}"
    verdict = json.loads(ran(history, "n1", "--json").out)["runs"][0]["verdicts"][0]
    assert (verdict["reason"], verdict["parts"]) == (reason, [part])


def test_the_first_run_of_a_node_lists_what_failed_in_it() -> None:
    failing("r0", "gpu/module-6.link.width is 8, must be 16")
    lines = ran(history, "n1", "--where", "run:r0").out.splitlines()
    assert lines[0].endswith("FAIL  (its first run)")
    assert lines[1].strip().startswith("b fail: GPU module-6 (slot SXM3")
    assert ran(history, "n1", "--where", "run:r0 state:fail").out.splitlines() == lines


def test_a_verdict_that_passes_again_has_no_reason() -> None:
    failing("r2", "gpu/module-6.link.width is 8, must be 16")
    made("r3", {"n1": PARTS})
    verdict = json.loads(ran(history, "n1", "--json").out)["runs"][0]["verdicts"][0]
    assert verdict == {"rule": "b", "before": "fail", "after": "pass"}


def test_the_history_of_a_rule_shows_who_fails_and_since_when() -> None:
    made("r2", NODES, {"n1": "b", "n2": "b"})
    made("r3", NODES, {"n1": "b", "n2": "b"})
    doc = json.loads(ran(history, "b", "--json").out)
    assert [(g["newest"]["run"], g["oldest"]["run"], g["alike"], g["counts"], g["nodes"]) for g in doc["runs"]] == [
        ("r3", "r2", 2, {"fail": 2, "pass": 2}, {"fail": "n[1-2]"}),
        ("r1", "r1", 1, {"pass": 4}, {}),
    ]


def test_an_ambiguous_name_is_a_rule_unless_a_node_is_requested() -> None:
    made("r2", {"b": NODES["n1"]})
    assert "rule" in json.loads(ran(history, "b", "--json").out)
    assert "node" in json.loads(ran(history, "b", "--node", "--json").out)
    done = ran(history, "n11")
    assert (done.status, done.out) == (2, "")
    assert "did you mean n1?" in done.err


def test_the_list_is_limited_and_states_how_many_more_there_are() -> None:
    for number in range(2, 8):
        made(f"r{number}", NODES)
    done = rackcheck("runs", "list", "--limit", "3")
    assert [line.split()[0] for line in done.out.splitlines()] == ["run", "r7", "r6", "r5"]
    assert "and 4 more" in done.err


def test_history_without_an_index_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_INDEX", "/dev/null/index.sqlite")
    done = ran(history, "n1")
    assert (done.status, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
