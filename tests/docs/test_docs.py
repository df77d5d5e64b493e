"""The documents are correct: every YAML example loads, every command line parses, every file that they name exists."""

import re
import shlex
import stat
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from places import ROOT

from rackcheck import inventory
from rackcheck.cli import cli
from rackcheck.model.operator import WORDS
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.schema import profile
from rackcheck.report import cover
from rackcheck.signoff import waivers

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TARGETS = {
    name
    for names in re.findall(r"^([a-z -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for name in names.split()
}
NAMED = r"`((?:rackcheck|probes|tui|profiles|schemas|tests|docs|benchmarks)/[\w./-]*)`"


def blocks(page: Path) -> Iterator[str]:
    """Every example of a file: fenced as YAML, or set off by four blanks."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    unfenced = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.findall(r"(?:^(?: {4}.*)?\n)+", unfenced, re.MULTILINE):
        yield textwrap.dedent(block).strip("\n") + "\n"


def examples() -> list[tuple[str, str]]:
    """Every complete file in the documents, with its page."""
    return [(page.name, block) for page in PAGES for block in blocks(page) if block.startswith("rackcheck: 1\n")]


KINDS = ("profile", "waivers", "brand", "inventory")


def kind_of(block: str) -> str:
    return next((kind for kind in KINDS if f"\n{kind}:" in block), "inventory")


def lines(page: Path, first: str) -> Iterator[str]:
    """Every command line of a page that begins with this word; text after two blanks is a remark."""
    for line in page.read_text(encoding="utf-8").splitlines():
        found = re.match(rf" {{4}}({first} .*?)(?:\s{{2,}}\S.*)?$", line)
        if found:
            yield found[1].strip()


def scripted(page: Path) -> Iterator[str]:
    """Every rackcheck command line in a script of a page, without assignments before it and pipes after it."""
    for script in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for found in re.finditer(r"^(?:[A-Z_]+=\S+ )*(rackcheck [^|\n]*)", script, re.MULTILINE):
            yield found[1].strip()


def commands() -> list[tuple[str, str]]:
    found = [(page.name, line) for page in PAGES for line in (*lines(page, "rackcheck"), *scripted(page))]
    assert ("signing.md", "rackcheck report pod7 --format json -o -") in found, "a script is read, too"
    return found


def parsed(words: list[str]) -> click.Command:
    """Split a command line as the shell would, without running it; raises click's errors."""
    command: click.Command = cli
    context = click.Context(cli, info_name="rackcheck")
    while isinstance(command, click.Group):
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, name
        command = found
    command.make_context(command.name or "", words, parent=context)
    return command


@pytest.mark.parametrize(("page", "block"), [e for e in examples() if kind_of(e[1]) == "profile"])
def test_a_profile_of_the_documents_loads(page: str, block: str, tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    file.write_text(block)
    assert library.load(str(file), registry().catalogue).own, page


@pytest.mark.parametrize(("page", "block"), [e for e in examples() if kind_of(e[1]) == "waivers"])
def test_waivers_of_the_documents_load(page: str, block: str) -> None:
    assert waivers.read(block, "waivers.yaml"), page


@pytest.mark.parametrize(("page", "block"), [e for e in examples() if kind_of(e[1]) == "brand"])
def test_a_brand_of_the_documents_loads(page: str, block: str, tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "site.yaml").write_text(block)
    assert cover.load(tmp_path / "site.yaml").integrator, page


@pytest.mark.parametrize(("page", "block"), [e for e in examples() if kind_of(e[1]) == "inventory"])
def test_an_inventory_of_the_documents_loads(
    page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in re.findall(r"key: ~/([\w./]+)", block):
        key = tmp_path / name
        key.parent.mkdir(parents=True, exist_ok=True)
        key.touch(stat.S_IRUSR)
    file = tmp_path / "inventory.yaml"
    file.write_text(block)
    assert inventory.load(file).nodes, page


def test_there_are_examples_of_every_kind() -> None:
    assert {kind_of(block) for _, block in examples()} == set(KINDS)


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_command_of_the_documents_is_one_and_has_these_options(page: str, line: str) -> None:
    assert parsed(shlex.split(line)[1:]).name, page


def test_a_command_that_is_not_there_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        parsed(["adit", "-p", "linux-server"])
    with pytest.raises(click.UsageError):
        parsed(["audit", "--no-such-option"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_of_a_page_is_one(page: Path) -> None:
    named = re.findall(r"(?:^ {4}|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = set(re.findall(NAMED, page.read_text(encoding="utf-8")))
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_every_key_and_operator_of_the_grammar_is_explained() -> None:
    page = (ROOT / "docs" / "guide" / "profiles.md").read_text(encoding="utf-8")
    members = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    shape = profile()["properties"]
    rule = shape["rules"]["additionalProperties"]["properties"]
    keys = set(shape) | set(rule) | set(WORDS)
    assert keys - members - {"scope"} - {"scope: rack"} == set()
