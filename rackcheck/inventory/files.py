"""Checks the key files and CA files that an inventory names."""

import ssl
from functools import lru_cache
from pathlib import Path

from rackcheck.model.fact import clean

LOCKED = "encrypted, and no `passphrase` is set"
"""The message for a key that needs a passphrase."""


@lru_cache(maxsize=256)
def key_trouble(file: str, passphrase: str | None = None) -> str:
    """Return why a private key file cannot be used; the text is empty if the file can be used.

    `passphrase` is the secret itself, or None if the inventory names a passphrase that was not fetched. If several
    nodes use the same key, the key is decrypted only once.
    """
    import paramiko  # noqa: PLC0415  a fifth of a second

    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return "is not a file" if path.exists() else "does not exist"
        paramiko.PKey.from_path(path)
    except TypeError:  # paramiko's error for an encrypted key
        return "" if passphrase is None else _opens(path, passphrase) if passphrase else LOCKED
    except OSError as error:
        return clean(error.strerror or str(error))
    except (ValueError, paramiko.SSHException):
        return "contains no readable private key"
    return ""


def _opens(path: Path, passphrase: str) -> str:
    import paramiko  # noqa: PLC0415

    try:
        # paramiko passes the passphrase to cryptography, which requires bytes, despite paramiko's type hints.
        paramiko.PKey.from_path(path, passphrase.encode())  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError, paramiko.SSHException):
        return "cannot be decrypted with its passphrase"
    return ""


@lru_cache(maxsize=256)
def ca_trouble(file: str) -> str:
    """Return why a CA file cannot be used; the text is empty if the file contains a certificate."""
    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return "is not a file" if path.exists() else "does not exist"
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return "contains no certificate in PEM form"
    except OSError as error:
        return clean(error.strerror or str(error))
    return ""
