"""Cost of one node's whole collection, compared with its slowest command, with separate commands, and with a peer.

The collection runs over a real sshd on loopback, which this script starts; node and controller share this machine's
cores. The peer is AMD's node-scraper (PyPI: amd-node-scraper), with the plug-ins for the areas that both read. The peer
runs on this machine itself, if the path of its command is given:

    python3 -m venv peer && peer/bin/pip install amd-node-scraper
    python benchmarks/collect.py peer/bin/node-scraper
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from getpass import getuser
from pathlib import Path
from secrets import token_hex

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import paramiko
from sshd import Server, serving

from rackcheck import inventory
from rackcheck.model.question import Read, Shell
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import registry
from rackcheck.probe.script import compose
from rackcheck.transport import ssh, ssh_config
from rackcheck.transport.wire import ShellLimits

ROUNDS = 5
SLOW = (0.1, 0.3, 1.0)
"""Seconds of a stand-in for a slow command: this machine may have no device with a slow tool."""
PEER = (
    "OsPlugin", "KernelPlugin", "CmdlinePlugin", "SysctlPlugin", "KernelModulePlugin", "MemoryPlugin", "DimmPlugin",
    "PackagePlugin", "UptimePlugin", "PciePlugin", "NvmePlugin", "NetworkPlugin", "RdmaPlugin", "StoragePlugin",
    "BiosPlugin", "DmesgPlugin", "ProcessPlugin", "SysSettingsPlugin", "DkmsPlugin", "DeviceEnumerationPlugin",
)  # fmt: skip


def median(act: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median of several rounds, in seconds."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def main() -> None:
    """Measure, print seconds and ratios."""
    questions = Plan(registry().probes).questions
    with tempfile.TemporaryDirectory() as place, serving(Path(place) / "sshd") as server:
        file = Path(place) / "inventory.yaml"
        file.write_text(server.inventory("n1"))
        (node,) = inventory.load(file).nodes.values()
        target = ssh_config.resolve(node, {})

        def ask(*asked: Shell | Read) -> Callable[[], object]:
            text = compose(asked, token_hex(16))
            return lambda: ssh.run(target, text, ShellLimits())

        connection = median(ask(Shell("true")))
        whole = median(ask(*questions), 2 * ROUNDS)
        alone = {str(q)[:44].partition("\n")[0]: median(ask(q), 3) for q in questions}
        name = max(alone, key=lambda one: alone[one])
        slowest = median(ask(*(q for q in questions if str(q).startswith(name))), 2 * ROUNDS)
        print(f"questions {len(questions)}, script {len(compose(questions, token_hex(16))) / 1024:.1f} KiB")
        print(f"connection and one empty exec          {connection:6.3f} s")
        print(f"connection and the slowest question    {slowest:6.3f} s  ({name})")
        print(f"connection and all questions           {whole:6.3f} s")
        print(f"all / slowest                          {whole / slowest:6.2f}")
        for seconds in SLOW:
            tool = Shell(f"sleep {seconds}")
            beside, only = median(ask(*questions, tool)), median(ask(tool))
            print(f"all / slowest, one of {seconds:3.1f} s among them {beside / only:6.2f}")
        apart = median(lambda: _one_by_one(server, questions), 3)
        print(f"one by one, one connection             {apart:6.3f} s")
        print(f"one by one / all at once               {apart / whole:6.1f}")
        facts = [sys.executable, "-m", "rackcheck", "facts", "n1", "-i", str(file), "--json"]
        ours = median(lambda: subprocess.run(facts, capture_output=True, check=False))  # noqa: S603
        print(f"rackcheck facts, the whole command     {ours:6.3f} s")
        if sys.argv[1:]:
            _beside(sys.argv[1], Path(place))


def _one_by_one(server: Server, questions: Sequence[Shell | Read]) -> None:
    """Run each command by a separate exec, over one connection."""
    client = paramiko.SSHClient()
    client.load_host_keys(str(server.known_hosts))
    client.connect("127.0.0.1", server.port, getuser(), key_filename=str(server.key), look_for_keys=False)
    with client:
        for question in questions:
            asked, answer, _ = client.exec_command("sh -s")
            asked.write(compose([question], token_hex(16)))
            asked.channel.shutdown_write()
            answer.read()


def _beside(program: str, place: Path) -> None:
    """Measure the peer's whole command and ours on this machine itself, without a connection."""
    facts = [sys.executable, "-m", "rackcheck", "facts", "localhost", "--json"]
    command = [
        program,
        "--sys-location",
        "LOCAL",
        "--skip-sudo",
        "--log-path",
        str(place / "peer"),
        "run-plugins",
        *PEER,
    ]
    done = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603
    version = subprocess.run([program, "--version"], capture_output=True, check=False, text=True).stdout.strip()  # noqa: S603
    value = re.findall(r"^\| \w+Plugin +\| (\w+)", done.stdout + done.stderr, re.MULTILINE)
    known = json.loads(subprocess.run(facts, capture_output=True, check=False).stdout)["facts"]  # noqa: S603
    ours = median(lambda: subprocess.run(facts, capture_output=True, check=False))  # noqa: S603
    theirs = median(lambda: subprocess.run(command, capture_output=True, check=False))  # noqa: S603
    answer = sum("unknown" not in fact for fact in known.values())
    print(f"this machine, rackcheck facts          {ours:6.3f} s  ({answer} facts of {len(registry().probes)} probes)")
    worked = f"{value.count('OK')} of {len(PEER)} plug-ins OK"
    print(f"this machine, {version or 'node-scraper'}       {theirs:6.3f} s  ({worked})")
    print(f"theirs / ours                          {theirs / ours:6.1f}")


if __name__ == "__main__":
    main()
