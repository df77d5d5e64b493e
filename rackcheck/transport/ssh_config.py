"""Resolves a host with the user's SSH configuration."""

import fnmatch
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.model.regex import regex
from rackcheck.transport import child, key_files, known_hosts
from rackcheck.transport.wire import ShellLimits

CONFIGS = ("~/.ssh/config", "/etc/ssh/ssh_config")
KNOWN = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts")


@dataclass(frozen=True, slots=True)
class Target:
    """A node's SSH server, and its credentials. `proxy` is a local command that connects to the SSH server.

    `password` is the password of the user, `passphrase` the passphrase of the key files; both secrets are never shown.
    `only_named` is true if the agent may be asked for the keys of these files only, `asks_agent` is false if it may not
    be asked at all (`IdentitiesOnly`, `IdentityAgent none`).
    `needs` is what only the OpenSSH client can do on the way to this server, empty if there is nothing; the client gets
    the `name` of the inventory, what is `given` there, and the `jump` hosts.
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
    name: str = ""
    given: Ssh = field(default_factory=Ssh)
    jump: str = ""
    needs: str = ""
    only_named: bool = False
    asks_agent: bool = True

    @property
    def is_behind_others(self) -> bool:
        """Whether the way to this server leads through other hosts, or through a command of the user."""
        return bool(self.proxy) or self.needs.startswith("Proxy")

    @property
    def is_only_for_client(self) -> bool:
        """Whether only the OpenSSH client knows the way to this server, or the reason why there is none."""
        return not self.proxy and self.needs.startswith(("Proxy", CONFIGURATION))


def _expanded(files: Iterable[str]) -> tuple[str, ...]:
    # Several for each host: a Path takes four times as long.
    return tuple(os.path.expanduser(file) for file in files)  # noqa: PTH111


CONFIGURATION = "an SSH configuration that `ssh -G` does not read"
"""What the OpenSSH client is needed for if it refuses the configuration: it returns the reason."""


def resolve(node: Node, secrets: Mapping[str, str]) -> Target:
    """Return a node's SSH server and credentials from the inventory and the user's SSH configuration.

    `secrets` maps the references to secrets in the inventory to the secrets themselves.
    """
    values = _ask_ssh(node.host, node.ssh.user, node.ssh.port or 0) if _touched(node.host) else {}
    name = values.get("hostname", [node.host])[0]
    keys = (node.ssh.key,) if node.ssh.key else tuple(values.get("identityfile", ()))
    known = (
        (node.ssh.known_hosts,)
        if node.ssh.known_hosts
        else tuple(file for line in values.get("userknownhostsfile", ()) for file in line.split())
    )
    files = _expanded(known or KNOWN)
    port = node.ssh.port or int(values.get("port", ["22"])[0])
    user = node.ssh.user or values.get("user", [""])[0]
    alias = values.get("hostkeyalias", [""])[0]
    trusted = (node.ssh.trusted, *files) if node.ssh.trusted else files
    needs = _needs(node, values, keys) or known_hosts.load(trusted).beyond(alias or name, port)
    return Target(
        name, port, user, keys, trusted, alias, _proxy(values, node, name, port, user),
        secrets.get(node.ssh.password, ""), secrets.get(node.ssh.passphrase, ""),
        node.host, node.ssh, node.ssh.jump, needs,
        bool(node.ssh.key) or _value(values, "identitiesonly") == "yes", values.get("identityagent") != ["none"],
    )  # fmt: skip


def _proxy(values: Mapping[str, Sequence[str]], node: Node, name: str, port: int, user: str) -> str:
    """Return the command that connects to the server: through the jump hosts, or the user's own ProxyCommand.

    A ProxyCommand that is left to the OpenSSH client gives no command; `Target.needs` has the reason then.
    """
    command, jump = _value(values, "proxycommand"), node.ssh.jump or _value(values, "proxyjump")
    if jump:
        before, _, last = jump.rpartition(",")
        way = ["-J", before] if before else []
        return shlex.join(["ssh", "-o", "BatchMode=yes", *way, "-W", f"[{name}]:{port}", "--", _uri(last)])
    if _of_client(values, command, user):
        return ""
    tokens = {"h": name, "n": node.host, "p": str(port), "r": user, "%": "%"}
    return TOKEN.sub(lambda found: tokens[found[1]], command)


def _uri(jump: str) -> str:
    """Return a jump host as the URI that `ssh` accepts as a destination with a port."""
    return jump if jump.startswith("ssh://") else f"ssh://{jump}"


TOKEN = regex(r"%(.)")
"""A token of a ProxyCommand."""

PLAIN = regex(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*")
"""A name of a user that means nothing to a shell."""

OTHERS = {
    "pkcs11provider": "PKCS11Provider", "knownhostscommand": "KnownHostsCommand",
    "certificatefile": "CertificateFile", "identityagent": "IdentityAgent", "controlpath": "ControlPath",
}  # fmt: skip
"""Words of the SSH configuration for which the OpenSSH client is used, if they have a value."""


def _needs(node: Node, values: Mapping[str, Sequence[str]], keys: Sequence[str]) -> str:
    """Return what only the OpenSSH client can do on the way to a node; empty if there is nothing."""
    if node.ssh.jump:
        return "jump"
    return (_needs_of_configuration(values, node.ssh.user) if values else "") or _needs_of_keys(keys, node.ssh)


def _needs_of_configuration(values: Mapping[str, Sequence[str]], user: str) -> str:
    if "," in _value(values, "proxyjump"):
        return "ProxyJump with several hosts"
    if FAILED in values:
        return CONFIGURATION
    if why := _of_client(values, _value(values, "proxycommand"), user or _value(values, "user")):
        return why
    word = next((word for word in OTHERS if _value(values, word)), "")
    if word:
        return OTHERS[word]
    if _value(values, "verifyhostkeydns") in {"yes", "true", "ask"}:
        return "VerifyHostKeyDNS"
    if _value(values, "gssapiauthentication") == "yes" and _has_ticket():
        return "GSSAPIAuthentication"
    return ""


def _needs_of_keys(keys: Sequence[str], given: Ssh) -> str:
    there = [file for file in _expanded(keys or DEFAULT_KEYS) if os.path.isfile(file)]  # noqa: PTH113  as in key_files
    certified = next((file for file in there if os.path.isfile(f"{file}-cert.pub")), None)  # noqa: PTH113
    if certified is not None:
        return f"the certificate of {certified}"
    tokens = [file for file in there if _is_token(file)]
    # With a password or a passphrase, which the client cannot be given, the other keys are tried without the client.
    if tokens and (len(tokens) == len(there) or not (given.password or given.passphrase)):
        return f"the security key of {tokens[0]}"
    return ""


def _is_token(file: str) -> bool:
    """Whether a file stands for a key on a FIDO token. Its public key alone does not: an agent has the key then."""
    key = key_files.read(file)
    return key.has_private and key.is_security_key


DEFAULT_KEYS = tuple(f"~/.ssh/id_{kind}" for kind in ("ed25519", "ecdsa", "rsa", "ed25519_sk", "ecdsa_sk"))


def _of_client(values: Mapping[str, Sequence[str]], command: str, user: str) -> str:
    """Return why a ProxyCommand is left to the OpenSSH client; empty if it is not.

    The client refuses other tokens than these, and, by its version, users with characters of a shell.
    """
    if not command:
        return ""
    if _value(values, "proxyusefdpass") == "yes":
        return "ProxyUseFdpass"
    tokens = {found[1] for found in TOKEN.finditer(command)}
    if "r" in tokens and not PLAIN.fullmatch(user):
        return "ProxyCommand with %r"
    return next((f"ProxyCommand with %{token}" for token in sorted(tokens - set("hnpr%"))), "")


def _value(values: Mapping[str, Sequence[str]], word: str) -> str:
    """Return the first value of a word of the configuration; empty if it is `none`."""
    first = values.get(word, [""])[0]
    return "" if first == "none" else first


def _has_ticket() -> bool:
    """Whether there may be a Kerberos ticket, without which GSSAPI does nothing."""
    return bool(os.environ.get("KRB5CCNAME")) or Path(f"/tmp/krb5cc_{os.getuid()}").is_file()  # noqa: S108  Kerberos' own place


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


PATIENCE = 10.0
"""Seconds for `ssh -G`, which may run commands of the configuration."""

FAILED = ""
"""The key of an answer of `ssh -G` that failed; its value is the reason."""


@cache
def _ask_ssh(host: str, user: str, port: int) -> dict[str, list[str]]:
    """Resolve a host with `ssh -G`; the result is empty if `ssh` is not installed.

    A `Match` may depend on the user and the port of the inventory, which the client gets in the same way.
    """
    ssh = shutil.which("ssh")
    if ssh is None or host.startswith("-"):
        return {}
    given = [*(["-o", f"User={user}"] if user else []), *(["-o", f"Port={port}"] if port else [])]
    output = bytearray()
    try:
        # At its deadline, a command of a Match that hangs is ended, too.
        with child.Child([ssh, *given, "-G", "--", host], ShellLimits(deadline=PATIENCE)) as asked:
            asked.finish()
            while chunk := asked.read(1 << 16):
                output += chunk
            status, complaints = asked.complaints()
            if asked.late:
                return {FAILED: [f"no answer within {PATIENCE:g} s"]}
    except OSError:
        return {}
    if status:
        return {FAILED: complaints.strip().splitlines()[-1:]}
    found: dict[str, list[str]] = {}
    for line in output.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key.casefold(), []).append(value)
    return found
