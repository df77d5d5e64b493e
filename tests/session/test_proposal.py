"""Without -p, the machine's own identity proposes a profile, and the names of all profiles come in groups."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command import rackcheck
from damaged import clean

from rackcheck.model.fact import Absent, Value
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.session import proposal


@pytest.fixture(scope="module")
def machines() -> list[Profile]:
    names = ("h100-dgx", "h100-hgx", "h200-dgx", "xeon-server", "epyc-server", "a100-dgx", "linux-gpu-node")
    return [library.load(name, registry().catalogue) for name in names]


def known_as(**facts: Value | None) -> Tree:
    """The facts of a DGX H100 with others in place of those that name the machine; None for none."""
    leaves = dict(clean().tree().leaves)
    for name, value in facts.items():
        path = name.replace("__", ".")
        reading = Absent("none") if value is None else value
        leaves[path] = replace(leaves[path], reading=reading)
    return Tree(leaves)


def test_a_machine_is_proposed_by_its_product_before_its_devices_and_its_cpu(machines: list[Profile]) -> None:
    found = proposal.of_tree("dgx01", clean().tree(), machines)
    assert [each.profile for each in found][:1] == ["h100-dgx"]
    assert found[0].reason == "product DGXH100"
    assert "xeon-server" in {each.profile for each in found}
    assert not {"h200-dgx", "a100-dgx", "epyc-server"} & {each.profile for each in found}


def test_a_machine_of_another_product_is_not_proposed_as_the_dgx_whose_gpus_it_has(machines: list[Profile]) -> None:
    found = proposal.of_tree("n1", known_as(node__product="SYS-821GE-TNHR", node__board="X13DEG-OAD"), machines)
    names = [each.profile for each in found]
    assert "h100-dgx" not in names
    assert names[0] == "h100-hgx"


def test_a_machine_that_no_profile_names_has_no_proposal(machines: list[Profile]) -> None:
    named = known_as(node__product="ThinkPad X1", node__board="20XW", cpu__model="Core i7")
    bare = Tree({path: leaf for path, leaf in named.leaves.items() if not path.startswith("pcie")})
    assert proposal.of_tree("n1", bare, machines) == []


def test_the_names_of_profiles_come_in_groups_and_no_fragment_is_among_them() -> None:
    machine, every, fragments = proposal.listed(()).strip().splitlines()
    assert "h100-dgx" in machine
    assert "linux-server" not in machine
    assert "linux-server" in every
    assert "hgx-8gpu" not in machine + every
    assert "fragments, which give no verdict of their own: rackcheck profile list" in fragments


def test_an_audit_without_a_profile_reads_this_machine_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    done = rackcheck("audit", "localhost")
    assert done.status == 2
    assert "which profile? " in done.err
    assert "for any machine: burn-in, linux-server" in done.err
    assert not (tmp_path / "runs").exists()


def test_a_node_that_does_not_reply_costs_no_more_than_the_proposal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    monkeypatch.setattr(proposal, "SECONDS", 2.0)
    (tmp_path / "rack.yaml").write_text("rackcheck: 1\nnodes:\n  n1: { host: 127.0.0.1, ssh: { port: 1 } }\n")
    done = rackcheck("audit", "-i", tmp_path / "rack.yaml")
    assert (done.status, "which profile? -p NAME" in done.err) == (2, True), done.err


def test_a_broken_profile_of_the_user_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "broken.yaml").write_text("profile: [")
    done = rackcheck("audit", "localhost", "--profile-path", tmp_path / "mine")
    assert (done.status, "h100-dgx" in done.err) == (2, True), done.err


SIMULATED = ("--rack", "sim:dgx-h100")


@pytest.mark.parametrize(
    "words", [("audit", *SIMULATED), ("accept", "new", "pod7", *SIMULATED), ("tui", *SIMULATED)], ids=" ".join
)
def test_the_nodes_of_a_rack_propose_their_profile_in_one_sentence(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    done = rackcheck(*words)
    assert done.status == 2
    assert "which profile? -p h100-dgx: dgx[01-03] are machines for h100-dgx (product DGXH100)\n" in done.err
    assert [place.name for place in tmp_path.glob("*") if place.name in {"runs", "acceptances"}] == []


def test_nodes_that_are_different_machines_propose_no_single_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    other = "{ nodes: b, fault: file, path: /sys/class/dmi/id/product_name, text: DGXH200 }"
    rack = f"rackcheck: 1\nscenario: two\nnodes: {{ 'a,b': {{ machine: dgx-h100 }} }}\nfaults: [{other}]\n"
    (tmp_path / "rack.yaml").write_text(rack)
    done = rackcheck("audit", "--rack", f"sim:{tmp_path / 'rack.yaml'}")
    assert done.status == 2
    assert "-p NAME: a is a machine for h100-dgx (product DGXH100); b is a machine for h200-dgx" in done.err
    assert "for any machine: burn-in, linux-server" in done.err


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 2)])
def test_on_a_terminal_the_proposal_is_taken_after_one_yes(tmp_path: Path, answer: str, status: int) -> None:
    words = [sys.executable, "-m", "rackcheck", "accept", "new", "pod7", *SIMULATED]
    controller, terminal = os.openpty()
    home = {**os.environ, "RACKCHECK_HOME": str(tmp_path / "home")}
    with subprocess.Popen(words, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=home) as process:
        os.write(controller, f"{answer}\n".encode())
        out, _ = process.communicate(timeout=120)
    os.close(controller)
    os.close(terminal)
    assert b"are machines for h100-dgx (product DGXH100). Judge with -p h100-dgx? [Y/n]" in out
    assert process.returncode == status, out
    assert ((tmp_path / "home" / "acceptances" / "pod7").exists()) is (answer == "y")
