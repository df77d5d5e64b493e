"""Fragments: an include has the effect of its text, in any order; a conflict is reported with both places."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import rackcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from rack_runs import folder

from rackcheck.model.profile import Profile, Rule
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.document import BadFile, Problem, SourcePlace, YamlMapping, plain, read
from rackcheck.profile.inheritance import DEPTH, layers
from rackcheck.profile.layers import Layers

HEAD = "rackcheck: 1\nprofile: p\nversion: 1\n"
NVME = "profile: nvme\nversion: 3\nrules:\n  nvme.wear: { fact: a, is: 1 }\n  nvme.temp: { fact: b, is: 2 }\n"
LINKS = "profile: links\nversion: 1\nrules:\n  link.up: { fact: c, is: 3 }\n"
BASE = "profile: base\nversion: 1\nrules:\n  base.x: { fact: d, is: 4 }\n"


def table(text: str, file: str) -> YamlMapping:
    node = read(text, file)
    assert isinstance(node, YamlMapping)
    return node


def laid(text: str, /, **library: str) -> Layers:
    """Load a file with a library of two fragments and a base."""
    files = {"nvme": NVME, "links": LINKS, "base": BASE, **library}

    def find(name: str, place: SourcePlace) -> YamlMapping:
        if name not in files:
            raise BadFile([Problem(place, f"no profile {name}")])
        return table(files[name], f"{name}.yaml")

    return layers(table(text, "p.yaml"), find)


def rules(found: Layers) -> dict[str, object]:
    return {rule_id: plain(rule) for rule_id, rule in found.rules.items()}


def test_a_fragment_adds_its_rules_below_those_of_who_includes_it() -> None:
    found = laid(
        "profile: p\nversion: 1\nextends: base@1\ninclude: [nvme@3, links]\nrules:\n  own: { fact: e, is: 5 }\n"
    )
    assert list(found.rules) == ["base.x", "nvme.wear", "nvme.temp", "link.up", "own"]
    assert found.lineage == ("base@1", "p@1 (includes nvme 3, links 1)")


def test_who_includes_a_fragment_lays_over_it_and_drops_from_it() -> None:
    over = "rules:\n  nvme.wear: { is: 9, severity: minor }\n  nvme.temp: { drop: no sensor }\n"
    found = laid(f"profile: p\nversion: 1\ninclude: [nvme]\n{over}")
    assert rules(found) == {"nvme.wear": {"fact": "a", "is": "9", "severity": "minor"}}
    assert found.dropped == {"nvme.temp": "no sensor"}


def test_a_child_lays_over_what_its_parent_includes() -> None:
    parent = "profile: parent\nversion: 1\ninclude: [nvme]\n"
    found = laid("profile: p\nversion: 1\nextends: parent@1\nrules:\n  nvme.wear: { is: 9 }\n", parent=parent)
    assert rules(found)["nvme.wear"] == {"fact": "a", "is": "9"}
    assert [written.layer for written in found.rules_written["nvme.wear"]] == ["nvme@3", "p@1"]


def test_a_fragment_that_is_reached_twice_counts_once() -> None:
    both = "profile: both\nversion: 1\ninclude: [links, nvme]\n"
    parent = "profile: parent\nversion: 1\ninclude: [nvme]\nrules:\n  nvme.wear: { is: 9 }\n  nvme.temp: { drop: no sensor }\n"
    text = "profile: p\nversion: 1\nextends: parent@1\ninclude: [nvme, both, links, nvme]\n"
    found = laid(text, both=both, parent=parent)
    assert rules(found) == {"nvme.wear": {"fact": "a", "is": "9"}, "link.up": {"fact": "c", "is": "3"}}
    assert found.dropped == {"nvme.temp": "no sensor"}
    assert found.lineage == ("parent@1 (includes nvme 3)", "p@1 (includes links 1, both 1)")


def test_a_fragment_may_include_what_is_a_parent_already() -> None:
    more = "profile: more\nversion: 1\ninclude: [base]\nrules:\n  more.y: { fact: y, is: 1 }\n"
    found = laid("profile: p\nversion: 1\nextends: base@1\ninclude: [more]\n", more=more)
    assert list(found.rules) == ["base.x", "more.y"]


@pytest.mark.parametrize(
    ("text", "library", "message"),
    [
        ("include: [nvme@4]", {}, "p.yaml:3:11: includes nvme@4, but the library has nvme@3"),
        ("include: [nvmee]", {}, "p.yaml:3:11: no profile nvmee"),
        ("include: [p]", {}, "p.yaml:3:11: p includes p: a cycle"),
        (
            "include: [a]",
            {"a": "profile: a\nversion: 1\ninclude: [b]\n", "b": "profile: b\nversion: 1\ninclude: [a]\n"},
            "b.yaml:3:11: p includes a includes b includes a: a cycle",
        ),
        (
            "extends: a@1",
            {"a": "profile: a\nversion: 1\ninclude: [b]\n", "b": "profile: b\nversion: 1\ninclude: [p]\n"},
            "b.yaml:3:11: p extends a includes b includes p: a cycle",
        ),
        (
            "include: [child]",
            {"child": "profile: child\nversion: 1\nextends: base@1\n"},
            "p.yaml:3:11: child extends base@1, so it cannot be included: extend it instead",
        ),
        (
            "include: [nvme, other]",
            {"other": "profile: other\nversion: 7\nrules:\n  nvme.temp: { fact: z, is: 1 }\n"},
            "other.yaml:4:3: rule `nvme.temp` of fragment other is also in nvme@3: nvme.yaml:5:3; a fragment only adds",
        ),
        (
            "extends: base@1\ninclude: [other]",
            {"other": "profile: other\nversion: 7\nrules:\n  base.x: { is: 1 }\n"},
            "other.yaml:4:3: rule `base.x` of fragment other is also in base@1: base.yaml:4:3; a fragment only adds",
        ),
        (
            "include: [other]",
            {"other": "profile: other\nversion: 7\ninclude: [nvme]\nrules:\n  nvme.wear: { is: 2 }\n"},
            "other.yaml:5:3: rule `nvme.wear` of fragment other is also in nvme@3: nvme.yaml:4:3; a fragment only adds",
        ),
        (
            "include: [other]",
            {"other": "profile: other\nversion: 7\ninclude: [nvme]\nrules:\n  nvme.wear: { drop: x }\n"},
            "other.yaml:5:3: fragment other drops `nvme.wear`; a fragment only adds: an including profile may drop it",
        ),
        (
            "extends: gone@1\ninclude: [links]",
            {"gone": "profile: gone\nversion: 1\ninclude: [up]\nrules:\n  link.up: { drop: no cables }\n",
             "up": "profile: up\nversion: 1\nrules:\n  link.up: { fact: q, is: 1 }\n"},
            "links.yaml:4:3: rule `link.up` of fragment links was dropped by gone@1: gone.yaml:5:3",
        ),
        (
            "include: [other]",
            {"other": "profile: wrong\nversion: 7\n"},
            "p.yaml:3:11: includes other, but the profile in other.yaml is called wrong",
        ),
    ],
)  # fmt: skip
def test_an_impossible_include_is_reported_with_its_places(text: str, library: Mapping[str, str], message: str) -> None:
    with pytest.raises(BadFile) as caught:
        laid(f"profile: p\nversion: 1\n{text}\nrules:\n  own: {{ fact: e, is: 5 }}\n", **library)
    assert str(caught.value) == message


def test_all_clashes_are_reported_at_once() -> None:
    other = "profile: other\nversion: 7\nrules:\n  nvme.temp: { fact: z, is: 1 }\n  nvme.wear: { fact: z, is: 1 }\n"
    with pytest.raises(BadFile) as caught:
        laid("profile: p\nversion: 1\ninclude: [nvme, other]\n", other=other)
    assert [problem.place.line for problem in caught.value.problems] == [4, 5]


def deep(count: int) -> dict[str, str]:
    """Return fragments of which each includes the next."""
    return {
        f"f{n}": f"profile: f{n}\nversion: 1\n" + f"include: [f{n + 1}]\n" * (n < count) for n in range(1, count + 1)
    }


@pytest.mark.parametrize("first", ["f1", "f3, f1", "f1, f3"])
def test_fragments_lie_so_deep_in_one_another_and_no_deeper(first: str) -> None:
    text = f"profile: p\nversion: 1\ninclude: [{first}]\n"
    assert laid(text, **deep(DEPTH)).lineage[0].count("f") == DEPTH
    with pytest.raises(BadFile, match=f"fragments are nested more than {DEPTH} deep"):
        laid(text, **deep(DEPTH + 1))


def test_a_fragment_without_end_is_refused_and_not_followed() -> None:
    with pytest.raises(BadFile, match="more than 8 deep"):
        laid("profile: p\nversion: 1\ninclude: [f1]\n", **deep(5000))


PARAM = "profile: {}\nversion: 1\nparams:\n  floor: {}\nrules:\n  {}.r: {{ fact: power, at-least: $floor }}\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{ type: quantity W, default: 7 W, about: one }", "{ type: quantity W, default: 7 W, about: another }"),
        ("{ default: 7 W }", "7 W"),
        ("{ type: text }", "{ type: text, default: unset }"),
    ],
)
def test_two_fragments_may_define_one_param_alike(one: str, other: str) -> None:
    files = {"a": PARAM.format("a", one, "a"), "b": PARAM.format("b", other, "b")}
    found = laid("profile: p\nversion: 1\ninclude: [a, b]\nparams:\n  floor: 9 W\n", **files)
    floor = plain(found.params["floor"])
    assert isinstance(floor, dict)
    assert floor["default"] == "9 W"
    parent = "profile: parent\nversion: 1\ninclude: [a]\nparams:\n  floor: 9 W\n"
    child = laid("profile: p\nversion: 1\nextends: parent@1\ninclude: [b]\n", parent=parent, **files)
    assert plain(child.params["floor"]) == floor, "what the parent set of it is no other definition"


@pytest.mark.parametrize("other", ["8 W", "{ type: text, default: 7 W }", "{ type: quantity W }"])
def test_two_definitions_of_one_param_are_reported_with_both_places(other: str) -> None:
    files = {"a": PARAM.format("a", "{ type: quantity W, default: 7 W }", "a"), "b": PARAM.format("b", other, "b")}
    with pytest.raises(BadFile, match=r"b\.yaml:4:3: param `floor` of fragment b has type .* in a@1 .*: a\.yaml:4:3"):
        laid("profile: p\nversion: 1\ninclude: [a, b]\n", **files)


SHIPPED = {
    name: read(library.find(name).path.read_text(encoding="utf-8"), f"{name}.yaml")
    for name in ("linux-server", "cross-plane", "xeon-performance")
}
WHOLE = {name: library.load(name, registry().catalogue) for name in SHIPPED}


def split(name: str, place: Path, parts: Mapping[str, int], order: Sequence[int], chained: bool) -> Profile:
    """Write a shipped profile's rules into the fragments that `parts` has by rule (0: its own), and load it."""
    whole = plain(SHIPPED[name])
    assert isinstance(whole, dict)
    shutil.copy(library.find(name).path.with_name("sources.yaml"), place)
    bare = {"rackcheck": "1", "version": "1", "params": whole.get("params", {})}
    for part in order:
        own = {rule_id: rule for rule_id, rule in whole["rules"].items() if parts.get(rule_id, 0) == part}
        below = [f"part{n}" for n in order if n < part] if chained else []
        doc = {**bare, "profile": f"part{part}", "rules": own} | ({"include": below} if below else {})
        (place / f"part{part}.yaml").write_text(json.dumps(doc))
    own = {rule_id: rule for rule_id, rule in whole["rules"].items() if parts.get(rule_id, 0) == 0}
    included = [*whole.get("include", []), *(f"part{part}" for part in order)]
    head = {**whole, "rules": own} | ({"include": included} if included else {})
    (place / f"{name}.yaml").write_text(json.dumps(head))
    return library.load(str(place / f"{name}.yaml"), registry().catalogue)


def placeless(profile: Profile) -> dict[str, tuple[Rule, str]]:
    """Return the full content of a profile's rules, without their places."""
    return {rule.id: (replace(rule, place=""), rule.digest) for rule in profile.own}


@pytest.mark.parametrize("name", SHIPPED)
@settings(max_examples=6)
@given(data=st.data())
def test_including_a_fragment_is_writing_its_rules_there(name: str, data: st.DataObject) -> None:
    """Rules, params, sources and digest are those of the whole, and so is every verdict: judging reads nothing else."""
    whole = plain(SHIPPED[name])
    assert isinstance(whole, dict)
    ids = list(whole["rules"])
    parts = data.draw(st.fixed_dictionaries({rule_id: st.integers(0, 3) for rule_id in ids}))
    order = data.draw(st.permutations([1, 2, 3]))
    with TemporaryDirectory() as scratch:
        found = split(name, Path(scratch), parts, order, data.draw(st.booleans()))
    assert placeless(found) == placeless(WHOLE[name])
    assert (found.digest, found.params, found.sources) == (WHOLE[name].digest, WHOLE[name].params, WHOLE[name].sources)


def test_a_run_is_judged_the_same_by_fragments_in_any_order(tmp_path: Path) -> None:
    """On real answers, every verdict and the whole document are the same, whatever file a rule is in."""
    value = []
    for number, order in enumerate([(), (1, 2, 3), (3, 1, 2)]):
        place = tmp_path / str(number)
        place.mkdir()
        parts = {rule.id: 1 + n % 3 for n, rule in enumerate(WHOLE["linux-server"].own)} if order else {}
        split("linux-server", place, parts, order, chained=False)
        done = rackcheck("audit", "--from", folder() / "first", "-p", place / "linux-server.yaml", "--json")
        assert done.status in {0, 1, 3}, done.err
        document = json.loads(done.out)
        judged = {name: sorted(node.pop("verdicts"), key=str) for name, node in document["nodes"].items()}
        value.append((judged, {**document, "findings": sorted(document["findings"], key=str)}))
    assert value[0] == value[1] == value[2]
    assert len(value[0][0]) == 3


FILES = {
    "ours": "extends: base@1\ninclude: [nvme-wear]\nrules:\n  cpu.one: { severity: minor }\n",
    "base": "include: [clocks]\nrules:\n  cpu.one: { fact: cpu.threads, at-least: 1 }\n",
    "nvme-wear": "include: [deep]\nrules:\n  memory.some: { fact: memory.total, at-least: 1 GiB, refs: [rackcheck.derived] }\n",
    "clocks": "rules:\n  smt.known: { fact: cpu.smt, present: true }\n",
    "deep": "rules:\n  deep.numa: { count: numa.node, at-least: 0 }\n",
}


def written(place: Path) -> Path:
    """Write a site's files into a folder, and return its profile."""
    for name, text in FILES.items():
        (place / f"{name}.yaml").write_text(f"rackcheck: 1\nprofile: {name}\nversion: 1\n{text}")
    return place / "ours.yaml"


def test_a_profile_holds_the_files_of_its_fragments_and_loads_from_them_alone(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    loaded = library.load(str(written(tmp_path / "site")), registry().catalogue)
    assert set(loaded.files) == {*(f"{name}.yaml" for name in FILES), "sources.yaml"}
    kept = tmp_path / "kept"
    kept.mkdir()
    for name, text in loaded.files.items():
        (kept / name).write_text(text)
    shutil.rmtree(tmp_path / "site")
    for name in FILES:
        assert library.load(str(kept / f"{name}.yaml"), registry().catalogue).own, name
    assert library.load(str(kept / "ours.yaml"), registry().catalogue).digest == loaded.digest


def test_a_stored_run_is_judged_by_its_own_fragments_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    (tmp_path / "site").mkdir()
    run = tmp_path / "run"
    done = rackcheck("audit", "-p", written(tmp_path / "site"), "-o", run, "-q", "--json")
    assert done.status in {0, 1, 3}, done.err
    head = json.loads((run / "run.json").read_text())
    assert head["profile"]["lineage"] == ["base@1 (includes clocks 1)", "ours@1 (includes deep 1, nvme-wear 1)"]
    shutil.rmtree(tmp_path / "site")
    again = rackcheck("audit", "--from", run, "--json")
    assert (again.status, again.out) == (done.status, done.out)
    report = rackcheck("report", run, "--format", "json", "-o", "-")
    assert report.status in {0, 1, 3}, report.err
    changed = run / "profile" / "deep.yaml"
    changed.write_text(changed.read_text().replace("at-least: 0", "at-least: 1"))
    after = rackcheck("audit", "--from", run)
    assert (after.status, "the run's profile was changed" in after.err) == (2, True), "a fragment is part of its digest"


def test_the_name_of_a_fragment_is_completed_by_the_nearest_there_is(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text().replace("[nvme-wear]", "[linux-sever]"))
    done = rackcheck("profile", "check", file)
    assert (done.status, "no profile linux-sever; did you mean linux-server?" in done.err) == (2, True), done.err


def test_a_shipped_profile_can_be_a_fragment(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"{HEAD}extends: linux-gpu-node@2026.11\ninclude: [xeon-performance]\n")
    loaded = library.load(str(file), registry().catalogue)
    assert len(loaded.own) == len(library.load("linux-gpu-node", registry().catalogue).own) + len(
        WHOLE["xeon-performance"].own
    )


def test_a_profile_is_not_called_as_the_file_of_its_sources(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("rackcheck: 1\nprofile: sources\nversion: 1\nrules:\n  r: { fact: cpu.smt, is: true }\n")
    with pytest.raises(BadFile, match=r"x\.yaml:2:10: a profile must not be called sources"):
        library.load(str(file), registry().catalogue)
