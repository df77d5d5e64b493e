"""Relevant settings in containerd's configuration file."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, probe, read, text
from rackcheck.model.fact import Reading
from rackcheck.model.regex import regex
from rackcheck_probes.os.hidden import THERE

PLACE, END = "/etc/containerd/config.toml", "-- end --"
LEAVES = {
    "default_runtime_name": "default_runtime",
    "snapshotter": "snapshotter",
    "SystemdCgroup": "systemd_cgroup",
    "enable_cdi": "cdi",
}
FLAGS = frozenset({"SystemdCgroup", "enable_cdi"})
ROW = regex(rf"\s*({'|'.join(LEAVES)})\s*=\s*([\"']?)([\w.-]{{0,80}})\2\s*(?:#.*)?")


# Only these: the same file may contain registry passwords.
@probe(
    Shell(
        f"{THERE}there {PLACE} || {{ echo 'no file'; exit 0; }}\n"
        f"t=$(cat {PLACE}) || exit 1\n"
        f"printf '%s\\n' \"$t\" | grep -E '^[[:space:]]*({'|'.join(LEAVES)})[[:space:]]*='; echo '{END}'",
        quick=True,
    ),
    gives={
        "container.containerd.default_runtime": text("The runtime of pods that request none: runc, nvidia."),
        "container.containerd.snapshotter": text("The snapshotter for images: overlayfs."),
        "container.containerd.systemd_cgroup": flag("Whether every runtime of the file leaves cgroups to systemd."),
        "container.containerd.cdi": flag("Whether devices may be requested through CDI."),
    },
)
def containerd_config(answer: str) -> Facts:
    """Read the `key = value` lines of all tables; if tables disagree, a text has all values, and a flag is false."""
    rows = read.rows(answer)
    missing = rows == ["no file"]
    if not missing and (not rows or rows[-1] != END):
        raise Unreadable("the output was truncated")
    given: dict[str, list[str]] = {}
    for row in () if missing else rows[:-1]:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a setting: {row[:80]!r}")
        given.setdefault(match[1], []).append(match[3])
    for name, leaf in LEAVES.items():
        reading: Reading = Absent(f"no {PLACE}" if missing else f"not in {PLACE}")
        if name in given and name in FLAGS:
            reading = {read.flag(value, yes="true", no="false") for value in given[name]} == {True}
        elif name in given:
            reading = " ".join(sorted(set(given[name]) - {""})) or reading
        yield f"container.containerd.{leaf}", reading
