"""Reads the trusted signers: public keys, or an allowed signers file in ssh-keygen's format."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model.regex import regex
from rackcheck.signoff.signing.sshsig import NAMESPACE

SIZE = 1 << 20
"""Maximum size of a file of keys, in bytes."""

_KIND = regex(r"[a-z0-9][a-z0-9.@-]{0,79}")


@dataclass(frozen=True)
class Signers:
    """The text of an allowed signers file; `names` maps a principal to the name that is shown instead."""

    text: bytes
    names: Mapping[str, str] = field(default_factory=dict)

    def shown(self, principal: str) -> str:
        """Return the name to show for a principal."""
        return self.names.get(principal, principal)


def from_file(path: Path) -> Signers:
    """Read an allowed signers file unchanged; raises UserError if it cannot be read."""
    try:
        with safe_read.opened(path) as file:
            data = file.read(SIZE + 1)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > SIZE:
        raise UserError(f"{path} has more than {SIZE} bytes, the maximum of a list of signers")
    return Signers(data)


def from_keys(paths: Iterable[Path]) -> Signers:
    """Make a list of signers from public key files; raises UserError if a file is not a public key file.

    The list names the keys by number, because a key's comment is untrusted text that ssh-keygen could read as a pattern
    or an option. The comments are only shown to the user.
    """
    known: dict[tuple[str, str], str] = {}
    for path in paths:
        for kind, key, comment in _keys(path):
            known.setdefault((kind, key), comment or "key")
    lines, names = [], {}
    for number, ((kind, key), comment) in enumerate(known.items(), start=1):
        names[f"key-{number}"] = comment
        lines.append(f'key-{number} namespaces="{NAMESPACE}" {kind} {key}\n')
    return Signers("".join(lines).encode(), names)


def comment(path: Path) -> str:
    """Return the comment of a key, from the public key file beside it; empty if there is none."""
    public = path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub")
    try:
        return _keys(public)[0][2]
    except UserError:
        return ""


def _keys(path: Path) -> list[tuple[str, str, str]]:
    """Read the keys of a public key file (type, base64, comment); it must contain at least one key."""
    text = safe_read.text(path, SIZE)
    if "PRIVATE KEY-----" in text:
        raise UserError(f"{path} is a private key, and a signature is checked with the public one; try {path}.pub")
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2 or not _is_key(words[0], words[1]):
            raise UserError(f"{path}:{number}: not a public key (ssh-ed25519 AAAA… comment)")
        found.append((words[0], words[1], words[2].strip() if len(words) > 2 else ""))
    if not found:
        raise UserError(f"{path} contains no public key")
    return found


def _is_key(kind: str, key: str) -> bool:
    """Whether the base64 text contains a key of this type."""
    try:
        blob = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        return False
    name = kind.encode()
    return bool(_KIND.fullmatch(kind)) and blob.startswith(len(name).to_bytes(4) + name)
