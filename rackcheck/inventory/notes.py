"""Notes on a valid inventory: `rackcheck inventory check` shows them as hints, not as errors."""

import os
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from rackcheck.base.user_error import UserError
from rackcheck.inventory.credential import secret
from rackcheck.inventory.files import ca_trouble, key_trouble
from rackcheck.inventory.node import Inventory, Node
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.profile.roles import nearest

K = TypeVar("K", bound=Hashable)


def notes(inventory: Inventory) -> list[str]:
    """Return the notes on an inventory, each with all nodes that it applies to.

    Every secret that needs no prompt is fetched, so that a note reports a secret that cannot be fetched.
    """
    nodes = tuple(inventory.nodes.values())
    rows = (_roles, _planes, _twice, _keys, _authorities, _logins, _secrets)
    return [*(words for tell in rows for words in tell(nodes)), *_places(inventory)]


def _roles(nodes: Iterable[Node]) -> Iterator[str]:
    for role, names in _by(nodes, lambda node: node.role).items():
        near = nearest(role)
        if near:
            yield f"role {role}: did you mean {near}? ({fold(names)})"


def _planes(nodes: Iterable[Node]) -> Iterator[str]:
    listed = tuple(nodes)
    for what, missing in (
        ("no BMC", [node.name for node in listed if node.bmc is None]),
        ("no host", [node.name for node in listed if not node.host]),
    ):
        if missing:
            yield f"{what}: {fold(missing)} ({len(missing)} of {_nodes(len(listed))})"


def _twice(nodes: Iterable[Node]) -> Iterator[str]:
    listed = tuple(nodes)
    with_bmc = [node for node in listed if node.bmc is not None]
    for url, names in _by(with_bmc, lambda n: n.bmc.url.casefold().rstrip("/") if n.bmc else "").items():
        if len(names) > 1:
            yield f"one BMC for {len(names)} nodes: {fold(names)} have the url {clean(url)}"
    with_host = [node for node in listed if node.host]
    for host, names in _by(with_host, lambda n: f"{n.host.casefold()} port {n.ssh.port or 22}").items():
        if len(names) > 1:
            yield f"one host for {len(names)} nodes: {fold(names)} have {clean(host)}"


def _keys(nodes: Iterable[Node]) -> Iterator[str]:
    for key, names in _by([node for node in nodes if node.ssh.key], lambda node: node.ssh.key).items():
        try:
            mode = stat.S_IMODE(os.stat(Path(key).expanduser()).st_mode)  # noqa: PTH116  the user's path, as typed
        except OSError:
            continue  # reported below
        if mode & 0o077:
            yield f"key file {clean(key)} may be read by others; chmod 600 {clean(key)} ({fold(names)})"
    with_key = [node for node in nodes if node.ssh.key]
    for (key, has_passphrase), names in _by(with_key, lambda node: (node.ssh.key, bool(node.ssh.passphrase))).items():
        # Only doctor checks whether a passphrase opens its key: this check does not prompt for the passphrase.
        wrong = key_trouble(key, None if has_passphrase else "")
        if wrong:
            yield f"key file {clean(key)}: {wrong} ({fold(names)})"


def _authorities(nodes: Iterable[Node]) -> Iterator[str]:
    for ca, names in _by(nodes, lambda node: node.bmc.ca if node.bmc is not None else "").items():
        wrong = ca_trouble(ca) if ca else ""
        if wrong:
            yield f"CA file {clean(ca)}: {wrong} ({fold(names)})"


def _logins(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield notes on BMCs without a user or without a password; rackcheck logs in only if both are set."""
    for what, missing in (
        ("user", [node.name for node in nodes if node.bmc is not None and not node.bmc.user]),
        ("password", [node.name for node in nodes if node.bmc is not None and not node.bmc.password]),
    ):
        if missing:
            line = {"user": "user: NAME", "password": "password: env:RACKCHECK_BMC_PASSWORD"}[what]
            yield f"BMC without a {what}: {fold(missing)}; write `bmc: {{ {line} }}`"


def _secrets(nodes: Iterable[Node]) -> Iterator[str]:
    used: dict[str, list[str]] = {}
    for node in nodes:
        own = {node.ssh.password, node.ssh.passphrase} if node.host else set()
        for reference in own | {node.bmc.password if node.bmc is not None else ""}:
            used.setdefault(reference, []).append(node.name)
    for reference in sorted(used.keys() - {""}):
        if reference.startswith("prompt:"):
            continue
        try:
            secret(reference)
        except UserError as error:
            yield f"secret {clean(reference)} cannot be fetched: {error} ({fold(used[reference])})"


def _places(inventory: Inventory) -> Iterator[str]:
    """Yield notes on nodes without a position in a rack of known height; the rack elevation cannot show such nodes."""
    for rack in inventory.racks.values():
        lost = [n.name for n in inventory.nodes.values() if n.rack == rack.name and not n.u]
        if rack.height and lost:
            yield f"rack {clean(rack.name)}: no position (`u` or `slot`) for {fold(lost)}"


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _by(nodes: Iterable[Node], key: Callable[[Node], K]) -> dict[K, list[str]]:
    found: dict[K, list[str]] = {}
    for node in nodes:
        found.setdefault(key(node), []).append(node.name)
    return found
