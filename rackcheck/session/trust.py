"""Compares the host keys and certificates that nodes present with what is trusted, and with a list of expected ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Inventory, Node
from rackcheck.inventory.targets import unknown
from rackcheck.inventory.trusted import LARGEST
from rackcheck.model.fact import Plane, clean
from rackcheck.model.regex import regex
from rackcheck.transport import known_hosts
from rackcheck.transport.presented import Presented, bmc_certificate, host_keys, is_verified
from rackcheck.transport.redfish.target import Bmc
from rackcheck.transport.ssh_config import Target, resolve
from rackcheck.transport.wire import ShellLimits

WIDE = 32
"""Maximum number of nodes that are contacted at a time."""

SECONDS = 10.0
"""Maximum time for one connection in seconds."""


NO_HANDSHAKE = ("Error reading SSH protocol banner", "Negotiation failed.")
"""Texts of the SSH library for a port that is open and sends nothing, or ends the connection."""

_NUMBER = regex(r"\A(?:\[Errno (?:None|[0-9]+)\] |_ssl\.c:[0-9]+: )+")
"""Matches the number of an error, or the line of a library, before its text."""


class Trust(StrEnum):
    """What is known about a host key or certificate."""

    TRUSTED = "trusted"
    NEW = "new"
    EXPECTED = "expected"
    CHANGED = "changed"
    UNEXPECTED = "not as expected"
    DIFFERENT = "trusted, not as expected"
    SILENT = "not read"


WRONG = frozenset({Trust.CHANGED, Trust.UNEXPECTED, Trust.DIFFERENT})
"""What contradicts the trusted or expected fingerprint; it is never written to a file."""

_OTHER = {Trust.NEW: Trust.UNEXPECTED, Trust.TRUSTED: Trust.DIFFERENT}
"""The state of what is not on a list that has another fingerprint in its place."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one plane of a node presents, and whether it is trusted.

    `place` is the address by which it is known: a host as in known_hosts, or the URL of a BMC. `why` is the reason if
    it was not read, or the fingerprint that is trusted or expected in its place.
    """

    node: str
    plane: Plane
    place: str
    state: Trust
    shown: Presented | None = None
    why: str = ""

    @property
    def line(self) -> str:
        """The line with which it is trusted, in the file beside the inventory."""
        assert self.shown is not None
        kind = f"{self.shown.kind} " if self.plane is Plane.OS else ""
        return f"{self.place} {kind}{self.shown.text}"


Expected = Mapping[str, frozenset[str]]
"""Fingerprints by node."""


def expected(path: Path, inventory: Inventory) -> Expected:
    """Read a list of fingerprints: on each line a node and the SHA-256 fingerprint of a host key or a certificate.

    Raises UserError with the line that is invalid, or that names no node of the inventory.
    """
    found: dict[str, frozenset[str]] = {}
    for number, line in enumerate(safe_read.text(path, LARGEST).splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        mark = _spelt(words[-1])
        if len(words) < 2 or not mark:
            raise UserError(f"{path}:{number}: a line has a node and a SHA-256 fingerprint: {clean(line, 80)!r}")
        if words[0] not in inventory.nodes:
            raise UserError(f"{path}:{number}: {unknown(clean(words[0], 80), inventory)}")
        found[words[0]] = found.get(words[0], frozenset()) | {mark}
    return found


def _spelt(text: str) -> str:
    """Normalise a fingerprint: `SHA256:` and base64 for a host key, or hexadecimal digits for a certificate."""
    bare = text.strip().removeprefix("SHA256:").removeprefix("sha256:")
    digits = re.sub(r"[:\s]", "", bare).casefold()
    if re.fullmatch(r"[0-9a-f]{64}", digits):
        return digits
    return f"SHA256:{bare.rstrip('=')}" if re.fullmatch(r"[A-Za-z0-9+/]{43}=?", bare) else ""


def seen(nodes: Sequence[Node], wanted: Expected) -> Iterator[Seen]:
    """Contact all planes of these nodes without logging in; yield what they present, in the order of the nodes."""
    with ThreadPoolExecutor(WIDE) as pool:
        for each in pool.map(lambda node: _node(node, wanted), nodes):
            yield from each


def _node(node: Node, wanted: Expected) -> list[Seen]:
    found: list[Seen] = []
    if node.host and not node.is_local:
        found += _host(node, wanted.get(node.name))
    if node.bmc is not None:
        found.append(_bmc(node, wanted.get(node.name)))
    return found


def _host(node: Node, wanted: frozenset[str] | None) -> Iterator[Seen]:
    target = resolve(node, {})
    place = _name(target)
    try:
        shown = list(host_keys(target, ShellLimits(deadline=SECONDS, connect=SECONDS)))
    except OSError as error:
        yield Seen(node.name, Plane.OS, place, Trust.SILENT, None, _reason(error))
        return
    trusted = known_hosts.load(target.known_hosts)
    keys = trusted.keys(target.alias or target.host, target.port)
    have = {known_hosts.fingerprint(key) for found in keys.values() for key in found}
    rows: list[Seen] = []
    for each in shown:
        mine = {known_hosts.fingerprint(key) for key in keys.get(each.kind, ())}
        revoked = "this key is revoked" if each.text in trusted.revoked else ""
        other = revoked or ("" if each.fingerprint in have else ", ".join(sorted(mine)))
        rows.append(_judged(node.name, Plane.OS, place, each, other, trusted=each.fingerprint in have, wanted=wanted))
    if any(row.state is Trust.TRUSTED for row in rows):
        rows = [row for row in rows if row.state is not Trust.NEW]  # one trusted key is enough to connect
    elif have:
        # A host whose trusted key is not presented may be another machine, also if it presents another kind of key.
        known = ", ".join(sorted(have))
        rows = [
            replace(row, state=Trust.CHANGED, why=known) if row.state in {Trust.NEW, Trust.EXPECTED} else row
            for row in rows
        ]
    listed = sorted(each for each in wanted or () if each.startswith("SHA256:"))
    if listed and not any(_spelt(each.fingerprint) in listed for each in shown):
        # A list may have one kind of host key of each node; if it has none of those presented, they are wrong.
        why = ", ".join(listed)
        rows = [replace(row, state=_OTHER[row.state], why=why) if row.state in _OTHER else row for row in rows]
    yield from rows


def _bmc(node: Node, wanted: frozenset[str] | None) -> Seen:
    assert node.bmc is not None
    url = node.bmc.url.rstrip("/")
    try:
        shown = bmc_certificate(url, SECONDS)
    except (OSError, ValueError) as error:
        return Seen(node.name, Plane.BMC, url, Trust.SILENT, None, _reason(error))
    if node.bmc.fingerprint:
        pin = Bmc(url, "", "", node.bmc.fingerprint).pin
        other = "" if pin == shown.text else str(pin)
        return _judged(node.name, Plane.BMC, url, shown, other, trusted=not other, wanted=wanted)
    return _judged(
        node.name, Plane.BMC, url, shown, "", trusted=is_verified(url, node.bmc.ca, SECONDS), wanted=wanted
    )  # fmt: skip


def _judged(
    node: str, plane: Plane, place: str, shown: Presented, other: str, *, trusted: bool, wanted: frozenset[str] | None
) -> Seen:
    """Compare what is presented with the trusted fingerprint in its place (`other`), and with the expected ones.

    `wanted` is None if no list has the node.
    """
    if other:
        return Seen(node, plane, place, Trust.CHANGED, shown, other)
    state = Trust.TRUSTED if trusted else Trust.NEW
    mine = sorted(each for each in wanted or () if each.startswith("SHA256:") is (plane is Plane.OS))
    if _spelt(shown.fingerprint) in mine:
        return Seen(node, plane, place, Trust.TRUSTED if trusted else Trust.EXPECTED, shown)
    if mine and plane is Plane.BMC:
        return Seen(node, plane, place, _OTHER[state], shown, ", ".join(mine))
    return Seen(node, plane, place, state, shown)


def _name(target: Target) -> str:
    """Return the name of a host in known_hosts."""
    host = target.alias or target.host
    return host if target.port == SSH else f"[{host}]:{target.port}"


SSH = 22


def _reason(error: Exception) -> str:
    """Return why nothing was presented, without the names and the numbers of the libraries' own errors."""
    text = str(error.strerror if isinstance(error, OSError) and error.strerror else error)
    if any(each in text for each in NO_HANDSHAKE):
        return "the SSH handshake did not complete"
    if isinstance(error, TimeoutError):
        return (
            f"{'the TLS handshake did not complete' if 'handshake' in text else 'no connection'} within {SECONDS:g} s"
        )
    return clean(_NUMBER.sub("", text), 240)
