"""Files of this machine that an inventory names: keys and authorities that give nothing, and why."""

import ssl
from functools import lru_cache
from pathlib import Path

from rackcheck.model.fact import clean

LOCKED = "encrypted, and no `passphrase` is named"
"""What is said of a key that only its passphrase opens."""


@lru_cache(maxsize=256)
def key_trouble(file: str, passphrase: str | None = None) -> str:
    """Say why a private key's file opens no door; empty where it is sound.

    `passphrase` is the secret itself, None where the inventory names one that is not at hand. A key is decrypted
    once for all the nodes that name it.
    """
    import paramiko  # noqa: PLC0415  a fifth of a second

    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return "is no file" if path.exists() else "is not there"
        paramiko.PKey.from_path(path)
    except TypeError:  # paramiko's word for a key that is encrypted
        return "" if passphrase is None else _opens(path, passphrase) if passphrase else LOCKED
    except OSError as error:
        return clean(error.strerror or str(error))
    except (ValueError, paramiko.SSHException):
        return "holds no private key that we can read"
    return ""


def _opens(path: Path, passphrase: str) -> str:
    import paramiko  # noqa: PLC0415

    try:
        # paramiko hands this to cryptography, which wants bytes whatever paramiko's types say.
        paramiko.PKey.from_path(path, passphrase.encode())  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError, paramiko.SSHException):
        return "does not open with the passphrase that is named"
    return ""


@lru_cache(maxsize=256)
def ca_trouble(file: str) -> str:
    """Say why a CA file vouches for nobody; empty where it holds a certificate."""
    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return "is no file" if path.exists() else "is not there"
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return "holds no certificate in PEM form"
    except OSError as error:
        return clean(error.strerror or str(error))
    return ""
