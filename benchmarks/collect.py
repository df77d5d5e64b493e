"""What one node's whole collection costs, beside its slowest command, the same commands one by one, and a peer.

All over a real sshd on loopback, which this script starts; node and controller share this machine's cores. The peer is
AMD's node-scraper (PyPI: amd-node-scraper), with the plug-ins of the areas that both cover, over the same sshd; it is
measured where its command is there:

    python3 -m venv peer && peer/bin/pip install amd-node-scraper
    python benchmarks/collect.py peer/bin/node-scraper
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from getpass import getuser
from pathlib import Path
from secrets import token_hex

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import paramiko
from sshd import Server, serving

from rackcheck import inventory, ssh, ssh_config
from rackcheck.core.plan import Plan
from rackcheck.core.probe import Read, Shell
from rackcheck.core.script import compose
from rackcheck.registry import registry
from rackcheck.wire import Limits

ROUNDS = 5
PEER = (
    "OsPlugin", "KernelPlugin", "CmdlinePlugin", "SysctlPlugin", "KernelModulePlugin", "MemoryPlugin", "DimmPlugin",
    "PackagePlugin", "UptimePlugin", "PciePlugin", "NvmePlugin", "NetworkPlugin", "RdmaPlugin", "StoragePlugin",
    "BiosPlugin", "DmesgPlugin", "ProcessPlugin", "SysSettingsPlugin", "DkmsPlugin", "DeviceEnumerationPlugin",
)  # fmt: skip


def median(act: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Give the median of several rounds, in seconds."""
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
            return lambda: ssh.run(target, text, Limits())

        connection = median(ask(Shell("true")))
        whole = median(ask(*questions))
        alone = {str(q)[:60].partition("\n")[0]: median(ask(q), 3) - connection for q in questions}
        slowest, seconds = max(alone.items(), key=lambda one: one[1])
        print(f"questions {len(questions)}, script {len(compose(questions, token_hex(16))) / 1024:.1f} KiB")
        print(f"connection and one exec of nothing     {connection:6.3f} s")
        print(f"slowest question alone, above that     {seconds:6.3f} s  ({slowest})")
        print(f"all questions, one connection          {whole:6.3f} s")
        print(f"all / (connection + slowest)           {whole / (connection + seconds):6.2f}")
        apart = median(lambda: _one_by_one(server, questions), 3)
        print(f"one by one, one connection             {apart:6.3f} s")
        print(f"one by one / all at once               {apart / whole:6.1f}")
        facts = [sys.executable, "-m", "rackcheck", "facts", "n1", "-i", str(file), "--json"]
        ours = median(lambda: subprocess.run(facts, capture_output=True, check=False))  # noqa: S603
        print(f"rackcheck facts, the whole command     {ours:6.3f} s")
        if sys.argv[1:]:
            _beside(sys.argv[1], server, Path(place), ours)


def _one_by_one(server: Server, questions: Sequence[Shell | Read]) -> None:
    """Ask each question by an exec of its own, over one connection."""
    client = paramiko.SSHClient()
    client.load_host_keys(str(server.known_hosts))
    client.connect("127.0.0.1", server.port, getuser(), key_filename=str(server.key), look_for_keys=False)
    with client:
        for question in questions:
            asked, answer, _ = client.exec_command("sh -s")
            asked.write(compose([question], token_hex(16)))
            asked.channel.shutdown_write()
            answer.read()


def _beside(program: str, server: Server, place: Path, ours: float) -> None:
    """Measure the peer's whole command over the same server."""
    words = {"hostname": "127.0.0.1", "port": server.port, "username": getuser(), "key_filename": str(server.key)}
    config = place / "connection.json"
    config.write_text(json.dumps({"InBandConnectionManager": words}))
    # It takes host keys from the user's own file.
    home = place / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "known_hosts").write_text(server.known_hosts.read_text())
    command = [
        program, "--sys-location", "REMOTE", "--connection-config", str(config), "--log-path", str(place / "peer"),
        "--sys-interaction-level", "PASSIVE", "run-plugins", *PEER,
    ]  # fmt: skip
    env = {**os.environ, "HOME": str(home)}
    done = subprocess.run(command, capture_output=True, check=False, env=env, text=True)  # noqa: S603
    version = subprocess.run([program, "--version"], capture_output=True, check=False, text=True).stdout.strip()  # noqa: S603
    ran = sum(f"Running data collector: {name.removesuffix('Plugin')}" in done.stdout + done.stderr for name in PEER)
    theirs = median(lambda: subprocess.run(command, capture_output=True, check=False, env=env))  # noqa: S603
    print(f"{version or 'node-scraper'}, {ran} of {len(PEER)} plug-ins ran   {theirs:6.3f} s")
    print(f"theirs / ours                          {theirs / ours:6.1f}")


if __name__ == "__main__":
    main()
