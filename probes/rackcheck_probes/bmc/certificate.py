"""The certificate and the TLS of a BMC, as its handshake showed them."""

from datetime import datetime

from rackcheck import Class, Documents, Facts, Redfish, flag, integer, probe, text
from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.redfish_value import text_of, truth
from rackcheck.model.resource import Resource

TEXTS = {"subject": "SubjectName", "issuer": "IssuerName", "not_before": "ValidNotBefore", "not_after": "ValidNotAfter"}
TEXTS |= {"fingerprint": "Fingerprint", "key": "Key", "digest": "SignatureAlgorithm"}


@probe(
    Redfish(),
    gives={
        "bmc.tls.version": text("version of TLS that the BMC agreed to: TLSv1.3, TLSv1.2; older ones are refused"),
        "bmc.tls.cipher": text("cipher of that connection, by OpenSSL's name"),
        "bmc.certificate.fingerprint": text("SHA-256 of the certificate, in small hex digits", Class.IDENTITY),
        "bmc.certificate.subject": text("whom it names", Class.IDENTITY),
        "bmc.certificate.issuer": text("who signed it", Class.IDENTITY),
        "bmc.certificate.self_signed": flag("its own key signed it"),
        "bmc.certificate.not_before": text("valid from, ISO 8601", Class.IDENTITY),
        "bmc.certificate.not_after": text("valid until, ISO 8601", Class.IDENTITY),
        "bmc.certificate.days_left": integer(
            "whole days until it expires, by our clock; below 0 after", Class.MEASUREMENT
        ),
        "bmc.certificate.key": text("kind and size of its key: RSA 2048, EC secp384r1"),
        "bmc.certificate.digest": text("digest of its signature: sha256; sha1 and md5 are broken"),
    },
)
def bmc_certificate(docs: Documents) -> Facts:
    """How the BMC proves who it is."""
    seen = docs.handshake
    yield "bmc.tls.version", seen.read("Protocol")
    yield "bmc.tls.cipher", seen.read("Cipher")
    for fact, name in TEXTS.items():
        yield f"bmc.certificate.{fact}", seen.read(f"Certificate.{name}")
    yield "bmc.certificate.self_signed", seen.read("Certificate.SelfSigned", truth)
    yield "bmc.certificate.days_left", seen.read("Certificate.ValidNotAfter", lambda value: days_left(value, seen))


# How long a certificate is valid, by the clock of whoever saw it.


def days_left(ends: object, seen: Resource) -> int:
    """Give the whole days from a handshake to the end of its certificate; below zero where it is over."""
    when = seen.body.get("Seen")
    if when is None:
        raise Unreadable("was seen at a time that this run did not keep", Reason.NOT_COLLECTED)
    try:
        return (_moment(ends) - _moment(when)).days
    except TypeError as error:
        raise Unreadable(f"has no zone: {clean(str(ends), 60)!r}") from error


def _moment(value: object) -> datetime:
    text = text_of(value)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f"is no date and time: {clean(text, 60)!r}") from error
