"""Docker's version, drivers and runtimes, as the daemon reports them."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, integer, listing, probe, read, text, version
from rackcheck.parse.host.os import docker

END = "-- end --"
TEXTS = {
    "Storage Driver": "storage_driver",
    "Cgroup Driver": "cgroup_driver",
    "Logging Driver": "logging_driver",
    "Default Runtime": "default_runtime",
    "Docker Root Dir": "root",
}
OTHERS = {
    "Server Version": "daemon",
    "Cgroup Version": "cgroup_version",
    "Runtimes": "runtimes",
    "Live Restore Enabled": "live_restore",
}


# A query could start a stopped daemon through its socket, so it is only sent to a running one. Without membership in
# the group `docker` the daemon refuses. The command's other output (proxies, labels, names) stays on the node.
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
            f"container.docker.{leaf}": text(
                f"{name} of `docker info`; absent if this version of Docker does not print it."
            )
            for name, leaf in TEXTS.items()
        },
        "container.docker.daemon": version("dotted", "The version of the running daemon."),
        "container.docker.cgroup_version": integer("The version of control groups that Docker uses: 1, 2."),
        "container.docker.runtimes": listing("The runtimes that containers may request: nvidia, runc."),
        "container.docker.live_restore": flag("Whether containers keep running while the daemon restarts."),
    },
)
def docker_info(answer: str) -> Facts:
    """Read `Name: value` lines, which Docker indents by one blank since version 20.10."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the output was truncated")
    info = docker.info(rows[:-1])
    for name, leaf in {**TEXTS, **OTHERS}.items():
        line = info.get(name)
        none = Absent(f"docker info has no {name}")
        yield f"container.docker.{leaf}", docker.shown(name, line) if line else none
