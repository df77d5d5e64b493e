"""What daemon.json sets, of Docker's settings that matter here."""

import re

from rackcheck import Absent, Facts, Shell, Unreadable, flag, probe, text
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck_probes.hidden import THERE

PLACE, END = "/etc/docker/daemon.json", "-- end --"
TEXTS = {
    "default-runtime": "default_runtime",
    "storage-driver": "storage_driver",
    "data-root": "root",
    "log-driver": "logging_driver",
    "default-shm-size": "shm_size",
}
FLAGS = {"live-restore": "live_restore", "cdi": "cdi"}
FOUND = re.compile(
    rf'"({"|".join((*TEXTS, *FLAGS))})" *: *("[^"]{{0,200}}"|true|false)|"native\.cgroupdriver=([a-z]{{1,20}})"'
    r'|"(nvidia)" *: *\{'
)
PATTERN = f'"({"|".join((*TEXTS, *FLAGS))})" *: *("[^"]*"|true|false)|"native[.]cgroupdriver=[a-z]*"|"nvidia" *: *[{{]'


# Only these: what else stands there (proxies, options of logs) may hold a password, and stays on the node.
@probe(
    Shell(
        f"{THERE}there {PLACE} || {{ echo 'no file'; exit 0; }}\n"
        f"t=$(cat {PLACE}) || exit 1\n"
        f"printf '%s\\n' \"$t\" | tr '\\n\\t\\r' '   ' | grep -oE '{PATTERN}'; echo '{END}'",
        quick=True,
    ),
    gives={
        **{
            f"container.docker.configured.{leaf}": text(f"`{name}` in daemon.json; absent: Docker's own choice.")
            for name, leaf in TEXTS.items()
        },
        "container.docker.configured.live_restore": flag("`live-restore` in daemon.json; absent: Docker's own choice."),
        "container.docker.configured.cdi": flag("The feature `cdi` in daemon.json; absent: Docker's own choice."),
        "container.docker.configured.cgroup_driver": text("The option native.cgroupdriver in daemon.json."),
        "container.docker.configured.nvidia_runtime": flag("Whether daemon.json has a runtime `nvidia`."),
    },
)
def docker_config(answer: str) -> Facts:
    """Read the pieces of JSON that the node picked out."""
    rows = read.rows(answer)
    missing = rows == ["no file"]
    if not missing and (not rows or rows[-1] != END):
        raise Unreadable("the answer was cut")
    given: dict[str, Reading] = {}
    for row in () if missing else rows[:-1]:
        match = FOUND.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a setting of daemon.json: {row[:80]!r}")
        name, value, driver, nvidia = match.groups()
        if driver:
            given["cgroup_driver"] = driver
        elif nvidia:
            given["nvidia_runtime"] = True
        elif name in TEXTS:
            given[TEXTS[name]] = read.unquoted(value)
        else:
            given[FLAGS[name]] = read.flag(value, yes="true", no="false")
    if not missing:
        given.setdefault("nvidia_runtime", False)
    for leaf in (*TEXTS.values(), *FLAGS.values(), "cgroup_driver", "nvidia_runtime"):
        default = Absent(f"no {PLACE}" if missing else f"not in {PLACE}")
        yield f"container.docker.configured.{leaf}", given.get(leaf, default)
