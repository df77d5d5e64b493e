"""Checks the form of an armoured SSH signature: only the form that ssh-keygen writes is accepted.

Pure. According to OpenSSH's PROTOCOL.sshsig, the signature does not cover some bytes: line breaks and blanks of the
armour, unused bits of base64, the version (ssh-keygen accepts 0 as well as 1) and the reserved field. Only one form is
accepted, because ssh-keygen does not detect a change of bytes that the signature does not cover.
"""

import base64
import binascii

NAMESPACE = "rackcheck-report"

SIZE = 32 << 10
"""Maximum size of an armoured signature, in bytes."""

_WIDTH = 70
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"
_FIELDS = 5


def armour(blob: bytes) -> bytes:
    """Armour a signature as ssh-keygen does."""
    text = base64.b64encode(blob)
    lines = [text[at : at + _WIDTH] + b"\n" for at in range(0, len(text), _WIDTH)]
    return b"".join((_BEGIN, *lines, _END))


def check(data: bytes) -> None:
    """Raise ValueError if an armoured signature does not have the form that ssh-keygen writes.

    The error's text completes a sentence such as `FILE is not an SSH signature of version 1`.
    """
    inner = data[len(_BEGIN) : -len(_END)]
    try:
        blob = base64.b64decode(inner.replace(b"\n", b""), validate=True)
    except binascii.Error:
        blob = b""
    if not blob or armour(blob) != data:
        raise ValueError("not in the form that ssh-keygen writes")
    head = b"SSHSIG" + (1).to_bytes(4)
    if not blob.startswith(head):
        raise ValueError("not an SSH signature of version 1")
    fields = _strings(blob[len(head) :])
    if len(fields) != _FIELDS:
        raise ValueError("not an SSH signature: its fields are incomplete or too many")
    _, namespace, reserved, digest, _ = fields
    if namespace != NAMESPACE.encode():
        raise ValueError(f"made for another namespace than {NAMESPACE}")
    if reserved or digest not in {b"sha256", b"sha512"}:
        raise ValueError("not in the form that ssh-keygen writes")


def _strings(rest: bytes) -> list[bytes]:
    """Split bytes into SSH strings (four bytes of length, then the content); empty if the last string is incomplete."""
    found = []
    while rest:
        size = int.from_bytes(rest[:4])
        if len(rest) < 4 + size:
            return []
        found.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    return found
