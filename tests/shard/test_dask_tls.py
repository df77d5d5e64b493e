"""Dask over TLS, with a real scheduler and workers: verdicts of an undivided audit, and no connection without TLS."""

import datetime as dt
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from dask_cluster import cluster
from mockup_server import WatchedRack
from waiting import until

from rackcheck.base.user_error import UserError
from rackcheck.run import store
from rackcheck.shard.engines import engine
from rackcheck.sim import scenario

PROFILE = """\
rackcheck: 1
profile: shards
version: 1
title: two rules
rules:
  kernel.release: { title: a kernel, severity: blocker, fact: kernel.release, matches: ".", why: a test, fix: none }
  gpu.count: { title: eight GPUs, severity: blocker, count: gpu, is: 8, why: a test, fix: none }
"""
HALL = """\
rackcheck: 1
scenario: hall
nodes: { n1: { machine: dgx-h100, rack: r1 }, n2: { machine: dgx-h100, rack: r2 } }
faults: [{ nodes: n2, fault: gpu-missing, gpu: 5 }]
"""


class Authority:
    """An authority, and one certificate that it has signed, as files."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        own = ec.generate_private_key(ec.SECP256R1())
        key = ec.generate_private_key(ec.SECP256R1())
        ca = self._signed(name, own, name, own, is_ca=True)
        (self.folder / "ca.pem").write_bytes(ca.public_bytes(serialization.Encoding.PEM))
        made = self._signed("localhost", key, name, own, is_ca=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self.folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (self.folder / "key.pem").write_bytes(private)

    @staticmethod
    def _signed(
        name: str, key: ec.EllipticCurvePrivateKey, by: str, own: ec.EllipticCurvePrivateKey, *, is_ca: bool
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)

        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        return (
            x509.CertificateBuilder()
            .subject_name(named(name)).issuer_name(named(by)).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .sign(own, hashes.SHA256())
        )  # fmt: skip

    @property
    def settings(self) -> dict[str, str]:
        """Variables with which Dask's scheduler, workers and clients use this certificate."""
        found = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(self.folder / "ca.pem")}
        for role in ("SCHEDULER", "WORKER", "CLIENT"):
            found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(self.folder / "cert.pem")
            found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(self.folder / "key.pem")
        return found


@dataclass(frozen=True)
class Hall:
    """A simulated hall, a profile, two authorities, and the verdicts of an audit that is not divided."""

    inventory: Path
    profile: Path
    ours: Authority
    other: Authority
    whole: Mapping[str, Mapping[str, str]]


def audit(inventory: Path, profile: Path, folder: Path, *words: str, env: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", "audit", "-i", str(inventory), "-p", str(profile), *words,
         "-o", str(folder / "run")],
        env={**os.environ, **env, "RACKCHECK_HOME": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def verdicts(folder: Path) -> dict[str, dict[str, str]]:
    judged = store.find(str(folder / "run")).judged()
    return {each.node: {verdict.rule: verdict.status.value for verdict in each.verdicts} for each in judged}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    (folder / "hall.yaml").write_text(HALL)
    (folder / "shards.yaml").write_text(PROFILE)
    with WatchedRack(scenario.load(folder / "hall.yaml"), folder) as up:
        status, err = audit(up.inventory, folder / "shards.yaml", folder / "whole", env={})
        assert status == 1, err
        whole = verdicts(folder / "whole")
        assert set(whole) >= {"n1", "n2"}
        ours, other = Authority(folder, "ours"), Authority(folder, "other")
        yield Hall(up.inventory, folder / "shards.yaml", ours, other, whole)


def on(address: str) -> str:
    return address.replace("tls://", "dask+tls://")


def test_shards_run_over_tls_and_wrong_certificates_are_named(hall: Hall, tmp_path: Path) -> None:
    with cluster(tmp_path / "dask", ["r1", "r2"], settings=hall.ours.settings) as (address, _):
        assert address.startswith("tls://")
        status, err = audit(hall.inventory, hall.profile, tmp_path / "h", "--on", on(address), env=hall.ours.settings)
        assert status == 1, err
        assert verdicts(tmp_path / "h") == hall.whole
        for env, why in (
            (hall.other.settings, f"dask: {address} and this machine do not accept each other's certificates: "),
            (
                hall.ours.settings | own_of(hall.other),
                "do not accept each other's certificates: TLSV1_ALERT_UNKNOWN_CA",
            ),
            (hall.ours.settings | gone(tmp_path), "dask: the certificates of Dask's configuration cannot be read: "),
            ({}, "dask: dask+tls:// needs certificates in Dask's configuration: DASK_DISTRIBUTED__COMM__TLS__CA_FILE"),
        ):
            status, err = audit(hall.inventory, hall.profile, tmp_path / "h2", "--on", on(address), env=env)
            assert status == 2, err
            assert why in err
            assert "Traceback" not in err


def own_of(authority: Authority) -> dict[str, str]:
    """The certificate of another authority, without this authority."""
    return {name: value for name, value in authority.settings.items() if "CLIENT" in name}


def gone(folder: Path) -> dict[str, str]:
    return {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(folder / "gone.pem")}


@pytest.mark.parametrize("trusts_ours", [False, True])
def test_a_worker_with_the_certificate_of_another_authority_gets_no_shard(
    hall: Hall, tmp_path: Path, *, trusts_ours: bool
) -> None:
    ca = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE"
    own = hall.other.settings | ({ca: hall.ours.settings[ca]} if trusts_ours else {})
    stranger = (own, ("--host", "127.0.0.1", "--name", "stranger", "--resources", "r1=1,r2=1"))
    with cluster(tmp_path / "dask", [], settings=hall.ours.settings, others=[stranger]) as (address, _):
        scheduler, worker = tmp_path / "dask" / "0.log", tmp_path / "dask" / "1.log"
        until(lambda: b"TLS handshake failed" in scheduler.read_bytes(), "the worker is not refused")
        status, err = audit(hall.inventory, hall.profile, tmp_path / "h", "--on", on(address), env=hall.ours.settings)
        assert status == 2, err
        assert "dask: the scheduler has no worker: with TLS, a worker cannot join unless the same authority" in err
        assert b"Registered to" not in worker.read_bytes()


def test_a_worker_that_would_send_results_without_tls_is_refused(hall: Hall, tmp_path: Path) -> None:
    nothing: dict[str, str] = {}
    plain = (nothing, ("--listen-address", "tcp://127.0.0.1:0", "--name", "plain", "--resources", "r1=1,r2=1"))
    with cluster(tmp_path / "dask", [], settings=hall.ours.settings, others=[plain]) as (address, _):
        until(lambda: b"Registered to" in (tmp_path / "dask" / "1.log").read_bytes(), "the worker is not there")
        status, err = audit(hall.inventory, hall.profile, tmp_path / "h", "--on", on(address), env=hall.ours.settings)
        assert status == 2, err
        assert "dask: results of the worker tcp://127.0.0.1:" in err
        assert "are not encrypted: start it with a tls:// address" in err


def test_a_scheduler_without_tls_is_named(hall: Hall, tmp_path: Path) -> None:
    with cluster(tmp_path / "dask", []) as (address, _):
        place = address.replace("tcp://", "dask+tls://")
        status, err = audit(hall.inventory, hall.profile, tmp_path / "h", "--on", place, env=hall.ours.settings)
    assert status == 2, err
    assert f"dask: the scheduler at {address.replace('tcp', 'tls')} does not use TLS" in err


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]", "head", "localhost.example", "127.0.0.1.example"])
def test_a_plain_address_of_another_machine_is_refused_before_a_connection(host: str) -> None:
    runner = engine(f"dask://{host}:8786")
    with pytest.raises(UserError, match=r"is not encrypted; use dask\+tls://"):
        list(runner.carry([], threading.Event()))
