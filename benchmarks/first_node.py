"""The CPU seconds of a program until it asks its first node, here and over SSH, beside other programs.

    python benchmarks/first_node.py PROGRAM... [--rounds 7]

A PROGRAM is the folder of a checkout with its `.venv/bin/rackcheck`, or the path of the command `ansible`. rackcheck
audits with two profiles, ansible runs `-m setup`. The node is this machine, and then a real SSH server on loopback that
runs a forced command in place of the program's first command. CPU seconds (user and system) are those of the program
and all its child processes, to 0.01 s, read as soon as the first shell was started here, or the forced command on the
node; then the program is killed. Each round runs all programs one after the other; the table has medians and minima.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from sshd import Server, serving

PROFILES = ("linux-server", "h100-dgx")
TICK = os.sysconf("SC_CLK_TCK")


def stats(root: int) -> list[tuple[str, float]]:
    """Return the name and the CPU seconds, with ended children, of a process and all its descendants."""
    found: dict[int, tuple[int, str, float]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                text = Path(entry.path, "stat").read_text()
            except OSError:  # it has ended
                continue
            name, fields = text.partition("(")[2].rpartition(")")[0], text.rpartition(")")[2].split()
            found[int(entry.name)] = int(fields[1]), name, sum(map(int, fields[11:15])) / TICK
    inside = {root}
    while more := {pid for pid, (parent, _, _) in found.items() if parent in inside} - inside:
        inside |= more
    return [found[pid][1:] for pid in inside if pid in found]


def until(began: Callable[[int], bool], words: list[str], env: Mapping[str, str]) -> tuple[float, float]:
    """Run a program until it has begun; return the seconds until then, and its CPU seconds."""
    start = time.monotonic()
    process = subprocess.Popen(  # noqa: S603  our own program
        words, env={**os.environ, **env}, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not began(process.pid):
            if process.poll() is not None:
                sys.exit(f"{' '.join(words)} ended before it asked a node: exit {process.returncode}")
            time.sleep(0.001)
        return time.monotonic() - start, sum(spent for _, spent in stats(process.pid))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def shell_started(root: int) -> bool:
    """Whether a child process is a shell: the first command on this machine."""
    return any(name in {"sh", "dash", "bash"} for name, _ in stats(root))


def commands(program: Path, folder: Path, server: Server) -> Iterator[tuple[str, bool, list[str], dict[str, str]]]:
    """Yield the name, whether it is over SSH, the words and the environment of each command of a program."""
    if program.is_dir():
        rackcheck = str(program.resolve() / ".venv" / "bin" / "rackcheck")
        home = {"RACKCHECK_HOME": str(folder / program.name)}
        git = ["git", "-C", str(program), "log", "-1", "--format=%h"]
        label = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
        for profile in PROFILES:
            yield f"{label} audit -p {profile}", False, [rackcheck, "audit", "localhost", "-p", profile, "-q"], home
        words = [rackcheck, "audit", "-i", str(folder / "inventory.yaml"), "-p", "h100-dgx", "-q"]
        yield f"{label} audit -p h100-dgx", True, words, home
        return
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    label = version.partition("\n")[0]
    yield f"{label} -m setup", False, [str(program), "localhost", "-m", "setup"], {}
    (folder / "hosts").write_text(
        f"n1 ansible_host=127.0.0.1 ansible_port={server.port} ansible_ssh_private_key_file={server.key}"
        f" ansible_ssh_common_args='-o UserKnownHostsFile={server.known_hosts} -o ControlMaster=no'\n"
    )
    yield f"{label} -m setup", True, [str(program), "n1", "-i", str(folder / "hosts"), "-m", "setup"], {}


def main() -> None:
    """Measure, and print the table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users' programs keep their compiled modules
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        marker, script = folder / "asked", folder / "forced.sh"
        script.write_text(f"#!/bin/sh\n: > {marker}\nsleep 5\n")
        script.chmod(0o755)
        with serving(folder / "sshd", force=str(script)) as server:
            (folder / "inventory.yaml").write_text(server.inventory())
            made = [each for program in given.programs for each in commands(program, folder, server)]
            found: dict[int, list[tuple[float, float]]] = {}
            for turn in range(given.rounds + 1):  # the first round fills the caches
                for number, (_, remote, words, env) in enumerate(made):
                    marker.unlink(missing_ok=True)
                    measured = until((lambda _: marker.exists()) if remote else shell_started, words, env)
                    if turn:
                        found.setdefault(number, []).append(measured)
    print(f"{'program':44}{'node':>6}{'CPU s':>8}{'least':>8}{'wall s':>8}")
    for number, (label, remote, _, _) in enumerate(made):
        walls, spent = zip(*found[number], strict=True)
        least = f"{min(spent):8.2f}{statistics.median(walls):8.2f}"
        print(f"{label:44}{'SSH' if remote else 'here':>6}{statistics.median(spent):8.2f}{least}")


if __name__ == "__main__":
    main()
