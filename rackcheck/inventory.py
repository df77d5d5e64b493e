"""Nodes, their BMCs and their places, from an inventory file or from bare names."""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rackcheck.conform import conform
from rackcheck.document import BadFile, Place, Problem, Scalar, Table, read
from rackcheck.layers import did_you_mean
from rackcheck.library import text_of
from rackcheck.mistake import Mistake
from rackcheck.schema import inventory as inventory_schema

LOCAL = "localhost"
"""The node that is this very machine: asked without SSH, unless an inventory says otherwise."""

NODES = 100_000
"""Names that one inventory may unfold to."""


@dataclass(frozen=True, slots=True)
class Ssh:
    """How to reach a node's operating system; `key` and `known_hosts` are files."""

    user: str = ""
    key: str = ""
    port: int = 0
    known_hosts: str = ""


@dataclass(frozen=True, slots=True)
class Bmc:
    """How to reach a node's BMC; `password` is a reference, never the secret itself."""

    url: str
    user: str = ""
    password: str = ""
    fingerprint: str = ""
    ca: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One node: where its planes are asked and where it stands."""

    name: str
    role: str = "compute"
    host: str = ""
    ssh: Ssh = field(default_factory=Ssh)
    bmc: Bmc | None = None
    rack: str = ""
    u: int = 0

    @property
    def is_local(self) -> bool:
        """Whether this node is the machine we run on."""
        return self.host == LOCAL and not self.ssh.port and not self.ssh.key


@dataclass(frozen=True)
class Inventory:
    """All nodes by name, in the file's order; `origin` says where they come from."""

    nodes: Mapping[str, Node]
    origin: str


def choose(targets: Iterable[str], file: Path | None) -> tuple[tuple[Node, ...], str]:
    """Resolve targets to nodes, and say in words where they come from; raises Mistake or BadFile.

    Without targets: every node of the inventory, else of `./inventory.yaml`, else this machine.
    """
    wanted = tuple(targets)
    beside = Path("inventory.yaml")
    given = file or (beside if beside.is_file() else None)
    if given is None:
        names = [name for target in wanted for name in unfold(target)] or [LOCAL]
        words = "this machine" if names == [LOCAL] else f"{len(names)} by name"
        return tuple(Node(name, host=name) for name in dict.fromkeys(names)), f"{words} (no inventory)"
    inventory = load(given)
    if not wanted:
        return tuple(inventory.nodes.values()), f"all {len(inventory.nodes)} nodes of {given}"
    chosen = {name: inventory.nodes[name] for target in wanted for name in _matching(target, inventory)}
    return tuple(chosen.values()), f"{len(chosen)} of {len(inventory.nodes)} nodes of {given}"


def _matching(target: str, inventory: Inventory) -> list[str]:
    if target.startswith("@"):
        kind, _, value = target[1:].partition(":")
        found = [n.name for n in inventory.nodes.values() if kind in {"rack", "role"} and getattr(n, kind) == value]
        if not found:
            raise Mistake(f"no node of {inventory.origin} is in {target}; groups are @rack:NAME and @role:NAME")
        return found
    names = unfold(target)
    for name in names:
        if name not in inventory.nodes:
            near = did_you_mean(name, list(inventory.nodes))
            raise Mistake(f"no node {name} in {inventory.origin}{near}")
    return names


def unfold(target: str) -> list[str]:
    """Unfold a node set: `dgx[01-03]` gives three names; raises Mistake where it is none."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException  # noqa: PLC0415  slow to load

    if _size(target) > NODES:
        raise Mistake(f"{target} is more nodes than the {NODES} that an inventory may hold")
    try:
        names = NodeSet(target, resolver=RESOLVER_NOGROUP)
        return [str(name) for name in names]
    except NodeSetException as error:
        raise Mistake(f"not a node set: {target} ({error})") from None


def _size(target: str) -> int:
    """How many names a node set may at most unfold to, told from its text: unfolding a billion would be too late."""
    size = 0
    for name in re.findall(r"(?:\[[^\]]*\]?|[^\[,!&^\s])+", target):  # one of `a[1-3]b[1-2],c4`; ranges may hold commas
        several = 1
        for ranges in re.findall(r"\[([^\]]*)", name):
            spans = re.findall(r"([0-9]{1,30})-([0-9]{1,30})", ranges)
            several *= ranges.count(",") + 1 + sum(abs(int(last) - int(first)) for first, last in spans)
        size += several
    return size


def load(path: Path) -> Inventory:
    """Read an inventory file; two sets that overlap are an error with both places, one name refines its set."""
    table = conform(read(text_of(path), str(path)), inventory_schema())
    defaults = table.get("defaults")
    base = defaults if isinstance(defaults, Table) else Table({}, {}, table.place)
    listed = table.items["nodes"]
    assert isinstance(listed, Table)
    nodes: dict[str, Node] = {}
    placed: dict[str, tuple[Place, bool]] = {}
    problems: list[Problem] = []
    entries = [(key, _names(key, listed.keys[key]), listed.keys[key]) for key in listed.items]
    for key, names, place in sorted(entries, key=lambda e: len(e[1]) == 1):  # sets first, then what refines them
        own = listed.items[key]
        assert isinstance(own, Table)
        for name in names:
            before = placed.get(name)
            if before is not None and not (len(names) == 1 and before[1]):
                problems.append(Problem(place, f"{name} stands here and at {before[0]}"))
                continue
            placed[name] = (place, len(names) > 1)
            try:
                nodes[name] = _node(name, nodes.get(name), base, own)
            except Mistake as error:
                problems.append(Problem(place, str(error)))
    if problems:
        raise BadFile(problems)
    return Inventory(nodes, str(path))


def _names(key: str, place: Place) -> list[str]:
    try:
        return unfold(key)
    except Mistake as error:
        raise BadFile([Problem(place, str(error))]) from None


def _node(name: str, under: Node | None, base: Table, own: Table) -> Node:
    node = _over(under or Node(name), base, name) if under is None else under
    node = _over(node, own, name)
    if not node.host and node.bmc is None:
        raise Mistake(f"{name} has neither a host nor a BMC")
    if node.ssh.key and not os.access(Path(node.ssh.key).expanduser(), os.R_OK):
        raise Mistake(f"cannot read the key file {node.ssh.key}")
    return node


def _over(node: Node, table: Table, name: str) -> Node:
    texts = {k: v.text.replace("{node}", name) for k, v in table.items.items() if isinstance(v, Scalar)}
    places = {k: texts[k] for k in ("role", "host", "rack") if k in texts}
    if "u" in texts:
        node = replace(node, u=int(texts["u"]))
    node = replace(node, **places)  # type: ignore[arg-type]  # three texts by their own names
    ssh, bmc = table.get("ssh"), table.get("bmc")
    if isinstance(ssh, Table):
        given = _texts(ssh, name)
        port = {"port": int(given.pop("port"))} if "port" in given else {}
        node = replace(node, ssh=replace(node.ssh, **port, **given))  # type: ignore[arg-type]
    if isinstance(bmc, Table):
        node = replace(node, bmc=replace(node.bmc or Bmc(""), **_texts(bmc, name)))
    return node


def _texts(table: Table, name: str) -> dict[str, str]:
    found = {k: v.text.replace("{node}", name) for k, v in table.items.items() if isinstance(v, Scalar)}
    return {key.replace("-", "_"): value for key, value in found.items()}


def secret(reference: str) -> str:
    """Fetch a secret by its reference; raises Mistake without ever naming the secret."""
    kind, _, name = reference.partition(":")
    if kind == "env":
        if name not in os.environ:
            raise Mistake(f"the environment has no {name}, which the inventory names as a secret")
        return os.environ[name]
    if kind == "file":
        path = Path(name).expanduser()
        content = text_of(path)
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Mistake(f"{path} may be read by others; chmod 600 {path}")
        return content.strip("\r\n")
    if kind == "prompt":
        from getpass import getpass  # noqa: PLC0415

        return getpass(f"{name or 'secret'}: ")
    raise Mistake("a secret is named as env:NAME, file:PATH or prompt:TEXT, not as the secret itself")
