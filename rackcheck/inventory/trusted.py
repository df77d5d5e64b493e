"""Host keys and certificates that an inventory trusts: two files beside it, which `rackcheck inventory trust` writes.

For `pod7.yaml`, `pod7.known_hosts` has the host keys, in the format of OpenSSH, and `pod7.certificates` has a line with
the URL and the SHA-256 fingerprint of the certificate of each BMC. A `fingerprint` in the inventory itself counts more.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.inventory.node import Inventory, Node
from rackcheck.inventory.unreachable import fingerprint

LARGEST = 16 << 20
"""Maximum size of one of the files, in bytes."""


def known_hosts_of(inventory: Path) -> Path:
    """Return the path of the file with the host keys of an inventory."""
    return inventory.with_suffix(".known_hosts")


def certificates_of(inventory: Path) -> Path:
    """Return the path of the file with the certificates' fingerprints of an inventory."""
    return inventory.with_suffix(".certificates")


def applied(found: Inventory, path: Path) -> Inventory:
    """Return an inventory whose nodes trust what the files beside it have; raises UserError for an invalid line."""
    keys, listed = known_hosts_of(path), certificates_of(path)
    pins = certificates(listed) if listed.is_file() else {}
    beside = str(keys.absolute()) if keys.is_file() else ""
    if not pins and not beside:
        return found
    return replace(found, nodes={name: _trusting(node, beside, pins) for name, node in found.nodes.items()})


def _trusting(node: Node, beside: str, pins: Mapping[str, str]) -> Node:
    ssh = replace(node.ssh, trusted=beside) if node.host and beside else node.ssh
    bmc = node.bmc
    if bmc is not None and not bmc.fingerprint and (pin := pins.get(same_url(bmc.url))):
        bmc = replace(bmc, fingerprint=pin)
    return replace(node, ssh=ssh, bmc=bmc)


def same_url(url: str) -> str:
    """Return the URL of a BMC in the spelling by which the file of certificates is searched."""
    return url.strip().rstrip("/").casefold()


def certificates(path: Path) -> Mapping[str, str]:
    """Return the fingerprints in a file by URL; raises UserError with the line that is invalid."""
    found: dict[str, str] = {}
    for number, line in enumerate(safe_read.text(path, LARGEST).splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        wrong = "a line has a URL and a fingerprint" if len(words) != 2 else fingerprint(words[1])
        if wrong:
            raise UserError(f"{path}:{number}: {wrong}")
        found[same_url(words[0])] = words[1]
    return found


def add(path: Path, lines: Iterable[str]) -> None:
    """Append lines to one of the files; the file is replaced as a whole, so that a full disk leaves the old one."""
    before = safe_read.text(path, LARGEST) if path.is_file() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    text = before + "".join(f"{line}\n" for line in lines)
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as fresh:
            try:
                fresh.write(text)
                fresh.flush()
                os.fsync(fresh.fileno())
                Path(fresh.name).chmod(0o644)
                Path(fresh.name).replace(path)
            except OSError:
                Path(fresh.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
