"""The way from an empty folder to a signed, verified bundle: the commands that a newcomer types, and their outputs.

Eight simulated nodes are reached over real SSH and HTTPS; neither their host keys nor their certificates are known.
"""

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rackcheck import inventory
from rackcheck.sim.rack import SimRack
from rackcheck.sim.scenario import Scenario

LONGEST = 300.0
"""Maximum duration of the whole way, in seconds."""


@dataclass(frozen=True)
class Typed:
    """One command: what was typed, the answers to its questions, its output, its exit status, and its seconds."""

    words: tuple[str, ...]
    answers: str
    out: str
    err: str
    status: int
    seconds: float


def commands(first: inventory.Node, count: int, keys: Path) -> Iterator[tuple[str, ...]]:
    """Yield the commands; a command that asks is answered with yes."""
    assert first.bmc is not None
    host = re.sub(r"[0-9]+$", lambda last: f"[{last[0]}-{int(last[0]) + count - 1}]", first.host)
    bmc = re.sub(r"[0-9]+(?=:[0-9]+$)", lambda last: f"[{last[0]}-{int(last[0]) + count - 1}]", first.bmc.url)
    ssh = ("--user", first.ssh.user, "--port", str(first.ssh.port), "--key", str(keys / "id_ed25519"))
    password = f"file:{keys / 'bmc-password'}"
    yield (
        "rackcheck", "init", "--nodes", f"dgx[01-{count:02}]", "--host", host, *ssh, "--bmc", bmc,
        "--bmc-user", first.bmc.user, "--bmc-password", password,
    )  # fmt: skip
    yield ("rackcheck", "accept", "new", "pod7", "-p", "h100-dgx")
    yield ("rackcheck", "accept", "add", "pod7", "last")
    yield ("rackcheck", "burnin", "--accept", "pod7")
    yield ("rackcheck", "audit", "--accept", "pod7")
    yield ("rackcheck", "accept", "show", "pod7")
    yield ("rackcheck", "report", "pod7", "--bundle", "-o", "pod7")
    yield ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "Jo Doe", "-f", "key")
    yield ("rackcheck", "sign", "pod7", "--key", "key")
    yield ("rackcheck", "verify", "pod7", "--key", "key.pub")


def walk(scenario: Scenario, folder: Path) -> Iterator[Typed]:
    """Start the rack, and type the commands in an empty folder below `folder`, until one of them cannot go on."""
    home, pod = folder / "home", folder / "pod"
    home.mkdir()
    pod.mkdir()
    place = {"HOME": str(home), "RACKCHECK_HOME": str(home / "rackcheck")}
    own = Path(sys.executable).parent
    env = {**os.environ, **place, "PATH": f"{own}:{os.environ['PATH']}", "COLUMNS": "100"}
    (folder / "rack").mkdir()
    with SimRack(scenario, folder / "rack") as up:
        nodes = inventory.load(Path(up.inventory)).nodes
        first, *_ = nodes.values()
        for words in commands(first, len(nodes), folder / "rack"):
            done = _typed(words, "y\n" * 8, env, pod)
            yield done
            if done.status == 2:
                return


def _typed(words: tuple[str, ...], answers: str, env: dict[str, str], pod: Path) -> Typed:
    began = time.monotonic()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=pod, text=True
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    out, err = process.communicate(timeout=LONGEST)
    os.close(ours)
    return Typed(words, answers, out, err, process.returncode, time.monotonic() - began)
