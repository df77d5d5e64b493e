"""Nodes whose replies are as large as the limits allow: a BMC that pads each resource, and a login that prints 32 MiB.

An audit of them runs in a child process, whose peak of resident memory is returned.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mockup_server import FOREVER, Mockup
from sshd import Server, serving

from rackcheck.model.fact import Unknown
from rackcheck.sim import scenario

ONE = "rackcheck: 1\nscenario: one\nnodes: { n1: { machine: dgx-h100 } }\n"

TEXTS = {
    "letters": '"' + "padding=" * 50_000 + '"',
    "signs": '"' + "padding " * 50_000 + '\U0001f4be"',
    "numbers": "[" + ",".join(f"{number}.5" for number in range(6_000)) + "]",
    "objects": "[" + ",".join(f'{{"Name {number}":"value {number}"}}' for number in range(3_000)) + "]",
}
"""What a hostile BMC adds to each resource, as JSON: it reaches the limit of bytes or that of values."""

PRINTS = """\
import re, sys
script = sys.stdin.read()
mark = re.search(r"^m=([0-9a-f]{32})", script, re.MULTILINE)[1]
line = "name-%d = value\\n"
text = "".join(line % number for number in range(12000)) + ENDING
for question in range(600):
    sys.stdout.buffer.write(f"\\n{mark}<{question}\\n{text}{mark}:0={mark}.{mark};".encode(errors="surrogateescape"))
sys.stdout.buffer.write(f"\\n{mark}>600\\n".encode())
"""
"""A login that answers each question with 220 KB of text, in place of the shell."""

ENDINGS = {"letters": "''", "signs": "'\\U0001f4be'", "bytes": "'\\udcff' * 20000"}
"""How each answer of a hostile login ends: one sign outside the BMP makes each character four bytes in memory."""


class PaddedBmc(Mockup):
    """A BMC with the resources of a DGX H100, each of them with more properties."""

    def __init__(self, padding: str) -> None:
        self.padding = padding
        super().__init__(limit=FOREVER)

    def __enter__(self) -> "PaddedBmc":
        super().__enter__()
        file = Path(self.folder.name) / "one.yaml"
        file.write_text(ONE)
        held = scenario.load(file).stations[0].machine.bmc.bodies
        self.resources = {uri: body for uri, body in held.items() if not isinstance(body, Unknown)}
        return self

    def body(self, uri: str) -> bytes | None:
        """Return the body of a resource, with the padding as its last property."""
        found: Mapping[str, object] | None = self.resources.get(uri.rstrip("/"))
        if found is None:
            return None
        text = json.dumps({**found, "ProtocolFeaturesSupported": {}})
        return f'{text[:-1]}, "Oem2": {self.padding}}}'.encode()


@dataclass(frozen=True)
class Audited:
    """The end of an audit in a child process: its exit code, its outputs, the peak of its memory in MiB, and its CPU seconds."""

    status: int
    out: str
    err: str
    peak: int
    cpu: float = 0.0


@contextmanager
def hostile(folder: Path, nodes: int, *, bmc: str = "", login: str = "") -> Iterator[Path]:
    """Yield the inventory of hostile nodes; `bmc` is one of TEXTS, `login` one of ENDINGS, empty for no such plane."""
    program = folder / "prints.py"
    program.write_text(PRINTS.replace("ENDING", ENDINGS[login or "letters"]))
    with (
        PaddedBmc(TEXTS[bmc or "letters"]) as up,
        serving(folder / "sshd", force=f"{sys.executable} {program}") as server,
    ):
        yield _inventory(folder, nodes, up if bmc else None, server if login else None)


def _inventory(folder: Path, nodes: int, bmc: PaddedBmc | None, server: Server | None) -> Path:
    parts = []
    if server is not None:
        ssh = f'port: {server.port}, key: "{server.key}", known-hosts: "{server.known_hosts}"'
        parts.append(f"host: 127.0.0.1, ssh: {{ {ssh} }}")
    if bmc is not None:
        login = f'user: {bmc.user}, password: "env:BMC_PASSWORD"'
        parts.append(f'bmc: {{ url: "{bmc.url}", {login}, fingerprint: "{bmc.fingerprint}" }}')
    lines = [f"  n{number}: {{ {', '.join(parts)} }}" for number in range(1, nodes + 1)]
    file = folder / "inventory.yaml"
    file.write_text("\n".join(["rackcheck: 1", "nodes:", *lines, ""]))
    return file


MEASURES = """\
import json, resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([status, used.ru_maxrss >> 10, used.ru_utime + used.ru_stime], file)
"""
"""Runs a command from a small process: the peak of a new process begins with the memory of the one that started it."""


def audited(folder: Path, inventory: Path, *words: str) -> Audited:
    """Audit the nodes of an inventory in a child process."""
    command = [sys.executable, "-m", "rackcheck", "audit", "-i", str(inventory), "-q", *words]
    env = {**os.environ, "HOME": str(folder), "RACKCHECK_HOME": str(folder / "home"), "BMC_PASSWORD": "calvin"}
    out, err, used = folder / "out.txt", folder / "err.txt", folder / "used.json"
    with out.open("w") as stdout, err.open("w") as stderr:
        measured = [sys.executable, "-I", "-c", MEASURES, str(used), *command]
        subprocess.run(measured, stdout=stdout, stderr=stderr, env=env, check=True)
    status, peak, cpu = json.loads(used.read_text())
    return Audited(status, out.read_text(), err.read_text(), peak, cpu)
