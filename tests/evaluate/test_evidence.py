"""No PASS without evidence, for another machine, or for missing data: racks and hosts in states that once passed."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command import rackcheck
from evidence import NODES, Edit, judged, of, rack, recorded, rewritten, taken, verdict

from rackcheck.evaluate.input_numbers import Reads
from rackcheck.evaluate.law import Outcome, conclude
from rackcheck.evaluate.silence import ExcusedReader, Silences, excused_facts, excused_reads
from rackcheck.evaluate.verdict import Status, Verdict, over
from rackcheck.model.capture import NodeCapture
from rackcheck.model.evidence import Evidence
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.fit import Match, ProfileFit, fit
from rackcheck.model.path import parse
from rackcheck.model.profile import FIRST, LAW, SECOND, Rule, Scope, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import is_group
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.report.merge_runs import settle
from rackcheck.report.run_data import CollectedRun, gather
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered
from rackcheck.session.stored import stored_job
from rackcheck.signoff.acceptance import Acceptance
from rackcheck.views.summary import exit_code, summarize

# ---- whose evidence it is --------------------------------------------------------------------------------------------


def test_a_clean_rack_passes_with_no_new_unknown() -> None:
    found = judged()
    minor = {finding.rule.id for finding in found.findings if finding.rule.unknown_is_minor}
    unknown = {v.rule for each in found.everyone for v in each.verdicts if v.status is Status.UNKNOWN}
    assert (found.done.outcome, unknown - minor) == (Outcome.PASS, set())
    assert found.counts[Status.WARN] == len(found.judged)  # services' limit of locked memory, with which --strict fails
    assert (exit_code(found, strict=False), exit_code(found, strict=True)) == (0, 1)
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


def test_two_gpus_with_one_serial_in_the_only_node_read_are_named() -> None:
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


def test_a_part_of_a_fleet_is_compared_as_far_as_it_was_read() -> None:
    job, _ = recorded()
    some = judged(taken({"n2": "n1"}), nodes=["n1", "n2"], fleet=job.seats)
    status, reason = verdict(some, "@fleet", "identity.unique")
    assert (some.done.outcome, status) == (Outcome.FAIL, Status.FAIL)
    assert "n1" in reason and "n2" in reason  # noqa: PT018


def test_a_node_without_a_bmc_is_not_checked_for_a_foreign_bmc() -> None:
    found = judged(nodes=["n1", "n2"], bmc=False)
    rules = {v.rule for v in of(found, "n1").verdicts}
    assert "identity.host_and_bmc" not in rules
    assert "gpu.count" in rules or "gpu.present" in rules


@pytest.mark.parametrize("name", ["ecc", "remap_failed", "fabric_state", "recovery_action", "temperature_margin"])
def test_what_one_gpu_of_eight_does_not_return_among_siblings_is_no_pass(name: str) -> None:
    found = judged(lambda each: unsupported(each, "n2", name, 3), nodes=["n2"])
    assert (found.done.outcome, exit_code(found, strict=False)) == (Outcome.INCOMPLETE, 3)
    assert "7 of 7 siblings return it: gpu/module-1, gpu/module-2, gpu/module-3 and 4 more" in found.reason


def unsupported(each: Answered, node: str, name: str, index: int) -> Answered:
    """Make the driver of a node not support one query of one GPU."""
    if each.node != node or not isinstance(each.capture, NodeCapture):
        return each
    text, count = json.dumps(each.capture.to_json()), itertools.count()
    line = re.sub(
        rf'(\\"{name}\\": ){{\\"value\\": [^}}]*}}',
        lambda m: m[0] if next(count) != index else f'{m[1]}{{\\"absent\\": \\"NVML: not supported\\"}}',
        text,
    )
    assert line != text, f"no {name} of GPU {index}"
    return replace(each, capture=NodeCapture.from_json(json.loads(line)))


# ---- which machine it is ---------------------------------------------------------------------------------------------


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


# ---- hosts and fragments ---------------------------------------------------------------------------------------------

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
def test_every_other_profile_is_incomplete_on_a_bare_host_and_states_why(tmp_path: Path) -> None:
    # Where a host has no product name, the example is for each machine with a Xeon.
    example = {"example-site"} if "Xeon" in Path("/proc/cpuinfo").read_text("utf-8") else set()
    names = sorted(set(library.profiles()) - {"linux-server"} - example)
    assert len(names) > 30
    for name in names:
        done = rackcheck("audit", "-p", name, "localhost", "-q", "--json", "-o", tmp_path / name)
        assert done.status == 3, f"{name}: {done.out[:300]} {done.err}"
        assert json.loads(done.out)["reason"], name


def test_an_unrequested_fragment_is_named_before_a_node_is_contacted(tmp_path: Path) -> None:
    done = rackcheck("audit", "-p", "hgx-h100", "localhost", "-o", tmp_path / "run")
    assert "hgx-h100 is a fragment" in done.err.splitlines()[0]
    tried = rackcheck("audit", "-p", "hgx-h100", "--fragment", "localhost", "-o", tmp_path / "again")
    assert tried.status == 3
    assert "--fragment uses" not in tried.err
    wrong = rackcheck("audit", "-p", "linux-server", "--fragment", "localhost")
    assert (wrong.status, "linux-server is not a fragment" in wrong.err) == (2, True)


def test_a_fragment_decides_nothing_on_a_rack_either() -> None:
    job, answers = recorded()
    profile = library.load("hgx-h100", registry().catalogue)
    found = summarize(replay(replace(job, profile=profile), answers, store.find(str(rack())).done()), profile)
    assert {each.outcome for each in found.everyone} == {Outcome.INCOMPLETE}
    assert found.counts[Status.PASS] > 0
    assert "did you mean h100-hgx?" in found.reason


# ---- runs that were judged before ------------------------------------------------------------------------------------


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
    assert [e.node for e in shown.everyone if not is_group(e.node)] == [f"n{n}" for n in range(1, NODES + 1)]
    stored = {each.node: (each.outcome, [(v.rule, v.status) for v in each.verdicts]) for each in old.judged()}
    assert {e.node: (e.outcome, [(v.rule, v.status) for v in e.verdicts]) for e in shown.judged} == stored
    assert any(f"law {FIRST}" in note for note in shown.notes)


def test_judging_an_older_run_again_states_where_the_current_law_differs(tmp_path: Path) -> None:
    old = before(tmp_path / "old")
    same = rackcheck("audit", "--from", old)
    assert same.status == 0
    assert f"the current criteria (law {LAW}) give the same outcomes" in " ".join(same.out.split())
    events = (old / "events.jsonl").read_text().replace('"outcome": "PASS"', '"outcome": "FAIL"')
    (old / "events.jsonl").write_text(events)
    other = rackcheck("audit", "--from", old)
    assert f"stored as FAIL by law {FIRST}, PASS by the current criteria (law {LAW})" in " ".join(other.out.split())


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
    assert (done.status, "`applies-to` of the run's profile was changed" in done.err) == (2, True)


# ---- single clauses --------------------------------------------------------------------------------------------------


def test_a_built_in_rule_that_passes_is_no_evidence() -> None:
    rules = {"own": Rule("own", ()), "built": Rule("built", (), built_in=True, unknown_is_minor=True)}
    passed = [Verdict("own", Status.NA, "not here"), Verdict("built", Status.PASS)]
    assert conclude(passed, rules).outcome is Outcome.INCOMPLETE
    assert conclude([Verdict("own", Status.PASS), passed[1]], rules).outcome is Outcome.PASS
    unknown = [Verdict("own", Status.PASS), Verdict("built", Status.UNKNOWN, "denied")]
    assert conclude(unknown, rules).outcome is Outcome.PASS
    assert conclude([unknown[0], Verdict("built", Status.FAIL, "copied")], rules).outcome is Outcome.FAIL


@pytest.mark.parametrize("reason", Reason)
def test_a_missing_source_may_be_excused_and_an_unusable_reply_may_not(reason: Reason) -> None:
    rules = {"own": Rule("own", ()), "spare": Rule("spare", (), unknown_is_minor=True)}
    lost = Evidence(Status.UNKNOWN, "nvme/nvme0.smart.passed", "", "must be true", "", Unknown(reason, "no answer"))
    lacking = replace(lost, unknown=Unknown(Reason.TOOL_MISSING))
    found = [Verdict("own", Status.PASS), Verdict("spare", Status.UNKNOWN, "lost", (lacking, lost))]
    unusable = reason in {Reason.UNPARSABLE, Reason.TOO_LARGE, Reason.TIMEOUT}
    assert conclude(found, rules).outcome is (Outcome.INCOMPLETE if unusable else Outcome.PASS)
    built_in = replace(rules["spare"], built_in=True, excuses_all=True)
    assert conclude(found, {**rules, "spare": built_in}).outcome is Outcome.PASS
    of_the_fleet = replace(rules["spare"], scope=Scope.FLEET)
    assert conclude(found, {**rules, "spare": of_the_fleet}).outcome is Outcome.PASS
    failed = [found[0], Verdict("spare", Status.FAIL, "lost", (lost,))]
    assert conclude(failed, rules).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("reasons", "command"),
    [
        ((Reason.UNPARSABLE,), "rackcheck facts NODE --from RUN --unknown --raw shows the answer"),
        ((Reason.DENIED,), "rackcheck doctor shows what could not be read"),
        ((Reason.UNPARSABLE, Reason.DENIED), "rackcheck doctor shows what could not be read"),
    ],
)
def test_the_next_command_shows_an_answer_that_was_read_and_else_what_could_not_be_read(
    reasons: tuple[Reason, ...], command: str
) -> None:
    lost = tuple(Evidence(Status.UNKNOWN, "cpu.smt", "", "must be true", "", Unknown(why)) for why in reasons)
    found = conclude([Verdict("own", Status.UNKNOWN, "cpu.smt unknown", lost)], {"own": Rule("own", ())})
    assert found.reason == f"own is unknown: cpu.smt unknown; {command}"


def test_earlier_laws_excuse_every_unknown_of_a_rule_whose_source_may_be_missing() -> None:
    profile = library.load("h100-dgx", registry().catalogue)
    earlier = {law: profile.under(law) for law in (FIRST, SECOND)}
    lost = Evidence(Status.UNKNOWN, "nvme/nvme0.smart.passed", "", "must be true", "", Unknown(Reason.UNPARSABLE))
    excused = [r for r in profile.own if r.unknown_is_minor and r.severity.decides and r.scope is Scope.NODE]
    assert excused and all(rule.decides(Status.UNKNOWN, [lost]) for rule in excused)  # noqa: PT018
    for found in earlier.values():
        assert not any(r.decides(Status.UNKNOWN, [lost]) for r in found.own if r.unknown_is_minor)
    assert (len(earlier[SECOND].rules), len(earlier[FIRST].rules)) == (len(profile.rules), len(profile.own))


def test_where_it_is_unknown_which_machine_this_is_nothing_passes_and_a_failure_stands() -> None:
    rules, unknown = {"own": Rule("own", ())}, ProfileFit(Match.UNKNOWN, "product: denied")
    assert conclude([Verdict("own", Status.PASS)], rules, unknown).outcome is Outcome.INCOMPLETE
    assert conclude([Verdict("own", Status.FAIL, "wrong")], rules, unknown).outcome is Outcome.FAIL


def test_a_machine_of_another_name_with_the_same_parts_is_another() -> None:
    applies = {"product": ("DGXH100*",), "device": ("10de:2330",)}
    gpu = 'pcie/"0000:17:00.0"'
    found: dict[str, Reading] = {"pcie": ("0000:17:00.0",), f"{gpu}.vendor": "0x10de", f"{gpu}.device": "0x2330"}
    found |= {f"{gpu}.class": "0x030200"}
    os_plane = frozenset({Plane.OS})
    assert fit(applies, tree(found), os_plane).match is Match.FITS
    assert fit(applies, tree(found | {"node.product": "SYS-821GE"}), os_plane).match is Match.OTHER
    assert fit(applies, tree(found | {"node.product": "DGXH100"}), os_plane).match is Match.FITS
    bridge = found | {f"{gpu}.class": "0x060400"}
    assert fit(applies, tree(bridge), os_plane) == ProfileFit(Match.OTHER, "no 10de:2330 device")
    assert fit(applies, tree(found | {f"{gpu}.class": Unknown(Reason.DENIED)}), os_plane).match is Match.UNKNOWN
    assert fit(applies, tree(found), frozenset()).match is Match.NOT_STATED


def tree(facts: Mapping[str, Reading]) -> Tree:
    catalogue = registry().catalogue
    leaves = {}
    for path, reading in facts.items():
        entry = catalogue.find(parse(path))
        assert entry is not None
        leaves[path] = Leaf(reading, entry.kind, entry.plane, "")
    return Tree(leaves)


def test_a_node_all_of_whose_parts_are_silent_is_named_by_what_most_nodes_return() -> None:
    job, _ = recorded()
    assert job.profile is not None
    one = next(fact for fact in excused_facts(job.profile.own) if str(fact) == "gpu/*.ecc.mode")
    gpus: dict[str, Reading] = {"gpu": ("0",), "gpu/0.name": "NVIDIA H100 80GB HBM3", "gpu/0.mig.mode": False}
    full, silent = (tree({**gpus, "gpu/0.ecc.mode": reading}) for reading in (True, Absent("not supported")))
    hidden = tree({"gpu": Unknown(Reason.TIMEOUT)})

    def values(*trees: Tree, expected: int) -> Reading:
        counted, reads = Silences(), Reads([excused_reads(one)])
        reader = ExcusedReader([one], reads)
        for number, each in enumerate(trees, start=1):
            counted.take("compute", f"n{number}", reader.of(each, reads.of(each)))
        return counted.reading({"compute": expected})

    (sentence,) = known(values(full, full, full, silent, expected=4))
    assert sentence.startswith("n4: no gpu/*.ecc.mode of NVIDIA H100 80GB HBM3 ")
    assert known(values(full, full, full, silent, hidden, expected=4))  # certain, whatever the fifth returns
    assert values(full, full, silent, silent, expected=4) == ()  # no quorum: neither is the usual
    assert values(full, full, full, silent, expected=8) == ()
    assert isinstance(values(full, full, full, hidden, expected=4), Unknown)  # it may return nothing
    assert values(full, silent, expected=2) == ()
    # A node with one part in view and perhaps more counts once: two of three are no quorum, with the list or without.
    part = tree({**gpus, "gpu": Unknown(Reason.TIMEOUT), "gpu/0.ecc.mode": True})
    assert values(part, full, expected=3) == ()
    assert values(hidden, full, expected=3) == ()


def known(reading: Reading) -> tuple[str, ...]:
    assert isinstance(reading, tuple), reading
    return reading


# ---- built-in rules --------------------------------------------------------------------------------------------------


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


def test_a_built_in_rule_reads_no_plane_of_its_own() -> None:
    loaded = library.load("linux-server", registry().catalogue)
    planes = {plane for rule in loaded.own if rule.phase.value == "config" for plane in rule.planes}
    assert registry().planned(loaded, {rule.phase for rule in loaded.own}).planes <= planes | {Plane.BURNIN}


# ---- over several readings -------------------------------------------------------------------------------------------


def test_what_a_part_of_the_fleet_comes_to_hides_nothing_that_all_of_it_came_to() -> None:
    failed, passed = Verdict("identity.unique", Status.FAIL, "n1 and n2"), Verdict("identity.unique", Status.PASS)
    whole = over({}, [failed], part=False)
    assert over(whole, [passed], part=True)["identity.unique"] is failed
    assert over(whole, [passed], part=False)["identity.unique"] is passed
    assert over({"identity.unique": passed}, [failed], part=True)["identity.unique"] is failed


def test_a_later_audit_of_two_nodes_does_not_settle_that_two_others_are_one_machine() -> None:
    def values(nodes: Sequence[str], edit: Edit) -> CollectedRun:
        job, answers = recorded()
        job = replace(job, nodes=tuple(node for node in job.nodes if node.name in nodes), expected=job.seats)
        came = [edit(each) for each in answers if each.node in nodes]
        return gather(replay(job, came, store.find(str(rack())).done()))

    job, _ = recorded()
    assert job.profile is not None
    every = [node.name for node in job.nodes]
    readings = [values(every, taken({"n2": "n1"})), values(["n3", "n4"], lambda each: each)]
    (fleet,) = (each for each in settle(readings, job.profile, seats=job.seats).groups if each.node == "@fleet")
    assert fleet.outcome is Outcome.FAIL
    (mended,) = (
        each
        for each in settle([*readings, values(every, lambda each: each)], job.profile, seats=job.seats).groups
        if each.node == "@fleet"
    )
    assert mended.outcome is Outcome.PASS


def test_an_acceptance_keeps_the_law_that_it_was_begun_under() -> None:
    assert Acceptance("pod", Path(), {}).law == FIRST
    assert Acceptance("pod", Path(), {"law": LAW}).law == LAW


# ---- other machines of a rack ----------------------------------------------------------------------------------------


def test_a_node_of_another_role_is_not_held_against_the_machine_and_needs_a_pass_of_its_own() -> None:
    job, answers = recorded()
    nodes = tuple(replace(node, role="nvswitch-tray", host="") if node.name == "n4" else node for node in job.nodes)
    came = [each for each in answers if each.node != "n4" or each.plane is Plane.BMC]
    assert job.profile is not None
    found = summarize(replay(replace(job, nodes=nodes, expected=()), came, store.find(str(rack())).done()), job.profile)
    tray = of(found, "n4")
    assert (tray.outcome, tray.fit.match) == (Outcome.INCOMPLETE, Match.NOT_STATED)
    assert "no rule of h100-dgx is for role nvswitch-tray" in tray.reason
    assert [each.outcome.value for each in found.judged[:3]] == ["PASS"] * 3


def test_a_rack_of_other_machines_alone_decides_nothing() -> None:
    found = judged(lambda each: rewritten(each.node, "DGXH100", "DGXH200")(each))
    assert {each.outcome for each in found.everyone} == {Outcome.INCOMPLETE}
    assert exit_code(found, strict=False) == 3
    assert found.reason.startswith("4 of 4 nodes") or "not a DGX H100" in found.reason


def test_a_site_value_that_is_not_set_is_what_the_reason_names() -> None:
    rules = {"own": Rule("own", (), unset=("driver",))}
    conclusion = conclude([Verdict("own", Status.NA, "site value not set: driver")], rules)
    assert (conclusion.outcome, "--set driver=VALUE" in conclusion.reason) == (Outcome.INCOMPLETE, True)
    minor = {"own": Rule("own", (), severity=Severity.MINOR)}
    assert "no rule in scope is a blocker or major" in conclude([Verdict("own", Status.PASS)], minor).reason
