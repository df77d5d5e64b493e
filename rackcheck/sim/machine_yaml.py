"""Reads a YAML file of a machine folder: values have JSON types, patterns are expanded, errors have a location."""

import json
import re
from typing import Any

import yaml

from rackcheck.profile.document import DEPTH, BadFile, Problem, SourcePlace
from rackcheck.sim.machine_patterns import BadPattern, Stood, expanded, filled

VALUES = 200_000
"""Maximum number of values to which one file may expand."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_WORDS = {"true": True, "false": False, "null": None}


class SheetReader:
    """Converts the YAML nodes of one file; an error has the line and the column in the file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.left = VALUES

    def wrong(self, node: yaml.Node, text: str) -> BadFile:
        """Return an error with the line and the column of the YAML node."""
        mark = node.start_mark
        return BadFile([Problem(SourcePlace(self.file, mark.line + 1, mark.column + 1), text)])

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[yaml.Node, str, yaml.Node]]:
        """Return the entries of a YAML mapping: the node of the key, the text of the key, and the node of the value.

        Raises BadFile if the YAML node is not a mapping, or a key is repeated or not a plain text.
        """
        if not isinstance(node, yaml.MappingNode):
            raise self.wrong(node, f"{what} must be a table")
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.wrong(key, "a key must be a plain text")
            if key.value in seen:
                raise self.wrong(key, f"`{key.value}` appears twice")
            seen.add(key.value)
        return [(key, key.value, value) for key, value in node.value]

    def keys(self, node: yaml.Node, pattern: str) -> list[tuple[str, Stood]]:
        """Return the dictionary keys that a pattern expands to, each with the members of its brackets."""
        try:
            found = expanded(pattern)
        except BadPattern as error:
            raise self.wrong(node, str(error)) from None
        self._spend(node, len(found))
        return found

    def _spend(self, node: yaml.Node, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise self.wrong(node, f"the file expands to more than {VALUES} values")

    def fill(self, node: yaml.Node, text: str, stood: Stood) -> str:
        """Replace the placeholders in a text; an error has the line and the column of the text in the file."""
        try:
            return filled(text, stood)
        except BadPattern as error:
            raise self.wrong(node, str(error)) from None

    def value(self, node: yaml.Node, stood: Stood) -> Any:
        """Return a JSON value; an unquoted JSON number, true, false or null keeps its type, any other scalar is a text.

        A placeholder with the tag `!!int`, such as `!!int "@{1.2}"`, is a number after the replacement.
        """
        self._spend(node, 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, inner) for part in node.value for item, inner in self.items(part, stood)]
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, name, value in self.pairs(node, "an object"):
                found[self.fill(key, name, stood)] = self.value(value, stood)
            if len(found) != len(node.value):
                raise self.wrong(node, "two keys are the same after their placeholders are replaced")
            return found
        assert isinstance(node, yaml.ScalarNode)
        text = self.fill(node, node.value, stood)
        if node.style:  # quoted text or a block; a plain scalar has no style (empty with the C parser)
            return self._number(node, text) if node.tag in _NUMBERS else text
        if node.value in _WORDS:
            return _WORDS[node.value]
        return self._number(node, text) if _NUMBER.fullmatch(node.value) else text

    def _number(self, node: yaml.Node, text: str) -> int | float:
        if not _NUMBER.fullmatch(text):
            raise self.wrong(node, f"not a number: {text[:40]!r}")
        return float(text) if {".", "e", "E"} & set(text) else int(text)

    def items(self, node: yaml.Node, stood: Stood) -> list[tuple[yaml.Node, Stood]]:
        """Return the items of a list; an item with the keys `each` and `item` is repeated for each member of `each`."""
        if not isinstance(node, yaml.MappingNode):
            return [(node, stood)]
        given = {name: value for _, name, value in self.pairs(node, "an item")}
        if given.keys() != {"each", "item"}:
            return [(node, stood)]
        each = given["each"]
        if not isinstance(each, yaml.ScalarNode):
            raise self.wrong(each, "`each` must be a bracket such as [0-7]")
        try:
            found = expanded(filled(each.value, stood), stood)
        except BadPattern as error:
            raise self.wrong(each, str(error)) from None
        self._spend(each, len(found))
        return [(given["item"], inner) for _, inner in found]

    def text(self, node: yaml.Node, stood: Stood) -> str:
        """Return a text, or a list of lines joined to one text; unless the text is empty, it ends with a newline.

        A line may also be a YAML mapping with the single key `json`, whose value is written as JSON.
        """
        if isinstance(node, yaml.SequenceNode):
            lines = [self._line(item, inner) for part in node.value for item, inner in self.items(part, stood)]
            return "".join(f"{line}\n" for line in lines)
        text = self._line(node, stood)
        return text if text.endswith("\n") or not text else f"{text}\n"

    def _line(self, node: yaml.Node, stood: Stood) -> str:
        if isinstance(node, yaml.ScalarNode):
            return self.fill(node, node.value, stood)
        given = self.pairs(node, "a line that is not a text")
        if [name for _, name, _ in given] != ["json"]:
            raise self.wrong(node, "a line must be a text, or a table with only the key `json`")
        return json.dumps(self.value(given[0][2], stood))


def composed(text: str, file: str) -> yaml.Node:
    """Parse a YAML text to YAML nodes; raises BadFile if the YAML is invalid.

    Aliases are rejected: each value must be written out.
    """
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = SourcePlace(file, mark.line + 1, mark.column + 1) if mark else SourcePlace(file, 1, 1)
        raise BadFile([Problem(place, str(error.problem or error.context))]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFile([Problem(SourcePlace(file, 1, 1), f"not YAML: {error}")]) from None
    if root is None:
        raise BadFile([Problem(SourcePlace(file, 1, 1), "an empty file")])
    _bounded(root, SheetReader(file))
    return root


def _bounded(root: yaml.Node, reader: SheetReader) -> None:
    """Reject aliases, which can expand a small file without limit, and nesting that is too deep."""
    seen: set[int] = set()
    level = [root]
    for _ in range(DEPTH):
        below: list[yaml.Node] = []
        for node in level:
            if id(node) in seen:
                raise reader.wrong(node, "an alias refers to this value; write the value out instead of the alias")
            seen.add(id(node))
            if isinstance(node, yaml.MappingNode):
                below += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                below += node.value
        level = below
    if level:
        raise reader.wrong(level[0], f"nested deeper than {DEPTH} levels")
