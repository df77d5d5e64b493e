"""Records the TLS handshake with a BMC: version, cipher and certificate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from ssl import SSLSocket
from typing import Any

from rackcheck.model.fact import clean
from rackcheck.model.resource import Body

# cryptography warns of unusual certificates (a negative serial number) on standard error, where BMC data must not go.
warnings.filterwarnings("ignore", module=r"rackcheck\.transport\.redfish\.handshake")

LONGEST = 300
"""Maximum length of one name in a certificate, in characters."""


@dataclass(frozen=True)
class Handshake:
    """The first handshake with a BMC: TLS version, cipher, certificate as received (DER), and time (ISO 8601, UTC)."""

    protocol: str
    cipher: str
    certificate: bytes
    seen: str

    @classmethod
    def of(cls, line: SSLSocket) -> "Handshake":
        """Return the negotiated values of a connection."""
        cipher = line.cipher()
        seen = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(line.version() or "", cipher[0] if cipher else "", line.getpeercert(binary_form=True) or b"", seen)

    def body(self) -> Body:
        """Return the handshake as a resource; a value that the certificate lacks, or that is unreadable, is null."""
        values: dict[str, Any] = {"Protocol": self.protocol or None, "Cipher": self.cipher or None, "Seen": self.seen}
        return values | {"Certificate": self._certificate() if self.certificate else None}

    def _certificate(self) -> dict[str, Any]:
        from cryptography import x509  # noqa: PLC0415  slow to import, and not needed to audit hosts alone

        values: dict[str, Any] = {"Fingerprint": sha256(self.certificate).hexdigest()}
        try:
            made = x509.load_der_x509_certificate(self.certificate)
        except ValueError:
            return values
        readers: dict[str, Callable[[], str | bool | None]] = {
            "SubjectName": lambda: clean(made.subject.rfc4514_string(), LONGEST),
            "IssuerName": lambda: clean(made.issuer.rfc4514_string(), LONGEST),
            "ValidNotBefore": lambda: _moment(made.not_valid_before_utc),
            "ValidNotAfter": lambda: _moment(made.not_valid_after_utc),
            "SignatureAlgorithm": lambda: _signature(made),
            "Key": lambda: _key(made.public_key()),
            "SelfSigned": lambda: _signs_itself(made),
        }
        for name, reader in readers.items():
            try:
                values[name] = reader()
            except Exception:  # noqa: BLE001  the certificate's content is untrusted
                values[name] = None
        return values


def _moment(time: datetime) -> str:
    return time.isoformat()


def _signature(made: Any) -> str | None:
    digest = made.signature_hash_algorithm
    return None if digest is None else str(digest.name)  # keys like ed25519 sign without a separate digest


def _key(key: Any) -> str | None:
    """Return the type and size of a key, such as `RSA 2048`, `EC secp384r1` or `ed25519`."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa  # noqa: PLC0415

    match key:
        case rsa.RSAPublicKey():
            return f"RSA {key.key_size}"
        case ec.EllipticCurvePublicKey():
            return f"EC {key.curve.name}"
        case ed25519.Ed25519PublicKey():
            return "ed25519"
        case ed448.Ed448PublicKey():
            return "ed448"
    return None


def _signs_itself(made: Any) -> bool:
    """Return whether a certificate is signed with its own key; equal names of subject and issuer do not prove this."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        made.verify_directly_issued_by(made)
    except (InvalidSignature, ValueError):
        return False
    return True
