"""Merges the values of a node: groups override defaults, node sets override groups, single names override sets."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.base.user_error import UserError
from rackcheck.inventory.nodeset import is_name, unfold
from rackcheck.model.fold import fold
from rackcheck.profile.document import SHOWN, BadFile, Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import did_you_mean, texts

MEMBERS = 1_000_000
"""Maximum number of group memberships that one inventory may expand to."""

NodeVars = Mapping[str, Scalar]
"""The values of a node by flat keys: `role`, `host`, `u`, `ssh.user`, `bmc.url`, …"""


@dataclass(frozen=True, slots=True)
class NodesEntry:
    """One key of the inventory's table `nodes`: the node names that it expands to, and the values of these nodes."""

    names: tuple[str, ...]
    place: SourcePlace
    words: NodeVars


def words_of(table: YamlMapping) -> dict[str, Scalar]:
    """Flatten a table of at most two levels: `{ssh: {user: x}}` becomes `ssh.user`."""
    found: dict[str, Scalar] = {}
    for key, node in table.items.items():
        if isinstance(node, Scalar):
            found[key] = node
        elif isinstance(node, YamlMapping):
            found |= {f"{key}.{inner}": word for inner, word in node.items.items() if isinstance(word, Scalar)}
    return found


def named(key: str, place: SourcePlace, problems: list[Problem]) -> tuple[str, ...]:
    """Expand a node set of the file to its names; if the set is invalid, add a problem and return no names."""
    try:
        names = tuple(unfold(key))
    except UserError as error:
        problems.append(Problem(place, str(error)))
        return ()
    wrong = next((name for name in names if not is_name(name)), None)
    if wrong is not None:
        problems.append(Problem(place, f"{wrong!a} cannot be a node's name"))
        return ()
    if not names:
        problems.append(Problem(place, "an empty node set"))
    return names


def merged(entries: Collection[NodesEntry], problems: list[Problem]) -> dict[str, dict[str, Scalar]]:
    """Merge the values of each node; single names override node sets, and a name in two node sets is a problem."""
    places: dict[tuple[str, bool], SourcePlace] = {}
    found: dict[str, dict[str, Scalar]] = {name: {} for entry in entries for name in entry.names}
    for entry in sorted(entries, key=lambda e: len(e.names) == 1):  # sets first, then the single names that refine them
        is_single = len(entry.names) == 1
        for name in entry.names:
            before = places.setdefault((name, is_single), entry.place)
            if before is not entry.place:
                problems.append(Problem(entry.place, f"{name} occurs twice; it is also at {before}"))
            else:
                found[name] |= entry.words
    return found


@dataclass(frozen=True, slots=True)
class InventoryGroup:
    """One group of the file: its nodes, and the values that the group sets for them."""

    name: str
    nodes: tuple[str, ...]
    words: NodeVars


def groups(
    tables: Mapping[str, YamlMapping], known: Collection[str], problems: list[Problem]
) -> dict[str, InventoryGroup]:
    """Read the groups of a file; a name that is not a node of the file is a problem."""
    found: dict[str, InventoryGroup] = {}
    count = 0
    for name, table in tables.items():
        nodes: dict[str, None] = {}
        for text in texts(table, "nodes"):
            members = named(text.text, text.place, problems)
            count += len(members)
            if count > MEMBERS:
                raise BadFile([*problems, Problem(text.place, f"all groups together have more than {MEMBERS} members")])
            nodes |= dict.fromkeys(node for node in members if node in known)
            strange = [node for node in members if node not in known]
            if strange:
                near = did_you_mean(strange[0], list(known)) if len(strange) == 1 else ""
                more = f" and {len(strange) - SHOWN} more" if len(strange) > SHOWN else ""
                problems.append(Problem(text.place, f"group {name}: no node {fold(strange[:SHOWN])}{more}{near}"))
        words = {key: word for key, word in words_of(table).items() if key != "nodes"}
        found[name] = InventoryGroup(name, tuple(nodes), words)
    return found


def group_values(found: Mapping[str, InventoryGroup], problems: list[Problem]) -> dict[str, dict[str, Scalar]]:
    """Collect the values that groups set for each node; conflicting values are reported with both lines."""
    values: dict[str, dict[str, Scalar]] = {}
    clashes: dict[tuple[str, SourcePlace, SourcePlace, str], list[str]] = {}
    for group in found.values():
        for node in group.nodes:
            own = values.setdefault(node, {})
            for key, word in group.words.items():
                before = own.setdefault(key, word)
                if before.text != word.text:
                    clashes.setdefault((key, word.place, before.place, group.name), []).append(node)
    problems += _clash_problems(clashes)
    return values


def _clash_problems(clashes: Mapping[tuple[str, SourcePlace, SourcePlace, str], list[str]]) -> Iterator[Problem]:
    for (key, place, before, name), nodes in clashes.items():
        yield Problem(
            place, f"group {name} sets `{key}` of {fold(nodes)}, and another group sets another value at {before}"
        )
