"""`rackcheck burnin` on this machine and over a real SSH server: judged, stored, read again, ended within a second."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rackcheck
from payloads import of_session
from sshd import Server, serving
from waiting import PATIENCE, until

from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Plane
from rackcheck.run import store

LOADED = "-I -S -c import sys;exec"
"""Text in the command line of a payload."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "sshd") as running:
        yield running


def loads(root: int) -> set[int]:
    """Every payload on this machine that descends from a process, by pid."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        pid = int(line.parent.name)
        if LOADED in words and "sh -c" not in words and root in ancestors(pid):
            found.add(pid)
    return found


def ancestors(pid: int) -> set[int]:
    found: set[int] = set()
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            break
        found.add(pid)
    return found


def daemon(server: Server) -> int:
    return int((server.folder / "pid").read_text())


def test_a_smoke_on_this_machine_is_judged_stored_and_read_again_alike(tmp_path: Path) -> None:
    done = rackcheck("burnin", "localhost", "--tier", "smoke", "--seed", "11", "--json", "-o", tmp_path / "run", "-q")
    assert done.status in {0, 3}, done.err
    document = json.loads(done.out)
    known = {v["rule"]: v["status"] for v in document["nodes"]["localhost"]["verdicts"]}
    for rule in ("burnin.whole", "burnin.readable", "burnin.no_crash", "burnin.cpu_correct", "burnin.cpu_alike"):
        assert known[rule] == "pass", document
    # On a busy machine the rates are unknown; all else is known.
    assert (known["burnin.cpu_measured"] == "unknown") == (done.status == 3)
    assert known["burnin.gpu_correct"] == (
        "n/a" if not Path("/dev/nvidiactl").exists() else known["burnin.gpu_correct"]
    )
    again = rackcheck("audit", "--from", tmp_path / "run", "--json")
    assert json.loads(again.out)["nodes"] == document["nodes"]
    facts = json.loads(rackcheck("facts", "localhost", "--from", tmp_path / "run", "burnin", "--json").out)["facts"]
    assert facts["burnin.seed"]["value"] == 11
    assert facts["burnin.cpu.mismatches"] | {"time": ""} == facts["burnin.cpu.mismatches"] | {"time": "", "value": 0}
    assert loads(os.getpid()) == set()


def test_it_is_kept_as_lines_of_records(tmp_path: Path, server: Server) -> None:
    (tmp_path / "rack.yaml").write_text(server.inventory())
    done = rackcheck("burnin", "n1", "-i", tmp_path / "rack.yaml", "-o", tmp_path / "run", "-q")
    assert done.status in {0, 3}, done.err
    assert server.connections == 1
    stored = store.find(str(tmp_path / "run"))
    answer = next(iter(stored.answers()))
    assert (answer.plane, answer.trouble) == (Plane.BURNIN, None)
    assert isinstance(answer.capture, BurnCapture)
    assert answer.capture.records[0]["k"] == "hello"
    assert answer.capture.records[-1]["k"] == "verdict"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", ["ssh", "local"])
def test_ctrl_c_ends_the_load_within_a_second_and_keeps_what_came_in(
    tmp_path: Path, server: Server, way: str, number: int
) -> None:
    (tmp_path / "rack.yaml").write_text(server.inventory())
    where = ["n1", "-i", str(tmp_path / "rack.yaml")] if way == "ssh" else ["localhost"]
    words = [sys.executable, "-m", "rackcheck", "burnin", *where, "-o", str(tmp_path / "run")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ))
    root = daemon(server) if way == "ssh" else process.pid
    until(lambda: len(loads(root)) >= 3, "no load")
    time.sleep(1.0)
    assert len(loads(root)) >= 3
    process.send_signal(number)
    gone = time.monotonic()
    while loads(root) and time.monotonic() < gone + 15:
        time.sleep(0.02)
    gone = time.monotonic() - gone
    data, _ = process.communicate(timeout=PATIENCE)
    assert gone < 1.5, f"{gone:.2f} s: {loads(root)}"
    assert process.returncode == 130, data.decode()
    assert b"INCOMPLETE" in data
    stored = store.find(str(tmp_path / "run"))
    assert next(iter(stored.answers())).capture is not None
    done = stored.done()
    assert done is not None
    assert done.interrupted


def test_a_line_that_breaks_ends_the_load_on_the_node(tmp_path: Path, server: Server) -> None:
    (tmp_path / "rack.yaml").write_text(server.inventory())
    words = [sys.executable, "-m", "rackcheck", "burnin", "n1", "-i", str(tmp_path / "rack.yaml"), "-q"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    until(lambda: len(loads(daemon(server))) >= 3, "no load")
    process.kill()
    process.wait()
    gone = time.monotonic()
    while loads(daemon(server)) and time.monotonic() < gone + 15:
        time.sleep(0.02)
    gone = time.monotonic() - gone
    assert gone < 1.5, f"{gone:.2f} s"
    assert of_session(process.pid) == []


def test_a_usage_error_is_reported_before_any_node_is_read(tmp_path: Path) -> None:
    done = rackcheck("burnin", "localhost", "--tier", "brisk")
    assert done.status == 2
    assert "smoke" in done.err
    (tmp_path / "p.yaml").write_text(
        "rackcheck: 1\nprofile: p\nversion: 1\ntitle: no load\nrules:\n  a.b: { fact: os.release.name, present: true }\n"
    )
    done = rackcheck("burnin", "localhost", "-p", tmp_path / "p.yaml")
    assert done.status == 2
    assert done.err.strip() == "rackcheck: p has no rule of phase burn-in"


def test_an_audit_skips_burn_in_rules_and_reports_it(tmp_path: Path) -> None:
    done = rackcheck("audit", "localhost", "-p", "burn-in", "-q")
    assert done.status == 3
    assert "no rule of burn-in is of phase config: nothing was judged; rackcheck burnin" in " ".join(done.out.split())
