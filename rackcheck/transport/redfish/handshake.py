"""What a BMC shows before it answers anything: the version of TLS, its cipher, and its certificate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from ssl import SSLSocket
from typing import Any

from rackcheck.model.fact import clean
from rackcheck.model.resource import Body

# An odd certificate (a negative serial number) is told of on standard error, where a BMC has nothing to say.
warnings.filterwarnings("ignore", module=r"rackcheck\.redfish\.handshake")

LONGEST = 300
"""Characters of one name in a certificate that are kept."""


@dataclass(frozen=True)
class Handshake:
    """The first handshake of a visit: its words, the certificate as it came (DER), and when, ISO 8601 in UTC."""

    protocol: str
    cipher: str
    certificate: bytes
    seen: str

    @classmethod
    def of(cls, line: SSLSocket) -> "Handshake":
        """Take what a line agreed upon."""
        cipher = line.cipher()
        seen = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(line.version() or "", cipher[0] if cipher else "", line.getpeercert(binary_form=True) or b"", seen)

    def body(self) -> Body:
        """Give it as a resource; null stands for what a certificate does not say, or not so that it can be read."""
        values: dict[str, Any] = {"Protocol": self.protocol or None, "Cipher": self.cipher or None, "Seen": self.seen}
        return values | {"Certificate": self._certificate() if self.certificate else None}

    def _certificate(self) -> dict[str, Any]:
        from cryptography import x509  # noqa: PLC0415  it takes long to import, and no audit of hosts alone needs it

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
            except Exception:  # noqa: BLE001  whatever stands there was written by whoever made the certificate
                values[name] = None
        return values


def _moment(time: datetime) -> str:
    return time.isoformat()


def _signature(made: Any) -> str | None:
    digest = made.signature_hash_algorithm
    return None if digest is None else str(digest.name)  # keys like ed25519 sign without a digest of their own


def _key(key: Any) -> str | None:
    """Give a key's kind and size: `RSA 2048`, `EC secp384r1`, `ed25519`."""
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
    """Whether a certificate's own key signed it; the same name on both sides alone does not say so."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        made.verify_directly_issued_by(made)
    except (InvalidSignature, ValueError):
        return False
    return True
