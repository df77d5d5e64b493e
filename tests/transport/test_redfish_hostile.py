"""Answers of a BMC that try to fake values, get a password or keep a session open; and their effect."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from edge_racks import rack
from mockup_server import SESSIONS, Mockup, ResourceFault, busy
from small_bmc import HASTY, LINKS, ONE, SMALL, SYSTEMS, TWO, link, read, small, trouble
from trees import client
from waiting import PATIENCE, until

from rackcheck.model.documents import HANDSHAKE
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import redfish
from rackcheck.transport.redfish.handshake import Handshake
from rackcheck.transport.redfish.target import Bmc
from rackcheck.transport.redfish.unclosed import MOST, UnclosedSessions, left_open


def error(message: str) -> dict[str, object]:
    return {"error": {"code": message, "@Message.ExtendedInfo": [{"MessageId": message, "Message": "No."}]}}


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ("Base.1.18.ResourceMissingAtURI", True),
        ("Base.1.18.1.ResourceNotFound", True),
        ("Base.1.0.InternalError", False),
        ("Base.1.0.GeneralError", False),
    ],
)
def test_an_error_sent_with_status_200_is_no_resource(message: str, *, gone: bool) -> None:
    with Mockup(bodies={**SMALL, TWO: {"@odata.id": TWO, **error(message)}}) as server:
        capture, _ = read(server)
    why = trouble(capture, TWO)
    assert why.reason is Reason.NOT_COLLECTED
    assert ("HTTP 404" in why.detail) is gone
    assert message in why.detail


@pytest.mark.parametrize("named", [ONE, f"{ONE}/", ONE.upper(), f"{ONE}#x", f"{ONE}?a=1"])
def test_a_body_of_the_resource_beside_is_not_believed(named: str) -> None:
    with Mockup(bodies={**SMALL, TWO: {"@odata.id": named, "Id": "1"}}) as server:
        capture, _ = read(server)
    assert "the body belongs to another resource" in trouble(capture, TWO).detail


@pytest.mark.parametrize("named", [TWO, f"{TWO}/", TWO.upper(), "/redfish/v1/Managers/2", 7, None])
def test_a_body_under_another_spelling_or_an_alias_elsewhere_is_believed(named: object) -> None:
    with Mockup(bodies={**SMALL, TWO: {"@odata.id": named, "Id": "2"}}) as server:
        capture, _ = read(server)
    assert not isinstance(capture.bodies[TWO], Unknown)


def test_a_redirect_to_the_resource_beside_is_not_believed() -> None:
    moved = ResourceFault(status=301, headers={"Location": ONE}, body=b"")
    with Mockup(bodies={**SMALL, ONE: {"@odata.id": ONE, "Id": "1"}}, faults={TWO: moved}) as server:
        capture, _ = read(server)
    assert "the body belongs to another resource" in trouble(capture, TWO).detail


@pytest.mark.parametrize(
    "place",
    [
        f"{SYSTEMS}/1/Actions/ComputerSystem.Reset",
        f"{ROOT}/AccountService/Accounts",
        f"{ROOT}/EventService/Subscriptions#Sessions",
        f"{ROOT}/Managers/1/Actions/Manager.Reset?x=/Sessions",
        f"{ROOT}/SessionService/../Systems/Sessions",
        "/redfish/v1//Sessions",
        "//elsewhere/redfish/v1/Sessions",
    ],
)
def test_a_password_is_sent_to_no_other_place_than_one_for_sessions(place: str) -> None:
    root = {"Id": "RootService", "Systems": link(SYSTEMS), "Links": {"Sessions": link(place)}}
    with Mockup(bodies={**SMALL, ROOT: root}) as server:
        read(server)
    assert {uri for method, uri in server.seen if method == "POST"} == {SESSIONS}


@pytest.mark.parametrize(
    "fault",
    [
        busy(1, retry_after="0"),
        ResourceFault("reset", times=1),
        ResourceFault(status=308, headers={"Location": f"{SESSIONS}/x/"}, times=1),
        ResourceFault(status=500, times=2),
    ],
)
def test_a_session_is_closed_although_the_first_try_fails(fault: ResourceFault) -> None:
    with small(faults={"DELETE session": fault}) as server:
        capture, why = read(server)
    assert why is None
    assert SESSIONS not in capture.bodies


def test_a_session_that_is_never_closed_is_reported() -> None:
    with Mockup(bodies=SMALL, faults={"DELETE session": ResourceFault(status=500)}) as server:
        capture, _ = read(server)
        server.sessions.clear()
    unknown = trouble(capture, SESSIONS)
    assert "was not closed and will expire: its DELETE failed: HTTP 500" in unknown.detail
    assert sum(n for (method, _), n in server.seen.items() if method == "DELETE") == 3


@pytest.mark.parametrize("status", [403, 405, 501])
def test_a_refused_logout_is_not_repeated_and_is_reported(status: int) -> None:
    with Mockup(bodies=SMALL, faults={"DELETE session": ResourceFault(status=status)}) as server:
        capture, _ = read(server)
        server.sessions.clear()
    assert left_open(capture.bodies).endswith(f"its DELETE failed: HTTP {status}")
    assert sum(n for (method, _), n in server.seen.items() if method == "DELETE") == 1


@pytest.mark.parametrize(("status", "most"), [(403, 1), (405, 1), (501, 1), (500, MOST)])
def test_sessions_that_a_bmc_does_not_close_do_not_accumulate(status: int, most: int) -> None:
    with Mockup(bodies=SMALL, faults={"DELETE session": ResourceFault(status=status)}) as server:
        for visit in range(5):
            capture, why = read(server)
            assert why is None
            assert not isinstance(capture.bodies[TWO], Unknown)
            assert left_open(capture.bodies)
            assert left_open(capture.bodies).endswith("used basic authentication") is (visit >= most)
        assert len(server.sessions) == most
        assert server.seen["POST", SESSIONS] == most
        server.sessions.clear()


def test_a_bmc_that_closes_sessions_is_never_read_with_basic_authentication() -> None:
    with Mockup(bodies=SMALL, has_basic=False) as server:
        for _ in range(3):
            capture, why = read(server)
            assert why is None
            assert not left_open(capture.bodies)
    assert server.seen["POST", SESSIONS] == 3


def test_basic_authentication_that_is_rejected_is_reported_and_not_repeated() -> None:
    """Each further attempt with a password that the BMC rejects may lock the user."""
    refusing = {"DELETE session": ResourceFault(status=405)}
    with Mockup(bodies=SMALL, has_basic=False, faults=refusing) as server:
        assert read(server)[1] is None
        gets = sum(server.gets.values())
        for _ in range(3):
            capture, _ = read(server)
            why = capture.bodies.get(SYSTEMS, capture.bodies[ROOT])
            assert isinstance(why, Unknown)
            assert why.reason is Reason.DENIED
            assert "rejects basic authentication" in why.detail
        assert len(server.sessions) == 1
        assert sum(server.gets.values()) <= gets + 5
        server.sessions.clear()


def test_another_password_is_tried_after_one_was_rejected() -> None:
    with Mockup(bodies=SMALL, faults={"DELETE session": ResourceFault(status=405)}) as server:
        assert read(server)[1] is None
        mistyped, _ = redfish.read(replace(client(server), password="calvim"), LINKS, HASTY)
        assert isinstance(mistyped.bodies[SYSTEMS], Unknown)
        capture, _ = read(server)
        assert not isinstance(capture.bodies[SYSTEMS], Unknown)
        server.sessions.clear()


def test_a_session_left_open_is_closed_by_the_next_visit() -> None:
    with Mockup(bodies=SMALL, faults={"DELETE session": ResourceFault(status=403, times=1)}) as server:
        first, _ = read(server)
        assert left_open(first.bodies)
        assert len(server.sessions) == 1
        second, _ = read(server)
    assert not left_open(second.bodies)
    assert not server.sessions


def test_a_session_that_only_the_body_of_the_login_names_is_closed() -> None:
    with small(locates=False) as server:
        capture, why = read(server)
    assert why is None
    assert not isinstance(capture.bodies[TWO], Unknown)


def test_a_line_that_is_dropped_after_a_401_does_not_end_the_visit() -> None:
    for _ in range(5):
        with Mockup(bodies=SMALL, faults={SYSTEMS: ResourceFault("forget", times=1)}) as server:
            capture, why = read(server)
        assert why is None
        assert not [uri for uri, body in capture.bodies.items() if isinstance(body, Unknown)]


def test_a_password_in_a_certificate_is_dropped() -> None:
    names = {"SubjectName": "CN=calvin-and-hobbes", "IssuerName": "CN=x,OU=calvin-and-hobbes"}
    shown = {**Handshake("TLSv1.3", "C", b"", "2026-01-01T00:00:00Z").body(), "Certificate": names}
    assert "calvin-and-hobbes" not in json.dumps(Hiding("calvin-and-hobbes").json(shown))


def test_the_handshake_is_kept_without_the_login_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with Mockup(bodies=SMALL, password="bmc-certificate") as server:
        monkeypatch.setattr(server, "password", "CN=bmc")  # the subject of the server's own certificate
        spec = redfish.Bmc(server.url, "root", "CN=bmc", server.fingerprint)
        capture, _ = redfish.read(spec, LINKS, HASTY)
    assert "CN=bmc" not in json.dumps(capture.bodies[HANDSHAKE])


@pytest.mark.parametrize("form", ["a%2fb%26c%3d", "a/b%26c%3D", "a/b&amp;c=", "a%2Fb%26c%3D"])
def test_a_password_is_known_in_every_spelling_of_a_url_and_of_html(form: str) -> None:
    assert Hiding("a/b&c=").text(f"x {form} y") == "x (dropped) y"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_us_lets_us_give_the_session_back(number: int, tmp_path: Path) -> None:
    with rack(tmp_path / "rack", "[{ nodes: n1, fault: hanging-bmc }]") as up:
        command = [
            sys.executable,
            "-m",
            "rackcheck",
            "audit",
            "-i",
            str(up.inventory),
            "-p",
            "h100-dgx",
            "--planes",
            "bmc",
        ]
        process = subprocess.Popen(
            [*command, "-o", str(tmp_path / "run")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ},
        )  # fmt: skip
        bmc: Any = next(each.bmc for each in up.stations)
        until(lambda: bmc.sessions, "no session was opened")
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        assert not bmc.sessions
    assert process.returncode == 130, out + err


def test_a_session_that_is_being_closed_again_still_counts_as_open() -> None:
    """Another visit may begin meanwhile: it must not open a further session of a BMC that refuses to close one."""
    held, bmc = UnclosedSessions(), Bmc("https://bmc.example", "admin", "")
    held.add(bmc, ("/s/1", "token"), refused=True)
    assert held.left(bmc) == [("/s/1", "token")]
    assert held.full(bmc)
    held.add(bmc, ("/s/1", "token"))
    assert held.left(bmc) == [("/s/1", "token")], "the same session is counted once"
    held.closed(bmc, ("/s/1", "token"))
    assert (held.left(bmc), held.full(bmc)) == ([], False)
