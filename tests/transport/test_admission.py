"""A reply is read when there is memory for it; the wait before counts neither as the node's time nor as its failure."""

import shlex
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mockup_server import Mockup
from small_bmc import LINKS, SMALL
from sshd import Server, serving
from trees import client

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.model.fact import Unknown
from rackcheck.transport import libssh2, local, openssh, redfish, ssh, ssh_config
from rackcheck.transport.memory import INTERRUPTED, MIB, Allowance, MemoryBudget
from rackcheck.transport.wire import ShellLimits, ShellReply

DEADLINE = 3.0
LIMITS = ShellLimits(connect=5, deadline=DEADLINE)
SCRIPT = "echo started > {0}; echo END"


@dataclass
class Way:
    """A plane that is read: `read` returns the output, or the reason; `begun` whether anything was asked of it."""

    read: Callable[[Allowance], str | Unknown]
    begun: Callable[[], bool]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("node")) as found:
        yield found


@pytest.fixture(params=["local", "paramiko", "libssh2", "OpenSSH", "BMC"])
def way(
    request: pytest.FixtureRequest, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Way]:
    monkeypatch.setenv(libssh2.CHOICE, request.param)
    mark = tmp_path / "mark"
    script = SCRIPT.format(shlex.quote(str(mark)))

    def text(reply: ShellReply) -> str | Unknown:
        out: str = reply.raw.decode().strip()
        return out or reply.cut

    if request.param == "BMC":
        with Mockup(bodies=SMALL) as bmc:

            def read(allowance: Allowance) -> str | Unknown:
                limits = redfish.Limits(connect=1, read=2, answer=3, deadline=DEADLINE, goodbye=1, pause=0.01)
                capture, why = redfish.read(client(bmc), LINKS, limits, allowance=allowance)
                return why or ("END" if len(capture.bodies) > len(SMALL) - 1 else str(capture.bodies))

            yield Way(read, lambda: "POST" in bmc.methods)
        return
    ways: dict[str, Callable[[Allowance], ShellReply]] = {
        "local": lambda allowance: local.run(script, LIMITS, allowance),
        "paramiko": lambda allowance: ssh.run(target, script, LIMITS, allowance),
        "libssh2": lambda allowance: libssh2.run(target, script, LIMITS, allowance),
        "OpenSSH": lambda allowance: openssh.run(target, script, LIMITS, allowance),
    }
    given = Ssh(port=server.port, key=str(server.key), known_hosts=str(server.known_hosts))
    target = ssh_config.resolve(Node("n1", host="127.0.0.1", ssh=given), {})
    yield Way(lambda allowance: text(ways[request.param](allowance)), mark.exists)


def full(budget: MemoryBudget) -> list[Allowance]:
    """Take all memory that planes get before they are read."""
    taken: list[Allowance] = []
    stop = threading.Event()
    stop.set()
    while True:
        allowance = Allowance(budget, stop)
        if allowance.admit() is not None:
            return taken
        taken.append(allowance)


def test_a_plane_waits_for_memory_longer_than_its_deadline_and_is_then_read_whole(way: Way) -> None:
    budget = MemoryBudget()
    taken = full(budget)
    got: list[str | Unknown] = []
    thread = threading.Thread(target=lambda: got.append(way.read(Allowance(budget))), daemon=True)
    thread.start()
    time.sleep(DEADLINE + 1.5)
    assert not got, "the plane did not wait"
    assert not way.begun(), "the plane was read without memory"
    for allowance in taken:
        allowance.close()
    thread.join(20)
    assert got == ["END"]
    assert way.begun()


def test_an_interrupt_ends_the_wait_and_nothing_is_asked(way: Way) -> None:
    budget, stop = MemoryBudget(), threading.Event()
    assert full(budget)
    got: list[str | Unknown] = []
    thread = threading.Thread(target=lambda: got.append(way.read(Allowance(budget, stop))), daemon=True)
    thread.start()
    time.sleep(1)
    stop.set()
    thread.join(20)
    assert got == [INTERRUPTED]
    assert not way.begun()
    assert budget.held <= budget.size - 64 * MIB
