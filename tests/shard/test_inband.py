"""Shards that are asked on the nodes themselves: as array jobs of Slurm, without SSH, and never on another node."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from slurm_lab import lab

from rackcheck.run import store

NODES = 3
PROFILE = """\
rackcheck: 1
profile: own
version: 1
title: two rules
rules:
  kernel.release: { title: a kernel, severity: blocker, fact: kernel.release, matches: ".", why: a test, fix: none }
  bmc.firmware: { title: a BMC, severity: major, fact: firmware.bmc, matches: ".", why: a test, fix: none }
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    rows = "".join(
        f"  n{n}: {{ host: n{n}.invalid, rack: r1, bmc: {{ url: 'https://127.0.0.1:9', user: a, password: env:BMC }} }}\n"
        for n in range(1, NODES + 1)
    )
    (tmp_path / "inventory.yaml").write_text(f"rackcheck: 1\nnodes:\n{rows}")
    (tmp_path / "own.yaml").write_text(PROFILE)
    return ("-i", str(tmp_path / "inventory.yaml"), "-p", str(tmp_path / "own.yaml"))


def run(*words: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "rackcheck", *words]
    return subprocess.run(
        command, env=env or dict(os.environ), capture_output=True, text=True, check=False, timeout=240
    )


def test_each_node_is_read_on_itself_and_a_node_that_is_down_is_named(tmp_path: Path, files: tuple[str, ...]) -> None:
    with lab(tmp_path / "lab", ["any"] * NODES) as env:
        plan = tmp_path / "plan"
        assert run("plan", *files, "--by", "node", "--planes", "os", "-o", str(plan), env=env).returncode == 0
        subprocess.run(["scontrol", "update", "nodename=n3", "state=drain", "reason=test"], env=env, check=True)
        carried = run("carry", str(plan), "--on", "slurm:all", env=env)
        assert carried.returncode == 3, carried.stderr
        assert "shard 3: no node can run it: " in carried.stderr
        merged = run("merge", str(plan), "-o", str(tmp_path / "run"), env=env)
        assert "not asked, and so unknown: n3" in merged.stderr
        releases = {
            node: json.loads(run("facts", node, "--from", str(tmp_path / "run"), "kernel.release", "--json").stdout)
            for node in ("n1", "n2")
        }
        assert all(os.uname().release in json.dumps(doc) for doc in releases.values()), releases
        strangers = run("plan", *files, "--by", "node", "--planes", "os", "-o", str(tmp_path / "p2"), env=env)
        assert strangers.returncode == 0
        text = (tmp_path / "p2" / "shards" / "2.json").read_text()
        (tmp_path / "p2" / "shards" / "2.json").write_text(text.replace('"reach": "n2"', '"reach": "n9"'))
        refused = run("carry", str(tmp_path / "p2"), "--on", "slurm:all", env=env)
        assert refused.returncode == 2
        assert "slurm: no node has the name n9" in refused.stderr


def test_a_node_is_never_read_as_another_one(tmp_path: Path, files: tuple[str, ...]) -> None:
    plan = tmp_path / "plan"
    assert run("plan", *files, "--by", "node", "--planes", "os", "-o", str(plan)).returncode == 0
    words = ("run-shard", str(plan / "shards" / "2.json"), "-o", str(plan / "results" / "2"))
    done = run(*words)
    assert done.returncode == 2
    assert f"shard 2 is asked on n2 itself, and this machine is {socket.gethostname()}" in done.stderr
    assert run(*words, env={**os.environ, "SLURMD_NODENAME": "n1"}).returncode == 2
    assert not list((plan / "results").iterdir())
    assert run(*words, env={**os.environ, "SLURMD_NODENAME": "n2"}).returncode == 0
    local = run("carry", str(plan), "--on", "local")
    assert local.returncode == 2
    assert "shards by node run on the nodes themselves" in local.stderr


def test_bmcs_are_one_shard_for_a_machine_that_reaches_them(tmp_path: Path, files: tuple[str, ...]) -> None:
    plan = tmp_path / "plan"
    assert run("plan", *files, "--by", "node", "-o", str(plan)).returncode == 0
    shards = [json.loads(path.read_text()) for path in sorted((plan / "shards").iterdir())]
    assert [(doc["planes"], doc["inband"], len(doc["nodes"])) for doc in shards] == [
        *([(["os"], True, 1)] * NODES), (["bmc"], False, NODES),
    ]  # fmt: skip
    for number in range(1, NODES + 1):
        env = {**os.environ, "SLURMD_NODENAME": f"n{number}"}
        place = str(plan / "results" / str(number))
        assert run("run-shard", str(plan / "shards" / f"{number}.json"), "-o", place, "-q", env=env).returncode == 0
    place = str(plan / "results" / "4")
    last = run("run-shard", str(plan / "shards" / "4.json"), "-o", place, "-q", env={**os.environ, "BMC": "x"})
    assert last.returncode == 0, last.stderr
    merged = run("merge", str(plan), "-o", str(tmp_path / "run"), "-q")
    assert "not asked" not in merged.stderr
    answers = [(each.node, each.plane.value) for each in store.find(str(tmp_path / "run")).answered()]
    assert sorted(answers) == sorted((f"n{n}", plane) for n in (1, 2, 3) for plane in ("os", "bmc"))
    nothing = run("plan", *files, "--by", "node", "--planes", "bmc", "-o", str(tmp_path / "p2"))
    assert nothing.returncode == 2
    assert "no plane of a node with a host would be read" in nothing.stderr
