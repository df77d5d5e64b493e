"""CPU time of SSH clients for each host, on many real sshd processes of this machine, and of whole audits of hosts.

    python benchmarks/fan_out.py HARNESS PEERS [--sizes 20 200 1000] [--rounds 3]

HARNESS is a folder with `testbed.py`, `bench.py`, `clients.py`, `inventory.sh` and `payload.sh` (a test bed of sshd,
other clients, and the accounting of their CPU time). PEERS is a virtual environment with paramiko, asyncssh,
ssh2-python, ClusterShell, ansible-core and amd-node-scraper. All clients run in the same rounds, one after the other.

Clients run one script on each host. `slope` is the time for each host more, between the two largest sizes: it is free
of what a client takes to start. Audits are `rackcheck audit -p linux-server`, beside `ansible -m setup` with pipelining
and node-scraper's plugins for the same facts, one process for each host, as it is made.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLIENTS = ("ssh2_epoll", "asyncssh_tuned", "openssh_tuned", "clush")
MOST = 64
"""Hosts at the same time, for all clients."""

PLUGINS = "KernelPlugin CmdlinePlugin SysctlPlugin MemoryPlugin OsPlugin PciePlugin NetworkPlugin StoragePlugin"
COUNTED = "echo '{{\"ok\":' $(grep -c {} {}/out) ', \"bad\": 0}}'"
"""Prints the number of hosts in an output, in the form of the harness."""

AT_ONCE = 8
"""Hosts that `rackcheck audit` asks at the same time: they share the cores of this machine with it, and what they read
takes so much of their time that with more of them commands exceed their limits, and their answers differ."""

WHOLE = 200
"""Maximum number of hosts of which all facts are read."""

ROOT = Path(__file__).parents[1]


def inventory(bed: Path, count: int) -> str:
    """Return an inventory of the first hosts of a test bed."""
    hosts = (bed / "hosts").read_text().split()[:count]
    nodes = "".join(f"  h{number:04}: {{ host: {host} }}\n" for number, host in enumerate(hosts, start=1))
    ssh = f"{{ user: root, port: 2222, key: {bed}/id, known-hosts: {bed}/known_hosts }}"
    limits = f"limits: {{ 127.0.0.0/8: {{ os: {AT_ONCE} }} }}\n"
    return f"rackcheck: 1\ndefaults: {{ ssh: {ssh} }}\n{limits}nodes:\n{nodes}"


def audits(bed: Path, peers: Path, harness: Path, count: int, place: Path) -> list[str]:
    """Return the commands that read all facts of the hosts, in the form of the harness."""
    (place / f"{count}.yaml").write_text(inventory(bed, count))
    words = ["sh", str(harness / "inventory.sh"), str(bed), str(count)]
    (place / f"{count}.ini").write_bytes(subprocess.run(words, capture_output=True, check=True).stdout)  # noqa: S603
    program = Path(sys.executable).with_name("rackcheck")
    setup = f"ANSIBLE_PIPELINING=1 {peers}/bin/ansible all -i {place}/{count}.ini -m setup -f {MOST}"
    # As after the first command on a machine: what the program keeps of its own files is there, no run and no fact is.
    env = {**os.environ, "RACKCHECK_HOME": f"{place}/home"}
    first = [program, "audit", "-p", "linux-server", "localhost", "-q"]
    if subprocess.run(first, env=env, stdout=subprocess.DEVNULL, check=False).returncode not in {0, 1, 3}:  # noqa: S603
        raise SystemExit("the first audit failed, so that nothing is kept for the others")
    home = f"export RACKCHECK_HOME={place}/home; rm -rf $RACKCHECK_HOME/runs $RACKCHECK_HOME/cache/facts"
    audit = f"{program} audit -p linux-server -i {place}/{count}.yaml --planes os --json -q"
    found = [
        f"ansible_setup={setup} >{place}/out; {COUNTED.format('SUCCESS', place)}",
        f"rackcheck_audit={home}; {audit} >{place}/out; {COUNTED.format('.not_in_scope.:', place)}",
    ]
    key = {"hostname": "HOST", "port": 2222, "username": "root", "key_filename": str(bed / "id")}
    (place / "connection.json").write_text(json.dumps({"InBandConnectionManager": key}))
    one = (
        f"sed s/HOST/{{}}/ {place}/connection.json >{place}/{{}}.json; {peers}/bin/node-scraper --sys-name {{}} "
        f"--sys-location REMOTE --connection-config {place}/{{}}.json --no-console-log --log-path {place}/logs "
        f"run-plugins {PLUGINS} >/dev/null 2>&1; true"
    )
    return [*found, f"node_scraper=head -n $N $BED/hosts | xargs -P 4 -I{{}} sh -c '{one}'"]


def rows(text: str) -> dict[str, float]:
    """Return the milliseconds for each host of the clients in a table of the harness."""
    return {found[1]: float(found[2]) for found in re.finditer(r"^(\w+) +\S+ +([\d.]+) ", text, re.MULTILINE)}


def main() -> None:
    """Print the tables of the harness, and the slopes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("harness", type=Path)
    parser.add_argument("peers", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 200, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    harness, peers = given.harness.resolve(), given.peers.resolve()
    os.environ["PATH"] = f"{peers}/bin:{os.environ['PATH']}"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        bed = place / "bed"
        testbed = [str(peers / "bin" / "python"), str(harness / "testbed.py")]
        subprocess.run([*testbed, "up", "--hosts", str(max(given.sizes)), "--dir", str(bed)], check=True)  # noqa: S603
        ours = f"{sys.executable} {ROOT / 'benchmarks' / 'ssh_clients.py'} {harness / 'payload.sh'}"
        times: dict[int, dict[str, float]] = {}
        try:
            for count in given.sizes:
                clients = [*CLIENTS, f"rackcheck={ours}", f"rackcheck_paramiko=RACKCHECK_SSH=paramiko {ours}"]
                words = [
                    testbed[0], str(harness / "bench.py"), "--n", str(count), "--conc", str(MOST), "--bed", str(bed),
                    "--rounds", str(given.rounds), "--timeout", "900", "--py", testbed[0],
                ]  # fmt: skip
                modes = {"clients": clients}
                if count <= WHOLE:
                    modes["audits"] = audits(bed, peers, harness, count, place)
                for mode, names in modes.items():
                    done = subprocess.run([*words, *names], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
                    print(f"{mode}: {done.stdout}", flush=True)
                    times[count] = times.get(count, {}) | rows(done.stdout)
        finally:
            subprocess.run([*testbed, "down", "--dir", str(bed)], check=True)  # noqa: S603
    if len(given.sizes) > 1:
        few, many = sorted(given.sizes)[-2:]
        slopes = {
            name: (many * times[many][name] - few * times[few][name]) / (many - few)
            for name in times[many]
            if name in times[few]
        }
        print(f"slope between {few} and {many} hosts, ms of CPU for each host, and beside the bare libssh2 loop:")
        for name, slope in slopes.items():
            print(f"{name:20} {slope:8.2f} {slope / slopes['ssh2_epoll']:6.2f}")


if __name__ == "__main__":
    main()
