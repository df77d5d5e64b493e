"""Reading a BMC over real HTTPS: what is requested, which faults are survived, and what is never done."""

import _thread
import gzip
import json
import logging
import socket
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import SESSIONS, Mockup, ResourceFault, busy, certificate, refused_port, silent_port
from small_bmc import HASTY, LINKS, ONE, SMALL, SYSTEMS, TWO, link, read, small, trouble
from trees import DELL, DGX, client, links, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Resource
from rackcheck.model.secret import DROPPED
from rackcheck.transport import redfish
from rackcheck.transport.redfish.answer import VALUES, other_spelling, parsed, session_place
from rackcheck.transport.redfish.session import LOGINS
from rackcheck.transport.redfish.target import SESSION_REJECTED
from rackcheck.transport.redfish.tls import PinnedTls, trust
from rackcheck.transport.redfish.tls import RequestFault as WireFault


def test_a_page_that_follows_itself_ends() -> None:
    with Mockup(tree(DGX)) as server:
        capture, _ = redfish.read(client(server), ["Chassis/*/PCIeDevices/*"])
    pages = [uri for uri in server.gets if uri.startswith("/redfish/v1/Chassis/DGX/PCIeDevices?")]
    assert pages
    assert set(server.gets.values()) == {1}
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


def test_at_most_two_requests_are_in_flight() -> None:
    with small(latency=0.05) as server:
        read(server)
    assert server.most_in_flight == 2


def test_a_busy_bmc_gets_one_request_at_a_time() -> None:
    with small(latency=0.03, faults={SYSTEMS: busy(1)}) as server:
        capture, _ = read(server)
    assert server.most_in_flight == 1
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


def test_a_capture_comes_back_from_its_stored_form() -> None:
    with small(faults={TWO: busy()}) as server:
        capture, _ = read(server)
    assert BmcCapture.from_json(json.loads(json.dumps(capture.to_json()))) == capture


def test_importing_the_transport_imports_no_http_library() -> None:
    code = "import rackcheck.transport.redfish, sys; assert not {'requests', 'redfish', 'urllib3', 'ssl'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(Path(redfish.__file__).parents[3])})


# Logins


def test_a_wrong_password_is_denied_and_sent_once() -> None:
    with small() as server:
        capture, why = redfish.read(client(server, password="nope"), LINKS, HASTY)
    assert why is not None
    assert why.reason is Reason.DENIED
    assert capture.bodies == {ROOT: why}
    assert server.seen["POST", SESSIONS] == 1


def test_a_bmc_without_sessions_is_read_with_basic_authentication() -> None:
    with small(has_sessions=False) as server:
        capture, why = read(server)
    assert why is None
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{ONE}/Bios"]


def test_a_wrong_password_in_basic_authentication_is_not_repeated_until_the_account_locks() -> None:
    many = {f"{ROOT}/{n}": link(f"{ROOT}/{n}") for n in range(20)}
    bodies: dict[str, object] = {ROOT: {uri.rpartition("/")[2]: place for uri, place in many.items()}, **many}
    with Mockup(bodies=bodies, has_sessions=False) as server:
        capture, _ = redfish.read(client(server, password="nope"), [str(n) for n in range(20)], HASTY)
    assert {trouble(capture, uri).reason for uri in many} == {Reason.DENIED}
    assert sum(server.gets.values()) <= 1 + HASTY.width


def test_a_full_session_table_is_not_ready_and_not_tried_again() -> None:
    with small(limit=0) as server:
        _, why = read(server)
    assert why is not None
    assert why.reason is Reason.NOT_READY
    assert "RAC0218" in why.detail
    assert server.seen["POST", SESSIONS] == 1


def test_a_login_with_a_retry_time_is_repeated() -> None:
    with small(faults={"POST login": busy(1, retry_after="0")}) as server:
        _, why = read(server)
    assert why is None
    assert server.seen["POST", SESSIONS] == 2


def test_a_login_that_is_busy_without_end_is_not_ready() -> None:
    with small(faults={"POST login": busy(retry_after="0")}) as server:
        _, why = read(server)
    assert why is not None
    assert why.reason is Reason.NOT_READY
    assert server.seen["POST", SESSIONS] == 1 + HASTY.retries


def test_a_root_behind_a_login_is_read_after_it() -> None:
    with small(open_root=False) as server:
        capture, why = read(server)
    assert why is None
    assert capture.bodies[ROOT] == SMALL[ROOT]


def test_a_session_lost_in_the_middle_is_taken_anew_once() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(status=401, times=1)}) as server:
        capture, why = read(server)
    assert why is None
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{ONE}/Bios"]
    assert server.seen["POST", SESSIONS] == 2
    assert sum(n for (method, _), n in server.seen.items() if method == "DELETE") == 2


def test_a_resource_that_denies_access_costs_itself_only() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(status=401)}) as server:
        capture, _ = read(server)
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.DENIED
    assert capture.bodies[f"{TWO}/Bios"] == SMALL[f"{TWO}/Bios"]
    assert server.seen["POST", SESSIONS] == 2


@pytest.mark.parametrize(
    "location",
    [
        ONE,
        "",
        SESSIONS,
        f"{SESSIONS}/",
        f"{SESSIONS}/.",
        f"{SESSIONS}/..",
        f"{SESSIONS}/../../Systems/1",
        f"{SESSIONS}/1/2",
        f"{SESSIONS}/..%2F..%2FSystems",
        f"{SESSIONS}/%2e%2e",
        f"{SESSIONS}/1?x=1",
        f"{SESSIONS}/1#x",
        f"{SESSIONS}/..\\..",
        "/redfish/v1/AccountService/Accounts/1/Sessions/..",
        "/redfish/v1/AccountService/Sessions/1",
        f"https://bmc.evil{SESSIONS}/1",
        f"//bmc.evil{SESSIONS}/1",
        f"https://root@127.0.0.1{SESSIONS}/1",
    ],
)
def test_nothing_but_a_session_is_ever_deleted(location: str) -> None:
    token = ResourceFault(status=201, headers={"X-Auth-Token": "a-token", "Location": location})
    with small(faults={"POST login": token}) as server:
        server.sessions["kept"] = "a-token"
        capture, why = read(server)
        del server.sessions["kept"]
    assert why is None
    assert "DELETE" not in server.methods
    assert "was not closed and will expire" in trouble(capture, SESSIONS).detail


@pytest.mark.parametrize(
    "place",
    [
        f"{SESSIONS}/a.b-1",
        f"{SESSIONS}/1/",
        f"https://BMC{SESSIONS}/1",
        f"https://bmc:443{SESSIONS}/1",
        SESSIONS.casefold() + "/1",
    ],
)
def test_a_session_may_be_named_by_its_path_or_by_its_whole_address(place: str) -> None:
    found = session_place("https://bmc", place, (SESSIONS,))
    assert found is not None
    assert place.endswith(found)
    assert session_place("https://bmc", place, ("/redfish/v1/Other/Sessions",)) is None


def test_a_bmc_that_rejects_its_own_sessions_is_not_reported_as_a_wrong_password() -> None:
    names = ("Systems", "Chassis", "Managers")
    bodies: dict[str, object] = {ROOT: {name: link(f"{ROOT}/{name}") for name in names}}
    bodies |= {f"{ROOT}/{name}": {"Members": []} for name in names}
    with Mockup(bodies=bodies, faults={f"{ROOT}/{name}": ResourceFault(status=401) for name in names}) as server:
        capture, why = redfish.read(client(server), [f"{name}/*" for name in names], HASTY)
    assert why == SESSION_REJECTED
    assert capture.bodies == {ROOT: SESSION_REJECTED}
    assert server.seen["POST", SESSIONS] == 2
    assert not server.sessions


def test_a_second_login_that_is_refused_is_not_reported_as_a_rejected_session() -> None:
    given_ = ResourceFault(status=201, times=1, headers={"X-Auth-Token": "a-token", "Location": f"{SESSIONS}/1"})
    with small(faults={"POST login": given_, SYSTEMS: ResourceFault(status=401)}) as server:
        server.sessions["1"] = "a-token"
        capture, _ = redfish.read(redfish.Bmc(server.url, "root", "wrong", server.fingerprint), LINKS, HASTY)
    assert trouble(capture, SYSTEMS) != SESSION_REJECTED
    assert server.seen["POST", SESSIONS] == 2


def test_a_bmc_with_other_errors_as_well_is_not_reported_as_rejecting_its_sessions() -> None:
    names = ("Systems", "Chassis")
    bodies: dict[str, object] = {ROOT: {name: link(f"{ROOT}/{name}") for name in names}}
    faults = {f"{ROOT}/Systems": ResourceFault(status=401), f"{ROOT}/Chassis": ResourceFault(status=500)}
    with Mockup(bodies=bodies, faults=faults) as server:
        _, why = redfish.read(client(server), [f"{name}/*" for name in names], HASTY)
    assert why is None


def test_a_session_that_ends_twice_is_taken_anew_twice() -> None:
    ended = {uri: ResourceFault(status=401, times=1) for uri in (ONE, f"{ONE}/Bios")}
    with small(faults=ended) as server:
        capture, why = read(server)
    assert why is None
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())
    assert server.seen["POST", SESSIONS] == 3


def test_a_session_that_never_lasts_is_not_taken_anew_without_end() -> None:
    many = {f"{SYSTEMS}/{n}": {"Id": str(n)} for n in range(30)}
    bodies: dict[str, object] = {ROOT: SMALL[ROOT], SYSTEMS: {"Members": [link(uri) for uri in many]}, **many}
    with Mockup(bodies=bodies, faults={uri: ResourceFault(status=401, times=1) for uri in list(many)[::3]}) as server:
        capture, _ = redfish.read(client(server), ["Systems/*"], HASTY)
    assert server.seen["POST", SESSIONS] == LOGINS
    assert {trouble(capture, uri).reason for uri in many if isinstance(capture.bodies[uri], Unknown)} == {Reason.DENIED}
    assert not server.sessions


def test_a_password_that_must_be_changed_is_denied() -> None:
    values = {"@Message.ExtendedInfo": [{"MessageId": "Base.1.0.PasswordChangeRequired", "MessageArgs": [ONE]}]}
    token = ResourceFault(
        status=201, headers={"X-Auth-Token": "x", "Location": f"{SESSIONS}/1"}, body=json.dumps(values).encode()
    )
    with small(faults={"POST login": token}) as server:
        _, why = read(server)
    assert why is not None
    assert why.reason is Reason.DENIED
    assert server.seen["DELETE", f"{SESSIONS}/1"] == 1


def test_the_session_is_closed_when_the_user_interrupts() -> None:
    with small(faults={ONE: ResourceFault("hang")}) as server:
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            read(server, redfish.Limits(read=15))
        assert not server.sessions


def test_the_session_is_closed_when_the_run_is_stopped() -> None:
    stop = threading.Event()
    with small(faults={ONE: ResourceFault("hang")}) as server:
        threading.Timer(0.3, stop.set).start()
        began = time.monotonic()
        capture, why = redfish.read(client(server), LINKS, redfish.Limits(read=100, answer=200), stop=stop)
    assert why is None
    assert time.monotonic() - began < HASTY.deadline
    assert trouble(capture, ONE).reason in {Reason.NOT_COLLECTED, Reason.TIMEOUT}


def test_a_password_shows_nowhere(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(logging.DEBUG)
    secret = 'correct"horse'
    with small(password=secret) as server:
        bmc = client(server, password=secret)
        capture, _ = redfish.read(bmc, LINKS, HASTY)
        tokens = list(server.sessions.values())
    with small() as server:
        _, why = redfish.read(bmc, LINKS, HASTY)
    shown = capsys.readouterr()
    text = f"{bmc!r} {capture!r} {why!r} {caplog.text} {shown.out} {shown.err}"
    assert "horse" not in text
    assert not any(token in text for token in tokens)


def test_a_password_in_any_spelling_of_json_shows_nowhere() -> None:
    secret = "S3cr&t/<pass>word"
    escaped = json.dumps(secret).replace("&", "\\u0026").replace("<", "\\u003C").replace("/", "\\/")
    bodies = {
        f"{ONE}/Bios": ResourceFault(body=f'{{"Attributes": {{"A": {escaped}, {escaped}: "B"}}}}'.encode()),
        f"{TWO}/Bios": ResourceFault(body=f"{{{escaped}".encode()),
        TWO: ResourceFault(status=403, body=f'{{"error": {{"message": {escaped}}}}}'.encode()),
    }
    with small(password=secret, faults=bodies) as server:
        capture, why = redfish.read(client(server, password=secret), LINKS, HASTY)
    assert why is None
    text = json.dumps(capture.to_json(), ensure_ascii=False)
    assert capture.bodies[f"{ONE}/Bios"] == {"Attributes": {"A": DROPPED, DROPPED: "B"}}
    assert DROPPED in trouble(capture, TWO).detail
    for part in (secret, "S3cr", "u0026", "word"):
        assert part not in text


def test_the_token_of_a_session_shows_nowhere() -> None:
    token, place = "3f9c0a17-a-token", f"{SESSIONS}/1"
    given_ = ResourceFault(status=201, headers={"X-Auth-Token": token, "Location": place})
    faults = {
        "POST login": given_,
        ONE: ResourceFault(body=json.dumps({"Id": token, "Bios": link(f"{ONE}/Bios"), token: 1}).encode()),
        TWO: ResourceFault(status=403, body=json.dumps({"error": {"message": "x" * 150 + token}}).encode()),
        f"{ONE}/Bios": ResourceFault(status=302, headers={"Location": f"https://elsewhere/{token}"}),
    }
    with small(faults=faults) as server:
        server.sessions["1"] = token
        capture, why = read(server)
    assert why is None
    assert "a-token" not in repr(capture)
    assert "3f9c0a17" not in repr(capture)
    assert capture.bodies[ONE] == {"Id": DROPPED, "Bios": link(f"{ONE}/Bios"), DROPPED: 1}


def test_the_same_token_issued_twice_lets_us_in_twice() -> None:
    given_ = ResourceFault(status=201, headers={"X-Auth-Token": "a-token", "Location": f"{SESSIONS}/1"})
    with small(faults={"POST login": given_, ONE: ResourceFault(status=401, times=1)}) as server:
        server.sessions["1"] = "a-token"
        capture, _ = read(server)
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


# Trust


def test_a_changed_certificate_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    other = certificate(tmp_path, "other")
    with small() as server:
        bmc = redfish.Bmc(server.url, "root", "calvin", other.fingerprint)
        _, why = redfish.read(bmc, LINKS, HASTY)
        assert not server.seen
    assert why == Unknown(Reason.CERTIFICATE_CHANGED, f"expected {other.fingerprint}, found {server.fingerprint}")


def test_an_untrusted_certificate_is_refused_with_its_fingerprint() -> None:
    with small() as server:
        _, why = redfish.read(redfish.Bmc(server.url, "root", "calvin"), LINKS, HASTY)
        assert not server.seen
    assert why is not None
    assert why.reason is Reason.CERTIFICATE_CHANGED
    assert server.fingerprint in why.detail
    assert "pin it" in why.detail


def test_a_certificate_of_the_configured_authority_is_trusted() -> None:
    with small() as server:
        _, why = redfish.read(redfish.Bmc(server.url, "root", "calvin", ca=str(server.certificate.file)), LINKS, HASTY)
    assert why is None


def test_a_certificate_of_another_authority_is_not(tmp_path: Path) -> None:
    other = certificate(tmp_path, "other")
    with small() as server:
        _, why = redfish.read(redfish.Bmc(server.url, "root", "calvin", ca=str(other.file)), LINKS, HASTY)
        assert not server.seen
    assert why is not None
    assert why.reason is Reason.CERTIFICATE_CHANGED


def test_a_name_the_authority_did_not_vouch_for_is_refused() -> None:
    with small() as server:
        elsewhere = server.url.replace("127.0.0.1", "localhost")
        _, why = redfish.read(redfish.Bmc(elsewhere, "root", "calvin", ca=str(server.certificate.file)), LINKS, HASTY)
        assert not server.seen
    assert why is not None
    assert why.reason is Reason.CERTIFICATE_CHANGED


def test_a_missing_ca_file_is_reported() -> None:
    _, why = redfish.read(redfish.Bmc("https://127.0.0.1", "root", "calvin", ca="/nowhere/ca.pem"), LINKS, HASTY)
    assert why is not None
    assert "/nowhere/ca.pem" in why.detail


def test_a_fingerprint_may_be_spelt_with_or_without_colons() -> None:
    with small() as server:
        bare = f"sha256:{server.fingerprint.replace(':', '').lower()}"
        _, why = redfish.read(redfish.Bmc(server.url, "root", "calvin", bare), LINKS, HASTY)
    assert why is None


@pytest.mark.parametrize(
    ("url", "fingerprint"),
    [
        ("http://bmc", None),
        ("bmc", None),
        ("https://", None),
        ("https://root:calvin@bmc", None),
        ("https://bmc/redfish/v1", None),
        ("https://bmc?x", None),
        ("https://bmc:port", None),
        ("https://bmc", "AB:CD"),
    ],
)
def test_an_error_in_the_inventory_is_reported_before_any_request(url: str, fingerprint: str | None) -> None:
    with pytest.raises(ValueError, match=r"\S") as error:
        redfish.Bmc(url, "root", "hunter2", fingerprint)
    assert "calvin" not in str(error.value)
    assert "hunter2" not in str(error.value)


def test_neither_a_proxy_nor_a_password_of_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login root password nope\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTPS_PROXY", refused_port())
    monkeypatch.setenv("ALL_PROXY", refused_port())
    with small(has_sessions=False) as server:
        capture, why = read(server)
    assert why is None
    assert capture.bodies[ONE] == SMALL[ONE]


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("PATCH", "https://bmc/redfish/v1"),
        ("PUT", "https://bmc/redfish/v1"),
        ("GET", "https://bmc.evil/redfish/v1"),
        ("GET", "http://bmc/redfish/v1"),
    ],
)
def test_the_wire_carries_nothing_that_changes_a_bmc_and_nothing_to_another(method: str, url: str) -> None:
    wire = PinnedTls("https://bmc", trust(None, None), None, cap=1)
    with pytest.raises(WireFault, match="only this BMC"):
        wire.send(requests.Request(method, url).prepare(), timeout=(1, 1, 1))


# What goes wrong on the way


def test_a_refused_port_is_unreachable() -> None:
    _, why = redfish.read(redfish.Bmc(refused_port(), "root", "calvin"), LINKS, HASTY)
    assert why is not None
    assert why.reason is Reason.UNREACHABLE


def test_a_silent_port_is_a_timeout() -> None:
    began = time.monotonic()
    with silent_port() as url:
        _, why = redfish.read(redfish.Bmc(url, "root", "calvin"), LINKS, replace(HASTY, handshake=0.4))
    assert why == Unknown(Reason.TIMEOUT, "no TLS handshake: silent for 0.4 s")
    assert time.monotonic() - began < HASTY.deadline


class BusyBmc(Mockup):
    """A BMC that accepts connections at once, and begins TLS later."""

    def serve(self, line: socket.socket, *contexts: ssl.SSLContext) -> None:
        time.sleep(0.6)
        super().serve(line, *contexts)


def test_tls_may_take_longer_than_the_connection() -> None:
    with BusyBmc(bodies=SMALL) as server:
        capture, why = redfish.read(client(server), LINKS, replace(HASTY, connect=0.2, handshake=5))
    assert why is None
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{ONE}/Bios"]


def test_a_run_that_is_stopped_does_not_wait_for_tls() -> None:
    stop = threading.Event()
    with silent_port() as url:
        threading.Timer(0.3, stop.set).start()
        began = time.monotonic()
        _, why = redfish.read(redfish.Bmc(url, "root", "calvin"), LINKS, redfish.Limits(handshake=60), stop=stop)
    assert why is not None
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("kind", ["hang", "drip", "drip-headers"])
def test_a_resource_that_drags_costs_itself_only(kind: str) -> None:
    began = time.monotonic()
    with small(faults={f"{ONE}/Bios": ResourceFault(kind)}) as server:
        capture, why = read(server)
    assert why is None
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.TIMEOUT
    assert capture.bodies[f"{TWO}/Bios"] == SMALL[f"{TWO}/Bios"]
    assert time.monotonic() - began < HASTY.deadline


@pytest.mark.parametrize("kind", ["hang", "drip", "drip-headers"])
def test_the_deadline_ends_a_visit_however_the_bmc_drags(kind: str) -> None:
    began = time.monotonic()
    patient = redfish.Limits(read=30, answer=60, deadline=0.6)
    with small(faults={SYSTEMS: ResourceFault(kind)}) as server:
        _, why = read(server, patient)
    assert why is not None  # where the login succeeds and no resource is returned, the whole plane has one reason
    assert why.reason is Reason.TIMEOUT
    assert "the login succeeds, but no resource is returned: " in why.detail
    assert time.monotonic() - began < HASTY.deadline


def test_the_deadline_holds_for_the_root_too() -> None:
    with small(faults={ROOT: ResourceFault("drip")}) as server:
        _, why = read(server, redfish.Limits(deadline=0.5))
    assert why is not None
    assert why.reason is Reason.TIMEOUT


def test_a_bmc_that_stopped_answering_gets_few_further_requests() -> None:
    many = {f"{SYSTEMS}/{n}": {"Id": str(n)} for n in range(40)}
    bodies: dict[str, object] = {ROOT: SMALL[ROOT], SYSTEMS: {"Members": [link(uri) for uri in many]}}
    with Mockup(bodies=bodies, faults={uri: ResourceFault("hang") for uri in many}) as server:
        capture, _ = redfish.read(client(server), ["Systems/*"], HASTY)
    assert sum(server.gets.values()) < 15
    assert {trouble(capture, uri).reason for uri in many} == {Reason.TIMEOUT}


@pytest.mark.parametrize("kind", ["flood", "chunked-flood"])
def test_a_flood_stops_at_the_cap(kind: str) -> None:
    began = time.monotonic()
    with small(faults={f"{ONE}/Bios": ResourceFault(kind)}) as server:
        capture, _ = read(server, redfish.Limits(body=4 << 20))
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.TOO_LARGE
    assert server.sent < 24 << 20
    assert time.monotonic() - began < HASTY.deadline


def test_an_announced_flood_is_not_even_begun() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(headers={"X": "y"}, body=b" " * (1 << 20))}) as server:
        capture, _ = read(server, redfish.Limits(body=1 << 19))
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.TOO_LARGE


def test_a_packed_flood_stops_at_the_cap() -> None:
    bomb = ResourceFault(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b" " * (64 << 20)))
    with small(faults={f"{ONE}/Bios": bomb}) as server:
        capture, _ = read(server, redfish.Limits(body=1 << 20))
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.TOO_LARGE


def test_a_packed_answer_is_read() -> None:
    packed = ResourceFault(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b'{"Attributes": {"A": "B"}}'))
    with small(faults={f"{ONE}/Bios": packed}) as server:
        capture, _ = read(server)
    assert capture.bodies[f"{ONE}/Bios"] == {"Attributes": {"A": "B"}}


def test_all_bodies_together_are_bounded() -> None:
    with small(faults={"*": ResourceFault(body=b'{"Systems": null, "x": "' + b"x" * 3000 + b'"}')}) as server:
        server.faults = {f"{ONE}/Bios": server.faults["*"], f"{TWO}/Bios": server.faults["*"]}
        capture, _ = read(server, redfish.Limits(total=5000))
    assert {b.reason for b in capture.bodies.values() if isinstance(b, Unknown)} == {Reason.TOO_LARGE}


def test_the_number_of_gets_is_bounded() -> None:
    with small() as server:
        capture, _ = read(server, redfish.Limits(gets=3))
    assert sum(server.gets.values()) == 3
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.TOO_LARGE


def test_a_cut_answer_is_not_taken_for_a_whole_one() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault("cut")}) as server:
        capture, _ = read(server)
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.UNPARSABLE


def test_a_connection_closed_in_our_face_is_opened_again() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault("reset", times=1)}) as server:
        capture, _ = read(server)
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{ONE}/Bios"]


@pytest.mark.parametrize("retry_after", [None, "0", "soon"])
def test_a_503_that_passes_is_waited_for(retry_after: str | None) -> None:
    with small(faults={f"{ONE}/Bios": busy(2, retry_after)}) as server:
        capture, _ = read(server)
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{ONE}/Bios"]
    assert server.gets[f"{ONE}/Bios"] == 3


def test_a_503_that_stays_is_not_ready() -> None:
    with small(faults={f"{ONE}/Bios": busy()}) as server:
        capture, _ = read(server)
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.NOT_READY
    assert server.gets[f"{ONE}/Bios"] == 1 + HASTY.retries


def test_a_503_with_a_retry_time_beyond_the_deadline_ends_at_once() -> None:
    began = time.monotonic()
    with small(faults={f"{ONE}/Bios": busy(retry_after="300")}) as server:
        capture, _ = read(server)
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.NOT_READY
    assert server.gets[f"{ONE}/Bios"] == 1
    assert time.monotonic() - began < HASTY.deadline


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"<html><body>Please log in</body></html>",
        b"Not Found",
        b'{"Attributes": {"A": "B",}}',
        b'{"Attributes": {"A": ',
        b'{"Attributes": NaN}',
        b'{"Attributes": -Infinity}',
        b'{"Attributes": 1e999}',
        b"[]",
        b"7",
        b"null",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"Attributes": {"A": "B"}, "Attributes": {}}',
        b'{"Attributes": {"A": "B", "\\u0041": "C"}}',
    ],
)
def test_a_body_that_is_no_resource_is_unparsable(body: bytes) -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(body=body)}) as server:
        capture, why = read(server)
    assert why is None
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.UNPARSABLE
    assert capture.bodies[f"{TWO}/Bios"] == SMALL[f"{TWO}/Bios"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, Reason.DENIED) for status in (401, 403)),
        *((status, Reason.NOT_READY) for status in (429, 503, 504)),
        *((status, Reason.NOT_COLLECTED) for status in (204, 404, 410, 500)),
    ],
)
def test_a_status_gives_the_reason(status: int, reason: Reason) -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(status=status, body=b"")}) as server:
        capture, _ = read(server)
    assert trouble(capture, f"{ONE}/Bios") == Unknown(reason, f"HTTP {status}")


def test_a_redirect_to_another_host_is_not_followed() -> None:
    with small() as other, small() as server:
        server.faults[f"{ONE}/Bios"] = ResourceFault(status=302, headers={"Location": f"{other.url}{ONE}/Bios"})
        capture, _ = read(server)
        assert not other.seen
    assert trouble(capture, f"{ONE}/Bios").reason is Reason.UNREACHABLE


def test_a_redirect_within_the_bmc_is_followed_once() -> None:
    with small(faults={f"{ONE}/Bios": ResourceFault(status=308, headers={"Location": f"{TWO}/Bios"})}) as server:
        capture, _ = read(server)
    assert capture.bodies[f"{ONE}/Bios"] == SMALL[f"{TWO}/Bios"]


def test_a_bmc_that_needs_slashes_at_the_end_gets_them() -> None:
    with small(slash=True) as server:
        capture, why = read(server)
    assert why is None
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


def test_a_link_in_other_letters_is_found_in_those_of_its_parent() -> None:
    spelt = {"/redfish/v1/systems/1": "/redfish/v1/Systems/1"}
    assert other_spelling("/redfish/v1/systems/1/bios", spelt) == "/redfish/v1/Systems/1/bios"
    assert other_spelling("/redfish/v1/Systems/1/Bios", spelt) == "/redfish/v1/Systems/1/Bios/"


def test_secrets_are_dropped_before_anything_is_kept() -> None:
    with Mockup(tree(DELL)) as server:
        capture, _ = redfish.read(client(server), links("bmc_bios"))
    bios = capture.bodies["/redfish/v1/Systems/System.Embedded.1/Bios"]
    assert not isinstance(bios, Unknown)
    assert bios["Attributes"]["SHA256SetupPassword"] == DROPPED
    assert bios["Attributes"]["PasswordStatus"] == "Unlocked"


@pytest.mark.parametrize(
    "data", [b'{"Model": "x\\ud800y"}', b'{"Model": "x\xff\xfey"}', b'{"Model": "x\xed\xa0\x80y"}']
)
def test_a_text_that_is_no_text_can_be_stored_and_is_no_value(data: bytes) -> None:
    body = parsed(data)
    assert not isinstance(body, Unknown)
    json.dumps(body, ensure_ascii=False).encode()
    reading = Resource("/a", body).read("Model").reading
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.UNPARSABLE


def test_what_takes_memory_is_counted_before_it_is_read() -> None:
    many = b'{"A": [' + b"{}," * VALUES + b"{}]}"
    body = parsed(many)
    assert isinstance(body, Unknown)
    assert body.reason is Reason.TOO_LARGE
    with small() as server:
        capture, _ = read(server, redfish.Limits(values=12))
    assert {b.reason for b in capture.bodies.values() if isinstance(b, Unknown)} == {Reason.TOO_LARGE}


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_a_body_or_unparsable(data: bytes) -> None:
    body = parsed(data)
    assert isinstance(body, dict) or (isinstance(body, Unknown) and body.reason is Reason.UNPARSABLE)
