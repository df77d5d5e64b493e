"""YAML's traps: text that looks like another type stays text, and dangerous constructs are refused with their place."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rackcheck.profile.document import DEPTH, SIZE, BadFile, YamlMapping, plain, read
from rackcheck.profile.library import shipped


@pytest.mark.parametrize(
    "text",
    ["0000:17:00.0", "52:54:00:12:34:56", "NO", "no", "on", "28.10", "010", "1e3", "~", "null", "2026-11-21", "0x1F", "1_000", "=", ".inf", "12:30:45"],
)  # fmt: skip
def test_a_plain_scalar_stays_the_text_it_is(text: str) -> None:
    assert plain(read(f"a: {text}\n", "f.yaml")) == {"a": text}
    assert plain(read(f"{text}: a\n", "f.yaml")) == {text: "a"}


def test_every_scalar_has_its_place() -> None:
    table = read("a: 1\nb:\n  - x\n  -   y\n", "f.yaml")
    assert isinstance(table, YamlMapping)
    assert str(table.items["a"].place) == "f.yaml:1:4"
    assert str(table.keys["b"]) == "f.yaml:2:1"
    assert str(table.items["b"].items[1].place) == "f.yaml:4:7"  # type: ignore[union-attr,index]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: duplicate key `a`; first at line 1"),
        ("{a: 1, a: 2}", "duplicate key `a`"),
        ("a: &x [1]\n", "f.yaml:1:4: an anchor (&x) is not allowed; write the value in full"),
        ("a: *x\n", "an alias (*x) is not allowed; write the value in full"),
        ("a: !!python/object/apply:os.system [id]\n", "a tag"),
        ("a: !!int 3\n", "a tag"),
        ("<<: {a: 1}\n", "a merge key"),
        ("? [a, b]\n: c\n", "a key must be a single text"),
        ("a:\n\t- b\n", "f.yaml:2:1: a tab; YAML requires spaces here"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document"),
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("a: b: c\n", "f.yaml:1:5: a `: ` is not allowed here; put a text that contains one in quotes"),
        ("a: 'open\n", "f.yaml:"),
        ("a: \x07\n", "a character YAML does not allow"),
        ('a: { fact: pcie/"0000:17, is: 1 }\n', "put the whole value in single quotes"),
        ("a" * (SIZE + 1), f"the maximum is {SIZE}"),
    ],
)
def test_what_is_dangerous_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        read(text, "f.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("f.yaml:")


def test_a_quoted_path_with_a_colon_survives_block_and_single_quotes() -> None:
    text = 'a: pcie/"0000:17:00.0".link.width\nb: { fact: \'pcie/"0000:17:00.0".class\', is: "0x03" }\n'
    assert plain(read(text, "f")) == {
        "a": 'pcie/"0000:17:00.0".link.width',
        "b": {"fact": 'pcie/"0000:17:00.0".class', "is": "0x03"},
    }


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10))
    with pytest.raises(BadFile, match="alias"):
        read(f"l0: &l0 [x]\n{levels}\n", "f.yaml")


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, "{a: " * 10_000, "- " * 10_000, "\n".join(" " * n + "a:" for n in range(1_500))],
    ids=["brackets", "braces", "dashes", "blocks"],
)
def test_ten_thousand_levels_end_at_our_own_bound(text: str) -> None:
    with pytest.raises(BadFile, match=f"nested deeper than {DEPTH} levels"):
        read(text, "f.yaml")


def test_dos_line_ends_and_a_byte_order_mark_are_no_error() -> None:
    assert plain(read("\ufeffa: 1\r\nb: 2\r\n", "f.yaml")) == {"a": "1", "b": "2"}


def test_several_errors_are_reported_at_once_and_at_most_twenty() -> None:
    text = "".join(f"a{n}: &x{n} 1\n" for n in range(30))
    with pytest.raises(BadFile) as caught:
        read(text, "f.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 10 more"


@given(st.text(max_size=200))
@example("a: [")
@example("\x00")
@example("%YAML 9.9\n---\na: 1")
@example("a: |\n\tb")
def test_any_text_gives_a_tree_or_a_reported_error(text: str) -> None:
    try:
        plain(read(text, "f.yaml"))
    except BadFile as error:
        assert str(error).startswith("f.yaml:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a: b\nc: "\\UFFFFFFFF"\n', "f.yaml:2:1: after this place, an escape or a number is out of range"),
        (f"%YAML 1.{'9' * 5000}\n---\na: b\n", "f.yaml:1:1: after this place, an escape or a number is out of range"),
        ('a: "\\ud800"\n', "f.yaml:1:4: a \\u escape from D800 to DFFF"),
        ('"\\udc00": a\n', "f.yaml:1:1: a \\u escape from D800 to DFFF"),
    ],
)
def test_an_escape_without_a_character_is_reported(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        read(text, "f.yaml")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["[" * 10_000, "{a: " * 10_000, "- " * 10_000, "? " * 10_000])
def test_what_lies_deeper_than_our_bound_is_not_even_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0

    def counted(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
        nonlocal seen
        for event in events:
            seen += 1
            yield event

    parse = yaml.parse
    monkeypatch.setattr(yaml, "parse", lambda *args, **more: counted(parse(*args, **more)))
    with pytest.raises(BadFile, match="nested deeper"):
        read(text, "f.yaml")
    assert seen <= 3 * DEPTH


@settings(max_examples=60)
@given(st.text("ab:-?[]{},&*!|>'\"%@#\\\n\t \r\ufeff\x85\u2028udU0F", max_size=60))
def test_any_text_of_yamls_own_signs_gives_a_tree_or_a_reported_error(text: str) -> None:
    try:
        node = read(text, "f.yaml")
    except BadFile as error:
        assert all(re.match(r"f\.yaml:\d+:\d+: .|and \d+ more", line) for line in str(error).splitlines())
    else:
        json.dumps(plain(node)).encode("ascii").decode("utf-8")


TEXTS = st.text(st.characters(exclude_characters="\x85\u2028\u2029"))  # line ends to YAML, letters to JSON


@given(st.recursive(TEXTS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)), max_leaves=12))
def test_what_another_writer_wrote_is_read_as_the_texts_it_meant(value: object) -> None:
    """JSON is a YAML text whose every scalar is quoted: an independent writer of what we read."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        node = read(text, "f.yaml")
    except BadFile as error:
        assert re.search("does not allow|simple key|is not a character|merge key|could not find|expected", str(error))
    else:
        assert plain(node) == value


@pytest.mark.parametrize("path", sorted(shipped("profiles").glob("*.yaml")), ids=lambda path: path.name)
def test_a_file_that_ships_is_read_by_the_quick_parser_as_by_the_other(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert read(text, "x", ours=True) == read(text, "x")
