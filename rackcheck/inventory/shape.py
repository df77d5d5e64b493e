"""Reads an inventory file's text and checks it against the schema; error messages never contain a secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.inventory.credential import FORMS
from rackcheck.profile.document import SIZE, BadFile, Problem, SourcePlace, YamlMapping, read
from rackcheck.profile.schema import inventory as inventory_schema
from rackcheck.profile.schema_check import deviations

SECRETS = frozenset({"password", "passphrase"})
"""Keys whose value is a reference to a secret, or by mistake the secret itself."""

ENTRIES = frozenset({"nodes", "groups", "racks", "pdus", "limits"})
"""Tables of entries: a malformed entry is left out, and the other entries are still checked."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """A parsed inventory file: its root table, the keys of malformed entries by table, and the problems."""

    table: YamlMapping
    spoilt: Mapping[str, frozenset[str]]
    problems: tuple[Problem, ...]

    def entries(self, name: str) -> dict[str, YamlMapping]:
        """Return the well-formed entries of a table of the file."""
        listed = self.table.get(name)
        found = listed.items if isinstance(listed, YamlMapping) else {}
        return {k: v for k, v in found.items() if isinstance(v, YamlMapping) and k not in self.spoilt.get(name, ())}


def shaped(text: str, file: str) -> Shaped:
    """Parse an inventory and check it against the schema.

    Raises BadFile if any part outside `ENTRIES` is invalid.
    """
    bounded(len(text), file)
    try:
        root = read(text, file)
    except BadFile as error:
        raise BadFile([_discreet(problem, text) for problem in error.problems]) from None
    problems: list[Problem] = []
    spoilt: dict[str, set[str]] = {}
    whole = True
    for path, problem in deviations(root, inventory_schema()):
        value = problem
        if SECRETS & set(map(str, path)):
            value = Problem(
                problem.place, f"`{path[-1]}` is a reference to the secret, never the secret itself: {FORMS}"
            )
        problems.append(value)
        if len(path) > 1 and path[0] in ENTRIES:
            spoilt.setdefault(str(path[0]), set()).add(str(path[1]))
        else:
            whole = False
    if not whole or not isinstance(root, YamlMapping):
        raise BadFile(problems)
    return Shaped(root, {name: frozenset(keys) for name, keys in spoilt.items()}, tuple(problems))


def bounded(size: int, file: str) -> None:
    """Raise BadFile if an inventory has too many bytes; the message explains how to make the inventory smaller."""
    if size > SIZE:
        words = (
            f"the inventory has {size:,} bytes; the maximum is {SIZE:,}: write identical nodes as one set "
            "(dgx[001-512]), and what they share under `defaults` or a group"
        )
        raise BadFile([Problem(SourcePlace(file, 1, 1), words)])


def _discreet(problem: Problem, text: str) -> Problem:
    """Return a problem of the file; if its line may contain a secret, the message does not repeat the line."""
    lines = text.split("\n")
    line = lines[problem.place.line - 1] if problem.place.line <= len(lines) else ""
    if not any(word in line for word in SECRETS):
        return problem
    known = re.match(r"duplicate key `[^`]*`|a tab;|an? (?:anchor|alias|tag|merge key)\b", problem.text)
    words = known.group() if known else "not YAML"
    return Problem(problem.place, f"{words}, in a line with a secret (the line is not shown)")
