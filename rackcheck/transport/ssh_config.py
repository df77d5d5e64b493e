"""Resolves a host with the user's SSH configuration."""

import fnmatch
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rackcheck.inventory import Node

CONFIGS = ("~/.ssh/config", "/etc/ssh/ssh_config")
KNOWN = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts")


@dataclass(frozen=True, slots=True)
class Target:
    """A node's SSH server, and its credentials. `proxy` is a local command that connects to the SSH server.

    `password` is the password of the user, `passphrase` the passphrase of the key files; both secrets are never shown.
    """

    host: str
    port: int
    user: str
    keys: tuple[str, ...]
    known_hosts: tuple[str, ...]
    alias: str = ""
    proxy: str = ""
    password: str = field(default="", repr=False)
    passphrase: str = field(default="", repr=False)


def resolve(node: Node, secrets: Mapping[str, str]) -> Target:
    """Return a node's SSH server and credentials from the inventory and the user's SSH configuration.

    `secrets` maps the references to secrets in the inventory to the secrets themselves.
    """
    values = _ask_ssh(node.host) if _touched(node.host) else {}
    name = values.get("hostname", [node.host])[0]
    keys = (node.ssh.key,) if node.ssh.key else tuple(values.get("identityfile", ()))
    known = (
        (node.ssh.known_hosts,)
        if node.ssh.known_hosts
        else tuple(file for line in values.get("userknownhostsfile", ()) for file in line.split())
    )
    files = tuple(str(Path(k).expanduser()) for k in known or KNOWN)
    return Target(
        name, node.ssh.port or int(values.get("port", ["22"])[0]), node.ssh.user or values.get("user", [""])[0],
        keys, (node.ssh.trusted, *files) if node.ssh.trusted else files,
        values.get("hostkeyalias", [""])[0], _proxy(values, name),
        secrets.get(node.ssh.password, ""), secrets.get(node.ssh.passphrase, ""),
    )  # fmt: skip


def _proxy(values: dict[str, list[str]], name: str) -> str:
    command = values.get("proxycommand", [""])[0]
    jump = values.get("proxyjump", [""])[0]
    port = values.get("port", ["22"])[0]
    if jump and jump != "none":
        return f"ssh -o BatchMode=yes -W [{name}]:{port} {jump}"
    return command.replace("%h", name).replace("%p", port) if command and command != "none" else ""


@cache
def _stanzas() -> tuple[str, ...] | None:
    """Return the host patterns of the SSH configuration; None if an Include or Match could apply to any host."""
    patterns: list[str] = []
    for file in (Path(c).expanduser() for c in CONFIGS):
        if not file.is_file():
            continue
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            word, _, rest = line.strip().replace("=", " ", 1).partition(" ")
            if word.casefold() == "match":
                return None
            if word.casefold() == "include" and not str(file).startswith("/etc/"):
                return None
            if word.casefold() == "host":
                patterns += rest.split()
    return tuple(p for p in patterns if p != "*" or _user_has_star())


def _user_has_star() -> bool:
    """Return whether the user's own configuration file has a section `Host *`."""
    file = Path(CONFIGS[0]).expanduser()
    return file.is_file() and any(
        line.split() == ["Host", "*"] for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
    )


def _touched(host: str) -> bool:
    """Return whether the SSH configuration may apply to this host; if not, `ssh -G` (ten milliseconds) is not run."""
    patterns = _stanzas()
    return patterns is None or any(fnmatch.fnmatchcase(host, p.lstrip("!")) for p in patterns)


@cache
def _ask_ssh(host: str) -> dict[str, list[str]]:
    """Resolve a host with `ssh -G`; the result is empty if `ssh` is not installed."""
    ssh = shutil.which("ssh")
    if ssh is None or host.startswith("-"):
        return {}
    done = subprocess.run(  # noqa: S603  the user's own ssh, for a host that the user named
        [ssh, "-G", "--", host], capture_output=True, text=True, timeout=10, check=False
    )
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key.casefold(), []).append(value)
    return found
