"""Reads an inventory file, validates it, and reports all problems together."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rackcheck.inventory import limits, merge, rack, supply, trusted, unreachable
from rackcheck.inventory.merge import NodesEntry, NodeVars
from rackcheck.inventory.node import BmcAccess, Inventory, Node, Ssh
from rackcheck.inventory.nodeset import NODES
from rackcheck.inventory.shape import Shaped, bounded, shaped
from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import word
from rackcheck.profile.library import text_of


def load(path: Path) -> Inventory:
    """Read an inventory file; raises UserError if it cannot be read, and BadFile with all problems if it is invalid.

    The nodes trust the host keys and certificates in the files beside it (see `trusted`).
    """
    with suppress(OSError, ValueError):  # an error is reported with the file's name when the file is read
        bounded(path.stat().st_size, str(path))
    return trusted.applied(parse(text_of(path), str(path), path.parent), path)


def parse(text: str, origin: str, beside: Path) -> Inventory:
    """Read an inventory's text; `beside` is the folder of the inventory, which may contain rack types."""
    file = shaped(text, origin)
    problems = list(file.problems)
    entries, doubtful = _entries(file, problems)
    values = merge.merged(entries, problems)
    if len(values) > NODES:
        raise BadFile(
            [Problem(file.table.items["nodes"].place, f"the inventory has {len(values)} nodes; the maximum is {NODES}")]
        )
    groups = merge.groups(file.entries("groups"), values.keys() | doubtful, problems)
    under = merge.group_values(groups, problems)
    defaults = file.table.get("defaults")
    base = merge.words_of(defaults) if isinstance(defaults, YamlMapping) else {}
    whole: dict[str, dict[str, Scalar]] = {n: {**base, **under.get(n, {}), **own} for n, own in values.items()}
    builder = _Builder(problems)
    for entry in entries:
        for name in entry.names:
            if name not in doubtful:
                builder.add(name, whole[name], values[name], entry)
    listed = file.table.get("racks")
    declared = tuple(listed.items) if isinstance(listed, YamlMapping) else ()
    racks = rack.racks(file.entries("racks"), beside, problems)
    nodes = rack.placed(builder.nodes, whole, racks, declared, problems)
    listed = file.table.get("pdus")
    supply.wrong_pdus(nodes, whole, listed.items if isinstance(listed, YamlMapping) else {}, problems)
    pdus = {name: supply.budget(table) for name, table in file.entries("pdus").items()}
    members = {group.name: group.nodes for group in groups.values()}
    listed = file.table.get("limits")
    places = listed.keys if isinstance(listed, YamlMapping) else {}
    bounds = limits.limits(file.entries("limits"), places, nodes, members, problems)
    if problems:
        raise BadFile(problems)
    return Inventory(nodes, origin, racks, members, word(file.table, "inventory"), pdus, bounds)


def _entries(file: Shaped, problems: list[Problem]) -> tuple[list[NodesEntry], frozenset[str]]:
    """Return the valid entries of `nodes`, and the names of nodes with an invalid entry."""
    listed = file.table.items["nodes"]
    assert isinstance(listed, YamlMapping)
    found: list[NodesEntry] = []
    doubtful: set[str] = set()
    count = 0
    for key, table in listed.items.items():
        names = merge.named(key, listed.keys[key], problems)
        count += len(names)
        if count > 2 * NODES:  # a name may be in one set and once by itself; more overlap would give a long error
            raise BadFile(
                [*problems, Problem(listed.keys[key], f"too many nodes; the maximum of an inventory is {NODES}")]
            )
        if key in file.spoilt.get("nodes", ()):
            doubtful |= set(names)
        elif isinstance(table, YamlMapping):
            found.append(NodesEntry(names, listed.keys[key], merge.words_of(table)))
    return found, frozenset(doubtful)


class _Builder:
    """Builds nodes from their values; a key file that many nodes use is checked once."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.nodes: dict[str, Node] = {}
        self.readable: dict[str, bool] = {}
        self.wrong: set[SourcePlace] = set()

    def add(self, name: str, words: NodeVars, own: NodeVars, entry: NodesEntry) -> None:
        """Add a node, if it was not added before; `own` contains the node's own values, without defaults and groups."""
        if name in self.nodes:
            return
        texts = {key: scalar.text.replace("{node}", name) for key, scalar in words.items()}
        ssh, bmc = _inner(texts, "ssh"), _inner(texts, "bmc")
        node = self.nodes[name] = Node(
            name,
            texts.get("role", "compute"),
            texts.get("host", ""),
            Ssh(
                user=ssh.get("user", ""),
                key=ssh.get("key", ""),
                port=int(ssh.get("port", "0")),
                known_hosts=ssh.get("known-hosts", ""),
                password=ssh.get("password", ""),
                passphrase=ssh.get("passphrase", ""),
                sudo=ssh.get("sudo", "true") == "true",
                jump=ssh.get("jump", ""),
            ),
            # Default values of user and password do not mean that a node without a `url` has a BMC.
            _bmc(bmc) if bmc.get("url") else None,
            texts.get("rack", ""),
            int(texts.get("u", "0")),
            int(texts.get("height", "1")),
            texts.get("slot", ""),
            texts.get("pdu", ""),
            supply.watts(texts.get("power", "")),
        )
        half = next((scalar for key, scalar in own.items() if key.startswith("bmc.")), None)
        if node.bmc is None and half is not None and "bmc.url" not in words:
            self.problems.append(Problem(half.place, f"`bmc` of {name} has no `url`"))
        elif not node.host and node.bmc is None:
            self.problems.append(Problem(entry.place, f"{name} has neither a host nor a BMC"))
        for key, wrong in unreachable.mistakes(node):
            place = words[key].place
            if place not in self.wrong:  # an error in a set or in the defaults is reported once, and not for each node
                self.wrong.add(place)
                self.problems.append(Problem(place, wrong))
        if node.ssh.key and not self._can_read(node.ssh.key):
            self.problems.append(Problem(words["ssh.key"].place, f"cannot read the key file {node.ssh.key}"))

    def _can_read(self, file: str) -> bool:
        if file not in self.readable:
            self.readable[file] = os.access(Path(file).expanduser(), os.R_OK)
        return self.readable[file]


def _bmc(values: Mapping[str, str]) -> BmcAccess:
    return BmcAccess(
        values["url"],
        values.get("user", ""),
        values.get("password", ""),
        values.get("fingerprint", ""),
        values.get("ca", ""),
        int(values.get("width", "2")),
        values.get("expand", "true") == "true",
    )


def _inner(texts: Mapping[str, str], table: str) -> dict[str, str]:
    return {key.removeprefix(f"{table}."): text for key, text in texts.items() if key.startswith(f"{table}.")}
