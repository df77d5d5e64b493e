"""The keys of the user's SSH agent, in the order in which `ssh` offers them.

Import this module only where an agent is asked: it imports paramiko. paramiko's own client of an agent waits for an
answer without end, and ends the whole login if the agent refuses to sign.
"""

import os
import socket
from typing import Any

import paramiko

from rackcheck.transport import key_files
from rackcheck.transport.ssh_config import Target

SOCKET = "SSH_AUTH_SOCK"
"""The environment variable with the address of the agent."""

LIST, LISTED, SIGN, SIGNED = 11, 12, 13, 14
"""Numbers of messages: the agent's keys, and a signature."""

DIGESTS = {"rsa-sha2-256": 2, "rsa-sha2-512": 4}
"""Flags of a signature with an RSA key."""

LARGEST = 1 << 20
"""Maximum number of bytes of an agent's answer."""


def keys(target: Target, seconds: float) -> "list[Key]":
    """Return the agent's keys for a server: first those of its key files, then the others if they may be offered.

    Raises OSError if the agent does not answer in time.
    """
    place = os.environ.get(SOCKET, "")
    if not place or not target.asks_agent:
        return []
    named = {key_files.read(path).public for path in target.keys}
    found = _listed(place, seconds)
    mine = [key for key in found if key.blob in named]
    others = [] if target.only_named else [key for key in found if key.blob not in named]
    return [*mine, *others]


class Key(paramiko.PKey):
    """A key of the agent. If the agent does not sign with it, the signature is empty, which a server refuses.

    The login then goes on with the next key, as that of `ssh` does.
    """

    def __init__(self, place: str, seconds: float, blob: bytes) -> None:
        super().__init__()
        self.public_blob = None
        self.blob, self._place, self._seconds = blob, place, seconds

    def get_name(self) -> str:
        """Return the kind of the key, also of one that paramiko does not know: of a token, or with a certificate."""
        return paramiko.Message(self.blob).get_text()

    def asbytes(self) -> bytes:
        """Return the public key, with its certificate if it has one."""
        return self.blob

    @property
    def is_security_key(self) -> bool:
        """Whether the key is on a FIDO token, which is touched for each signature."""
        return self.get_name().startswith("sk-")

    @property
    def _fields(self) -> tuple[bytes]:
        return (self.blob,)

    def sign_ssh_data(self, data: Any, algorithm: str | None = None) -> Any:
        """Return the agent's signature; it is empty if there is none."""
        kind = (algorithm or "").removesuffix("-cert-v01@openssh.com")
        request = paramiko.Message()
        request.add_byte(bytes([SIGN]))
        request.add_string(self.blob)
        request.add_string(data)
        request.add_int(DIGESTS.get(kind, 0))
        try:
            number, answer = _ask(self._place, request.asbytes(), self._seconds)
        except OSError:
            return b""
        return answer.get_binary() if number == SIGNED else b""


def _listed(place: str, seconds: float) -> list[Key]:
    try:
        number, answer = _ask(place, bytes([LIST]), seconds)
    except (FileNotFoundError, ConnectionRefusedError):
        return []  # the agent has ended, and its address is still in the environment
    found: list[Key] = []
    for _ in range(answer.get_int() if number == LISTED else 0):
        blob, _comment = answer.get_binary(), answer.get_binary()
        if not blob:
            break
        found.append(Key(place, seconds, blob))
    return found


def _ask(place: str, request: bytes, seconds: float) -> tuple[int, paramiko.Message]:
    """Send one message to the agent; return the number and the rest of its answer. Raises OSError."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(seconds)
        sock.connect(place)
        sock.sendall(len(request).to_bytes(4, "big") + request)
        length = int.from_bytes(_read(sock, 4), "big")
        if not 0 < length <= LARGEST:
            raise OSError(None, "the agent's answer is invalid")
        answer = _read(sock, length)
        return answer[0], paramiko.Message(answer[1:])


def _read(sock: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        chunk = sock.recv(count - len(data))
        if not chunk:
            raise OSError(None, "the agent has closed the connection")
        data += chunk
    return bytes(data)
