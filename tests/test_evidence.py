"""No PASS on nothing, of another machine, or by silence: whole racks and hosts, broken in the ways that once passed."""

import atexit
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck import library, store
from rackcheck.cli.stored import stored_job
from rackcheck.core.capture import BmcCapture, NodeCapture
from rackcheck.core.event import Answered, Judged
from rackcheck.core.fact import Plane, Reason, Unknown
from rackcheck.core.fit import Match
from rackcheck.core.law import Outcome
from rackcheck.core.profile import FIRST, LAW
from rackcheck.core.verdict import Status
from rackcheck.job import Job
from rackcheck.registry import registry
from rackcheck.report.summary import Summary, exit_code, summarize
from rackcheck.run import replay
from rackcheck.sim import scenario

NODES = 4


@cache
def rack() -> Path:
    """A run of four simulated DGX H100, as they should be."""
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    place = Path(kept.name)
    (place / "rack.yaml").write_text(
        f"rackcheck: 1\nscenario: four\nnodes: {{ 'n[1-{NODES}]': {{ machine: dgx-h100 }} }}\n"
    )
    with Rack(scenario.load(place / "rack.yaml"), place) as up:
        done = rackcheck("audit", "-i", up.inventory, "-p", "h100-dgx", "-q", "-o", place / "run")
        assert done.status == 0, done.out + done.err
    return place / "run"


@cache
def recorded() -> tuple[Job, tuple[Answered, ...]]:
    stored = store.find(str(rack()))
    return stored_job(stored), tuple(stored.answers())


Edit = Callable[[Answered], Answered]


def judged(
    edit: Edit = lambda each: each, *, nodes: Sequence[str] = (), planes: frozenset[Plane] | None = None
) -> Summary:
    """Judge the run's answers again, edited; `nodes` and `planes` narrow what was asked."""
    job, answers = recorded()
    if nodes:
        job = replace(job, nodes=tuple(node for node in job.nodes if node.name in nodes), expected=())
    if planes is not None:
        job = replace(job, planes=planes)
    assert job.profile is not None
    asked = {node.name for node in job.nodes}
    came = [edit(each) for each in answers if each.node in asked and each.plane in job.planes]
    return summarize(replay(job, came, store.find(str(rack())).done()), job.profile)


def of(summary: Summary, name: str) -> Judged:
    return next(each for each in summary.everyone if each.node == name)


def verdict(summary: Summary, node: str, rule: str) -> tuple[Status, str]:
    found = next(each for each in of(summary, node).verdicts if each.rule == rule)
    return found.status, found.reason


def taken(names: Mapping[str, str], plane: Plane | None = None) -> Edit:
    """Give nodes the answers of others."""
    _, answers = recorded()
    by = {(each.node, each.plane): each for each in answers}

    def edit(each: Answered) -> Answered:
        if each.node not in names or plane not in {None, each.plane}:
            return each
        return replace(by[names[each.node], each.plane], node=each.node)

    return edit


def rewritten(node: str, old: str, new: str) -> Edit:
    """Replace a text in all that a node's planes returned."""

    def edit(each: Answered) -> Answered:
        if each.node != node or each.capture is None:
            return each
        text = json.dumps(each.capture.to_json())
        kind = NodeCapture if isinstance(each.capture, NodeCapture) else BmcCapture
        return replace(each, capture=kind.from_json(json.loads(text.replace(old, new))))

    return edit


# ---- whose evidence it is ----------------------------------------------------------------------------------------------


def test_a_clean_rack_passes_with_no_new_unknown() -> None:
    found = judged()
    assert (found.done.outcome, found.counts[Status.UNKNOWN], exit_code(found, strict=True)) == (Outcome.PASS, 0, 0)
    assert verdict(found, "n1", "identity.host_and_bmc") == (Status.PASS, "")
    assert [verdict(found, "@fleet", rule)[0] for rule in ("identity.unique", "silence.nodes")] == [Status.PASS] * 2


def test_a_node_whose_host_and_bmc_are_another_node_s_fails_the_run_and_no_node() -> None:
    found = judged(taken({"n2": "n1"}))
    assert (found.done.outcome, exit_code(found, strict=False)) == (Outcome.FAIL, 1)
    status, reason = verdict(found, "@fleet", "identity.unique")
    assert status is Status.FAIL
    assert "n1" in reason and "n2" in reason  # noqa: PT018
    assert {each.outcome for each in found.judged} == {Outcome.PASS}


def test_two_bmcs_that_are_exchanged_fail_both_nodes() -> None:
    found = judged(taken({"n1": "n2", "n2": "n1"}, Plane.BMC))
    assert [each.outcome.value for each in found.judged] == ["FAIL", "FAIL", "PASS", "PASS"]
    status, reason = verdict(found, "n1", "identity.host_and_bmc")
    assert status is Status.FAIL
    assert "serial" in reason


def test_one_machine_under_every_name_is_no_fleet() -> None:
    found = judged(taken({f"n{number}": "n1" for number in range(1, NODES + 1)}))
    status, reason = verdict(found, "@fleet", "identity.unique")
    assert (found.done.outcome, status) == (Outcome.FAIL, Status.FAIL)
    assert f"n[1-{NODES}]" in reason or all(f"n{number}" in reason for number in range(1, NODES + 1))


def serials(node: str) -> tuple[str, str]:
    """The serial numbers of two GPUs of a node."""
    number = int(node.removeprefix("n"))
    return f"1650{number:03}000003", f"1650{number:03}000004"


@pytest.mark.parametrize("other", ["n2", "n3"])
def test_two_gpus_of_one_serial_are_named(other: str) -> None:
    here, there = serials("n2")[0], serials(other)[1]
    found = judged(rewritten(other, there, here))
    status, reason = verdict(found, "@fleet", "identity.unique")
    assert (found.done.outcome, status) == (Outcome.FAIL, Status.FAIL)
    assert here in reason and "n2" in reason and other in reason  # noqa: PT018


def test_two_gpus_of_one_serial_in_the_only_node_that_is_asked_are_named() -> None:
    here, there = serials("n2")
    found = judged(rewritten("n2", there, here), nodes=["n2"])
    assert found.done.outcome is Outcome.FAIL
    status, reason = verdict(found, "n2", "identity.parts")
    assert status is Status.FAIL
    assert here in reason


def test_an_unreachable_node_makes_itself_incomplete_and_no_other() -> None:
    gone = Unknown(Reason.UNREACHABLE, "connection refused")
    found = judged(lambda each: replace(each, capture=None, trouble=gone) if each.node == "n3" else each)
    assert [each.outcome.value for each in found.judged] == ["PASS", "PASS", "INCOMPLETE", "PASS"]
    assert "connection refused" in of(found, "n3").reason
    assert (of(found, "@fleet").outcome, exit_code(found, strict=False)) == (Outcome.PASS, 3)
    assert found.reason


# ---- which machine it is -----------------------------------------------------------------------------------------------


def test_another_machine_is_incomplete_whatever_its_rules_come_to() -> None:
    found = judged(rewritten("n1", "DGXH100", "DGXH200"))
    one = of(found, "n1")
    assert (one.outcome, one.fit.match) == (Outcome.INCOMPLETE, Match.OTHER)
    assert one.reason.startswith("not a DGX H100 (product DGXH200")
    assert [each.outcome.value for each in found.judged] == ["INCOMPLETE", "PASS", "PASS", "PASS"]


def test_a_machine_that_either_plane_names_is_the_one_that_is_meant() -> None:
    def edit(each: Answered) -> Answered:
        return rewritten("n1", "DGXH100", "Default string")(each) if each.plane is Plane.OS else each

    assert of(judged(edit), "n1").fit.match is Match.FITS


def test_strict_does_not_fail_a_machine_that_rules_do_not_decide_on() -> None:
    found = judged(rewritten("n1", "DGXH100", "DGXH200"), nodes=["n1"])
    assert exit_code(found, strict=True) == exit_code(found, strict=False) == 3


@pytest.mark.parametrize("planes", [{Plane.OS}, {Plane.BMC}])
def test_one_plane_is_evidence_of_its_own(planes: set[Plane]) -> None:
    found = judged(planes=frozenset(planes))
    assert found.done.outcome is Outcome.PASS
    assert found.only
    assert "identity.host_and_bmc" not in {v.rule for v in of(found, "n1").verdicts}


# ---- hosts and fragments -----------------------------------------------------------------------------------------------

GPU = any(
    vendor.read_text().strip() in {"0x10de", "0x1002"} for vendor in Path("/sys/bus/pci/devices").glob("*/vendor")
)
bare = pytest.mark.skipif(GPU, reason="this machine has GPUs: it may be what a profile is for")


@bare
@pytest.mark.parametrize(
    ("profile", "exit_", "why"),
    [
        ("linux-server", 0, ""),
        ("h100-dgx", 3, "not a DGX H100 ("),
        ("grace-server", 3, "not a server with Grace CPUs"),
        ("linux-gpu-node", 3, "no 10de device"),
        ("slurm-node", 3, "slurm-node is a fragment and gives no verdict on a machine"),
        ("hgx-h100", 3, "did you mean h100-hgx?"),
    ],
)
def test_a_bare_host_passes_the_profile_of_any_machine_and_no_other(
    tmp_path: Path, profile: str, exit_: int, why: str
) -> None:
    done = rackcheck("audit", "-p", profile, "localhost", "-q", "--json", "-o", tmp_path / "run")
    doc = json.loads(done.out)
    assert (done.status, doc["outcome"]) == (exit_, "PASS" if exit_ == 0 else "INCOMPLETE")
    assert why in doc.get("reason", "")
    assert bool(doc.get("reason")) is (exit_ == 3)


@bare
@pytest.mark.slow
def test_every_other_profile_is_incomplete_on_a_bare_host_and_says_why(tmp_path: Path) -> None:
    names = sorted(set(library.profiles()) - {"linux-server"})
    assert len(names) > 30
    for name in names:
        done = rackcheck("audit", "-p", name, "localhost", "-q", "--json", "-o", tmp_path / name)
        assert done.status == 3, f"{name}: {done.out[:300]} {done.err}"
        assert json.loads(done.out)["reason"], name


def test_a_fragment_that_is_not_tried_on_purpose_is_named_before_a_node_is_asked(tmp_path: Path) -> None:
    done = rackcheck("audit", "-p", "hgx-h100", "localhost", "-o", tmp_path / "run")
    assert "hgx-h100 is a fragment" in done.err.splitlines()[0]
    tried = rackcheck("audit", "-p", "hgx-h100", "--fragment", "localhost", "-o", tmp_path / "again")
    assert tried.status == 3
    assert "--fragment tries" not in tried.err
    wrong = rackcheck("audit", "-p", "linux-server", "--fragment", "localhost")
    assert (wrong.status, "linux-server is no fragment" in wrong.err) == (2, True)


def test_a_fragment_decides_nothing_on_a_rack_either() -> None:
    job, answers = recorded()
    profile = library.load("hgx-h100", registry().catalogue)
    found = summarize(replay(replace(job, profile=profile), answers, store.find(str(rack())).done()), profile)
    assert {each.outcome for each in found.everyone} == {Outcome.INCOMPLETE}
    assert found.counts[Status.PASS] > 0
    assert "did you mean h100-hgx?" in found.reason


# ---- runs that were judged before --------------------------------------------------------------------------------------


def before(target: Path) -> Path:
    """Write the run as an earlier rackcheck did: without the number of a law."""
    lines = []
    for line in (rack() / "events.jsonl").read_text().splitlines():
        doc = json.loads(line)
        if doc.get("node", "").startswith("@"):
            continue
        if doc["event"] == "judged":
            doc["verdicts"] = [v for v in doc["verdicts"] if not v["rule"].startswith(("identity.", "silence."))]
            for key in ("reason", "fit"):
                doc.pop(key, None)
        doc.pop("law", None)
        lines.append(json.dumps(doc))
    target.mkdir()
    for each in rack().iterdir():
        if each.name != "events.jsonl":
            (target / each.name).symlink_to(each)
    (target / "events.jsonl").write_text("\n".join(lines) + "\n")
    return target


def test_a_run_from_before_is_shown_by_the_law_it_was_judged_under(tmp_path: Path) -> None:
    old = store.find(str(before(tmp_path / "old")))
    job = stored_job(old)
    assert job.profile is not None
    assert (job.profile.law, old.started().law) == (FIRST, FIRST)
    assert not any(rule.built_in for rule in job.profile.rules)
    shown = summarize(replay(job, old.answers(), old.done()), job.profile)
    assert [each.node for each in shown.everyone] == [f"n{number}" for number in range(1, NODES + 1)]
    stored = {each.node: (each.outcome, [(v.rule, v.status) for v in each.verdicts]) for each in old.judged()}
    assert {e.node: (e.outcome, [(v.rule, v.status) for v in e.verdicts]) for e in shown.judged} == stored
    assert any(f"law {FIRST}" in note for note in shown.notes)


def test_judging_a_run_from_before_again_says_where_today_s_law_differs(tmp_path: Path) -> None:
    old = before(tmp_path / "old")
    same = rackcheck("audit", "--from", old)
    assert (same.status, f"today's (law {LAW}) comes to the same outcomes" in " ".join(same.out.split())) == (0, True)
    events = (old / "events.jsonl").read_text().replace('"outcome": "PASS"', '"outcome": "FAIL"')
    (old / "events.jsonl").write_text(events)
    other = rackcheck("audit", "--from", old)
    assert f"stored as FAIL by law {FIRST}, PASS by today's (law {LAW})" in " ".join(other.out.split())


def test_a_law_that_is_not_known_here_is_refused(tmp_path: Path) -> None:
    old = before(tmp_path / "old")
    lines = (old / "events.jsonl").read_text().splitlines()
    first = json.loads(lines[0]) | {"law": LAW + 1}
    (old / "events.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    done = rackcheck("audit", "--from", old)
    assert (done.status, "a newer rackcheck" in done.err) == (2, True)


def test_what_a_run_s_profile_is_for_may_not_be_changed(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir()
    for each in rack().iterdir():
        (place / each.name).symlink_to(each)
    (place / "profile").unlink()
    (place / "profile").mkdir()
    for each in (rack() / "profile").iterdir():
        (place / "profile" / each.name).write_text(each.read_text().replace('"DGXH100*"', '"DGXH*"'))
    done = rackcheck("audit", "--from", place)
    assert (done.status, "the machines that the run's profile is for were changed" in done.err) == (2, True)


# ---- built-in rules ----------------------------------------------------------------------------------------------------


def test_every_profile_has_the_built_in_rules_and_counts_none_as_its_own() -> None:
    for name in library.profiles():
        loaded = library.load(name, registry().catalogue)
        built = {rule.id for rule in loaded.rules if rule.built_in}
        assert built == {"identity.host_and_bmc", "identity.parts", "identity.unique", "silence.nodes"}, name
        assert not built & {rule.id for rule in loaded.own}


HEAD = "rackcheck: 1\nprofile: ours\nversion: 1\nextends: linux-server@2026.11\nrules:\n"


def test_a_built_in_rule_is_dropped_with_a_reason_and_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(f"{HEAD}  identity.unique: {{ drop: two nodes share one enclosure }}\n")
    loaded = library.load(str(file), registry().catalogue)
    assert "identity.unique" not in {rule.id for rule in loaded.rules}
    assert loaded.dropped["identity.unique"] == "two nodes share one enclosure"
    whole = library.load("linux-server", registry().catalogue)
    assert loaded.digest != library.load(str(file), registry().catalogue, {}).digest or loaded.digest != whole.digest
    file.write_text(f"{HEAD}  identity.unique: {{ severity: minor }}\n")
    done = rackcheck("profile", "check", file)
    assert (done.status, "is built in: it can be dropped with a reason, not changed" in done.err) == (2, True)


def test_a_built_in_rule_asks_no_plane_for_its_own_sake() -> None:
    loaded = library.load("linux-server", registry().catalogue)
    planes = {plane for rule in loaded.own if rule.phase.value == "config" for plane in rule.planes}
    assert registry().planned(loaded.facts(), {rule.phase for rule in loaded.own}).planes <= planes | {Plane.BURNIN}
