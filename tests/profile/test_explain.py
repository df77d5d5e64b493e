"""`rackcheck profile explain`: where each word of a rule is set, what it replaced, and what is needed to pass."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from desks import PROFILE, stored

from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.rule_origins import explain, line, spelt
from rackcheck.report.rule_text import wants

BASE = """\
rackcheck: 1
profile: base
version: 2026.11
title: Base
include: [part]
params:
  floor: { type: quantity GiB, default: unset, about: what this site bought }
rules:
  memory.enough:
    title: Enough memory
    severity: minor
    fact: memory.total
    at-least: $floor
    at-most: 99 TiB
    refs: [rackcheck.derived]
  gpu.names: { each: gpu, where: { fact: ecc.mode, is: enabled }, allow-empty: true, fact: name, present: true }
  gone: { fact: cpu.smt, is: true }
  twice: { fact: cpu.smt, is: true }
"""
PART = "rackcheck: 1\nprofile: part\nversion: 7\nrules:\n  smt.known: { fact: cpu.smt, present: true }\n"
MIDDLE = """\
rackcheck: 1
profile: middle
version: 2
extends: base@2026.11
params: { floor: 64 GiB }
rules:
  memory.enough: { severity: blocker }
  twice: { drop: never mind }
"""
OURS = """\
rackcheck: 1
profile: ours
version: 1
extends: middle@2
params: { floor: 128 GiB }
rules:
  memory.enough:
    severity: major
    at-most: 9 TiB
  gpu.names: { any: gpu }
  gone: { drop: nobody here cares }
  twice: { fact: cpu.threads, at-least: 4, needs: [memory.enough] }
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    for name, text in (("base", BASE), ("part", PART), ("middle", MIDDLE), ("ours", OURS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path / "ours.yaml"


def explained(ours: Path, rule: str, *words: str) -> dict[str, Any]:
    done = rackcheck("profile", "explain", "-p", ours, rule, "--json", *words)
    assert done.status == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def keys(found: dict[str, Any]) -> dict[str, tuple[str, str, str, list[str]]]:
    return {
        key["key"]: (key["value"], key["layer"], key["place"], [old["place"] for old in key.get("before", ())])
        for key in found["keys"]
    }


def test_each_key_has_the_line_that_wrote_it_and_those_it_took_the_place_of(ours: Path) -> None:
    found = keys(explained(ours, "memory.enough"))
    assert found["severity"] == ("major", "ours@1", "ours.yaml:8", ["middle.yaml:7", "base.yaml:11"])
    assert found["at-most"] == ("9 TiB", "ours@1", "ours.yaml:9", ["base.yaml:14"])
    assert found["fact"] == ("memory.total", "base@2026.11", "base.yaml:12", [])
    assert found["refs"] == ("[rackcheck.derived]", "base@2026.11", "base.yaml:15", [])


def test_a_rule_of_a_fragment_names_the_fragment(ours: Path) -> None:
    assert keys(explained(ours, "smt.known"))["present"] == ("true", "part@7", "part.yaml:5", [])


def test_keys_removed_by_a_new_look_are_listed_with_their_remover(ours: Path) -> None:
    found = explained(ours, "gpu.names")
    gone = {(one["key"], one["value"], one["taken_by"]["key"], one["taken_by"]["place"]) for one in found["gone"]}
    assert gone == {
        ("each", "gpu", "any", "ours.yaml:10"),
        ("where", "{ fact: ecc.mode, is: enabled }", "any", "ours.yaml:10"),
        ("allow-empty", "true", "any", "ours.yaml:10"),
    }


def test_keys_removed_by_a_new_fact_are_listed_with_their_remover(ours: Path) -> None:
    ours.write_text(OURS.replace("gpu.names: { any: gpu }", "gpu.names: { fact: uuid, is-not: x }"))
    found = explained(ours, "gpu.names")
    assert [(one["key"], one["value"], one["place"], one["taken_by"]["key"]) for one in found["gone"]] == [
        ("present", "true", "base.yaml:16", "fact")
    ]
    assert keys(found)["fact"] == ("uuid", "ours@1", "ours.yaml:10", ["base.yaml:16"])
    assert "each" in keys(found)


@pytest.mark.parametrize(
    ("words", "value", "given"), [((), "128 GiB", False), (("--set", "floor=256 GiB"), "256 GiB", True)]
)
def test_a_param_is_shown_with_its_value_and_every_line_that_set_one(
    ours: Path, words: tuple[str, ...], value: str, given: bool
) -> None:
    (param,) = explained(ours, "memory.enough", *words)["params"]
    assert (param["name"], param["value"], param["set"]) == ("floor", value, given)
    assert (param["type"], param["about"]) == ("quantity GiB", "what this site bought")
    origin = param["default"]
    assert (origin["value"], origin["place"]) == ("128 GiB", "ours.yaml:5")
    assert [(old["value"], old["place"]) for old in origin["before"]] == [
        ("64 GiB", "middle.yaml:5"), ("unset", "base.yaml:7"),
    ]  # fmt: skip


def test_a_dropped_rule_is_shown_with_the_reason_and_its_old_content(ours: Path) -> None:
    found = explained(ours, "gone")
    assert found["dropped"] is True
    assert found["drops"] == [{"reason": "nobody here cares", "layer": "ours@1", "place": "ours.yaml:11"}]
    assert keys(found)["fact"] == ("cpu.smt", "base@2026.11", "base.yaml:17", [])
    shown = rackcheck("profile", "explain", "-p", ours, "gone").out
    assert "dropped: nobody here cares" in shown


def test_a_rule_written_anew_holds_nothing_of_what_was_dropped(ours: Path) -> None:
    found = explained(ours, "twice")
    assert (found["dropped"], found["drops"][0]["place"]) == (False, "middle.yaml:8")
    assert {key: rows[1] for key, rows in keys(found).items()} == {
        "fact": "ours@1", "at-least": "ours@1", "needs": "ours@1"
    }  # fmt: skip
    assert explained(ours, "memory.enough")["needed_by"] == ["twice"]


def test_the_condition_the_facts_and_the_sources_are_explained_in_words(ours: Path) -> None:
    shown = rackcheck("profile", "explain", "-p", ours, "memory.enough").out
    catalogue, loaded = registry().catalogue, library.load(str(ours), registry().catalogue)
    rule = next(rule for rule in loaded.own if rule.id == "memory.enough")
    (path,) = rule.facts()
    entry = catalogue.find(path)
    assert entry is not None
    source = loaded.sources["rackcheck.derived"]
    for output in (
        *wants(rule),
        "otherwise it fails, as a major",
        f"os: {entry.probe}", entry.kind.help, source.title, source.publisher, source.confidence,
        "floor = 128 GiB", "instead of blocker (middle.yaml:7), instead of minor (base.yaml:11)", "needed by", "twice",
    ):  # fmt: skip
        assert output in shown, (output, shown)


@pytest.mark.parametrize("name", [name for name, found in library.profiles().items() if found.origin == "shipped"])
def test_every_rule_of_every_shipped_profile_is_explained_as_it_is_judged(name: str) -> None:
    """Each judged key is shown with the place that the loader recorded for it."""
    catalogue = registry().catalogue
    loaded, laid = library.load_laid(name, catalogue)
    for rule in loaded.own:
        found = explain(rule.id, loaded, laid, catalogue, {})
        table = laid.rules[rule.id]
        assert {s.key: (s.value, s.place) for s in found.keys} == {
            key: (spelt(node), line(table.keys[key])) for key, node in table.items.items()
        }
        assert {str(path) for path in rule.facts()} == {fact.path for fact in found.facts}
        assert found.sources == tuple(loaded.sources[ref] for ref in rule.refs)
    assert loaded.own


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("memory.enouhg", "profile ours has no rule memory.enouhg; did you mean memory.enough?"),
        ("zzz", "profile ours has no rule zzz; rackcheck profile show ours lists them"),
    ],
)
def test_an_unknown_rule_is_reported_with_the_nearest(ours: Path, rule: str, text: str) -> None:
    done = rackcheck("profile", "explain", "-p", ours, rule)
    assert (done.status, done.err) == (2, f"rackcheck: {text}\n")


def test_no_word_of_a_profile_moves_the_terminal(ours: Path) -> None:
    ours.write_text(OURS.replace("    severity: major\n", '    severity: major\n    title: "a\\eb\\u202e"\n'))
    for words in ((), ("--json",)):
        done = rackcheck("profile", "explain", "-p", ours, "memory.enough", *words)
        assert done.status == 0, done.err
        assert not {"\x1b", "\u202e"} & set(done.out)


def test_a_stored_run_explains_the_rule_that_it_was_judged_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    folder = stored("20260101T000000Z-abcd", {"n1": {}}, text=PROFILE.replace("at-most: 10", "at-most: 7"))
    done = rackcheck("profile", "explain", "--from", str(folder), "memory.swappiness")
    assert done.status == 0, done.err
    assert "at-most: 7  small.yaml:" in done.out
    assert rackcheck("profile", "explain", "--from", "last", "site.named", "--set", "site=pod7").out.count("pod7") > 0


@pytest.mark.parametrize("words", [(), ("-p", "linux-server", "--from", "last")])
def test_a_rule_is_explained_by_one_profile(words: tuple[str, ...]) -> None:
    done = rackcheck("profile", "explain", "memory.swappiness", *words)
    assert done.status == 2
    assert "-p NAME, or --from RUN" in done.err
