"""Our side of a comparison of SSH clients: runs a script on many hosts as an audit does, and counts whole answers.

The hosts are real sshd processes on loopback, and other clients run in the same rounds, by a harness that counts the
CPU time of both sides. It sets N (hosts), CONC (at the same time) and BED (with `hosts`, `id` and `known_hosts`):

    python bench.py --n 200 --conc 64 --rounds 3 --py PYTHON ssh2_epoll paramiko openssh_tuned \
        "rackcheck=RACKCHECK/.venv/bin/python RACKCHECK/benchmarks/ssh_clients.py payload.sh"

RACKCHECK_SSH=paramiko runs it without libssh2.
"""

import json
import os
import sys
import threading
from pathlib import Path

from rackcheck.base.cycles import search_rarely
from rackcheck.inventory import AskLimit, Node, Ssh
from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Plane
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.run.collecting import collect
from rackcheck.run.event import Answered
from rackcheck.run.job import Job, now
from rackcheck.transport import ssh, ssh_config
from rackcheck.transport.wire import ShellLimits


def main() -> int:
    """Ask the hosts; exit 1 unless each returns the whole output."""
    search_rarely()  # as the command line
    bed, count, wide = Path(os.environ["BED"]), int(os.environ["N"]), int(os.environ["CONC"])
    script = Path(sys.argv[1]).read_text(encoding="utf-8")
    given = Ssh(user="root", port=2222, key=str(bed / "id"), known_hosts=str(bed / "known_hosts"))
    names = (bed / "hosts").read_text(encoding="utf-8").split()[:count]
    nodes = tuple(Node(name, host=name, ssh=given) for name in names)
    known = registry()
    asked = plan([], known.probes, known.catalogue)
    limits = (AskLimit("all", frozenset(names), {Plane.OS: wide}),)
    job = Job(asked, nodes, planes=frozenset({Plane.OS}), limits=limits)
    whole: list[str] = []

    def ask(node: Node, plane: Plane, mine: Job, _: threading.Event) -> Answered:
        reply = ssh.run(ssh_config.resolve(node, {}), script, ShellLimits(), mine.allowance)
        if reply.raw.rstrip().endswith(b"END 1"):  # the last line of the harness's payload
            whole.append(node.name)
        return Answered(node.name, plane, now(), None if reply.raw else reply.cut, NodeCapture())

    for _ in collect(job, ask, threading.Event()):
        pass
    print(json.dumps({"ok": len(whole), "bad": len(nodes) - len(whole)}))
    return 0 if len(whole) == len(nodes) else 1


if __name__ == "__main__":
    sys.exit(main())
