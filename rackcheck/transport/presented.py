"""Reads the host keys of an SSH server and the certificate of a BMC, without logging in and without trusting them."""

import shutil
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from rackcheck.model.fact import clean
from rackcheck.transport import known_hosts, openssh, ssh
from rackcheck.transport.redfish.tls import certificate, trust
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_connection import ProxySocket, connected, plain_kind
from rackcheck.transport.wire import ShellLimits

KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")
"""The kinds of host keys that are read, one connection each."""

HTTPS = 443


@dataclass(frozen=True, slots=True)
class Presented:
    """A host key or a certificate: its kind, its base64 or hexadecimal text, and its fingerprint as tools print it."""

    kind: str
    text: str
    fingerprint: str


def host_keys(target: Target, limits: ShellLimits) -> Iterator[Presented]:
    """Yield the host keys of an SSH server; raises OSError if it cannot be reached or is no SSH server."""
    import paramiko  # noqa: PLC0415  a fifth of a second, only if it is used

    if target.is_only_for_client:
        yield from _by_client(target, limits)
        return
    failed: Exception | None = None
    found = False
    for kind in KINDS:
        try:
            sock = connected(target, limits)
            transport = paramiko.Transport(sock)
        except (OSError, paramiko.SSHException) as error:
            failed = error
            break
        transport.banner_timeout = limits.connect
        timer = threading.Timer(limits.deadline, transport.close)
        timer.daemon = True
        timer.start()
        try:
            options = transport.get_security_options()
            options.key_types = [each for each in options.key_types if plain_kind(each) == kind]
            transport.start_client(timeout=limits.connect)
            if transport.initial_kex_done:
                key = transport.get_remote_server_key()
                found = True
                yield Presented(key.get_name(), key.get_base64(), ssh.fingerprint(key))
        except (OSError, EOFError, ValueError, paramiko.SSHException) as error:
            failed = error  # the server has no key of this kind
        finally:
            timer.cancel()
            transport.close()
        if isinstance(sock, ProxySocket) and sock.complaint:
            failed = OSError(None, f"the way to this host ended: {sock.complaint}")
        if not transport.remote_version:  # it is no SSH server, or silent: another kind would take as long
            failed = failed or TimeoutError("the SSH handshake did not complete")
            break
    if not found and isinstance(failed, paramiko.ssh_exception.IncompatiblePeer) and shutil.which("ssh"):
        yield from _by_client(target, limits)
    elif not found:
        raise OSError(None, clean(str(failed)) or "no SSH host key was presented")


def _by_client(target: Target, limits: ShellLimits) -> Iterator[Presented]:
    for line in openssh.host_keys(target, limits):
        _, kind, text, *_ = line.split()
        yield Presented(kind, text, known_hosts.fingerprint(text))


def bmc_certificate(url: str, seconds: float) -> Presented:
    """Return the certificate of a BMC; raises OSError if it cannot be reached or does not use TLS."""
    place = urlsplit(url)
    host, port = place.hostname or "", place.port or HTTPS
    digest = certificate(host, port, seconds)
    return Presented("certificate", digest, digest)


def is_verified(url: str, ca: str, seconds: float) -> bool:
    """Whether an authority vouches for the certificate of a BMC: that of a CA file, or one of this system."""
    place = urlsplit(url)
    host, port = place.hostname or "", place.port or HTTPS
    try:
        certificate(host, port, seconds, trust(None, ca or None))
    except (OSError, ssl.SSLError, ValueError):
        return False
    return True
