"""A filter value that matches nothing known gives a note with the nearest name, and never an error."""

from pathlib import Path

import pytest
from command import rackcheck
from rack_runs import folder

from rackcheck.filter.unmatched import unmatched
from rackcheck.filter.where import parse

KNOWN = {"rule": ("nic.rate", "nic.state", "bios.smt"), "node": ("n1", "n2"), "rack": ("r01",), "role": ()}


def notes(text: str) -> list[str]:
    return list(unmatched(parse(text, lambda _: None), KNOWN))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rule:nic.rat", ["no rule nic.rat; did you mean nic.rate?"]),
        ("!rule:nic.rat", ["no rule nic.rat; did you mean nic.rate?"]),
        ("rule:nic.rate,nic.rat", ["no rule nic.rat; did you mean nic.rate?"]),
        ("rack:hall node:x[1-9]", ["no rack hall; there is r01", "no node x[1-9]; there are n[1-2]"]),
        ("role:compute", ["no role compute"]),
        ("rule:nic rule:*.smt rule:n?c.rate node:n[1-9] rack:r0?", []),
        ("state:unknown severity:minor group:7 plane:bmc ~nothing dgx99", []),
    ],
)
def test_each_value_that_matches_nothing_known_is_named(text: str, wanted: list[str]) -> None:
    assert notes(text) == wanted


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))


FIRST, OS = folder() / "first", folder() / "os"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("groups", FIRST, "--where", "rule:nic.rat"), "no rule nic.rat; did you mean nic.rate?"),
        (("groups", FIRST, "--where", "profile:h100-dgy"), "no profile h100-dgy; did you mean h100-dgx?"),
        (("groups", FIRST, "--where", "fact:bios.smtt", "--json"), "no fact bios.smtt; did you mean bios.smt"),
        (("odd", FIRST, "--where", "node:m1"), "no node m1"),
        (("rack", FIRST, "--where", "role:computer"), "no role computer; did you mean compute?"),
        (("diff", FIRST, OS, "--where", "rule:nic.rat"), "no rule nic.rat; did you mean nic.rate?"),
        (("diff", "n1", "n2", "--from", FIRST, "--where", "rule:nic.rat"), "did you mean nic.rate?"),
        (
            ("facts", "n1", "--from", FIRST, "--where", "fact:node.prodct"),
            "no fact node.prodct; did you mean node.product",
        ),
    ],
)
def test_a_command_names_the_nearest_and_keeps_its_result(words: tuple[str | Path, ...], wanted: str) -> None:
    done = rackcheck(*words)
    assert done.status in {0, 1, 3}, done.err
    assert f"--where: {wanted}" in done.err or wanted in done.err


@pytest.mark.parametrize("text", ["state:waived", "rule:nic.rate", "node:n[1-3]", "plane:fabric", "rule:bios.*"])
def test_a_filter_of_known_words_has_no_note(text: str) -> None:
    assert "--where" not in rackcheck("groups", FIRST, "--where", text).err
