"""Describes how to fix each trouble that doctor finds: a sentence, and the exact commands to type. Pure.

No command contains a secret: if a command needs a password, it prompts for it. In a command for several nodes,
placeholders such as `NODE` replace the values that differ.
"""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace

from rackcheck.doctor.finding import NO_INVENTORY, PlaneAddress, PlaneTrouble, Trouble
from rackcheck.inventory.files import LOCKED

PACKAGES = {
    "apt-config": "apt", "awk": "mawk", "cat": "coreutils", "date": "coreutils", "dcb": "iproute2", "df": "coreutils",
    "dkms": "dkms", "dmesg": "util-linux", "dmidecode": "dmidecode", "ethtool": "ethtool", "find": "findutils",
    "getconf": "libc-bin", "grep": "grep", "head": "coreutils", "ibv_devinfo": "ibverbs-utils", "id": "coreutils",
    "ip": "iproute2", "journalctl": "systemd", "last": "util-linux", "ls": "coreutils", "lsblk": "util-linux",
    "lscpu": "util-linux", "lspci": "pciutils", "nvme": "nvme-cli", "od": "coreutils", "python3": "python3",
    "rdma": "iproute2", "readlink": "coreutils", "sed": "sed", "sleep": "coreutils", "sort": "coreutils",
    "sudo": "sudo", "systemctl": "systemd", "tail": "coreutils", "timedatectl": "systemd", "timeout": "coreutils",
    "tr": "coreutils", "uname": "coreutils", "uniq": "coreutils", "wc": "coreutils", "xargs": "findutils",
    "zpool": "zfsutils-linux",
}  # fmt: skip
"""Maps programs to their Debian packages, as `dpkg -S` prints them; dnf needs no names, it finds programs by path."""

ADMIN = frozenset({"dcb", "dkms", "dmidecode", "ethtool", "ip", "lspci", "nvme", "rdma", "zpool"})
"""Programs that RHEL and its relatives install in /usr/sbin; they install all others in /usr/bin."""

MAKERS = {
    "amd-smi": "AMD's ROCm", "docker": "Docker", "mlxconfig": "NVIDIA's firmware tools (MFT)",
    "mlxfwmanager": "NVIDIA's firmware tools (MFT)", "mlxlink": "NVIDIA's firmware tools (MFT)",
    "mmgetstate": "IBM Storage Scale", "nvidia-smi": "NVIDIA's driver",
}  # fmt: skip
"""Maps programs that no distribution contains to the vendor's software that contains them."""

DAEMONS = {"lldpctl": "lldpd", "scontrol": "munged", "smartctl": "smartd"}
"""Maps programs to the daemon that is installed and started together with them.

The program's package or a dependency installs the daemon and a unit that starts it (seen in Debian 12: lldpd 1.0.16,
slurm-client 22.05 with munge 0.5.15, smartmontools 7.3). No install command is shown for a program that starts a
daemon: only a site that runs the daemon should install it.
"""

APT_ONLY = frozenset({"apt-config"})
"""Programs that are useful only on a system with apt."""

BMC = ("bmc:", '  url: "https://{node}-bmc"', "  user: audit", "  password: env:RACKCHECK_BMC_PASSWORD")
"""The lines that describe a BMC in an inventory, ready to paste; `{node}` stands for the node's name."""

HOST_KEYS = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"


@dataclass(frozen=True)
class Advice:
    """How to fix a trouble: a sentence, the commands to type, and the lines to add to the inventory."""

    words: str
    lines: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def together(places: Sequence[PlaneAddress]) -> PlaneAddress:
    """Merge the addresses of several nodes: NODE replaces node names; values that still differ become placeholders."""
    if len(places) == 1:
        return places[0]
    return PlaneAddress(
        **{f.name: _one([(getattr(p, f.name), p.node) for p in places], f.name) for f in fields(PlaneAddress)}
    )


def _one(values: Iterable[tuple[str, str]], name: str) -> str:
    listed = list(values)
    if len({value for value, _ in listed}) == 1:
        return listed[0][0]
    spelt = {value.replace(node, "NODE") for value, node in listed}
    return spelt.pop() if len(spelt) == 1 else name.upper()


def advice(finding: PlaneTrouble, place: PlaneAddress) -> Advice:
    """Return how to fix this trouble at this address."""
    return _BY_TROUBLE[finding.trouble](finding, place)


def _ssh(place: PlaneAddress, command: str, *, loud: bool = False) -> str:
    """Format the SSH command that runs `command` on a node.

    An address without a port stands for this machine: `command` itself is returned, without SSH.
    """
    if not place.port:
        return command
    port = ["-p", place.port] if place.port != "22" else []
    key = ["-i", place.key] if place.key else []
    way = ["-J", place.jump] if place.jump else []
    at = f"{place.user}@{place.host}" if place.user else place.host
    return _line("ssh", *(["-v"] if loud else []), *way, *port, *key, at, command)


def _line(*words: str) -> str:
    return " ".join(f"~/{shlex.quote(word[2:])}" if word.startswith("~/") else shlex.quote(word) for word in words)


def _url(place: PlaneAddress) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"https://{host}" + (f":{place.port}" if place.port != "443" else "")


def _scan(place: PlaneAddress) -> tuple[str, ...]:
    port = [] if place.port == "22" else ["-p", place.port]
    alias = f" | sed {shlex.quote(f's/^[^ ]*/{place.alias}/')}" if place.alias else ""
    file = f"{place.node}.hostkey"
    known = place.known or "~/.ssh/known_hosts"
    before, _, last = place.jump.rpartition(",")
    # Only the last jump host reaches the node, and ssh-keyscan knows no jumps.
    on = ["ssh", *(["-J", before] if before else []), last if last.startswith("ssh://") else f"ssh://{last}"]
    scan = ["ssh-keyscan", *port, place.host]
    return (
        f"{_line(*(on if last else []), *scan)}{alias} > {shlex.quote(file)}",
        _line("ssh-keygen", "-lf", file),
        f"{_line('cat', file)} >> {_line(known)}",
    )


def _no_host(_: PlaneTrouble, __: PlaneAddress) -> Advice:
    words = "The inventory has no host for this node; to read its operating system, write below its name:"
    return Advice(words, (), ('host: "{node}"',))


def _no_bmc(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    if finding.seen == NO_INVENTORY:
        words = (
            "BMCs are listed in an inventory, and there is none: pass one (-i FILE), or make one from existing data "
            "(rackcheck inventory import). Without BMCs, use --planes os."
        )
        return Advice(words)
    return Advice("The inventory has no BMC for this node; write below its name, or audit with --planes os:", (), BMC)


def _secret(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    name = finding.seen.removeprefix("env:").partition(":")[0]
    words = (
        "A secret of the inventory is not available here, so no plane that needs it is read. Put it where the "
        "reference points, or fix the reference; rackcheck inventory check tries all of them."
    )
    if not finding.seen.startswith("env:") or not name.isidentifier():
        return Advice(words)
    # Read from the terminal: a password typed into a command stays in the shell's history.
    return Advice(words, (f"stty -echo; read -r {name}; stty echo; export {name}",))


def _no_password(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    words = "No login is tried without a password: it would count as failed. Write into `defaults`, or below its name:"
    head, _url, user, password = BMC
    return Advice(words, (), (head, user, password) if finding.seen else (head, password))


def _ca_file(_: PlaneTrouble, __: PlaneAddress) -> Advice:
    words = (
        "`ca` is a file on this machine with the authority's certificate in PEM form. Check it with the line below, "
        "fix it, or pin the BMC's own certificate as `fingerprint:` instead."
    )
    return Advice(words, ("openssl x509 -noout -subject -in FILE",))


def _key_file(finding: PlaneTrouble, place: PlaneAddress) -> Advice:
    key = place.key or "KEY"
    if LOCKED in finding.seen:
        words = (
            "Put a reference to the key's passphrase into the inventory, as shown in the first lines below. Or load "
            "the key into an agent, and remove `key` from the inventory: an agent is used if no key is set."
        )
        return Advice(words, (_line("ssh-add", key),), ("ssh:", "  passphrase: env:RACKCHECK_SSH_PASSPHRASE"))
    words = "The problem is on this machine: check whether the key can be read, and fix `key` or the file."
    return Advice(words, (_line("ssh-keygen", "-y", "-f", key),))


def _no_read(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "The files exist, but this login has no permission to read them; their facts stay unknown. rackcheck uses "
        "sudo for commands only: find out who restricted the files, and why."
    )
    return Advice(words, (_ssh(place, "id; ls -ld FILE"),))


def _no_name(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "This name does not resolve: fix it, or use an address in the inventory."
    return Advice(words, (_line("getent", "hosts", place.host),))


def _refused(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        f"The address is reachable, but port {place.port} is closed: is the service running, or is it on another port?"
    )
    return Advice(words, (_line("nc", "-vz", place.host, place.port),))


def _silent(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "The machine is off, unplugged, on another network, or blocked by a firewall."
    return Advice(
        words, (_line("ping", "-c", "3", place.host), _line("nc", "-vz", "-w", "5", place.host, place.port or "22"))
    )


def _no_ssh(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    return Advice(
        "The port is open, but the SSH handshake does not complete: see where it stops.",
        (_ssh(place, "true", loud=True),),
    )


def _key_unknown(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        f"Fetch its key, compare the fingerprint with the one on its console ({HOST_KEYS}), and only then trust it; "
        "`rackcheck inventory trust` does this for all nodes:"
    )
    return Advice(words, _scan(place))


def _key_changed(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "The node was reinstalled, or another machine answers in its place. Check on its console "
        f"({HOST_KEYS}); only if it shows the same key, run:"
    )
    name = place.alias or (place.host if place.port == "22" else f"[{place.host}]:{place.port}")
    forget = _line("ssh-keygen", "-R", name, "-f", place.known or "~/.ssh/known_hosts")
    return Advice(words, (forget, *_scan(place)))


def _key_revoked(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = f"{place.known or 'known_hosts'} marks this key as revoked: the node needs new host keys."
    return Advice(words)


def _login(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    port = [] if place.port == "22" else ["-p", place.port]
    key = place.key or "~/.ssh/id_ed25519"
    public = place.public or f"{key}.pub"
    made: tuple[str, ...] = ()
    if not place.key:
        made = (_line("ssh-keygen", "-t", "ed25519", "-f", key),)
    elif not place.public:  # ssh-copy-id copies the public half, which is missing
        made = (f"{_line('ssh-keygen', '-y', '-f', key)} > {_line(public)}",)
    copy = _line("ssh-copy-id", *port, "-i", public, f"{place.user}@{place.host}")
    return Advice(
        "The node refuses this user with the available credentials. Install the key on it, then try:",
        (*made, copy, _ssh(place, "true", loud=True)),
    )


def _cut(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "The login succeeded, but the shell's output is cut: a forced command, a restricted shell, a full disk?"
    return Advice(words, (_ssh(place, "sh -c 'echo whole'"),))


def _hangs(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "The service hangs, or a firewall drops its replies; a BMC that stays like this needs a reset."
    return Advice(words, (f"time {_line('curl', '-k', '-m', '60', f'{_url(place)}/redfish/v1/')}",))


def _slow(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "It answers, but not within doctor's short limits; an audit waits longer (--timeout SECONDS). See what is slow:"
    )
    # A BMC's address has no key and no known_hosts: its certificate is read over HTTPS.
    line = _ssh(place, "uptime") if place.known or not place.port else _line("curl", "-k", f"{_url(place)}/redfish/v1/")
    return Advice(words, (f"time {line}",))


def _packages(things: Iterable[str]) -> tuple[str, ...]:
    """Return the commands that install these programs; vendors' programs and programs with a daemon are left out."""
    names = [name for thing in things if (name := _program(thing)) not in MAKERS.keys() | DAEMONS.keys()]
    known = sorted({PACKAGES[name] for name in names if name in PACKAGES})
    apt = [_line("apt-get", "install", *known)] if known else []
    other = [_line("apt-file", "search", f"bin/{name}") for name in names if name not in PACKAGES]
    paths = [f"/usr/{'sbin' if name in ADMIN else 'bin'}/{name}" for name in names if name not in APT_ONLY]
    return (*apt, *other, *([_line("dnf", "install", *paths)] if paths else []))


def _program(thing: str) -> str:
    return thing.rpartition("/")[2]


def _tools(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    names = tuple(map(_program, finding.things))
    lines = _packages(finding.things)
    words = []
    if makers := dict.fromkeys(MAKERS[name] for name in names if name in MAKERS):
        what = "Some of it" if lines or set(names) & DAEMONS.keys() else "The missing software"
        theirs = "comes with the device vendor's software, on nodes that have the device"
        words.append(f"{what} {theirs}: {', '.join(makers)}.")
    if daemons := [f"{name} ({DAEMONS[name]})" for name in names if name in DAEMONS]:
        words.append(f"Do not install these just for an audit, as a daemon comes with each: {', '.join(daemons)}.")
    if lines:
        install = "Install the rest" if words else "Install it"
        words.append(
            f"{install} on the node; without it, these facts stay unknown. On Debian and Ubuntu, or RHEL and relatives:"
        )
    else:
        words.append("Without it, these facts stay unknown.")
    return Advice(" ".join(words), lines)


def _root(finding: PlaneTrouble, place: PlaneAddress) -> Advice:
    login = place.user or "USER"
    if "off in the inventory" in finding.seen:
        return Advice("The inventory sets `sudo: false` for this node: these facts stay unknown as configured.")
    sudo = _packages(["sudo"]) if "no sudo program" in finding.seen else ()
    # sudo ignores a name with a dot: the list counts only once visudo has accepted it.
    install = "f=/etc/sudoers.d/rackcheck; umask 0227; cat > $f.new && visudo -cf $f.new && mv $f.new $f"
    remote = _ssh(replace(place, user="root", key=""), install) if place.port else _line("sudo", "sh", "-c", install)
    return Advice(
        "Grant these commands and nothing else (docs/guide/least-privilege.md), as root on the node:",
        (*sudo, f"rackcheck doctor --sudoers --user {shlex.quote(login)} | {remote}", _ssh(place, "sudo -n -l")),
    )


def _fingerprint(place: PlaneAddress) -> str:
    at = f"[{place.host}]:{place.port}" if ":" in place.host else f"{place.host}:{place.port}"
    show = "openssl x509 -noout -fingerprint -sha256"
    return f"{_line('openssl', 's_client', '-connect', at)} </dev/null 2>/dev/null | {show}"


def _cert_changed(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "The BMC has a new certificate, or another machine answers in its place. Compare the fingerprint with the "
        "one on the BMC's web page or console; only if they are equal, write it into the inventory as `fingerprint:`."
    )
    return Advice(words, (_fingerprint(place),))


def _cert_unknown(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "No trusted authority signed this certificate. Compare it with the BMC's web page or console, then write it "
        "into the inventory's bmc as `fingerprint:`, or set your authority as `ca: FILE`; `rackcheck inventory trust` "
        "does this for all BMCs."
    )
    return Advice(words, (_fingerprint(place),))


def _bmc_login(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "Wrong user or password, or no right to log in over Redfish. Try by hand, rarely: many BMCs lock the account."
    )
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", f"{_url(place)}/redfish/v1/Systems"),))


def _bmc_rejects(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "User and password are accepted. Check the role of this user, whether the BMC is restarting, and whether a "
        "proxy removes the header X-Auth-Token. Try without a session:"
    )
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", f"{_url(place)}/redfish/v1/Systems"),))


def _bmc_full(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "Another client leaves sessions open. They expire after a while; to see and close them:"
    user = place.user or "USER"
    return Advice(words, (_line("curl", "-k", "-u", user, f"{_url(place)}/redfish/v1/SessionService/Sessions"),))


def _bmc_look(words: str) -> "Callable[[PlaneTrouble, PlaneAddress], Advice]":
    return lambda _, place: Advice(words, (_line("curl", "-k", f"{_url(place)}/redfish/v1/"),))


def _bmc_role(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "Give this user the role ReadOnly at least (docs/guide/least-privilege.md); its current roles:"
    user = place.user or "USER"
    return Advice(words, (_line("curl", "-k", "-u", user, f"{_url(place)}/redfish/v1/AccountService/Accounts"),))


def _bmc_gap(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "The BMC links to this resource and does not return it; its facts stay unknown. Try it by hand:"
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", f"{_url(place)}/redfish/v1/Managers"),))


def _bmc_session(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "All facts can be read, but each run takes one of the BMC's sessions until it expires. Give the user the right"
        " to delete its own sessions (ConfigureSelf); list the open sessions with:"
    )
    uri = f"{_url(place)}/redfish/v1/SessionService/Sessions"
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", uri),))


def _ours(_: PlaneTrouble, __: PlaneAddress) -> Advice:
    return Advice("This is a fault of rackcheck, not of the node: please report it with the line above.")


_BY_TROUBLE: dict[Trouble, Callable[[PlaneTrouble, PlaneAddress], Advice]] = {
    Trouble.NO_HOST: _no_host,
    Trouble.NO_BMC: _no_bmc,
    Trouble.SECRET: _secret,
    Trouble.NO_PASSWORD: _no_password,
    Trouble.CA_FILE: _ca_file,
    Trouble.NO_NAME: _no_name,
    Trouble.REFUSED: _refused,
    Trouble.SILENT: _silent,
    Trouble.NO_SSH: _no_ssh,
    Trouble.KEY_UNKNOWN: _key_unknown,
    Trouble.KEY_CHANGED: _key_changed,
    Trouble.KEY_REVOKED: _key_revoked,
    Trouble.KEY_FILE: _key_file,
    Trouble.LOGIN: _login,
    Trouble.CUT: _cut,
    Trouble.NO_FRAME: _tools,
    Trouble.NO_TOOL: _tools,
    Trouble.NO_PYTHON: _tools,
    Trouble.NO_ROOT: _root,
    Trouble.NO_READ: _no_read,
    Trouble.CERT_CHANGED: _cert_changed,
    Trouble.CERT_UNKNOWN: _cert_unknown,
    Trouble.BMC_LOGIN: _bmc_login,
    Trouble.BMC_REJECTS: _bmc_rejects,
    Trouble.BMC_FULL: _bmc_full,
    Trouble.BMC_BUSY: _bmc_look(
        "The BMC is starting, updating or overloaded: check it, and try again in a few minutes."
    ),
    Trouble.HANGS: _hangs,
    Trouble.SLOW: _slow,
    Trouble.BMC_ODD: _bmc_look("The service on this port does not return valid Redfish: check it by hand."),
    Trouble.BMC_ROLE: _bmc_role,
    Trouble.BMC_GAP: _bmc_gap,
    Trouble.BMC_SESSION: _bmc_session,
    Trouble.OURS: _ours,
}
