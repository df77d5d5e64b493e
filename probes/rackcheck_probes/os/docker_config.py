"""Relevant Docker settings in daemon.json."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, probe, read, text
from rackcheck.parse.host.os import docker
from rackcheck_probes.os.hidden import THERE

PLACE, END = "/etc/docker/daemon.json", "-- end --"
TEXTS = {
    "default-runtime": "default_runtime",
    "storage-driver": "storage_driver",
    "data-root": "root",
    "log-driver": "logging_driver",
    "default-shm-size": "shm_size",
}
FLAGS = {"live-restore": "live_restore", "cdi": "cdi"}
LEAVES = {**TEXTS, **FLAGS, docker.CGROUP_DRIVER: "cgroup_driver", docker.NVIDIA_RUNTIME: "nvidia_runtime"}
PATTERN = f'"({"|".join((*TEXTS, *FLAGS))})" *: *("[^"]*"|true|false)|"native[.]cgroupdriver=[a-z]*"|"nvidia" *: *[{{]'


# Only these: other content (proxies, options of logs) may include a password, and stays on the node.
@probe(
    Shell(
        f"{THERE}there {PLACE} || {{ echo 'no file'; exit 0; }}\n"
        f"t=$(cat {PLACE}) || exit 1\n"
        f"printf '%s\\n' \"$t\" | tr '\\n\\t\\r' '   ' | grep -oE '{PATTERN}'; echo '{END}'",
        quick=True,
    ),
    gives={
        **{
            f"container.docker.configured.{leaf}": text(
                f"`{name}` in daemon.json; if absent, Docker's default applies."
            )
            for name, leaf in TEXTS.items()
        },
        "container.docker.configured.live_restore": flag(
            "`live-restore` in daemon.json; if absent, Docker's default applies."
        ),
        "container.docker.configured.cdi": flag(
            "The feature `cdi` in daemon.json; if absent, Docker's default applies."
        ),
        "container.docker.configured.cgroup_driver": text("The option native.cgroupdriver in daemon.json."),
        "container.docker.configured.nvidia_runtime": flag("Whether daemon.json has a runtime `nvidia`."),
    },
)
def docker_config(answer: str) -> Facts:
    """Read the JSON fragments that the command extracts from daemon.json on the node."""
    rows = read.rows(answer)
    missing = rows == ["no file"]
    if not missing and (not rows or rows[-1] != END):
        raise Unreadable("the output was truncated")
    given = dict(docker.settings([] if missing else rows[:-1], texts=TEXTS, flags=FLAGS))
    if not missing:
        given.setdefault(docker.NVIDIA_RUNTIME, False)
    default = Absent(f"no {PLACE}" if missing else f"not in {PLACE}")
    for name, leaf in LEAVES.items():
        yield f"container.docker.configured.{leaf}", given.get(name, default)
