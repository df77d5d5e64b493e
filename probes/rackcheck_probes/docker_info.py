"""How Docker runs: its version, drivers and runtimes, as the daemon says."""

import re

from rackcheck import Absent, Facts, Shell, Unreadable, flag, integer, listing, probe, text, version
from rackcheck.core import read
from rackcheck.core.fact import Reading

END = "-- end --"
TEXTS = {
    "Storage Driver": "storage_driver",
    "Cgroup Driver": "cgroup_driver",
    "Logging Driver": "logging_driver",
    "Default Runtime": "default_runtime",
    "Docker Root Dir": "root",
}
OTHERS = ("Server Version", "Cgroup Version", "Runtimes", "Live Restore Enabled")


def reading(name: str, value: str) -> Reading:
    """Read one value as its fact wants it."""
    if name == "Cgroup Version":
        return read.whole(value)
    if name == "Runtimes":
        return tuple(sorted(value.split()))
    return read.flag(value, yes="true", no="false") if name == "Live Restore Enabled" else value


# Asking a daemon that does not run could start it, by its socket: then it is not asked. Without a seat in the group
# `docker` the daemon refuses. What else it tells (proxies, labels, names) stays on the node.
@probe(
    Shell(
        "command -v docker >/dev/null || { echo 'docker: not found' >&2; exit 127; }\n"
        'p=$(cat /run/docker.pid) && [ "$(cat /proc/$p/comm)" = dockerd ] || '
        "{ echo 'dockerd does not run, and asking could start it' >&2; exit 1; }\n"
        "t=$(docker info) || exit 1\n"
        f"printf '%s\\n' \"$t\" | grep -E '^ ?({'|'.join((*TEXTS, *OTHERS))}):'; echo '{END}'"
    ),
    gives={
        **{
            f"container.docker.{leaf}": text(f"What `docker info` calls {name}; absent from versions that do not tell.")
            for name, leaf in TEXTS.items()
        },
        "container.docker.daemon": version("dotted", "The version of the daemon that runs."),
        "container.docker.cgroup_version": integer("The version of control groups that Docker uses: 1, 2."),
        "container.docker.runtimes": listing("The runtimes that containers may ask for: nvidia, runc."),
        "container.docker.live_restore": flag("Whether containers go on while the daemon restarts."),
    },
)
def docker_info(answer: str) -> Facts:
    """Read `Name: value` lines, which since 20.10 stand one blank in."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the answer was cut")
    shown: dict[str, str] = {}
    for row in rows[:-1]:
        match = re.fullmatch(r" ?([A-Z][A-Za-z ]{1,40}): ?(.{0,400}?)\s{0,20}", row)
        if match is None:
            raise Unreadable(f"not a name and a value: {row[:80]!r}")
        shown.setdefault(match[1], match[2])
    leaves = {**TEXTS, **dict(zip(OTHERS, ("daemon", "cgroup_version", "runtimes", "live_restore"), strict=True))}
    for name, leaf in leaves.items():
        told = shown.get(name)
        yield f"container.docker.{leaf}", reading(name, told) if told else Absent(f"docker info has no {name}")
