"""SSH agents of a test: the real one, and one that holds keys of FIDO tokens, which no machine of the tests has."""

import base64
import hashlib
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from waiting import until

LIST, LISTED, SIGN, SIGNED, FAILURE = 11, 12, 13, 14, 5

TOUCHED, VERIFIED = 1, 4
"""Flags of a signature: the token was touched, and it knows its user by a PIN or a finger."""

APPLICATION = b"ssh:"


def packed(*parts: bytes) -> bytes:
    """SSH's strings, each after its length."""
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


@contextmanager
def agent(place: Path, *keys: Path, words: Sequence[str] = ()) -> Iterator[Path]:
    """Run the real agent with these keys until the block ends; `words` are options of `ssh-add`."""
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL)
    try:
        until(place.is_socket, "ssh-agent does not listen")
        for key in keys:
            subprocess.run(
                ["ssh-add", "-q", *words, str(key)], env={"SSH_AUTH_SOCK": str(place), "PATH": "/usr/bin:/bin"},
                check=True, capture_output=True,
            )  # fmt: skip
        yield place
    finally:
        process.terminate()
        process.wait(10)


@dataclass(frozen=True)
class Token:
    """A key on a FIDO token, and the flags that the token sets in its signatures."""

    kind: bytes
    public: bytes
    sign: Callable[[bytes], bytes]
    flags: int

    @property
    def line(self) -> str:
        """The public key as in a file."""
        return f"{self.kind.decode()} {base64.b64encode(self.public).decode()}"

    def signature(self, message: bytes) -> bytes:
        """What OpenSSH's PROTOCOL.u2f defines: the token signs digests, its flags and its counter."""
        seal = struct.pack(">BI", self.flags, 7)
        signed = hashlib.sha256(APPLICATION).digest() + seal + hashlib.sha256(message).digest()
        return packed(self.kind, self.sign(signed)) + seal

    def handle(self) -> str:
        """The private key file of such a key: it has no secret, but says which token signs."""
        private = packed(self.public[4 + len(self.kind) + 4 :][:32], APPLICATION) + b"\1" + packed(b"handle", b"")
        inner = struct.pack(">II", 1, 1) + packed(self.kind) + private + packed(b"comment")
        inner += bytes(range(1, 1 + -len(inner) % 8))
        data = b"openssh-key-v1\0" + packed(b"none", b"none", b"") + struct.pack(">I", 1) + packed(self.public, inner)
        text = base64.encodebytes(data).decode()
        return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}-----END OPENSSH PRIVATE KEY-----\n"


def ed25519_token(flags: int = TOUCHED) -> Token:
    """A new key of the kind that `ssh-keygen -t ed25519-sk` makes."""
    key = ed25519.Ed25519PrivateKey.generate()
    kind = b"sk-ssh-ed25519@openssh.com"
    point = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return Token(kind, packed(kind, point, APPLICATION), key.sign, flags)


def ecdsa_token(flags: int = TOUCHED) -> Token:
    """A new key of the kind that `ssh-keygen -t ecdsa-sk` makes."""
    key = ec.generate_private_key(ec.SECP256R1())
    kind = b"sk-ecdsa-sha2-nistp256@openssh.com"
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def sign(message: bytes) -> bytes:
        pair = decode_dss_signature(key.sign(message, ec.ECDSA(SHA256())))
        return packed(*(number.to_bytes(number.bit_length() // 8 + 1, "big") for number in pair))

    return Token(kind, packed(kind, b"nistp256", point, APPLICATION), sign, flags)


@contextmanager
def answering(place: Path, answer: Callable[[bytes], bytes]) -> Iterator[Path]:
    """Listen as an agent until the block ends; `answer` returns the answer to a message."""

    def one(sock: socket.socket) -> None:
        with sock, suppress(OSError), sock.makefile("rb") as file:
            while len(length := file.read(4)) == 4:
                sock.sendall(packed(answer(file.read(int.from_bytes(length, "big")))))

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen(8)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield place
        finally:
            # A thread that still accepts would take the connections of the next socket with the same number.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def of_tokens(*tokens: Token) -> Callable[[bytes], bytes]:
    """An agent that holds the keys of tokens, as `ssh-agent` does through its helper for FIDO."""

    def answer(message: bytes) -> bytes:
        if message[0] == LIST:
            return struct.pack(">BI", LISTED, len(tokens)) + b"".join(packed(each.public, b"token") for each in tokens)
        if message[0] == SIGN:
            (length,) = struct.unpack_from(">I", message, 1)
            key = message[5 : 5 + length]
            (size,) = struct.unpack_from(">I", message, 5 + length)
            data = message[9 + length : 9 + length + size]
            for each in tokens:
                if each.public == key:
                    return bytes([SIGNED]) + packed(each.signature(data))
        return bytes([FAILURE])

    return answer
