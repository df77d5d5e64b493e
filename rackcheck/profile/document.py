"""YAML text as a tree that keeps the source text of every scalar, with its line and column.

`0000:17:00.0`, `NO`, `28.10` and `010` stay text. Duplicate keys, anchors, aliases, tags, merge keys and deep nesting
are errors. This module is independent of the profile format.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from rackcheck.base.user_error import UserError

DEPTH = 24
"""Maximum nesting depth of a file."""

SIZE = 2 << 20
"""Maximum number of characters of a file."""

MARK = "\ufeff"
"""A byte order mark: accepted at the start of a file, an error inside it."""

OPEN_QUOTE = "while scanning a quoted scalar"
"""The context in PyYAML's error for a quoted text whose closing quote is missing."""

SHOWN = 20
"""Maximum number of errors reported at once."""


@dataclass(frozen=True, slots=True, order=True)
class SourcePlace:
    """A location in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One error and its location."""

    place: SourcePlace
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class BadFile(UserError):
    """A user's file that cannot be used, with its problems (at most 20 are shown)."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(set(problems))
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"and {len(self.problems) - SHOWN} more")
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar, with its text as written in the file."""

    text: str
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class YamlSequence:
    """A sequence."""

    items: tuple["YamlNode", ...]
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """A mapping; `keys` maps each key to its location."""

    items: Mapping[str, "YamlNode"]
    keys: Mapping[str, SourcePlace]
    place: SourcePlace

    def get(self, key: str) -> "YamlNode | None":
        """Return the YAML node at a key, or None if there is none."""
        return self.items.get(key)


YamlNode = Scalar | YamlSequence | YamlMapping


QUICK = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's C loader, or its Python loader if PyYAML was built without C.

The C loader is ten times as fast as the Python loader, accepts more texts, and gives shorter error messages.
"""


def read(text: str, file: str, *, ours: bool = False) -> YamlNode:
    """Read one YAML document; raises BadFile with all problems and their locations.

    A shipped file (`ours`) is read by the C parser; a test compares both parsers on every shipped file.
    """
    if len(text) > SIZE:
        raise BadFile([Problem(SourcePlace(file, 1, 1), f"the file has {len(text)} characters; the maximum is {SIZE}")])
    builder = _Builder(file)
    try:
        events = yaml.parse(text, Loader=QUICK if ours else yaml.SafeLoader)
        return builder.build(events)
    except yaml.MarkedYAMLError as error:
        opened = error.context == OPEN_QUOTE and "end of stream" in str(error.problem)
        mark = error.context_mark if opened else error.problem_mark or error.context_mark
        raise BadFile(
            [Problem(_mark(mark, file), "a quote that is never closed" if opened else _yaml_message(error))]
        ) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        at = SourcePlace(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise BadFile([Problem(at, f"a character YAML does not allow: {chr(error.character)!a}")]) from None
    except (ValueError, OverflowError) as error:  # PyYAML raises these for escapes and version numbers out of range
        raise BadFile(
            [Problem(builder.place, f"after this place, an escape or a number is out of range: {error}")]
        ) from None


def _mark(mark: Any, file: str) -> SourcePlace:
    return SourcePlace(file, mark.line + 1, mark.column + 1) if mark is not None else SourcePlace(file, 1, 1)


def _yaml_message(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    if "'\\t'" in problem:
        return "a tab; YAML requires spaces here"
    if problem.startswith("mapping values are not allowed"):
        return "a `: ` is not allowed here; put a text that contains one in quotes"
    if problem.startswith("expected chomping"):
        return "`>` and `|` begin a block of text; put a value that begins with one in quotes"
    if problem.endswith("that cannot start any token"):
        return f"{problem.removeprefix('found character ').split(' ')[0]} cannot begin a value; put the value in quotes"
    return problem


def plain(node: YamlNode) -> object:
    """Return the same tree as bare dicts, lists and texts."""
    match node:
        case Scalar():
            return node.text
        case YamlSequence():
            return [plain(item) for item in node.items]
        case YamlMapping():
            return {key: plain(item) for key, item in node.items.items()}


class _Builder:
    """Builds the tree from parser events, without recursion; nesting deeper than DEPTH is an error."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.odd = 0
        self.place = SourcePlace(file, 1, 1)

    def build(self, events: Iterator[yaml.Event]) -> YamlNode:
        # One open container per level: its start, its flow style, its nodes so far (keys and values alternate).
        levels: list[tuple[SourcePlace, bool, bool, list[YamlNode]]] = []
        root: list[YamlNode] = []
        documents = 0
        for event in events:
            self.place = place = _mark(event.start_mark, self.file)
            into = levels[-1][3] if levels else root
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise BadFile([Problem(place, "a second document; a file must contain one")])
            elif isinstance(event, yaml.AliasEvent):
                raise BadFile([Problem(place, f"an alias (*{event.anchor}) is not allowed; write the value in full")])
            elif isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
                self._no_magic(event, place)
                if isinstance(event, yaml.ScalarEvent):
                    into.append(self._scalar(event, place, in_flow=bool(levels) and levels[-1][2]))
                else:
                    if len(levels) >= DEPTH:
                        raise BadFile([Problem(place, f"nested deeper than {DEPTH} levels")])
                    levels.append((place, isinstance(event, yaml.MappingStartEvent), bool(event.flow_style), []))
            elif isinstance(event, yaml.CollectionEndEvent):
                start, is_table, _, nodes = levels.pop()
                into = levels[-1][3] if levels else root
                into.append(self._table(start, nodes) if is_table else YamlSequence(tuple(nodes), start))
        if self.problems:
            raise BadFile(self.problems)
        if not root:
            raise BadFile([Problem(SourcePlace(self.file, 1, 1), "the file is empty")])
        return root[0]

    def _no_magic(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, place: SourcePlace) -> None:
        if event.anchor is not None:
            self.problems.append(Problem(place, f"an anchor (&{event.anchor}) is not allowed; write the value in full"))
        if event.tag is not None and event.tag != "!":
            self.problems.append(
                Problem(place, f"a tag ({event.tag}) is not allowed; the fact's type determines how a value is read")
            )

    def _scalar(self, event: yaml.ScalarEvent, place: SourcePlace, *, in_flow: bool) -> Scalar:
        if in_flow and event.style is None and event.value.count('"') % 2 and place.line != self.odd:
            self.problems.append(Problem(place, f"put the whole value in single quotes: '{event.value}…'"))
            self.odd = place.line  # the other half of the value that the comma split
        if event.style is None and MARK in event.value:
            self.problems.append(Problem(place, "an invisible byte order mark (U+FEFF); delete it"))
        if any("\ud800" <= c <= "\udfff" for c in event.value):
            self.problems.append(Problem(place, "a \\u escape from D800 to DFFF is not a character"))
        return Scalar(event.value, place)

    def _table(self, start: SourcePlace, nodes: list[YamlNode]) -> YamlMapping:
        items: dict[str, YamlNode] = {}
        keys: dict[str, SourcePlace] = {}
        for key, value in zip(nodes[::2], nodes[1::2], strict=True):
            if not isinstance(key, Scalar):
                self.problems.append(Problem(key.place, "a key must be a single text"))
            elif key.text == "<<":
                self.problems.append(Problem(key.place, "a merge key is not allowed; write the keys in full"))
            elif key.text in items:
                first = keys[key.text]
                self.problems.append(Problem(key.place, f"duplicate key `{key.text}`; first at line {first.line}"))
            else:
                items[key.text], keys[key.text] = value, key.place
        return YamlMapping(items, keys, start)
