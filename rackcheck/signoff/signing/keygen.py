"""Runs the stock `ssh-keygen`, which makes and checks SSH signatures; rackcheck handles no secret.

`-Y find-principals` requires OpenSSH 8.2, validity windows in allowed signers files require 8.7 (see the release
notes). An older ssh-keygen rejects options that it does not know, so it never accepts a signature wrongly.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.signoff.signing.signers import Signers
from rackcheck.signoff.signing.sshsig import NAMESPACE

PATIENCE = 300
"""Time limit, in seconds, to type a passphrase or touch a token."""

CHECKING = 30
"""Time limit of one check, in seconds; a check takes milliseconds."""

_GOOD = regex(rb'Good "rackcheck-report" signature .*?with (\S+) key (SHA256:\S+)\s*', re.DOTALL)
_SIGNERS, _SIGNATURE = "allowed_signers", "signature"


@dataclass(frozen=True)
class SigningKey:
    """The key that made a signature, as ssh-keygen prints it; for a certificate, the certified key."""

    kind: str
    fingerprint: str


def signed(message: bytes, key: Path) -> bytes:
    """Sign a message; ssh-keygen itself prompts for the passphrase. Raises UserError if ssh-keygen does not sign."""
    if not key.is_file():
        raise UserError(f"cannot sign with {key}: there is no such file")
    asking = sys.stderr is not None and sys.stderr.isatty()
    argv = [_program(), "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)]
    try:
        done = subprocess.run(  # noqa: S603  the system's ssh-keygen, words of ours, our user's own key
            argv, input=message, stdout=subprocess.PIPE, stderr=None if asking else subprocess.PIPE,
            timeout=PATIENCE, env=_environment(), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(f"cannot sign with {key}: no passphrase and no touch within {PATIENCE} s") from None
    if done.returncode == 0 and done.stdout:
        return done.stdout
    text = _ssh_keygen_error(done.stderr or b"")
    if "passphrase" in text:
        text = "its passphrase is wrong, or there is no terminal to prompt on; ssh-add it, and sign with its .pub file"
    raise UserError(f"cannot sign with {key}: {text or 'ssh-keygen refused'}")


@dataclass(frozen=True)
class SignerFolder:
    """A private temporary folder with an allowed signers file, in which ssh-keygen checks signatures."""

    folder: Path

    def put(self, signature: bytes) -> None:
        """Store a signature in the folder, for the next check by ssh-keygen."""
        (self.folder / _SIGNATURE).write_bytes(signature)

    def intact(self, message: bytes) -> SigningKey | None:
        """Return the key that signed this message, trusted or not; None if the signature does not match the message."""
        return _key(self._ask("check-novalidate", "-n", NAMESPACE, message=message))

    def principal(self, message: bytes, at: datetime) -> tuple[str, str]:
        """Return the principal whose key signed the message and was valid at `at`; else an empty name and the error."""
        when = _option(at)
        found = self._ask("find-principals", when, "-f", _SIGNERS)
        text = _ssh_keygen_error(found.stderr)
        for principal in found.stdout.decode("utf-8", "replace").splitlines() if found.returncode == 0 else ():
            asked = self._ask("verify", when, "-f", _SIGNERS, "-n", NAMESPACE, "-I", principal, message=message)
            if _key(asked) is not None:
                return principal, ""
            text = _ssh_keygen_error(asked.stderr) or text
        return "", text

    def _ask(self, what: str, *words: str, message: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        # With relative names, ssh-keygen's messages contain no folder of ours.
        argv = [_program(), "-Y", what, *words, "-s", _SIGNATURE]
        try:
            return subprocess.run(  # noqa: S603  the system's ssh-keygen, words of ours
                argv, input=message, capture_output=True, timeout=CHECKING, env=_environment(), cwd=self.folder,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise UserError(f"ssh-keygen -Y {what} did not end within {CHECKING} s") from None


@contextmanager
def bench(signers: Signers) -> Iterator[SignerFolder]:
    """Set up a private folder for checks against these signers."""
    _program()
    with TemporaryDirectory(prefix="rackcheck-") as folder:
        (Path(folder) / _SIGNERS).write_bytes(signers.text)
        yield SignerFolder(Path(folder))


def _option(at: datetime) -> str:
    """Format a time as OpenSSH 8.7 reads it: in the system's time zone; `Z` is only supported since 9.1."""
    return f"-Overify-time={at.astimezone():%Y%m%d%H%M%S}"


def _key(done: "subprocess.CompletedProcess[bytes]") -> SigningKey | None:
    found = _GOOD.fullmatch(done.stdout)
    return SigningKey(found[1].decode(), found[2].decode()) if done.returncode == 0 and found else None


def _ssh_keygen_error(errors: bytes) -> str:
    """Return ssh-keygen's messages in one line, without lines of `@` and without `No principal matched`."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines()]
    rows = [line for line in lines if line.strip("@ ") and not line.startswith("No principal matched")]
    return clean("; ".join(rows), 400)


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _program() -> str:
    found = shutil.which("ssh-keygen")
    if found is None:
        raise UserError("signatures need ssh-keygen of OpenSSH, which is not in PATH (Debian: openssh-client)")
    return str(Path(found).absolute())
