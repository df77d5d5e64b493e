"""The schema for editors: it refuses exactly what the grammar refuses, and completes every word."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command import rackcheck
from hypothesis import event, given, settings
from hypothesis import strategies as st
from places import ROOT

from rackcheck.model.operator import WORDS
from rackcheck.probe.registry import registry
from rackcheck.profile import editor, editor_help, editor_words
from rackcheck.profile.schema import profile

COMMITTED = ROOT / "schemas" / "profile.schema.json"
LARGEST = 520_000
"""Bytes of a schema that an editor still reads at once."""

PROFILES = sorted(path for path in (ROOT / "profiles").glob("*.yaml") if path.stem != "sources")


@cache
def schema_of() -> Any:
    return json.loads(COMMITTED.read_text(encoding="utf-8"))


@cache
def judges() -> tuple[Any, Any]:
    return jsonschema.Draft202012Validator(profile()), jsonschema.Draft202012Validator(schema_of())


def offered(name: str) -> set[Any]:
    return {word for part in schema_of()["$defs"][name]["anyOf"] for word in part.get("enum", ())}


def test_the_committed_schema_is_the_generated_one_byte_for_byte() -> None:
    generated = editor.text(editor.schema(registry().catalogue, editor_words.shipped()))
    assert COMMITTED.read_text(encoding="utf-8") == generated, "make schemas"


def test_the_schema_is_valid_small_and_has_no_one_of() -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of())
    text = COMMITTED.read_bytes()
    assert b"oneOf" not in text
    assert len(text) < LARGEST


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_no_shipped_profile_is_warned_of(path: Path) -> None:
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    assert [error.message for error in judges()[1].iter_errors(document)] == []


SCALARS = st.sampled_from(
    ["gpu", "memory.total", "no.such.fact", 'pcie/"0000:17:00.0".link.width', "bios.smt", "true", "enabled", "$param", ""]
) | st.booleans() | st.integers(0, 9)  # fmt: skip
LISTS = st.lists(SCALARS, min_size=1, max_size=2)
LEAVES = st.fixed_dictionaries({"fact": SCALARS, "is": SCALARS}, optional={"one-of": LISTS, "same-as": SCALARS})
ANYTHING = SCALARS | LISTS | LEAVES | st.lists(LEAVES, max_size=2)
KEYS = ("fact", "is", "one-of", "same-as", "each", "count", "where", "when", "all-of", "any-of", "role", "refs", "iss")
FITTING = {
    "fact": SCALARS | LEAVES, "one-of": LISTS, "where": LEAVES, "when": LEAVES, "role": SCALARS | LISTS, "refs": LISTS,
    "all-of": st.lists(LEAVES, min_size=1, max_size=2), "any-of": st.lists(LEAVES, min_size=1, max_size=2),
    "across": st.fixed_dictionaries({"facts": SCALARS | LISTS}, optional={"role": st.sampled_from(["compute", "ours", 5]), "except": LISTS}),
}  # fmt: skip
RULES = st.fixed_dictionaries({}, optional={key: FITTING.get(key, SCALARS) for key in (*KEYS[:-1], "across")})
HEADS = st.fixed_dictionaries(
    {}, optional={"extends": st.sampled_from(["ours@7", "ours", 7]), "include": st.lists(st.sampled_from(["ours", "ours@7", "@"]), min_size=1, max_size=2), "applies-to": st.fixed_dictionaries({}, optional={"role": SCALARS})}
)  # fmt: skip


@settings(max_examples=400)
@given(RULES, st.just({}) | st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=1), HEADS)
def test_it_refuses_exactly_what_the_grammar_refuses(rule: Any, other: Any, head: Any) -> None:
    document = {"rackcheck": 1, "profile": "p", "version": 1, "rules": {"r": rule | other}} | head
    grammar, ours = judges()
    valid = grammar.is_valid(document)
    event(f"valid: {valid}")
    assert ours.is_valid(document) is valid


def test_every_fact_and_collection_of_the_catalogue_is_offered_where_it_may_stand() -> None:
    missing = []
    for path, entry in registry().catalogue.entries.items():
        collection, mark, rest = path.rpartition("/*.")
        if path.endswith(".**"):
            continue
        if entry.kind.type.value == "collection":
            place, word = "collections", path
        else:
            place, word = (f"in-{collection.replace('/*.', '-')}-facts", rest) if mark else ("node-facts", path)
        if not path.endswith("/*") and word not in offered(place):
            missing.append(path)
    assert missing == []


def test_each_fact_is_described_with_its_help_its_unit_and_its_plane() -> None:
    memory = next(
        part for part in schema_of()["$defs"]["node-facts"]["anyOf"] if "memory.total" in part.get("enum", ())
    )
    value = memory["enumDescriptions"][memory["enum"].index("memory.total")]
    assert value == f"{registry().catalogue.entries['memory.total'].kind.help} (quantity GiB, os)"


def test_every_shipped_profile_source_and_role_is_offered() -> None:
    extends = {
        word for part in schema_of()["properties"]["extends"]["allOf"][0]["anyOf"] for word in part.get("enum", ())
    }
    assert {word.partition("@")[0] for word in extends} == {path.stem for path in PROFILES} - {"built-in"}
    sources = yaml.safe_load((ROOT / "profiles" / "sources.yaml").read_text(encoding="utf-8"))["sources"]
    assert offered("sources") == set(sources)
    assert {"any", "compute", "nvswitch-tray"} <= offered("roles")


def test_every_key_of_a_profile_has_its_sentence() -> None:
    whole = profile()["properties"]
    rule = whole["rules"]["additionalProperties"]["properties"]
    assert set(whole) <= editor_help.FILE.keys()
    assert set(rule) <= editor_help.RULE.keys() | editor_help.TEST.keys()
    assert set(WORDS) <= editor_help.TEST.keys()
    shown = schema_of()["properties"]["rules"]["additionalProperties"]["properties"]
    assert [key for key in rule if not shown[key].get("description")] == []


def test_a_profile_and_a_probe_of_this_machine_are_in_the_schema_that_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "site.yaml").write_text("rackcheck: 1\nprofile: site\nversion: 7\nrules: { r: { role: storage } }\n")
    (folder / "broken.yaml").write_text("rackcheck: [\n")
    (folder / "sources.yaml").write_text("rackcheck: 1\nsources: { ours.book: { title: Ours } }\n")
    done = rackcheck("profile", "schema")
    assert done.status == 0, done.err
    words = [word for word in ("site@7", "storage", "ours.book", "h100-dgx@", "tuned.throughput") if word in done.out]
    assert len(words) == 5, words
    assert set(json.loads(done.out)["$defs"]) == set(schema_of()["$defs"])


def test_a_schema_that_cannot_be_written_is_a_user_error(tmp_path: Path) -> None:
    done = rackcheck("profile", "schema", "-o", tmp_path / "nowhere" / "profile.schema.json")
    assert done.status == 2
    assert "nowhere/profile.schema.json" in done.err
