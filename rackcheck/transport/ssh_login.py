"""Logs in to an SSH server with keys, then with the password."""

import threading
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import key_files
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_connection import Refused
from rackcheck.transport.wire import ConnectStage

if TYPE_CHECKING:
    import paramiko

    from rackcheck.transport import ssh_agent

KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
"""Key files that are tried if neither the inventory nor the SSH configuration names a key file."""

_UNLOCKING = threading.Lock()
"""A lock for the decryption of keys, so that several nodes with the same key decrypt the key only once."""


def log_in(transport: "paramiko.Transport", target: Target, hiding: Hiding) -> None:
    """Log in with the keys, then with the password; raises Refused if the host accepts none of them.

    Raises TimeoutError or EOFError if the host answers no attempt, which is no refusal.
    """
    import paramiko  # noqa: PLC0415

    user = target.user or getuser()
    tried: list[str] = []
    attempts = 0
    for name, key in _keys(target, transport.auth_timeout, tried):
        if not transport.is_active():
            break
        try:
            transport.auth_publickey(user, key)
        except paramiko.BadAuthenticationType as error:
            if target.password:
                break
            raise _refused(user, error, hiding) from None
        except paramiko.AuthenticationException as error:
            _answered(error, attempts)
            tried.append(name)
        else:
            if transport.is_authenticated():
                return
            tried.append(f"{name} (not sufficient alone)")
        attempts += 1
    if target.password and transport.is_active():
        failed = _with_password(transport, user, target.password, attempts, hiding)
        if not failed:
            return
        tried.append(failed)
        attempts += 1
    if not attempts and not transport.is_active():
        raise EOFError
    what = ", ".join(tried) if tried else "no key found"
    raise Refused(ConnectStage.LOGIN, Unknown(Reason.DENIED, f"login as {user} refused; tried {what}"))


def _with_password(transport: "paramiko.Transport", user: str, password: str, attempts: int, hiding: Hiding) -> str:
    """Log in with the password; returns what was tried if it is not accepted, or not sufficient."""
    import paramiko  # noqa: PLC0415

    try:
        # If the host has no password authentication but prompts for one, paramiko answers a single prompt with it.
        transport.auth_password(user, password)
    except paramiko.BadAuthenticationType as error:
        raise _refused(user, error, hiding) from None
    except paramiko.AuthenticationException as error:
        _answered(error, attempts)
        return "the password"
    return "" if transport.is_authenticated() else "the password (not sufficient alone)"


def _answered(error: Exception, attempts: int) -> None:
    """Raise TimeoutError or EOFError if an attempt to log in was not answered, which is no refusal.

    A server that has refused some attempts may close the connection without an answer to the next one.
    """
    if "timeout" in str(error).casefold():
        raise TimeoutError("no answer to the login")
    if "saw EOF" in str(error) and not attempts:
        raise EOFError


def _refused(user: str, error: "paramiko.BadAuthenticationType", hiding: Hiding) -> Refused:
    message = clean(hiding.text(", ".join(error.allowed_types)))
    return Refused(
        ConnectStage.LOGIN, Unknown(Reason.DENIED, f"login as {user} refused: this host accepts only {message}")
    )


def _keys(target: Target, seconds: float, tried: list[str]) -> "list[tuple[str, paramiko.PKey]]":
    """Return the keys for the login in the order of `ssh`: those of the agent, then those of the key files.

    Keys of the agent that are on a FIDO token come last: paramiko signs before it knows whether the server accepts a
    key, and a token is touched for each signature.

    The key files are the configured ones, or else the default ones. If a password is set but no key is configured, no
    keys are returned; if a key is, the agent offers only that one. Key files that cannot be used are added to `tried`.
    """
    import paramiko  # noqa: PLC0415

    if target.password:
        if not target.keys:
            return []  # a host counts refused keys: a full agent would leave no attempt for the password
        target = replace(target, only_named=True)
    offered = _of_agent(target, seconds, tried)
    found: list[tuple[str, paramiko.PKey]] = [
        (f"agent {key.get_name()}", key) for key in offered if not key.is_security_key
    ]
    have = {key.blob for key in offered}
    for path in target.keys or tuple(str(Path("~/.ssh") / name) for name in KEYS):
        file, key = Path(path).expanduser(), key_files.read(path)
        if not file.is_file() or key.public in have:
            continue
        if not key.has_private and key.public:
            tried.append(f"{path} (a public key, which the agent does not have)")
            continue
        try:
            found.append((str(path), _key(str(file), target.passphrase)))
        except (OSError, ValueError, TypeError, paramiko.SSHException) as error:
            # An encrypted key needs the agent or the inventory: no user can type a passphrase on 64 nodes.
            tried.append(f"{path} ({_unopened(error, target)})")
    return [*found, *((f"agent {key.get_name()}", key) for key in offered if key.is_security_key)]


def _of_agent(target: Target, seconds: float, tried: list[str]) -> "list[ssh_agent.Key]":
    """Return the keys of the agent. It is not asked if it could only offer keys that can be read from their files."""
    from rackcheck.transport import ssh_agent  # noqa: PLC0415  it imports paramiko

    if target.only_named and all(key_files.read(path).is_plain for path in target.keys):
        return []
    try:
        return ssh_agent.keys(target, seconds)
    except OSError as error:
        tried.append(f"the agent ({clean(str(error)) or type(error).__name__})")
        return []


def _unopened(error: Exception, target: Target) -> str:
    """Return why a key file cannot be used, from the exception; encrypted files lead to several types of exceptions."""
    if isinstance(error, TypeError):
        return "encrypted: load it into an agent, or set ssh.passphrase"
    if isinstance(error, ValueError) and target.passphrase:
        return "the passphrase does not decrypt this key"
    return clean(str(error)) or type(error).__name__


def _key(file: str, passphrase: str) -> "paramiko.PKey":
    import paramiko  # noqa: PLC0415

    if passphrase:
        with suppress(TypeError), _UNLOCKING:  # TypeError: this key is not encrypted
            return _unlocked(file, passphrase)
    return paramiko.PKey.from_path(file)


@lru_cache(maxsize=16)
def _unlocked(file: str, passphrase: str) -> "paramiko.PKey":
    """Decrypt a key; the result is cached for all nodes, because decryption is slow by design."""
    import paramiko  # noqa: PLC0415

    # paramiko passes this to cryptography, which needs bytes, although paramiko's type hints differ.
    return paramiko.PKey.from_path(file, passphrase.encode())  # type: ignore[arg-type]
