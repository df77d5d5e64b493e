"""Collects the values of another tool's inventory node by node, with notes on values that are not imported."""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rackcheck.base.user_error import UserError
from rackcheck.inventory import unreachable
from rackcheck.inventory.nodeset import NODES, is_name
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.profile.schema import PORT

LONGEST = 500
"""Maximum number of characters of a value."""

MEMBERS = 1_000_000
"""Maximum number of group memberships in one import."""

SHOWN = 20
"""Maximum number of invalid names, and of ignored keys, that a note lists."""

SSH_PASSWORD = "env:RACKCHECK_SSH_PASSWORD"
BMC_PASSWORD = "env:RACKCHECK_BMC_PASSWORD"

_ROLE = regex(r"[a-z][a-z0-9-]*")
_NUMBER = regex(r"[0-9]{1,9}")
_POWER = regex(r"(?!0+(\.0*)?$)[0-9]{1,6}(\.[0-9]{1,3})?")
_PORT = regex(PORT["pattern"])
_CHECKS: Mapping[str, Callable[[str], str]] = {
    "host": unreachable.host, "ssh.jump": unreachable.jump, "bmc.fingerprint": unreachable.fingerprint,
}  # fmt: skip
"""Maps a key to the function that returns why a value is invalid for it."""

_GROUP = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_REFERENCE = regex(r"env:.+|file:.+|keyring:.+/.+|prompt:.*")
_ADDRESS = regex(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Taken:
    """The imported nodes with their values (`host`, `ssh.user`, `bmc.url`, …), groups, and notes on values left out."""

    nodes: Mapping[str, Mapping[str, str]]
    groups: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]


class ImportedNodes:
    """Collects nodes; if an inventory cannot contain some value, one note lists all nodes with such a value."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.nodes: dict[str, dict[str, str]] = {}
        self.groups: dict[str, dict[str, None]] = {}
        self.odd: dict[str, dict[str, None]] = {}
        self.left: dict[str, dict[str, None]] = {}
        self.members = 0

    def node(self, name: str) -> bool:
        """Add a node; return whether its name is valid."""
        if not is_name(name):
            self.note("left out: not a valid node name", clean(name, 60) or "(none)")
            return False
        self.nodes.setdefault(name, {})
        if len(self.nodes) > NODES:
            raise UserError(f"{self.source} has more than {NODES} nodes, the maximum of an inventory")
        return True

    def set(self, name: str, key: str, value: object) -> None:
        """Set one value, if an inventory can contain it."""
        text = _text(value)
        shape = {"role": _ROLE, "u": _NUMBER, "height": _NUMBER, "power": _POWER, "ssh.port": _PORT}.get(key)
        check = _CHECKS.get(key)
        if text is None or (shape is not None and not shape.fullmatch(text)) or (check is not None and check(text)):
            self.note(f"`{key}` left out: its value is not valid", name)
        else:
            self.nodes[name][key] = text

    def bmc(self, name: str, value: object) -> None:
        """Set a BMC's address; it is stored as the URL of the BMC's Redfish service."""
        text = _text(value)
        url = None if text is None else _url(text)
        if url is None or unreachable.url(url):
            self.note("`bmc.url` left out: it must be https://HOST or an address", name)
        else:
            self.nodes[name]["bmc.url"] = url

    def password(self, name: str, key: str, value: object) -> None:
        """Set the reference to a password; a password in plain text is replaced by a reference and never imported."""
        if isinstance(value, str) and _REFERENCE.fullmatch(value) and len(value) <= LONGEST and value.isprintable():
            self.nodes[name][key] = value
            return
        reference = SSH_PASSWORD if key.startswith("ssh.") else BMC_PASSWORD
        self.nodes[name][key] = reference
        self.note(f"passwords are never imported: `{key}` is set to {reference} instead", name)

    def group(self, group: str, names: Iterable[str]) -> None:
        """Add nodes to a group."""
        if not _GROUP.fullmatch(group):
            self.note("groups left out: not a valid group name", clean(group, 60))
            return
        known = self.groups.setdefault(group, {})
        before = len(known)
        known |= {name: None for name in names if name in self.nodes}
        self.members += len(known) - before
        if self.members > MEMBERS:
            raise UserError(f"{self.source}: more than {MEMBERS} memberships in groups")

    def leave(self, key: str, name: str) -> None:
        """Note a key of the source that has no equivalent in an inventory; the value of this key is ignored."""
        self.left.setdefault(clean(key, 60), {})[name] = None

    def note(self, words: str, name: str) -> None:
        """Add a note about a node."""
        self.odd.setdefault(words, {})[name] = None

    def finish(self) -> Taken:
        """Return the collected nodes, groups and notes; raises UserError if there is no node."""
        if not self.nodes:
            raise UserError(f"{self.source} contains no node")
        for name, words in self.nodes.items():
            if "bmc.url" not in words and any(key.startswith("bmc.") for key in words):
                self.note("BMC user or password left out: the BMC has no address", name)
                for key in [key for key in words if key.startswith("bmc.")]:
                    del words[key]
        notes = [f"{words}: {_listed(names)}" for words, names in self.odd.items()]
        if self.left:
            by_count = sorted(self.left.items(), key=lambda item: -len(item[1]))
            keys = [f"{key} ({len(names)})" for key, names in by_count[:SHOWN]]
            more = f" and {len(by_count) - SHOWN} more" if len(by_count) > SHOWN else ""
            notes.append(
                f"keys left out, because an inventory does not have them (number of nodes): {', '.join(keys)}{more}"
            )
        groups = {name: tuple(members) for name, members in self.groups.items() if members}
        return Taken(self.nodes, groups, tuple(notes))


def _listed(names: Iterable[str]) -> str:
    words = list(names)
    sound = [name for name in words if is_name(name)]
    rest = [name for name in words if not is_name(name)]
    more = f" and {len(rest) - SHOWN} more" if len(rest) > SHOWN else ""
    return clean(", ".join([*([fold(sound)] if sound else []), *rest[:SHOWN]]), 400) + more


def _text(value: object) -> str | None:
    """Return a value as text of one line, or None if it cannot be imported.

    A text with `{` cannot be imported, because an inventory would expand `{node}`.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    if isinstance(value, int) and abs(value) > 10**9:
        return None
    text = str(value).strip()
    return text if text and len(text) <= LONGEST and text.isprintable() and "{" not in text else None


def _url(text: str) -> str | None:
    if "://" not in text:
        try:
            bare = ipaddress.ip_address(text)
        except ValueError:
            return f"https://{text}" if _ADDRESS.fullmatch(text) else None
        return f"https://[{text}]" if bare.version == 6 else f"https://{text}"
    try:
        parts = urlsplit(text)
        sound = parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        return None
    bare_path = not parts.path.strip("/") and not parts.query and not parts.fragment
    return f"https://{parts.netloc}" if sound and bare_path else None
