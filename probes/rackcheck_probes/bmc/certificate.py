"""The certificate and the TLS version of a BMC, from its handshake."""

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
        "bmc.tls.version": text("TLS version negotiated with the BMC: TLSv1.3, TLSv1.2; older ones are rejected"),
        "bmc.tls.cipher": text("cipher of the TLS connection, by OpenSSL's name"),
        "bmc.certificate.fingerprint": text("SHA-256 of the certificate, in lowercase hex digits", Class.IDENTITY),
        "bmc.certificate.subject": text("subject of the certificate", Class.IDENTITY),
        "bmc.certificate.issuer": text("issuer of the certificate", Class.IDENTITY),
        "bmc.certificate.self_signed": flag("the certificate is signed with its own key"),
        "bmc.certificate.not_before": text("valid from, ISO 8601", Class.IDENTITY),
        "bmc.certificate.not_after": text("valid until, ISO 8601", Class.IDENTITY),
        "bmc.certificate.days_left": integer(
            "whole days until the certificate expires, by rackcheck's clock; negative if it has expired",
            Class.MEASUREMENT,
        ),
        "bmc.certificate.key": text("type and size of the certificate's key: RSA 2048, EC secp384r1"),
        "bmc.certificate.digest": text("digest of the certificate's signature: sha256; sha1 and md5 are insecure"),
    },
)
def bmc_certificate(docs: Documents) -> Facts:
    """The BMC's TLS certificate and connection."""
    seen = docs.handshake
    yield "bmc.tls.version", seen.read("Protocol")
    yield "bmc.tls.cipher", seen.read("Cipher")
    for fact, name in TEXTS.items():
        yield f"bmc.certificate.{fact}", seen.read(f"Certificate.{name}")
    yield "bmc.certificate.self_signed", seen.read("Certificate.SelfSigned", truth)
    yield "bmc.certificate.days_left", seen.read("Certificate.ValidNotAfter", lambda value: days_left(value, seen))


# How long a certificate is valid, by the clock of the machine that read it.


def days_left(ends: object, seen: Resource) -> int:
    """Return the whole days from a TLS handshake until the BMC's certificate expires; negative if it has expired."""
    when = seen.body.get("Seen")
    if when is None:
        raise Unreadable(
            "cannot be counted in days: the time of the TLS handshake is not stored in this run", Reason.NOT_COLLECTED
        )
    try:
        return (_moment(ends) - _moment(when)).days
    except TypeError as error:
        raise Unreadable(f"has no time zone: {clean(str(ends), 60)!r}") from error


def _moment(value: object) -> datetime:
    text = text_of(value)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f"is not a date and time: {clean(text, 60)!r}") from error
