"""A YAML file of a machine folder: JSON's types, patterns expanded, and every mistake with its line and column."""

import json
import re
from typing import Any

import yaml

from rackcheck.profile.document import DEPTH, BadFile, Problem, SourcePlace
from rackcheck.sim.machine_patterns import BadPattern, Stood, expanded, filled

VALUES = 200_000
"""The most values that one file may expand to."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_WORDS = {"true": True, "false": False, "null": None}


class SheetReader:
    """Reads the tree of one YAML file; mistakes are raised with their line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.left = VALUES

    def wrong(self, node: yaml.Node, text: str) -> BadFile:
        """Return the error for a mistake at a place."""
        mark = node.start_mark
        return BadFile([Problem(SourcePlace(self.file, mark.line + 1, mark.column + 1), text)])

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[yaml.Node, str, yaml.Node]]:
        """Return a table's entries: the key, its text, and its value."""
        if not isinstance(node, yaml.MappingNode):
            raise self.wrong(node, f"{what} is a table")
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.wrong(key, "a key is a plain text")
            if key.value in seen:
                raise self.wrong(key, f"`{key.value}` stands here twice")
            seen.add(key.value)
        return [(key, key.value, value) for key, value in node.value]

    def keys(self, node: yaml.Node, pattern: str) -> list[tuple[str, Stood]]:
        """Return the keys that a pattern expands to."""
        try:
            found = expanded(pattern)
        except BadPattern as error:
            raise self.wrong(node, str(error)) from None
        self._spend(node, len(found))
        return found

    def _spend(self, node: yaml.Node, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise self.wrong(node, f"the file unfolds to more than {VALUES} values")

    def fill(self, node: yaml.Node, text: str, stood: Stood) -> str:
        """Fill in the placeholders of a text at a place of the file."""
        try:
            return filled(text, stood)
        except BadPattern as error:
            raise self.wrong(node, str(error)) from None

    def value(self, node: yaml.Node, stood: Stood) -> Any:
        """Return a JSON value: an unquoted text that reads as JSON's number, true, false or null is that value.

        `!!int "@{1.2}"` is a number, too, though it is filled in.
        """
        self._spend(node, 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, inner) for part in node.value for item, inner in self.items(part, stood)]
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, name, value in self.pairs(node, "an object"):
                found[self.fill(key, name, stood)] = self.value(value, stood)
            if len(found) != len(node.value):
                raise self.wrong(node, "two keys are the same once filled in")
            return found
        assert isinstance(node, yaml.ScalarNode)
        text = self.fill(node, node.value, stood)
        if node.style:  # quoted, or a block; a plain one has none, or with the C parser an empty one
            return self._number(node, text) if node.tag in _NUMBERS else text
        if node.value in _WORDS:
            return _WORDS[node.value]
        return self._number(node, text) if _NUMBER.fullmatch(node.value) else text

    def _number(self, node: yaml.Node, text: str) -> int | float:
        if not _NUMBER.fullmatch(text):
            raise self.wrong(node, f"no number: {text[:40]!r}")
        return float(text) if {".", "e", "E"} & set(text) else int(text)

    def items(self, node: yaml.Node, stood: Stood) -> list[tuple[yaml.Node, Stood]]:
        """Return a list's items, an item once for each member if it is a table of `each` and `item`."""
        if not isinstance(node, yaml.MappingNode):
            return [(node, stood)]
        given = {name: value for _, name, value in self.pairs(node, "an item")}
        if given.keys() != {"each", "item"}:
            return [(node, stood)]
        each = given["each"]
        if not isinstance(each, yaml.ScalarNode):
            raise self.wrong(each, "`each` is a bracket, as in [0-7]")
        try:
            found = expanded(filled(each.value, stood), stood)
        except BadPattern as error:
            raise self.wrong(each, str(error)) from None
        self._spend(each, len(found))
        return [(given["item"], inner) for _, inner in found]

    def text(self, node: yaml.Node, stood: Stood) -> str:
        """Return a text, or the lines of a list as one; a text that is not empty ends with a newline.

        A line that is a table of `json` alone is its value as JSON, on one line.
        """
        if isinstance(node, yaml.SequenceNode):
            lines = [self._line(item, inner) for part in node.value for item, inner in self.items(part, stood)]
            return "".join(f"{line}\n" for line in lines)
        text = self._line(node, stood)
        return text if text.endswith("\n") or not text else f"{text}\n"

    def _line(self, node: yaml.Node, stood: Stood) -> str:
        if isinstance(node, yaml.ScalarNode):
            return self.fill(node, node.value, stood)
        given = self.pairs(node, "a line is a text, or")
        if [name for _, name, _ in given] != ["json"]:
            raise self.wrong(node, "a line is a text, or a table of `json` alone")
        return json.dumps(self.value(given[0][2], stood))


def composed(text: str, file: str) -> yaml.Node:
    """Read a YAML text into its nodes, fast; raises BadFile. Aliases are refused: each value is written out."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = SourcePlace(file, mark.line + 1, mark.column + 1) if mark else SourcePlace(file, 1, 1)
        raise BadFile([Problem(place, str(error.problem or error.context))]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFile([Problem(SourcePlace(file, 1, 1), f"no YAML: {error}")]) from None
    if root is None:
        raise BadFile([Problem(SourcePlace(file, 1, 1), "an empty file")])
    _bounded(root, SheetReader(file))
    return root


def _bounded(root: yaml.Node, reader: SheetReader) -> None:
    """Refuse aliases, which let a small file expand without end, and nesting beyond what a machine needs."""
    seen: set[int] = set()
    level = [root]
    for _ in range(DEPTH):
        below: list[yaml.Node] = []
        for node in level:
            if id(node) in seen:
                raise reader.wrong(node, "an alias leads here; write it out")
            seen.add(id(node))
            if isinstance(node, yaml.MappingNode):
                below += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                below += node.value
        level = below
    if level:
        raise reader.wrong(level[0], f"nested deeper than {DEPTH} levels")
