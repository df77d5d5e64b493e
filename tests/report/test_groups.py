"""Racks and the fleet in every document: findings appear like a node's, counted apart, redacted by name."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rendering import rendered

from rackcheck.evaluate.verdict import Outcome, Status, worst
from rackcheck.evaluate.waiver import Pin, Waiver
from rackcheck.inventory import BmcAccess, Node
from rackcheck.model.fact import Plane, Reading
from rackcheck.model.fold import fold
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.report import annex, junit, markdown, record
from rackcheck.report.build import ReportJob, build
from rackcheck.report.hardware_groups import together
from rackcheck.report.html import page
from rackcheck.report.pdf.model import model
from rackcheck.report.redact import redacted
from rackcheck.report.report_model import Dossier, Exhibit, FindingEntry, RuleChange
from rackcheck.report.run_data import gather
from rackcheck.run.event import Event, RunDone
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging
from rackcheck.views import machine, terminal
from rackcheck.views.locations import NodeLocation, Whole, among, counted_names, names_text, passing, share, whole
from rackcheck.views.summary import Summary, summarize

DIGEST = "0" * 64
OWN = 6
"""Rules of TEXT; the built-in ones follow them."""
TEXT = """
rackcheck: 1
profile: racks
version: 1
rules:
  rack.gpus:
    title: All GPUs of the rack are at work
    severity: blocker
    scope: rack
    fact: rack.gpu_count
    is: 8
    why: A missing GPU shrinks the NVLink domain.
    fix: Look for the tray with fewer GPUs than the others.
    refs: [dgx-gb200.guide]
  rack.bios: { title: One BIOS, scope: rack, severity: minor, fact: rack.alike.bios, is: true }
  rack.dry: { title: No leak, scope: rack, fact: rack.leaks, is: 0 }
  fleet.gpus: { title: The hall has all its GPUs, scope: fleet, severity: minor, fact: fleet.gpu_count, is: 16 }
  gpu.some: { title: There is a GPU, count: gpu, at-least: 1 }
  gpu.four: { title: Four GPUs, severity: advisory, count: gpu, is: 4 }
"""


@cache
def profile(folder: Path) -> Profile:
    (folder / "racks.yaml").write_text(TEXT)
    return library.load(str(folder / "racks.yaml"), registry().catalogue)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile(tmp_path_factory.mktemp("racks"))


def leaf(path: str, reading: Reading) -> Leaf:
    """A fact from the plane that the catalogue names."""
    entry = registry().catalogue.find(parse(path))
    assert entry is not None
    return Leaf(reading, entry.kind, entry.plane, "somewhere")


def tray(*, whole: bool) -> Mapping[str, Leaf]:
    """The facts of a tray of four GPUs, or of three: it has no leak detector, and its BIOS was not read."""
    return {"gpu": leaf("gpu", tuple("0123" if whole else "012")), "leak": leaf("leak", ())}


def trays(names: Sequence[str]) -> dict[Node, Mapping[str, Leaf]]:
    """Racks of two trays each; the second tray of the last rack lacks a GPU."""
    return {
        Node(
            f"{name}-tray{number}", "compute", f"{name}-tray{number}", bmc=BmcAccess("https://bmc.example"), rack=name
        ): tray(whole=(name, number) != (names[-1], 2))
        for name in names
        for number in (1, 2)
    }


def events(held: Profile, waivers: Sequence[Waiver] = (), names: Sequence[str] = ("a01", "a02")) -> list[Event]:
    """One run over racks."""
    nodes = trays(names)
    job = Job(
        registry().plan(held.facts()), tuple(nodes), held, frozenset({Plane.OS, Plane.BMC}), waivers=tuple(waivers), id="r1",
        time="2026-11-20T00:00:00Z", targets="all nodes",
    )  # fmt: skip
    judging = Judging(job)
    found: list[Event] = [job.started()]
    for node, leaves in nodes.items():
        found += judging.take(node, Tree(leaves))
    found += judging.close()
    return [*found, RunDone(job.time, worst(each.outcome for each in judging.judged))]


def summary(held: Profile, waivers: Sequence[Waiver] = (), names: Sequence[str] = ("a01", "a02")) -> Summary:
    return summarize(events(held, waivers, names), held, waivers)


def document(held: Profile, waivers: Sequence[Waiver] = (), names: Sequence[str] = ("a01", "a02")) -> Dossier:
    places = {node.name: NodeLocation(node.role, node.rack) for node in trays(names)}
    run = gather(events(held, waivers, names))
    return build([run], ReportJob("run", "r1", "draft", held, (held,), {}, places, tuple(waivers)))


def waiver(held: Profile, *names: str) -> Waiver:
    """A waiver for the rack that has seven GPUs."""
    digest = next(rule.digest for rule in held.own if rule.id == "rack.gpus")
    pins = (Pin("rack.gpu_count", "7"),)
    return Waiver("rack.gpus", digest, names, pins, "2027-02-01", "Jo", "T-1", "spare ordered", "w.yaml:3:3")


def shown(text: Summary) -> str:
    return " ".join(" ".join(map(str, terminal.lines(text, width=100, plain=True))).split())


# ---- a rack is a finding ---------------------------------------------------------------------------------------------


def test_a_rack_that_fails_is_a_finding_with_its_evidence_and_decides_the_outcome(rules: Profile) -> None:
    found = document(rules)
    first = found.findings[0]
    exhibit = Exhibit(
        Status.FAIL, "rack.gpu_count", "7", "must be 8",
        "from gpu, gpu/*.fabric.cluster, gpu/*.fabric.clique of 2 nodes",
    )  # fmt: skip
    assert first == FindingEntry("rack.gpus", Status.FAIL, "rack.gpu_count is 7, must be 8", ("@rack:a02",), (exhibit,))
    gate = found.gate("rack.gpus")
    assert (gate.scope, gate.severity.value, gate.refs) == ("rack", "blocker", ("dgx-gb200.guide",))
    assert found.tally.outcome is Outcome.FAIL
    assert not found.tally.nodes[Outcome.FAIL]


def test_racks_and_the_fleet_have_rows_of_their_own_and_no_note_repeats_them(rules: Profile) -> None:
    found = document(rules)
    assert [(g.name, g.scope, g.outcome, g.vector[:OWN], len(g.nodes)) for g in found.groups] == [
        ("@rack:a01", "rack", Outcome.PASS, "pup---", 2),
        ("@rack:a02", "rack", Outcome.FAIL, "Fup---", 2),
        ("@fleet", "fleet", Outcome.PASS, "---F--", 4),
    ]
    letters = "".join([*(node.vector for node in found.nodes), *(group.vector for group in found.groups)])
    assert found.tally.total == sum(letters.count(letter) for letter in "pwFvun")
    assert found.notes == ()


def test_a_finding_of_a_rack_is_on_the_punch_list_and_an_unknown_one_among_what_was_not_checked(rules: Profile) -> None:
    found = document(rules)
    assert [(p.cls, p.rule, p.nodes) for p in found.punch if p.rule.startswith(("rack", "fleet"))] == [
        ("A", "rack.gpus", ("@rack:a02",)),
        ("B", "fleet.gpus", ("@fleet",)),
        ("B", "rack.bios", ("@rack:a01", "@rack:a02")),
    ]
    assert [(u.kind, u.count, u.nodes) for u in found.unchecked if u.what == "rack.bios"] == [
        ("rule", 2, ("@rack:a01", "@rack:a02")),
    ]


def test_racks_that_are_unknown_alike_are_one_finding_each_of_them_for_a_node_of_its_own(rules: Profile) -> None:
    (lost,) = (f for f in summary(rules, names=["a01", "a02", "a03"]).findings if f.rule.id == "rack.bios")
    assert lost.nodes == ("@rack:a01", "@rack:a02", "@rack:a03")
    hidden = "rack.alike.bios unknown (not collected: a01-tray1: no collected source reports it)"
    assert lost.reason == f"{hidden}; and 2 more with a similar reason"


def test_a_waived_rack_keeps_its_true_verdict_and_who_answers_for_it(rules: Profile) -> None:
    given = [waiver(rules, "@rack:a02")]
    found = document(rules, given)
    (waived,) = (f for f in found.findings if f.status is Status.WAIVED)
    assert (waived.rule, waived.nodes, waived.truth) == ("rack.gpus", ("@rack:a02",), Status.FAIL)
    assert [(e.nodes, e.state, e.used) for e in found.exemptions] == [(("@rack:a02",), "used", ("@rack:a02",))]
    assert found.tally.outcome is Outcome.PASS
    (line,) = (p for p in found.punch if p.rule == "rack.gpus")
    assert (line.cls, line.owner, line.until) == ("B", "Jo", "2027-02-01")
    assert "~ WAIVED rack.gpus All GPUs of the rack are at work (blocker, fail without waivers) 1 of 2 racks: a02" in (
        shown(summary(rules, given))
    )
    assert "rack a02" in page(found, DIGEST)


# ---- in every rendering ----------------------------------------------------------------------------------------------


def test_the_terminal_counts_racks_among_racks_and_gives_them_a_verdict_line(rules: Profile) -> None:
    text = shown(summary(rules))
    assert "x FAIL rack.gpus All GPUs of the rack are at work (blocker) 1 of 2 racks: a02" in text
    assert "rack.gpu_count is 7, must be 8 why A missing GPU shrinks the NVLink domain. fix Look for" in text
    assert "v MINOR fleet.gpus The hall has all its GPUs (minor) the fleet" in text
    assert "PASS rack a01, the fleet" in text
    assert "FAIL rack a02" in text
    assert "@rack" not in text


def test_one_rack_alone_is_named_and_not_counted(rules: Profile) -> None:
    text = shown(summary(rules, names=["b07"]))
    assert "(blocker) rack b07" in text
    assert "of 1 rack" not in text


def test_the_json_of_a_run_has_the_scope_of_each_finding(rules: Profile) -> None:
    doc = json.loads(machine.text(machine.document(summary(rules))))
    first = doc["findings"][0]
    assert (first["rule"], first["scope"], first["nodes"]) == ("rack.gpus", "rack", ["@rack:a02"])
    assert (first["severity"], first["refs"], first["fix"][:8]) == ("blocker", ["dgx-gb200.guide"], "Look for")
    assert {name: each["outcome"] for name, each in doc["groups"].items()} == {
        "@rack:a01": "PASS", "@rack:a02": "FAIL", "@fleet": "PASS",
    }  # fmt: skip


def test_the_page_shows_a_rack_as_it_shows_a_node(rules: Profile) -> None:
    written = page(document(rules), DIGEST)
    for stated in (
        "1 of 2 racks pass as a whole; ", '<span class="set">rack a02</span>', '<span class="set">the fleet</span>',
        "rack.gpu_count is 7, must be 8", "A missing GPU shrinks the NVLink domain.", "Racks and the fleet, each as a whole",
        '<dt>Sources</dt><dd><a href="#source-dgx-gb200.guide">', "read from <code>gpu, gpu/*.fabric.cluster",
    ):  # fmt: skip
        assert stated in written, stated
    assert "@rack:a02</" not in written
    assert 'data-rule="gpu.some"' in written
    assert 'data-rule="rack.gpus"' not in written, "no node has a verdict of it that could be shown"


def test_the_page_counts_only_rules_about_nodes_among_those_that_nodes_pass(rules: Profile) -> None:
    written = page(document(rules), DIGEST)
    assert (
        "<strong>Most common pattern of verdicts: 3 nodes</strong>; 1 other pattern on 1 node. "
        "1 of 3 rules pass wherever they apply to nodes." in written
    )


def test_the_sign_off_document_shows_a_rack_as_it_shows_a_node(rules: Profile) -> None:
    shown_there = model(document(rules), DIGEST)
    assert shown_there["verdict"]["groups"]["unwell"] == [{"outcome": "FAIL", "where": "1 of 2 racks: a02"}]
    rows = [(row["where"], row["outcome"], row["nodes"]) for row in shown_there["verdict"]["groups"]["rows"]]
    assert rows == [("1 of 2 racks: a02", "FAIL", 2), ("1 of 2 racks: a01", "PASS", 2), ("the fleet", "PASS", 4)]
    first = shown_there["findings"]["rows"][0]
    assert (first["rule"], first["where"], first["refs"]) == ("rack.gpus", "1 of 2 racks: a02", "dgx-gb200.guide")
    assert first["ways"]["rows"][0]["reason"] == "rack.gpu_count is 7, must be 8"
    lost = next(row for row in shown_there["findings"]["rows"] if row["rule"] == "rack.bios")
    assert lost["where"] == "all 2 racks: a[01-02]"


def test_the_ticket_the_build_server_and_the_tables_report_racks(rules: Profile) -> None:
    found = document(rules)
    text = markdown.text(found, DIGEST)
    assert "- ❌ FAIL: `1 of 2 racks: a02`\n" in text
    assert "- ❌ fail (blocker) `rack.gpus` on `1 of 2 racks: a02`: `rack.gpu_count is 7, must be 8`\n" in text
    suites = {s.get("name"): s for s in ET.fromstring(junit.text(found, DIGEST))}
    case = suites["@rack:a02"].find("testcase/failure")
    assert case is not None
    assert case.get("message") == "rack.gpu_count is 7, must be 8"
    verdicts = sum(len(group.vector.replace("-", "")) for group in found.groups)
    assert sum(int(s.get("tests") or 0) for s in suites.values() if s.get("name", "").startswith("@")) == verdicts
    tables = annex.files(found)
    assert "\r\nrack a02,fail,unknown,pass,not in scope,not in scope,not in scope" in tables["verdicts.csv"]
    assert ",1,2,rack a02,All GPUs of the rack" in tables["findings.csv"]
    assert ",1,1,the fleet,The hall" in tables["findings.csv"]


def test_racks_that_are_alike_share_a_line_and_their_verdicts_are_all_counted(rules: Profile) -> None:
    found = document(rules, names=[f"a{n:02}" for n in range(1, 13)])
    bad, good, fleet = together(found)
    assert (fold(bad.names), bad.rules[0]) == ("@rack:a12", (Status.FAIL, ("rack.gpus",)))
    assert (fold(good.names), good.nodes, good.counts[Status.PASS]) == ("@rack:a[01-11]", 22, 22)
    assert fleet.nodes == 24
    of_nodes = sum(len(node.vector.replace("-", "")) for node in found.nodes)
    assert found.tally.total == of_nodes + sum(sum(one.counts.values()) for one in (bad, good, fleet))
    assert "11 of 12 racks: a[01-11]" in page(found, DIGEST)


def test_the_record_with_racks_is_read_back_as_it_was(rules: Profile) -> None:
    found = document(rules)
    assert record.read(record.text(found)) == found
    assert record.text(document(rules)) == record.text(found)


# ---- for others' eyes ------------------------------------------------------------------------------------------------


def test_the_public_sees_a_racks_pseudonym_wherever_the_rack_is_named(rules: Profile) -> None:
    names = ["hall9a01", "hall9a02"]
    found = document(rules, [waiver(rules, "@rack:hall9a02", "@rack:hall9a01")], names)
    sown = replace(
        found,
        notes=("waiver of rack.gpus on @rack:hall9a[01-02], and @rack:hall9a01 alone", "rack hall9a02 is warm"),
        performance="as rack:hall9a02 was",
    )
    copy = redacted(sown, "public")
    assert copy.notes == ("waiver of rack.gpus on @rack:rack-[01-02], and @rack:rack-01 alone", "rack rack-02 is warm")
    assert copy.performance == "as rack:rack-02 was"
    assert [group.name for group in copy.groups] == ["@rack:rack-01", "@rack:rack-02", "@fleet"]
    assert {node.rack for node in copy.nodes} == {"rack-01", "rack-02"}
    assert copy.nodes[0].name == "node-001", "a rack takes no node's number"
    texts = {**rendered(copy), "page": page(copy, DIGEST), "pdf": json.dumps(model(copy, DIGEST))}
    assert [name for name, text in texts.items() if "hall9a" in text] == []
    assert redacted(copy, "public") == copy
    assert redacted(redacted(sown, "customer"), "public") == copy


def test_a_rack_with_a_short_name_is_hidden_from_the_public_too(rules: Profile) -> None:
    copy = redacted(document(rules, names=["q7", "q8"]), "public")
    texts = {**rendered(copy), "page": page(copy, DIGEST)}
    assert [name for name, text in texts.items() for word in ("q7", "q8", "q[7") if word in text] == []
    assert copy.findings[0].nodes == ("@rack:rack-02",)


def test_the_customer_keeps_the_names_of_racks(rules: Profile) -> None:
    found = document(rules)
    assert redacted(found, "customer").groups == found.groups
    assert redacted(found, "customer").findings == found.findings


# ---- wording ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "named", "counted"),
    [
        (("n1", "n2"), "n[1-2]", "2 of 8 nodes"),
        (("@rack:a01",), "rack a01", "1 of 4 racks"),
        (("@rack:a01", "@rack:a02"), "racks a[01-02]", "2 of 4 racks"),
        (("@fleet",), "the fleet", "the fleet"),
        (("n1", "@rack:a01", "@fleet"), "n1, rack a01, the fleet", "1 of 8 nodes, 1 of 4 racks, the fleet"),
        ((), "", "0 of 8 nodes"),
    ],
)
def test_nodes_racks_and_the_fleet_are_each_counted_among_their_own(
    names: tuple[str, ...], named: str, counted: str
) -> None:
    of = whole(8, ["@rack:a01", "@rack:a02", "@rack:a03", "@rack:a04", "@fleet"])
    assert names_text(names) == named
    assert share(names, of) == counted


def test_all_racks_are_summed_up_in_a_word_and_named_where_requested() -> None:
    both = ("@rack:a01", "@rack:a02")
    assert counted_names(both, Whole(9, 2), names_text) == "all 2 racks"
    assert counted_names(both, Whole(9, 2), names_text, every=True) == "all 2 racks: a[01-02]"
    assert counted_names(both[:1], Whole(9, 1), names_text) == "rack a01"


def test_one_is_written_in_the_singular() -> None:
    assert passing(0, 1, "node") == "0 of 1 node passes"
    assert passing(1, 2, "rack") == "1 of 2 racks pass"
    assert among(999, 1000, "row") == "999 of 1,000 rows"


# ---- what an overlay changed of what it includes ---------------------------------------------------------------------

BELOW = {
    "links": "rules:\n  link.up: { severity: major, fact: cpu.sockets, at-least: 2 }\n  link.fast: { fact: cpu.sockets, is: 2 }\n",
    "base": "include: [links]\nrules:\n  link.up: { severity: minor }\n  base.x: { fact: cpu.sockets, at-least: 1 }\n",
    "disks": "rules:\n  disk.a: { fact: cpu.sockets, at-least: 2 }\n  disk.b: { fact: cpu.sockets, is: 2 }\n",
    "ours": (
        "extends: base@1\ninclude: [disks]\nrules:\n  disk.a: { at-least: 1 }\n  disk.b: { drop: no such disk }\n"
        "  link.fast: { drop: slow by contract }\n  ours.y: { fact: cpu.sockets, at-least: 1 }\n"
    ),
}


def test_a_reader_sees_what_was_changed_and_dropped_of_fragments(tmp_path: Path, rules: Profile) -> None:
    for name, text in BELOW.items():
        (tmp_path / f"{name}.yaml").write_text(f"rackcheck: 1\nprofile: {name}\nversion: 1\n{text}")
    base, ours, *fragments = (
        library.load(str(tmp_path / f"{name}.yaml"), registry().catalogue)
        for name in ("base", "ours", "links", "disks")
    )
    run = gather(events(rules))
    order = ReportJob("run", "r1", "draft", ours, (base, ours), {}, {}, fragments=tuple(fragments))
    assert build([replace(run, judged={})], order).changes == (
        RuleChange("link.up", "weaker", "severity: major -> minor (base)"),
        RuleChange("disk.a", "weaker", "cpu.sockets must be at least 2 -> must be at least 1 (ours)"),
        RuleChange("disk.b", "dropped", "no such disk (ours)"),
        RuleChange("link.fast", "dropped", "slow by contract (ours)"),
    )
