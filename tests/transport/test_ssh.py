"""Nodes over real SSH: the same facts as locally, one round trip, and every fault affects only its node."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from cutting_proxy import cutting_proxy
from sshd import Server, free_port, keygen, serving

from rackcheck.transport.libssh2 import CHOICE

STEADY = {"config", "identity", "version"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(params=["paramiko", "libssh2"], autouse=True)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The library that connects; without the variable, it is libssh2 if it is installed."""
    monkeypatch.setenv(CHOICE, request.param)
    return str(request.param)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("sshd")) as running:
        yield running


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def steady(document: dict[str, Any]) -> dict[str, Any]:
    """What must not differ between two readings of one machine; a session's own limits and mounts do not count.

    Nor does the size of memory: the host of a virtual machine may reclaim some of it meanwhile.
    """
    kept = ("value", "absent", "unknown")
    return {
        path: {k: v for k, v in fact.items() if k in kept}
        for path, fact in document["facts"].items()
        if fact["class"] in STEADY
        and not (path.endswith((".memory", "memory.total")) and "GiB" in fact.get("unit", ""))
    }


def test_a_machine_reports_the_same_over_ssh_as_locally(server: Server, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inv.yaml", server.inventory("localhost"))
    local = rackcheck(
        "facts",
        "localhost",
        "--json",
        "-i",
        write(tmp_path / "l.yaml", "rackcheck: 1\nnodes:\n  localhost: { host: localhost }\n"),
    )
    remote = rackcheck("facts", "localhost", "--json", "-i", inventory)
    assert (local.status, remote.status) == (0, 0), remote.err
    here, there = steady(json.loads(local.out)), steady(json.loads(remote.out))
    assert len(here) > 60
    assert {p: (here[p], there.get(p)) for p in here if here[p] != there.get(p)} == {}
    assert here.keys() == there.keys()


def test_one_audit_is_one_connection_and_one_exec(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as own:
        done = rackcheck("audit", "-p", "linux-server", "-i", write(tmp_path / "inv.yaml", own.inventory()))
        assert done.status in {0, 1, 3}, done.err
        assert (own.connections, own.execs) == (1, 1)
        assert "unreachable" not in done.out


def verdicts(inventory: Path, *more: str) -> tuple[int, dict[str, Any]]:
    done = rackcheck("audit", "-p", "linux-server", "-i", inventory, "--json", "-q", *more)
    assert done.out, done.err
    return done.status, json.loads(done.out)


def unknowns(document: dict[str, Any], node: str) -> set[str]:
    return {
        evidence["unknown"]
        for verdict in document["nodes"][node]["verdicts"]
        for evidence in verdict.get("evidence", ())
        if "unknown" in evidence
    }


def beside_a_good_node(server: Server, bad: str) -> str:
    """An inventory of a node that answers and one that does something wrong."""
    return server.inventory("good") + bad


def check_isolated(document: dict[str, Any], status: int, reason: str) -> None:
    """The bad node is unknown for that reason, the good one is still judged, and the run is INCOMPLETE or worse."""
    assert status in {1, 3}
    assert unknowns(document, "bad") == {reason}
    passed = [v for v in document["nodes"]["good"]["verdicts"] if v["status"] == "pass"]
    assert len(passed) >= 10
    assert not [v for v in document["nodes"]["bad"]["verdicts"] if v["status"] == "pass"]
    assert document["nodes"]["bad"]["outcome"] == "INCOMPLETE"


def node(port: int, server: Server, **more: str) -> str:
    values = {"port": str(port), "key": str(server.key), "known-hosts": str(server.known_hosts)} | more
    inner = ", ".join(f'{k}: "{v}"' for k, v in values.items())
    return f"  bad: {{ host: 127.0.0.1, ssh: {{ {inner} }} }}\n"


def test_a_refused_port_is_unreachable_and_the_run_goes_on(server: Server, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, node(free_port(), server)))
    status, document = verdicts(inventory)
    check_isolated(document, status, "unreachable")


@contextmanager
def silent_port() -> Iterator[int]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(8)
        yield int(sock.getsockname()[1])


def test_a_silent_port_is_a_timeout(server: Server, tmp_path: Path) -> None:
    with silent_port() as port:
        inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, node(port, server)))
        status, document = verdicts(inventory, "--timeout", "4")
    check_isolated(document, status, "timeout")


def test_a_changed_host_key_is_refused_before_anything_is_sent(server: Server, tmp_path: Path) -> None:
    other = keygen(tmp_path / "other").with_suffix(".pub").read_text().split()
    known = write(tmp_path / "known", f"[127.0.0.1]:{server.port} {other[0]} {other[1]}\n")
    before = server.connections
    bad = node(server.port, server, **{"known-hosts": str(known)})
    inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, bad))
    status, document = verdicts(inventory)
    check_isolated(document, status, "host key changed")
    assert server.connections == before + 1  # the good node's


def test_an_unknown_host_is_not_trusted_on_first_use(server: Server, tmp_path: Path) -> None:
    bad = node(server.port, server, **{"known-hosts": str(tmp_path / "none")})
    inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, bad))
    status, document = verdicts(inventory)
    check_isolated(document, status, "host key changed")
    assert "ssh-keyscan" in json.dumps(document)


def test_a_refused_login_is_denied(server: Server, tmp_path: Path) -> None:
    bad = node(server.port, server, key=str(keygen(tmp_path / "stranger")))
    inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, bad))
    status, document = verdicts(inventory)
    check_isolated(document, status, "denied")


@pytest.mark.parametrize("after", [100, 6_000, 12_000])
def test_a_cut_stream_keeps_what_came_and_never_passes_the_rest(server: Server, tmp_path: Path, after: int) -> None:
    _, whole = verdicts(write(tmp_path / "whole.yaml", server.inventory("bad")))
    truth = {v["rule"]: v["status"] for v in whole["nodes"]["bad"]["verdicts"]}
    with cutting_proxy(server.port, after) as port:
        kind, public = server.known_hosts.read_text().split()[1:3]
        known = write(tmp_path / "known", f"[127.0.0.1]:{port} {kind} {public}\n")
        inventory = write(
            tmp_path / "inv.yaml", "rackcheck: 1\nnodes:\n" + node(port, server, **{"known-hosts": str(known)})
        )
        status, document = verdicts(inventory, "--timeout", "20")
    assert status in {1, 3}
    cut = {v["rule"]: v["status"] for v in document["nodes"]["bad"]["verdicts"]}
    assert {rule: (truth[rule], found) for rule, found in cut.items() if found not in {truth[rule], "unknown"}} == {}
    assert "unknown" in cut.values()


@pytest.mark.parametrize(
    ("force", "reason", "seconds"),
    [
        ("head -c 1073741824 /dev/zero", "too large", "60"),
        ("while :; do printf x; sleep 0.2; done", "timeout", "3"),
        ("exit 3", "unreachable", "10"),
        ("cat >/dev/null; head -c 200000 /dev/urandom", "unreachable", "10"),
    ],
    ids=["a flood of 1 GiB", "a slow drip", "no shell", "noise"],
)
def test_a_hostile_node_is_bounded_and_isolated(
    server: Server, tmp_path: Path, force: str, reason: str, seconds: str
) -> None:
    with serving(tmp_path / "hostile", force=force) as hostile:
        bad = node(hostile.port, hostile)
        inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, bad))
        status, document = verdicts(inventory, "--timeout", seconds)
    check_isolated(document, status, reason)


def test_a_fact_that_fails_decides_although_another_node_is_silent(server: Server, tmp_path: Path) -> None:
    profile = write(
        tmp_path / "p.yaml",
        "rackcheck: 1\nprofile: p\nversion: 1\nrules:\n  r: { fact: sysctl.vm.swappiness, is: 12345 }\n",
    )
    inventory = write(tmp_path / "inv.yaml", beside_a_good_node(server, node(free_port(), server)))
    done = rackcheck("audit", "-p", profile, "-i", inventory, "-q")
    assert done.status == 1
    assert "bad" in done.out


def test_an_unreadable_key_file_is_a_user_error(server: Server, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inv.yaml", server.inventory("n1", key=str(tmp_path / "nowhere")))
    done = rackcheck("audit", "-p", "linux-server", "-i", inventory)
    assert (done.status, done.out) == (2, "")
    assert "cannot read the key file" in done.err
    assert len(done.err.strip().splitlines()) == 1
