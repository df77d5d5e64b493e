"""A rule of a file that was parsed before is not read again, unless one of its inputs differs."""

from pathlib import Path

import pytest

from rackcheck.model.profile import Rule
from rackcheck.probe.registry import registry
from rackcheck.profile import library

HEAD = "rackcheck: 1\nprofile: p\nversion: 1\nparams: { threads: 8, other: 1 }\n"
RULES = "rules:\n  a: { fact: cpu.threads, is: $threads, refs: [s] }\n  b: { fact: cpu.smt, is: true }\n"
SOURCE = "rackcheck: 1\nsources: { s: { title: T, section: S, publisher: P, date: 2026-01-01, confidence: %s } }\n"


def rules(folder: Path, confidence: str = "read in source", **values: str) -> dict[str, Rule]:
    (folder / "p.yaml").write_text(HEAD + RULES)
    (folder / "sources.yaml").write_text(SOURCE % confidence)
    loaded = library.load(str(folder / "p.yaml"), registry().catalogue, values)
    return {rule.id: rule for rule in loaded.rules}


@pytest.mark.parametrize("change", [{"threads": "16"}, {"confidence": "from memory"}])
def test_a_rule_follows_each_of_its_inputs_and_returns_with_them(tmp_path: Path, change: dict[str, str]) -> None:
    before, changed, again = rules(tmp_path), rules(tmp_path, **change), rules(tmp_path)
    assert changed["a"] != before["a"]
    assert changed["a"].digest != before["a"].digest
    assert again == before
    assert changed["b"] == before["b"]


def test_a_param_that_a_rule_does_not_name_leaves_the_rule_as_it_is(tmp_path: Path) -> None:
    before = rules(tmp_path)
    assert rules(tmp_path, other="2")["a"] == before["a"]


def test_a_param_without_a_value_is_listed_by_the_rule_each_time(tmp_path: Path) -> None:
    rules(tmp_path)
    assert [rules(tmp_path, threads="unset")["a"].unset for _ in range(2)] == [("threads",), ("threads",)]
