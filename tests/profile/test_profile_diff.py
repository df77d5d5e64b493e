"""`rackcheck profile diff`: what two profiles require differently, and which one is stricter."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from rack_runs import SITE, accepted, folder

A = """\
rackcheck: 1
profile: one
version: 1
params: { floor: { type: quantity GiB, default: unset }, old: 1 }
rules:
  a.loose: { fact: memory.total, at-least: 8 GiB }
  a.tight: { fact: memory.total, at-least: 8 GiB }
  a.other: { fact: cpu.smt, is: true }
  a.words: { fact: cpu.smt, is: true, why: because }
  a.same: { fact: cpu.smt, is: true }
  b.first: { fact: cpu.smt, is: true }
  b.second: { fact: cpu.smt, is: true }
  site: { fact: memory.total, at-least: $floor }
"""
B = """\
rackcheck: 1
profile: two
version: 1
extends: one@1
params: { floor: 4 GiB, new: 2 }
rules:
  a.loose: { at-least: 4 GiB }
  a.tight: { at-least: 16 GiB }
  a.other: { fact: cpu.threads, at-least: 2 }
  a.words: { why: it is so }
  b.first: { drop: not with us }
  b.second: { drop: nor this }
  c.mine: { fact: cpu.smt, is: true, title: Mine }
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.yaml").write_text(A)
    (tmp_path / "two.yaml").write_text(B)


def diff_of(*words: object) -> tuple[int, dict[str, Any]]:
    done = rackcheck("profile", "diff", *words, "--json")
    assert done.status in {0, 1}, done.err
    found: dict[str, Any] = json.loads(done.out)
    return done.status, found


def test_every_difference_is_reported_once_and_in_its_kind() -> None:
    status, found = diff_of("one.yaml", "two.yaml")
    assert status == 1
    assert [rule["rule"] for rule in found["only_in_a"]] == ["b.first", "b.second"]
    assert found["only_in_b"] == [{"rule": "c.mine", "title": "Mine"}]
    assert [(one["rule"], one["lean"]) for one in found["changed"]] == [
        ("a.loose", "weaker"), ("a.tight", "stricter"), ("a.other", "different"), ("site", "stricter"),
    ]  # fmt: skip
    assert "8 GiB" in found["changed"][0]["how"]
    assert "4 GiB" in found["changed"][0]["how"]
    assert found["words"] == [{"rule": "a.words", "keys": ["why"]}]
    assert found["params"] == [
        {"name": "floor", "a": "not set", "b": "4 GiB"}, {"name": "new", "a": None, "b": "2"},
    ]  # fmt: skip
    assert found["dropped"] == [
        {"rule": "b.first", "a": None, "b": "not with us"}, {"rule": "b.second", "a": None, "b": "nor this"},
    ]  # fmt: skip


def test_the_other_way_round_weaker_is_stricter() -> None:
    leans = [
        {one["rule"]: one["lean"] for one in diff_of(*pair)[1]["changed"]}
        for pair in (("one.yaml", "two.yaml"), ("two.yaml", "one.yaml"))
    ]
    turned = {"weaker": "stricter", "stricter": "weaker", "different": "different"}
    assert leans[1] == {rule: turned[lean] for rule, lean in leans[0].items()}


def test_lines_are_folded_and_name_what_was_dropped() -> None:
    Path("three.yaml").write_text(
        A.replace("profile: one", "profile: three").replace("is: true }", "is: true, severity: minor }")
    )
    out = rackcheck("profile", "diff", "one.yaml", "three.yaml").out
    assert "a.other, a.same, b.first, b.second: severity: major -> minor" in out
    dropped = rackcheck("profile", "diff", "one.yaml", "two.yaml").out
    assert "b.first  dropped by the other profile: not with us" in dropped
    assert "weaker in B: 1 rule\n" in dropped


def test_two_equal_profiles_are_reported_as_equal_and_exit_0() -> None:
    done = rackcheck("profile", "diff", "one.yaml", "one.yaml")
    assert (done.status, "no difference" in done.out) == (0, True)
    assert diff_of("one.yaml", "one.yaml")[0] == 0


def test_other_words_alone_are_a_difference() -> None:
    Path("words.yaml").write_text(A.replace("because", "for good"))
    status, found = diff_of("one.yaml", "words.yaml")
    assert (status, found["changed"], found["words"]) == (1, [], [{"rule": "a.words", "keys": ["why"]}])


def test_site_values_are_set_in_both_that_have_the_param() -> None:
    _, found = diff_of("one.yaml", "two.yaml", "--set", "floor=4 GiB", "--set", "new=2")
    assert "site" not in {one["rule"] for one in found["changed"]}
    assert "floor" not in {param["name"] for param in found["params"]}


def test_the_same_rules_by_extending_and_by_including_differ_in_nothing() -> None:
    Path("by-extends.yaml").write_text("rackcheck: 1\nprofile: x\nversion: 1\nextends: one@1\n")
    Path("by-include.yaml").write_text("rackcheck: 1\nprofile: x\nversion: 1\ninclude: [one]\n")
    assert diff_of("by-extends.yaml", "by-include.yaml")[0] == 0


def test_a_run_and_an_acceptance_have_their_own_profile_and_site_values() -> None:
    status, found = diff_of(folder() / "first", "h100-dgx")
    assert status == 1
    assert [(p["name"], p["a"], p["b"]) for p in found["params"]] == [
        ("bios_version", "1.5.3", "not set"), ("bmc_firmware", "24.09.17", "not set"),
    ]  # fmt: skip
    assert {one["lean"] for one in found["changed"]} == {"weaker"}
    assert diff_of(folder() / "first", "h100-dgx", *SITE)[0] == 0
    assert accepted("pod", "first").status in {0, 1, 3}
    assert diff_of("pod", folder() / "first")[0] == 0


def wrong(*words: object) -> Done:
    return rackcheck("profile", "diff", *words)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("h100-dxg", "one.yaml"), "no profile, run or acceptance h100-dxg; did you mean h100-dgx?"),
        (("one.yaml", "zzzz"), "no profile, run or acceptance zzzz; see rackcheck profile list and "),
        (("one.yaml", "nine.yaml"), "no profile file nine.yaml"),
        (("one.yaml", "./away"), "no run or acceptance ./away; "),
        (("one.yaml", "two.yaml", "--set", "flor=1"), "neither one.yaml nor two.yaml has a param flor; did you mean floor?"),
        (("one.yaml",), "Missing argument 'B'"),
    ],
)  # fmt: skip
def test_an_error_is_reported_with_the_nearest_word(words: tuple[str, ...], text: str) -> None:
    done = wrong(*words)
    assert (done.status, text in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("key", "old", "new", "lean"),
    [
        ("warn-below", "8 GiB", "16 GiB", "stricter"),
        ("warn-below", "16 GiB", "8 GiB", "weaker"),
        ("warn-above", "8 GiB", "16 GiB", "weaker"),
        ("warn-above", "16 GiB", "8 GiB", "stricter"),
    ],
)
def test_a_figure_that_only_warns_leans_as_one_that_fails_does(key: str, old: str, new: str, lean: str) -> None:
    text = "rackcheck: 1\nprofile: {0}\nversion: 1\nrules:\n  r: {{ fact: memory.total, at-least: 4 GiB, {1}: {2} }}\n"
    Path("was.yaml").write_text(text.format("was", key, old))
    Path("now.yaml").write_text(text.format("now", key, new))
    assert [one["lean"] for one in diff_of("was.yaml", "now.yaml")[1]["changed"]] == [lean]
