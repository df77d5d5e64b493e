"""Generates the SSH keys and TLS certificates of simulated machines; every simulated rack has new ones."""

import datetime as dt
import hashlib
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    """A file with a self-signed certificate and its private key; `fingerprint` is in OpenSSL's format."""

    file: Path
    fingerprint: str


def certificate(folder: Path, name: str = "bmc", address: str = "127.0.0.1") -> Certificate:
    """Generate a self-signed certificate for a loopback address."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=30))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.touch(mode=0o600)
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    digest = hashlib.sha256(made.public_bytes(serialization.Encoding.DER)).hexdigest().upper()
    return Certificate(file, ":".join(digest[i : i + 2] for i in range(0, 64, 2)))


@dataclass(frozen=True)
class SshKey:
    """An Ed25519 key pair: the private key in OpenSSH's format, and the public key as `ssh-ed25519 AAAA...`."""

    private: str
    public: str


def ssh_key() -> SshKey:
    """Generate an SSH key pair."""
    key = ed25519.Ed25519PrivateKey.generate()
    form, secret = serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, form, secret).decode()
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return SshKey(private, public.decode())
