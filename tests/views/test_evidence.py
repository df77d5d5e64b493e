"""The evidence of a verdict: the raw lines behind a fact, the other plane's value, and since when."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st
from rack_runs import folder
from stored_runs import events, made, stored

from rackcheck.evaluate.verdict import Verdict, judge
from rackcheck.model import catalogue
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.plan import Plan
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.session.raw import replies_of
from rackcheck.session.registry_loading import known
from rackcheck.session.stored import stored_job
from rackcheck.session.verdict_since import since
from rackcheck.views.evidence import NodeReplies, Proof, RelatedFact, piece, proof, views
from rackcheck.views.matching_lines import WIDTH, SearchTerms, picked
from rackcheck.views.replies import replies
from rackcheck.views.reply import RawText, reply_lines

TEXT = catalogue.text("A text.")


def leaf(reading: Reading, source: str, plane: Plane = Plane.OS, kind: Kind = TEXT) -> Leaf:
    return Leaf(reading, kind, plane, source)


def lines_of(reply: RawText) -> list[str]:
    return [row.text for row in reply.rows]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate home, without the user's runs."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))


@cache
def machine() -> tuple[NodeReplies, Mapping[str, Rule], Mapping[str, Verdict]]:
    """Answers of a simulated DGX H100, with its profile's rules and verdicts, and the cross-plane profile's pairs."""
    run = store.find(str(folder() / "first"))
    job = stored_job(run)
    assert job.profile is not None
    came = [answer for answer in run.answers() if answer.node == "n1"]
    everything = Job(Plan(known().probes, joins=known().joins), job.nodes)
    tree = tree_of(everything, job.nodes[0], came)
    alone = [rule for rule in job.profile.own if rule.across is None]
    verdicts = {verdict.rule: verdict for verdict in judge(alone, tree)}
    pairs = library.load("cross-plane", known().catalogue).own
    all_texts = replace(replies_of(tree, {a.plane: a.capture for a in came if a.capture is not None}), rules=pairs)
    return all_texts, {rule.id: rule for rule in alone}, verdicts


# ---- the lines of a reply


def test_a_file_shows_the_line_that_holds_the_value() -> None:
    capture = NodeCapture(files={"/etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="22.04"\nHOME=x\n'})
    (reply,) = replies("os.release.version_id", leaf("22.04", "/etc/os-release"), capture)
    assert (lines_of(reply), reply.cut) == (['VERSION_ID="22.04"'], 2)
    assert list(reply_lines(reply)) == [
        "/etc/os-release",
        '>     2  VERSION_ID="22.04"',
        "  2 of 3 lines are not shown",
    ]


def test_a_reply_without_the_value_shows_how_it_begins_and_states_the_cut() -> None:
    capture = NodeCapture(commands={"tool": Output(0, "".join(f"line {n}\n" for n in range(50)))})
    (reply,) = replies("a.b", leaf("x", "tool"), capture, most=5)
    assert lines_of(reply) == [f"line {n}" for n in range(5)]
    assert (reply.of, reply.cut) == (50, 45)


def test_a_command_that_failed_shows_its_complaint_and_its_exit() -> None:
    capture = NodeCapture(commands={"tool": Output(3, "", "tool: no device\n")})
    (reply,) = replies("a.b", leaf(Unknown(Reason.DENIED), "tool"), capture)
    assert (lines_of(reply), reply.status) == (["tool: no device"], 3)
    assert "(exit 3)" in next(reply_lines(reply))


def test_a_file_that_was_refused_or_is_missing_states_it() -> None:
    capture = NodeCapture(refused={"/x": Unknown(Reason.DENIED, "not for you")})
    assert replies("a", leaf(Unknown(Reason.DENIED), "/x"), capture)[0].trouble == "denied: not for you"
    assert replies("a", leaf(Absent("no /y"), "/y"), capture)[0].trouble == "no /y"
    assert replies("a", leaf("v", "elsewhere"), capture)[0].trouble == "no answer from this source is stored"
    assert replies("a", leaf("v", "/x"), None)[0].trouble == "no answer of this plane is stored"


def test_of_many_files_those_of_the_items_come_first_and_the_rest_is_counted() -> None:
    capture = NodeCapture(files={f"/sys/nic/eth{n}/rate": f"{n}\n" for n in range(9)})
    found = replies("nic/eth7.rate", leaf("7", "/sys/nic/*/rate"), capture)
    assert found[0].name == "/sys/nic/eth7/rate"
    assert (len(found), found[-1].more) == (6, 3)


def test_a_device_is_found_by_its_own_section() -> None:
    out = "==> a <==\nmode: x\nfirst\n<== 0\n==> b <==\nmode: x\nsecond\n<== 0\n"
    (reply,) = replies("nic.adapter/b.mode", leaf("x", "t"), NodeCapture(commands={"t": Output(0, out)}))
    assert [row.number for row in reply.rows] == [6]


def test_a_property_of_a_body_is_shown_with_its_neighbours() -> None:
    body = {"Attributes": {**{f"A{n}": n for n in range(20)}, "SrIov": "Enabled", "Z": 1}}
    capture = BmcCapture({"/redfish/v1/Systems/1/Bios": body})
    source = "/redfish/v1/Systems/1/Bios#/Attributes/SrIov = Enabled; A3 = 3"
    (reply,) = replies("bios.sr_iov", leaf("enabled", source, Plane.BMC), capture)
    assert [row.text.strip() for row in reply.rows if row.hit] == ['"A3": 3,', '"SrIov": "Enabled",']
    assert '"Z": 1' in [row.text.strip() for row in reply.rows]
    assert reply.name == "/redfish/v1/Systems/1/Bios#/Attributes"


def test_no_secret_of_anybodys_run_is_shown() -> None:
    node = NodeCapture({"t": Output(0, "login root password=hunter2 ok\n")}, files={"/f": "token: abcdef123456\n"})
    bmc = BmcCapture(
        {"/redfish/v1/A": {"Password": "hunter2", "Name": "x", "Inside": {"SessionToken": "abcdef123456"}}}
    )
    shown = [
        *replies("a.login", leaf("ok", "t"), node), *replies("a.token", leaf("x", "/f"), node),
        *replies("a.name", leaf("x", "/redfish/v1/A#/Name", Plane.BMC), bmc),
    ]  # fmt: skip
    text = "\n".join(line for reply in shown for line in reply_lines(reply))
    assert "hunter2" not in text
    assert "abcdef123456" not in text
    assert "(dropped)" in text


LINES = st.lists(st.text(alphabet="ab1= \t{\"'<>", max_size=300), min_size=1, max_size=40)


@given(LINES, st.integers(1, 9), st.integers(0, 2), st.sampled_from(["x.a", "gpu/ab1.b", "gpu/0.a", "ab/b.ab"]))
def test_every_line_shown_is_a_line_of_the_reply_in_its_order_and_never_too_many(
    lines: list[str], most: int, around: int, path: str
) -> None:
    wanted = SearchTerms.of(parse(path), "ab1")
    found = list(picked(lines, wanted, most, around))
    assert 1 <= len(found) <= most
    numbers = [number for number, _, _ in found]
    assert numbers == sorted(set(numbers))
    for number, text, _ in found:
        line = lines[number - 1].expandtabs(4)
        assert text.strip("…") in line
        assert len(text) <= WIDTH + 2


# ---- a real machine


def test_the_bare_truth_behind_facts_of_a_real_machine_is_found() -> None:
    all_texts, _, _ = machine()
    asked = dict(list(all_texts.tree.leaves.items())[::25])
    lost = [
        path for path, each in asked.items()
        if each.plane is not Plane.DERIVED and not isinstance(each.reading, Unknown | Absent)
        and "." in path and all(reply.trouble for reply in all_texts.replies(path, each))
    ]  # fmt: skip
    known_facts = [path for path, each in asked.items() if not isinstance(each.reading, Unknown | Absent)]
    assert len(lost) * 200 <= len(known_facts), lost[:20]


def test_one_gpu_of_eight_is_proven_by_its_own_part_of_the_answer() -> None:
    all_texts, _, _ = machine()
    paths = [f"gpu/module-{n}.vbios" for n in range(1, 9)]
    rows = [all_texts.replies(path, all_texts.tree.leaves[path])[0].rows for path in paths]
    assert [len(each) for each in rows] == [1] * 8
    assert len({each[0].number for each in rows}) == 8


def test_a_verdict_names_the_facts_that_it_rests_on_and_the_file_of_each() -> None:
    all_texts, rules, verdicts = machine()
    found: Proof = proof(rules["nic.rate"], verdicts["nic.rate"], all_texts)
    down = next(each for each in found.pieces if each.path == "nic/mlx5_4.port/1.active_rate")
    assert down.evidence is not None
    assert down.evidence.observed == "0 Gb/s"
    counted = proof(rules["gpu.count"], verdicts["gpu.count"], all_texts)
    assert counted.pieces[0].leaf is None  # `count of gpu` is no fact
    assert all(each.leaf is not None for each in found.pieces if each.evidence is None)


def test_a_proof_is_cut_and_states_it() -> None:
    all_texts, rules, verdicts = machine()
    whole = proof(rules["nic.rate"], verdicts["nic.rate"], all_texts, most=1000)
    short = proof(rules["nic.rate"], verdicts["nic.rate"], all_texts, most=3)
    assert (len(short.pieces), short.cut) == (3, len(whole.pieces) - 3)


def seen(path: str) -> dict[str, RelatedFact]:
    all_texts, _, _ = machine()
    return {view.path: view for view in views(path, all_texts.tree.leaves[path], all_texts)}


def test_the_other_planes_view_is_found_by_the_rules_that_hold_both_together() -> None:
    assert seen("cpu.sockets")["bmc.cpu.count"].why == "planes.cpu_count"
    assert seen("bmc.cpu.count")["cpu.sockets"].agrees is True
    view = seen("gpu/module-3.vbios")
    (name,) = [path for path in view if path.startswith("bmc.gpu/")]
    assert (view[name].agrees, view[name].why) == (True, "gpu/module-3.bmc_id")
    assert "bmc.differs.gpu.vbios" in view
    assert "gpu/module-3.vbios" in seen(name)


def test_another_planes_value_that_is_unknown_neither_agrees_nor_disagrees() -> None:
    rules = library.load("cross-plane", known().catalogue).own
    count = Kind(catalogue.Type.INTEGER, "")

    def source(other: Reading) -> bool | None:
        leaves = {"cpu.sockets": leaf(2, "lscpu", kind=count), "bmc.cpu.count": leaf(other, "/r", Plane.BMC, count)}
        (view,) = views("cpu.sockets", leaves["cpu.sockets"], NodeReplies(Tree(leaves), {}, rules))
        return view.agrees

    assert source(2) is True
    assert source(1) is False
    assert source(Absent()) is False
    assert source(Unknown(Reason.TIMEOUT)) is None


def test_a_derived_fact_shows_what_it_follows_from() -> None:
    all_texts, _, _ = machine()
    whole = piece("gpu/module-7.nearest_nic", all_texts)
    assert whole.replies == ()
    assert "gpu/module-7.pci" in [each.path for each in whole.inputs]
    assert "gpu/module-5.pci" not in [each.path for each in whole.inputs]
    assert whole.cut > 0
    shown = [each.path for each in whole.inputs]
    own = [path.startswith("gpu/module-7.") for path in shown]
    assert own == sorted(own, reverse=True), "inputs of the item itself are first"


def test_facts_raw_prints_the_source_and_the_lines(tmp_path: Path) -> None:
    run = folder() / "first"
    done = rackcheck("facts", "n1", "nic/mlx5_4.port/1.rate", "--from", run, "--raw")
    assert done.status == 0, done.err
    assert "/sys/class/infiniband/mlx5_4/ports/1/rate" in done.out
    assert ">     1  40 Gb/sec (4X QDR)" in done.out
    doc = json.loads(rackcheck("facts", "n1", "nic/mlx5_4.port/1.rate", "--from", run, "--raw", "--json").out)
    (raw,) = doc["facts"]["nic/mlx5_4.port/1.rate"]["raw"]
    assert raw["rows"] == [{"line": 1, "text": "40 Gb/sec (4X QDR)", "hit": True}]
    plain = json.loads(rackcheck("facts", "n1", "nic/mlx5_4.port/1.rate", "--from", run, "--json").out)
    assert "raw" not in plain["facts"]["nic/mlx5_4.port/1.rate"]


def test_answers_are_listed_without_their_raw_side_which_is_read_by_its_digest() -> None:
    run = store.find(str(folder() / "first"))
    whole, bare = list(run.answers()), list(run.answered())
    assert [replace(answer, capture=None) for answer in whole] == bare
    assert all(answer.capture is None for answer in bare)
    for answer in whole:
        assert run.capture(answer.digest, answer.plane) == answer.capture


# ---- since when


def judged(name: str, node: str, *, fails: str = "", rules: str = "ab") -> None:
    values_: list[dict[str, Any]] = events(name, {node: {}}, {node: fails} if fails else None)
    for doc in values_:
        if doc["event"] == "judged":
            doc["verdicts"] = [verdict for verdict in doc["verdicts"] if verdict["rule"] in rules]
    stored(name, values_)


def test_a_verdict_is_dated_from_the_first_run_of_its_unbroken_row() -> None:
    for name, fails in (("r1", "a"), ("r2", ""), ("r3", "a"), ("r4", "a")):
        judged(name, "n1", fails=fails)
    found = since("n1", "a")
    assert found is not None
    assert (found.run, found.runs, found.verdict, found.first) == ("r3", 2, "fail", False)
    other = since("n1", "b")
    assert other is not None
    assert (other.run, other.runs, other.verdict, other.first) == ("r1", 4, "pass", True)


def test_a_run_that_did_not_judge_the_rule_breaks_no_row() -> None:
    judged("r1", "n1", fails="a")
    judged("r2", "n1", rules="b")
    judged("r3", "n1", fails="a")
    made("r4", {"n2": {}})
    found = since("n1", "a")
    assert found is not None
    assert (found.run, found.runs, found.first) == ("r1", 2, True)


def test_since_can_start_from_an_older_run_and_is_none_for_unknown_ones() -> None:
    for name, fails in (("r1", "a"), ("r2", "a"), ("r3", "")):
        judged(name, "n1", fails=fails)
    found = since("n1", "a", "r2")
    assert found is not None
    assert (found.run, found.runs, found.verdict) == ("r1", 2, "fail")
    assert since("n1", "a", "r9") is None
    assert since("n9", "a") is None
    assert since("n1", "z") is None
