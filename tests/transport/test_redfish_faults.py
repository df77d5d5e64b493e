"""Every way in which a BMC misbehaves: its visit ends by itself with a reason, and other BMCs are read completely."""

import http.client
import json
import queue
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from ClusterShell.NodeSet import NodeSet
from mockup_server import Mockup

from rackcheck import inventory
from rackcheck.evaluate.verdict import Verdict
from rackcheck.inventory import Node
from rackcheck.model.capture import BmcCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Plane, Reason
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.asking import Collect, bmc_of
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, Event, Judged, RunDone
from rackcheck.run.job import Job, now
from rackcheck.session.secrets import secrets_of
from rackcheck.sim import bmc as sim
from rackcheck.sim import scenario
from rackcheck.sim.faults import HOW
from rackcheck.sim.rack import SimRack, Up
from rackcheck.transport import redfish
from rackcheck.transport.redfish.session import LOGINS

LIMITS = redfish.Limits(connect=1, read=0.8, answer=1.6, deadline=12, goodbye=2, pause=0.01, body=1 << 20, gets=60)
UNHURRIED = replace(LIMITS, connect=20, read=20, answer=30, deadline=60)
"""For the BMCs without a fault: their speed depends on this machine."""
PATIENCE = UNHURRIED.deadline + LIMITS.goodbye + 30
"""Seconds after which a visit counts as never ending."""

PROFILE = """\
rackcheck: 1
profile: faults
version: 1
rules:
  smt: { fact: bios.smt, is: enabled }
  systems: { count: bmc.system, is: 2 }
  healthy: { each: bmc.manager, fact: health, is: OK }
  clock: { each: bmc.manager, where: { fact: type, is: BMC }, fact: offset, within: { of: 0 s, by: 30 s } }
"""
RULES = frozenset({"smt", "systems", "healthy", "clock"})
BIOS = "/redfish/v1/Systems/DGX/Bios"
SYSTEMS = "/redfish/v1/Systems"


@dataclass(frozen=True)
class Run:
    """The results of an audit of a rack: each node's verdicts and capture, and its servers."""

    verdicts: Mapping[str, Mapping[str, Verdict]]
    answers: Mapping[str, Answered]
    ups: Mapping[str, Up]
    done: RunDone

    def statuses(self, node: str) -> dict[str, Status]:
        """The status of every rule of the profile's own."""
        found = self.verdicts[node].items()
        return {rule: verdict.status for rule, verdict in found if not rule.startswith(("identity.", "silence."))}

    def reasons(self, node: str, rule: str) -> set[Reason]:
        """Why a rule is unknown."""
        rows = (evidence.unknown for evidence in self.verdicts[node][rule].evidence)
        return {unknown.reason for unknown in rows if unknown is not None}

    def bmc(self, node: str) -> sim.SimBmc:
        bmc = self.ups[node].bmc
        assert bmc is not None
        return bmc


@contextmanager
def rack(folder: Path, faults: str, nodes: str = "n[1-2]") -> Iterator[SimRack]:
    file = folder / "rack.yaml"
    laid = f"faults:\n{faults}" if faults else ""
    file.write_text(f"rackcheck: 1\nscenario: one\nnodes: {{ '{nodes}': {{ machine: dgx-h100 }} }}\n{laid}")
    with SimRack(scenario.load(file), folder) as up:
        yield up


def audited(faults: str, nodes: str = "n[1-2]", *, loses: frozenset[str] = frozenset()) -> Run:
    """Audit a rack's BMCs; `loses` are nodes whose BMCs lose sessions."""
    with TemporaryDirectory() as place, rack(Path(place), faults, nodes) as up:
        (Path(place) / "faults.yaml").write_text(PROFILE)
        listed = tuple(inventory.load(up.inventory).nodes.values())
        known = registry()
        profile = library.load(str(Path(place) / "faults.yaml"), known.catalogue)
        planned = plan(profile.facts(), known.probes, known.catalogue, known.joins)
        bmc = frozenset({Plane.BMC})
        job = Job(planned, listed, profile, bmc, secrets=secrets_of(listed, bmc))
        ill = {name for fault in yaml.safe_load(faults or "[]") for name in NodeSet(fault["nodes"])}

        def asked(node: Node, plane: Plane, job: Job, stop: threading.Event) -> Answered:
            """Read as an audit does, within small limits."""
            limits = LIMITS if node.name in ill else UNHURRIED
            capture, trouble = redfish.read(bmc_of(node, job.secrets), job.plan.links, limits, stop=stop)
            return Answered(node.name, plane, now(), trouble, capture)

        events = ended(job, asked)
        found = {each.station.name: each for each in up.stations}
        for name, each in found.items():
            assert each.bmc is not None
            assert not each.bmc.writes
            assert name in loses or not each.bmc.misuse(), (name, each.bmc.misuse())
    judged = {event.node: {v.rule: v for v in event.verdicts} for event in events if isinstance(event, Judged)}
    done = events[-1]
    assert isinstance(done, RunDone)
    return Run(judged, {e.node: e for e in events if isinstance(e, Answered)}, found, done)


def ended(job: Job, asked: Collect) -> list[Event]:
    """Every event of an audit that ends by itself."""
    came: queue.Queue[list[Event]] = queue.Queue()
    stop = threading.Event()
    threading.Thread(target=lambda: came.put(list(audit(job, asked, stop))), daemon=True).start()
    try:
        return came.get(timeout=PATIENCE)
    except queue.Empty:
        stop.set()
        pytest.fail("the audit did not end by itself")


@cache
def healthy() -> Run:
    return audited("", "n1")


def test_a_healthy_bmc_passes_all_that_is_judged_here() -> None:
    assert healthy().statuses("n1") == dict.fromkeys(RULES, Status.PASS)


# ---- wrong answers ---------------------------------------------------------------------------------------------------

REASONS: Mapping[str, Reason | None] = {
    "hang": Reason.TIMEOUT,
    "drip": Reason.TIMEOUT,
    "drip-headers": Reason.TIMEOUT,
    "flood": Reason.TOO_LARGE,
    "chunked-flood": Reason.TOO_LARGE,
    "cut": Reason.UNPARSABLE,
    "deep": Reason.UNPARSABLE,
    "html": Reason.UNPARSABLE,
    "wrong-types": Reason.UNPARSABLE,
    "nulls": Reason.UNPARSABLE,
    "reset": Reason.UNREACHABLE,
    "redirect-loop": Reason.UNREACHABLE,
    "busy": Reason.NOT_READY,
    "busy-later": Reason.NOT_READY,
    "forget": Reason.DENIED,
    "pages-without-end": Reason.TOO_LARGE,
    "page-loop": None,
    "drop": None,
    "unset-clock": None,
}
"""The reason for the facts of each kind of wrong answer; none where all can still be known."""


def wrong(how: str, uri: str) -> Run:
    # Only one kind of wrong answer loses sessions, and those are gone on the BMC as well.
    return audited(f"  - {{ nodes: n1, fault: bad-answers, how: {how}, uri: '{uri}' }}\n")


def bounded(run: Run) -> None:
    """The visit was bounded, and the BMC beside it returned all that a healthy BMC returns."""
    bmc = run.bmc("n1")
    assert not run.done.interrupted
    assert sum(bmc.gets.values()) <= LIMITS.gets
    assert bmc.seen["POST", sim.SESSIONS] <= LOGINS
    assert bmc.sent <= 48 << 20  # of 1 GiB for each answer; how much lies in buffers is the system's choice
    assert run.statuses("n2") == healthy().statuses("n1")
    whole(run, "n2")


def whole(run: Run, node: str) -> None:
    """All that is read from a healthy BMC is there, as its server has it."""
    came, usual = run.answers[node].capture, healthy().answers["n1"].capture
    assert isinstance(came, BmcCapture)
    assert isinstance(usual, BmcCapture)
    assert came.bodies.keys() == usual.bodies.keys()
    for uri, body in came.bodies.items():
        if not uri.startswith("/"):  # data about the connection is no resource
            continue
        assert timeless(body) == timeless(run.bmc(node).bodies[uri])


def timeless(body: object) -> dict[str, object]:
    """A body without the values of its clock."""
    assert isinstance(body, Mapping)
    return {name: value for name, value in body.items() if name != "DateTime"}


def unknown(run: Run, lost: set[str], reason: Reason | None, *, more: bool) -> None:
    """These rules are unknown for this reason, and all others pass.

    Where all sessions are dropped repeatedly, `more` may be lost: a concurrent GET that loses its session twice.
    """
    found = {rule for rule, status in run.statuses("n1").items() if status is Status.UNKNOWN}
    assert found >= lost if more else found == lost
    assert {rule for rule, status in run.statuses("n1").items() if status is Status.PASS} == RULES - found
    assert {each for rule in found for each in run.reasons("n1", rule)} == ({reason} if found else set())


def test_every_way_to_answer_wrongly_is_tried_here() -> None:
    assert set(HOW) == set(REASONS)


@pytest.mark.parametrize("how", REASONS)
def test_one_resource_that_answers_wrongly_is_unknown_with_its_reason_and_costs_no_other(how: str) -> None:
    run = wrong(how, BIOS)
    bounded(run)
    expected = REASONS[how]
    if how == "pages-without-end":  # pages are followed only in collections
        expected = None
    if how == "nulls":
        expected = Reason.NOT_COLLECTED
    unknown(run, {"smt"} if expected else set(), expected, more=how == "forget")
    again = run.bmc("n1").gets[BIOS] - 1
    assert again <= LIMITS.retries


@pytest.mark.parametrize("how", REASONS)
def test_a_collection_that_answers_wrongly_leaves_what_lies_below_unknown_and_is_never_taken_for_empty(
    how: str,
) -> None:
    run = wrong(how, SYSTEMS)
    bounded(run)
    lost = {"smt", "systems"} if REASONS[how] else set()
    unknown(run, lost, REASONS[how], more=how == "forget")


@pytest.mark.parametrize("how", REASONS)
def test_a_bmc_that_answers_nothing_but_wrongly_is_unknown_in_all_and_its_visit_ends(how: str) -> None:
    run = wrong(how, "*")
    bounded(run)
    found = run.statuses("n1")
    if REASONS[how] is None:
        wrong_clock = how == "unset-clock"
        assert found == healthy().statuses("n1") | ({"clock": Status.FAIL} if wrong_clock else {})
        return
    assert found == dict.fromkeys(RULES, Status.UNKNOWN)
    assert {reason for rule in RULES for reason in run.reasons("n1", rule)} == {REASONS[how]}


def test_answers_that_fail_a_few_times_are_requested_again() -> None:
    for how in ("busy", "reset", "cut", "forget", "drop"):
        run = audited(f"  - {{ nodes: n1, fault: bad-answers, how: {how}, times: 1 }}\n")
        bounded(run)
        assert run.statuses("n1") == healthy().statuses("n1"), how


# ---- doors, sessions, certificates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("silent-bmc", Reason.TIMEOUT),
        ("closed-bmc", Reason.UNREACHABLE),
        ("hanging-bmc", Reason.TIMEOUT),
        ("refused-bmc-login", Reason.DENIED),
        ("bmc-sessions", Reason.NOT_READY),
        ("changed-certificate", Reason.CERTIFICATE_CHANGED),
    ],
)
def test_a_bmc_that_cannot_be_read_has_the_reason_in_every_verdict(fault: str, reason: Reason) -> None:
    run = audited(f"  - {{ nodes: n1, fault: {fault} }}\n")
    bounded(run)
    assert run.statuses("n1") == dict.fromkeys(RULES, Status.UNKNOWN)
    assert {each for rule in RULES for each in run.reasons("n1", rule)} == {reason}


def test_a_clock_that_was_never_set_is_a_finding_and_nothing_else() -> None:
    run = audited("  - { nodes: n1, fault: bmc-clock, year: 2020 }\n")
    bounded(run)
    assert run.statuses("n1") == healthy().statuses("n1") | {"clock": Status.FAIL}


def test_a_bmc_of_two_connections_is_read_over_these() -> None:
    run = audited("  - { nodes: n1, fault: few-connections, most: 2 }\n")
    bounded(run)
    assert run.statuses("n1") == healthy().statuses("n1")
    assert run.bmc("n1").most_in_flight <= 2


def test_a_bmc_of_one_connection_is_read_over_it_and_gets_its_session_back() -> None:
    run = audited("  - { nodes: n1, fault: few-connections }\n")
    bounded(run)
    assert run.bmc("n1").most_in_flight == 1
    assert set(run.statuses("n1").values()) <= {Status.PASS, Status.UNKNOWN}
    assert {each for rule in RULES for each in run.reasons("n1", rule)} <= {Reason.UNREACHABLE}


def test_nothing_is_sent_over_a_connection_with_another_certificate() -> None:
    run = audited("  - { nodes: n1, fault: flapping-certificate }\n", loses=frozenset({"n1"}))
    bounded(run)
    assert run.bmc("n1").elsewhere == 0
    assert set(run.statuses("n1").values()) <= {Status.PASS, Status.UNKNOWN}  # it may all go over the first one
    details = {e.unknown.detail for v in run.verdicts["n1"].values() for e in v.evidence if e.unknown is not None}
    assert all("ingerprint" in detail or "expected" in detail for detail in details)


# ---- a fleet ---------------------------------------------------------------------------------------------------------


def test_dead_bmcs_of_a_fleet_cost_the_others_none_of_their_facts() -> None:
    dead = {"n07", "n15"}
    run = audited("  - { nodes: 'n[07,15]', fault: silent-bmc }\n", "n[01-16]")
    assert not run.done.interrupted
    nodes = [node for node in run.verdicts if node != "@fleet"]
    for node in nodes:
        if node in dead:
            assert run.statuses(node) == dict.fromkeys(RULES, Status.UNKNOWN)
            assert {each for rule in RULES for each in run.reasons(node, rule)} == {Reason.TIMEOUT}
            assert not run.bmc(node).seen
        else:
            assert run.statuses(node) == dict.fromkeys(RULES, Status.PASS)
            whole(run, node)
    assert len(nodes) == 16


# ---- the server that verifies this -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE", "POST"])
def test_a_test_whose_client_changes_something_fails_at_its_end(method: str) -> None:
    with pytest.raises(AssertionError, match=f"{method} /redfish/v1/Systems"), Mockup(bodies={}, loses=True) as server:
        raw(server, method, "/redfish/v1/Systems")


def test_a_test_whose_client_leaves_a_session_open_fails_at_its_end() -> None:
    login = json.dumps({"UserName": "root", "Password": "calvin"})
    with pytest.raises(AssertionError, match="a session was left open"), Mockup(bodies={}) as server:
        raw(server, "POST", sim.SESSIONS, login)
    with Mockup(bodies={}, loses=True) as server:
        raw(server, "POST", sim.SESSIONS, login)


def raw(server: Mockup, method: str, uri: str, body: str = "") -> None:
    context = ssl.create_default_context(cafile=str(server.certificate.file))
    line = http.client.HTTPSConnection(server.url.removeprefix("https://"), timeout=10, context=context)
    line.request(method, uri, body)
    line.getresponse().read()
    line.close()
