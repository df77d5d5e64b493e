"""The TLS handshake of a BMC: what is stored, what is reported, and how old or odd ones are handled."""

import datetime as dt
import json
import ssl
import warnings
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import Mockup
from one_probe import of
from trees import client

from rackcheck import Reason, Unknown
from rackcheck.anonymise.captures import Anonymous
from rackcheck.anonymise.identities import of_capture
from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE
from rackcheck.model.fact import Reading
from rackcheck.model.resource import ROOT, Body
from rackcheck.sim import certificate as sim
from rackcheck.sim.bmc import SimBmc, tls
from rackcheck.sim.listeners import Doors
from rackcheck.transport import redfish
from rackcheck.transport.redfish.handshake import Handshake
from rackcheck_probes.bmc.certificate import bmc_certificate

BODIES: dict[str, Body] = {ROOT: {"Systems": {"@odata.id": f"{ROOT}/Systems"}}, f"{ROOT}/Systems": {"Members": []}}
SEEN = "2026-11-21T12:00:00+00:00"


def certificate(key: Any, *, issuer: Any = None, ends: dt.datetime | None = None, name: str = "bmc") -> bytes:
    """A certificate for a key, signed by itself or by another."""
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    ends = ends or dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
    signer = issuer or key
    digest = None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    made = (
        x509.CertificateBuilder()
        .subject_name(called)
        .issuer_name(called)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(ends)
        .sign(signer, digest)
    )
    return made.public_bytes(serialization.Encoding.DER)


def readings_of(handshake: Handshake) -> dict[str, Reading]:
    return of(bmc_certificate, {ROOT: BODIES[ROOT], HANDSHAKE: handshake.body()})


def shown(der: bytes) -> Mapping[str, Reading]:
    return {path.rpartition(".")[2]: found for path, found in readings_of(Handshake("TLSv1.2", "C", der, SEEN)).items()}


def test_the_handshake_of_a_visit_gives_its_facts_without_a_get() -> None:
    with Mockup(bodies=BODIES) as server:
        capture, _ = redfish.read(client(server), bmc_certificate.ask.links)
        bare = server.fingerprint.replace(":", "").casefold()
    assert set(server.gets) == {f"{ROOT}/"}
    found = of(bmc_certificate, capture.bodies)
    assert found["bmc.tls.version"] == "TLSv1.3"
    assert found["bmc.certificate.fingerprint"] == bare
    assert (found["bmc.certificate.subject"], found["bmc.certificate.issuer"]) == ("CN=bmc", "CN=bmc")
    assert (found["bmc.certificate.self_signed"], found["bmc.certificate.key"]) == (True, "EC secp256r1")
    assert found["bmc.certificate.days_left"] in {29, 30}


def test_a_handshake_comes_back_from_the_stored_form() -> None:
    with Mockup(bodies=BODIES) as server:
        capture, _ = redfish.read(client(server), ())
    assert BmcCapture.from_json(capture.to_json()) == capture
    assert HANDSHAKE in capture.bodies


def test_a_run_that_kept_no_handshake_leaves_all_of_it_unknown() -> None:
    found = of(bmc_certificate, {ROOT: BODIES[ROOT]})
    assert found
    assert all(isinstance(reading, Unknown) for reading in found.values())


@pytest.mark.parametrize(
    ("key", "text", "digest"),
    [
        (rsa.generate_private_key(65537, 2048), "RSA 2048", "sha256"),
        (ec.generate_private_key(ec.SECP384R1()), "EC secp384r1", "sha256"),
        (ed25519.Ed25519PrivateKey.generate(), "ed25519", None),
    ],
)
def test_the_key_and_the_digest_of_a_certificate_are_named(key: Any, text: str, digest: str | None) -> None:
    found = shown(certificate(key))
    assert found["key"] == text
    assert found["self_signed"] is True
    assert found["digest"] == digest if digest is not None else isinstance(found["digest"], Unknown)


def test_the_same_name_on_both_sides_does_not_make_a_certificate_its_own() -> None:
    key, other = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    found = shown(certificate(key, issuer=other))
    assert found["subject"] == found["issuer"]
    assert found["self_signed"] is False


@pytest.mark.parametrize(
    ("ends", "days"),
    [
        (dt.datetime(2026, 11, 21, 13, tzinfo=dt.UTC), 0),
        (dt.datetime(2026, 11, 21, 11, tzinfo=dt.UTC), -1),
        (dt.datetime(2036, 11, 18, 12, tzinfo=dt.UTC), 3650),
    ],
)
def test_the_days_that_are_left_are_counted_from_the_handshake(ends: dt.datetime, days: int) -> None:
    assert shown(certificate(ec.generate_private_key(ec.SECP256R1()), ends=ends))["days_left"] == days


@given(st.binary(max_size=400))
def test_nonsense_for_a_certificate_has_a_fingerprint_and_nothing_else(der: bytes) -> None:
    found = shown(der)
    unread = {name for name, reading in found.items() if isinstance(reading, Unknown)}
    assert unread >= {"subject", "issuer", "not_after", "days_left", "key", "self_signed"}
    assert ("fingerprint" in unread) == (not der)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_certificate_with_one_byte_changed_raises_nothing(place: int, byte: int) -> None:
    der = bytearray(DER)
    der[place % len(der)] = byte
    assert "fingerprint" in shown(bytes(der))


DER = certificate(ec.generate_private_key(ec.SECP256R1()))


def test_a_bmc_that_offers_only_old_tls_is_reported(tmp_path: Path) -> None:
    made = sim.certificate(tmp_path)
    context = tls(made.file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    doors, bmc = Doors(), SimBmc(BODIES)
    try:
        host, port = doors.open(("127.0.0.1", 0), lambda line: bmc.serve(line, context))
        _, trouble = redfish.read(redfish.Bmc(f"https://{host}:{port}", "root", "calvin", made.fingerprint), ())
    finally:
        doors.close()
    assert trouble is not None
    assert trouble.reason is Reason.UNREACHABLE
    assert "no longer safe; update its firmware" in trouble.detail


def test_names_and_fingerprints_of_a_certificate_are_not_in_an_anonymous_capture() -> None:
    der = certificate(ec.generate_private_key(ec.SECP256R1()), name="idrac-9XKQ2T3.lab.example")
    capture = BmcCapture({ROOT: BODIES[ROOT], HANDSHAKE: Handshake("TLSv1.2", "C", der, SEEN).body()})
    kept = Anonymous(["n01"], of_capture(capture), b"salt").capture(capture)
    assert isinstance(kept, BmcCapture)
    text = json.dumps(kept.to_json()).casefold()
    assert "9xkq2t3" not in text
    assert sha256(der).hexdigest() not in text
    assert "tlsv1.2" in text
