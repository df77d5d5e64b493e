"""Broken profiles, each with one mistake: the message, its place, and that the word it proposes is right."""

import json
import re
from pathlib import Path

import pytest
from places import TESTS

from rackcheck.base.user_error import UserError
from rackcheck.model.path import parse
from rackcheck.probe.registry import registry
from rackcheck.profile import library, lint, schema, schema_check

FOLDER = TESTS / "broken"
PARENTS = FOLDER / "parents"
BROKEN = sorted(path for path in FOLDER.rglob("*.yaml") if path.parent != PARENTS)
MEANT = re.compile(r"did you mean `?'?(?P<right>.+?)'?`?\?")
PLACE = re.compile(r"(?:[^:]*/)?(?P<file>[^/:]+\.yaml):(?P<rest>\d+:\d+: .*)", re.DOTALL)


def problems_of(path: Path) -> list[str]:
    """Messages of the loader, else of the lint, for a profile: LINE:COLUMN, after the name of any other file."""
    try:
        profile, laid = library.load_laid(str(path), registry().catalogue, None, (PARENTS,))
    except UserError as error:
        lines = str(error).splitlines()
    else:
        lines = [str(finding) for finding in lint.findings(profile, laid)]
    return [short(output, path.name) for output in lines]


def short(output: str, name: str) -> str:
    """A message without this machine's folders."""
    match = PLACE.fullmatch(output)
    assert match is not None, output
    rest = re.sub(
        r"\((?:[^():]*/)?([^/():]+\.yaml):(\d+)\)",
        lambda m: f"({'FILE' if m[1] == name else m[1]}:{m[2]})",
        match["rest"],
    )
    return rest if match["file"] == name else f"{match['file']}:{rest}"


def expected(path: Path) -> list[str]:
    """The messages in a broken profile's first lines; a trailing … stands for the library's current content."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# expect: ") for line in lines if line.startswith("# expect: ")]


def like(output: str, wanted: str) -> bool:
    return output.startswith(wanted[:-1]) if wanted.endswith(": …") else output == wanted


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_a_broken_profile_is_reported_with_fault_and_place(path: Path) -> None:
    found, wanted = problems_of(path), expected(path)
    assert wanted
    assert [like(*pair) for pair in zip(found, wanted, strict=False)] == [True] * len(wanted), found
    assert len(found) == len(wanted)


def test_there_are_sixty_errors_and_no_two_have_the_same_text() -> None:
    rows = [re.sub(r"\d+:\d+: ", "", "\n".join(expected(path))) for path in BROKEN]
    assert len(BROKEN) >= 60
    assert sorted(rows) == sorted(set(rows))


def test_every_word_of_other_tools_has_one_of_ours() -> None:
    ours = json.dumps(schema.profile())
    assert [right for right in schema_check.MEANT.values() if f'"{right}"' not in ours] == []
    assert [
        wrong for wrong in schema_check.MEANT if f'"{wrong}":' in ours and wrong in schema.rule()["properties"]
    ] == []


def test_a_path_with_a_letter_missing_finds_itself_first_with_its_own_keys() -> None:
    catalogue = registry().catalogue
    patterns = [e for e in catalogue.entries if not e.endswith(".**") and len(e) > 12][::25]
    asked = [parse(pattern).fill("abc") for pattern in patterns]
    first = [catalogue.near(str(path)[:-3] + str(path)[-2:])[:1] for path in asked]
    assert len(asked) > 40
    assert sum(found == [str(path)] for found, path in zip(first, asked, strict=True)) >= 0.95 * len(asked)
    assert [found for found in first if found and catalogue.find(parse(found[0])) is None] == []


PROPOSED = [path for path in BROKEN if any(MEANT.search(line) and line[0].isdigit() for line in expected(path))]


@pytest.mark.parametrize("path", PROPOSED, ids=lambda p: p.stem)
def test_the_word_that_is_proposed_mends_it(path: Path, tmp_path: Path) -> None:
    (wanted,) = expected(path)
    meant = MEANT.search(wanted)
    at = re.match(r"(\d+):(\d+): ", wanted)
    assert meant is not None
    assert at is not None
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    number, column = int(at[1]) - 1, int(at[2]) - 1
    before, rest = lines[number][:column], lines[number][column:]
    mended = tmp_path / path.name
    reported_after = []
    for wrong in [*re.findall(r"[\w.@/:-]+", wanted), rest.rstrip("\n")]:
        if wrong in rest:
            lines[number] = before + rest.replace(wrong, meant["right"], 1)
            mended.write_text("".join(lines), encoding="utf-8")
            reported_after.append(problems_of(mended))
    gone = wanted.partition(": ")[2]
    assert any(
        not any(gone in line for line in after) and not any("did you mean" in line for line in after)
        for after in reported_after
    ), reported_after
