"""How to fix a trouble: a sentence, and the exact lines to type; pure.

No line holds a secret: a command that needs a password prompts for it. `NODE` and similar placeholders stand for
several nodes.
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
    "rdma": "iproute2", "readlink": "coreutils", "sed": "sed", "sort": "coreutils", "sudo": "sudo",
    "systemctl": "systemd", "tail": "coreutils", "timedatectl": "systemd", "timeout": "coreutils", "tr": "coreutils",
    "uname": "coreutils", "uniq": "coreutils", "wc": "coreutils", "xargs": "findutils", "zpool": "zfsutils-linux",
}  # fmt: skip
"""Debian's package of a program, as `dpkg -S` names it; dnf finds a program by its path."""

ADMIN = frozenset({"dcb", "dkms", "dmidecode", "ethtool", "ip", "lspci", "nvme", "rdma", "zpool"})
"""Programs that RHEL and its relatives install in /usr/sbin, the others in /usr/bin."""

MAKERS = {
    "amd-smi": "AMD's ROCm", "docker": "Docker", "mlxconfig": "NVIDIA's firmware tools (MFT)",
    "mlxfwmanager": "NVIDIA's firmware tools (MFT)", "mlxlink": "NVIDIA's firmware tools (MFT)",
    "mmgetstate": "IBM Storage Scale", "nvidia-smi": "NVIDIA's driver",
}  # fmt: skip
"""Programs that come from a device's vendor, and from no distribution."""

DAEMONS = {"lldpctl": "lldpd", "scontrol": "munged", "smartctl": "smartd"}
"""Programs whose package, or a dependency of it, brings a daemon and a unit that starts it (read in Debian 12's
lldpd 1.0.16, slurm-client 22.05 with munge 0.5.15, smartmontools 7.3): they are named, and installing them is left to
whoever runs the daemon anyway.
"""

APT_ONLY = frozenset({"apt-config"})
"""Programs that are of no use on a system without apt."""

BMC = ("bmc:", '  url: "https://{node}-bmc"', "  user: audit", "  password: env:RACKCHECK_BMC_PASSWORD")
"""A BMC's entry in an inventory, as lines to paste; `{node}` is the node's own name."""

HOST_KEYS = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"


@dataclass(frozen=True)
class Advice:
    """A sentence, the lines to type, and the lines to add to the inventory."""

    words: str
    lines: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def together(places: Sequence[PlaneAddress]) -> PlaneAddress:
    """Merge addresses: values that differ by the node's name alone get NODE in its place, others a placeholder."""
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
    """Format the line that runs a command on a node: an address without a port is this machine."""
    if not place.port:
        return command
    port = ["-p", place.port] if place.port != "22" else []
    key = ["-i", place.key] if place.key else []
    at = f"{place.user}@{place.host}" if place.user else place.host
    return _line("ssh", *(["-v"] if loud else []), *port, *key, at, command)


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
    return (
        f"{_line('ssh-keyscan', *port, place.host)}{alias} > {shlex.quote(file)}",
        _line("ssh-keygen", "-lf", file),
        f"{_line('cat', file)} >> {_line(known)}",
    )


def _no_host(_: PlaneTrouble, __: PlaneAddress) -> Advice:
    words = "The inventory gives this node no host; to ask its operating system, write below its name:"
    return Advice(words, (), ('host: "{node}"',))


def _no_bmc(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    if finding.seen == NO_INVENTORY:
        words = (
            "A BMC stands in an inventory, and there is none: name it (-i FILE), or make one from what you have "
            "(rackcheck inventory import). Without BMCs, ask with --planes os."
        )
        return Advice(words)
    return Advice("The inventory gives this node no BMC; write below its name, or audit with --planes os:", (), BMC)


def _secret(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    name = finding.seen.removeprefix("env:").partition(":")[0]
    words = (
        "The inventory names a secret that is not to be had here, so nobody is asked with it. Put it where the "
        "reference points, or mend the reference; rackcheck inventory check tries them all."
    )
    if not finding.seen.startswith("env:") or not name.isidentifier():
        return Advice(words)
    # Read from the terminal: a password typed into a command stays in the shell's history.
    return Advice(words, (f"stty -echo; read -r {name}; stty echo; export {name}",))


def _no_password(finding: PlaneTrouble, _: PlaneAddress) -> Advice:
    words = (
        "No login is tried without one: it would only count as a wrong one. Write into `defaults`, or below its name:"
    )
    head, _url, user, password = BMC
    return Advice(words, (), (head, user, password) if finding.seen else (head, password))


def _ca_file(_: PlaneTrouble, __: PlaneAddress) -> Advice:
    words = (
        "`ca` is a file on this machine with the authority's certificate in PEM form. Look at it with the line below, "
        "mend it, or pin the BMC's own certificate as `fingerprint:` instead."
    )
    return Advice(words, ("openssl x509 -noout -subject -in FILE",))


def _key_file(finding: PlaneTrouble, place: PlaneAddress) -> Advice:
    key = place.key or "KEY"
    if LOCKED in finding.seen:
        words = (
            "Name where its passphrase lies (first lines), or load the key into an agent and take `key` out of the "
            "inventory: an agent is asked where no key is named."
        )
        return Advice(words, (_line("ssh-add", key),), ("ssh:", "  passphrase: env:RACKCHECK_SSH_PASSPHRASE"))
    words = "What is wrong is here, on this machine: see whether the key opens, and mend `key` or the file."
    return Advice(words, (_line("ssh-keygen", "-y", "-f", key),))


def _no_read(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "They are there, and this login may not read them; what they tell stays unknown. sudo is for commands only: "
        "see who closed them, and why."
    )
    return Advice(words, (_ssh(place, "id; ls -ld FILE"),))


def _no_name(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "No resolver knows this name: mend it, or write an address into the inventory."
    return Advice(words, (_line("getent", "hosts", place.host),))


def _refused(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = f"The address answers, and nothing listens on port {place.port}: is the service on, is it another port?"
    return Advice(words, (_line("nc", "-vz", place.host, place.port),))


def _silent(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "Off, unplugged, on another network, or behind a filter that drops us."
    return Advice(
        words, (_line("ping", "-c", "3", place.host), _line("nc", "-vz", "-w", "5", place.host, place.port or "22"))
    )


def _no_ssh(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    return Advice(
        "Something listens, but SSH does not come about in time: see where it stops.", (_ssh(place, "true", loud=True),)
    )


def _key_unknown(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = f"Fetch its key, compare the fingerprint with what its console says ({HOST_KEYS}), and only then trust it:"
    return Advice(words, _scan(place))


def _key_changed(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "The node was set up anew, or another machine answers in its place. Ask its console "
        f"({HOST_KEYS}); only if that says the key that was found:"
    )
    name = place.alias or (place.host if place.port == "22" else f"[{place.host}]:{place.port}")
    forget = _line("ssh-keygen", "-R", name, "-f", place.known or "~/.ssh/known_hosts")
    return Advice(words, (forget, *_scan(place)))


def _key_revoked(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = f"{place.known or 'known_hosts'} marks this key as revoked: the node must be given new host keys."
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
        "The node lets nobody in as this user with what we have. Give it the key, then look:",
        (*made, copy, _ssh(place, "true", loud=True)),
    )


def _cut(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "We were let in, but no shell of ours answered whole: a forced command, a restricted shell, a full disk?"
    return Advice(words, (_ssh(place, "sh -c 'echo whole'"),))


def _hangs(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "It hangs, or a filter swallows what it says; a BMC that stays like this needs a reset of its own."
    return Advice(words, (f"time {_line('curl', '-k', '-m', '60', f'{_url(place)}/redfish/v1/')}",))


def _slow(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "It answers, but not within doctor's few seconds; an audit waits longer (--timeout SECONDS). See what is slow:"
    )
    # A BMC's address has no key and no known_hosts: its certificate is read over HTTPS.
    line = _ssh(place, "uptime") if place.known or not place.port else _line("curl", "-k", f"{_url(place)}/redfish/v1/")
    return Advice(words, (f"time {line}",))


def _packages(things: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that install these programs; none for those of vendors, and none that brings a daemon."""
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
        what = "Some of it" if lines or set(names) & DAEMONS.keys() else "What is missing"
        theirs = "comes with the software of the device's maker, where the node has the device"
        words.append(f"{what} {theirs}: {', '.join(makers)}.")
    if daemons := [f"{name} ({DAEMONS[name]})" for name in names if name in DAEMONS]:
        words.append(f"Only with a daemon, so not for an audit's sake: {', '.join(daemons)}.")
    if lines:
        install = "Install the rest" if words else "Install"
        words.append(
            f"{install} on the node (Debian and Ubuntu, or RHEL and its kin); without it, these facts stay unknown:"
        )
    else:
        words.append("Without it, these facts stay unknown.")
    return Advice(" ".join(words), lines)


def _root(finding: PlaneTrouble, place: PlaneAddress) -> Advice:
    login = place.user or "USER"
    if "off in the inventory" in finding.seen:
        return Advice("The inventory says `sudo: false` for this node: these facts stay unknown by your own word.")
    sudo = _packages(["sudo"]) if "no sudo program" in finding.seen else ()
    # sudo ignores a name with a dot: the list counts only once visudo has accepted it.
    install = "f=/etc/sudoers.d/rackcheck; umask 0227; cat > $f.new && visudo -cf $f.new && mv $f.new $f"
    remote = _ssh(replace(place, user="root", key=""), install) if place.port else _line("sudo", "sh", "-c", install)
    return Advice(
        "Grant these commands and nothing else (docs/guide/least-privilege.md), as somebody who is root there:",
        (*sudo, f"rackcheck doctor --sudoers --user {shlex.quote(login)} | {remote}", _ssh(place, "sudo -n -l")),
    )


def _fingerprint(place: PlaneAddress) -> str:
    at = f"[{place.host}]:{place.port}" if ":" in place.host else f"{place.host}:{place.port}"
    show = "openssl x509 -noout -fingerprint -sha256"
    return f"{_line('openssl', 's_client', '-connect', at)} </dev/null 2>/dev/null | {show}"


def _cert_changed(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "The BMC has a new certificate, or another machine answers in its place. Compare with what its own page or "
        "console shows; only if that is what was found, write it into the inventory as `fingerprint:`."
    )
    return Advice(words, (_fingerprint(place),))


def _cert_unknown(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "Nobody we trust vouches for this certificate. Compare it with the BMC's own page or console, then write it "
        "into the inventory's bmc as `fingerprint:`, or name your authority as `ca: FILE`."
    )
    return Advice(words, (_fingerprint(place),))


def _bmc_login(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = (
        "Wrong user or password, or no right to log in over Redfish. Try by hand, seldom: many BMCs lock the account."
    )
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", f"{_url(place)}/redfish/v1/Systems"),))


def _bmc_full(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "Somebody leaves sessions open. They end by themselves after a while; to see and close them:"
    user = place.user or "USER"
    return Advice(words, (_line("curl", "-k", "-u", user, f"{_url(place)}/redfish/v1/SessionService/Sessions"),))


def _bmc_look(words: str) -> "Callable[[PlaneTrouble, PlaneAddress], Advice]":
    return lambda _, place: Advice(words, (_line("curl", "-k", f"{_url(place)}/redfish/v1/"),))


def _bmc_role(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "Give this user the role ReadOnly at least (docs/guide/least-privilege.md); what it has now:"
    user = place.user or "USER"
    return Advice(words, (_line("curl", "-k", "-u", user, f"{_url(place)}/redfish/v1/AccountService/Accounts"),))


def _bmc_gap(_: PlaneTrouble, place: PlaneAddress) -> Advice:
    words = "The BMC names this resource and does not give it; facts below it stay unknown. Look at it by hand:"
    return Advice(words, (_line("curl", "-k", "-u", place.user or "USER", f"{_url(place)}/redfish/v1/Managers"),))


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
    Trouble.BMC_FULL: _bmc_full,
    Trouble.BMC_BUSY: _bmc_look("It is starting, updating or overloaded: look, and ask again in some minutes."),
    Trouble.HANGS: _hangs,
    Trouble.SLOW: _slow,
    Trouble.BMC_ODD: _bmc_look("What listens there does not speak Redfish as we know it: look at it by hand."),
    Trouble.BMC_ROLE: _bmc_role,
    Trouble.BMC_GAP: _bmc_gap,
    Trouble.OURS: _ours,
}
