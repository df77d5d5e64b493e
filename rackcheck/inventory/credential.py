"""Fetches secrets by their references in the inventory; a secret is fetched when needed, and is never printed."""

import os
import stat
import sys
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean

SIZE = 64 << 10
"""Maximum size of a secret's file, in bytes."""

FORMS = "env:NAME, file:PATH, keyring:SERVICE/USER or prompt:TEXT"
"""The forms of a reference to a secret."""


def secret(reference: str) -> str:
    """Fetch a secret by its reference; raises UserError, which never contains the secret."""
    kind, _, name = reference.partition(":")
    fetch = {"env": _env, "file": _file, "keyring": _keyring, "prompt": _prompt}.get(kind)
    if fetch is None:
        raise UserError(f"write a reference to the secret ({FORMS}), not the secret itself")
    found = fetch(name)
    if not found:
        raise UserError(f"{clean(reference)}, which the inventory names as a secret, is empty")
    return found


def _env(name: str) -> str:
    if name not in os.environ:
        raise UserError(f"the environment has no {clean(name)}, which the inventory names as a secret")
    return os.environ[name]


def _file(name: str) -> str:
    path = Path(name).expanduser()
    try:
        # Non-blocking, so that a pipe without a writer is reported instead of waited for.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UserError(f"{path}, which the inventory names as a secret, is not a file")
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise UserError(f"{path} may be read by others; chmod 600 {path}")
            content = file.read(SIZE + 1)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > SIZE:
        raise UserError(f"{path} is longer than {SIZE} bytes, the maximum of a secret")
    try:
        return content.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        at = error.start
    # Raised outside of the handler, because the exception in the handler contains the file's bytes.
    raise UserError(f"{path} is not UTF-8 text (byte {at})")


def _keyring(name: str) -> str:
    shown = clean(f"keyring:{name}")
    service, _, user = name.rpartition("/")
    if not service or not user:
        raise UserError(f"{shown}: a secret of the keyring is written as keyring:SERVICE/USER")
    try:
        import keyring  # noqa: PLC0415  an optional extra, imported only if used
    except ImportError:
        raise UserError(f"{shown} needs the package keyring: pip install 'rackcheck[keyring]'") from None
    try:
        found = keyring.get_password(service, user)
    except Exception as error:  # noqa: BLE001  of whatever backend this machine has
        raise UserError(f"{shown}: the keyring returns no value ({type(error).__name__})") from None
    if found is None:
        raise UserError(f"{shown}: the keyring has no such entry")
    return found


def _prompt(name: str) -> str:
    from getpass import getpass  # noqa: PLC0415

    words = clean(name) or "secret"
    if not _has_terminal():
        raise UserError(f"no terminal to prompt for `{words}`; write the secret as env:, file: or keyring:")
    try:
        return getpass(f"{words}: ")
    except EOFError:
        raise UserError(f"no input for `{words}`") from None


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return sys.stdin is not None and sys.stdin.isatty()
    return True
