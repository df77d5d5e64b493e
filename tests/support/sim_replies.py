"""Replies of a simulated machine to probes, shared by several tests."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.documents import HANDSHAKE
from rackcheck.model.question import Read
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.sim import machine

DGX_H100 = machine.shipped()["dgx-h100"]


PROBES = registry().probes


TIME = "2026-11-21T08:00:00Z"


CERTIFICATE = {
    "Fingerprint": "ab" * 32,
    "SubjectName": "CN=bmc",
    "IssuerName": "CN=bmc",
    "SelfSigned": True,
    "ValidNotBefore": TIME,
    "ValidNotAfter": TIME,
    "Key": "EC secp256r1",
    "SignatureAlgorithm": "sha256",
}


SHOWN = {"Protocol": "TLSv1.3", "Cipher": "TLS_AES_256_GCM_SHA384", "Seen": TIME, "Certificate": CERTIFICATE}
"""Data of a TLS handshake, which is in no body."""


@cache
def node(name: str = "n01", number: int = 1) -> machine.SimMachine:
    return machine.load(DGX_H100, name, number)


def captures_of(made: machine.SimMachine) -> tuple[NodeCapture, BmcCapture]:
    """The captures of an audit: every glob was searched, and all bodies have the same time."""
    globs = {glob: None for probe in PROBES if isinstance(probe.ask, Read) for glob in probe.ask.globs}
    bodies = {**made.bmc.bodies, HANDSHAKE: SHOWN}
    return replace(made.host, globs=globs), BmcCapture(bodies, dict.fromkeys(made.bmc.bodies, TIME))


@cache
def leaves_of(name: str = "n01", number: int = 1) -> Mapping[str, Leaf]:
    host, bmc = captures_of(node(name, number))
    return collect(PROBES, host) | collect(PROBES, bmc)
