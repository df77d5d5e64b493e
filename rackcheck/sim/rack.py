"""Starts a simulated rack on loopback, and writes its inventory."""

import json
import secrets
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.fact import Unknown
from rackcheck.model.resource import ROOT
from rackcheck.sim import edit
from rackcheck.sim.behaviour import BmcConduct, Door, Station
from rackcheck.sim.bmc import ResourceFault, SimBmc, now, tls
from rackcheck.sim.burn import SimBurnin
from rackcheck.sim.certificate import certificate, ssh_key
from rackcheck.sim.listeners import Addresses, Doors, Welcome
from rackcheck.sim.login import USER
from rackcheck.sim.rack_folder import INVENTORY, KEY, KNOWN, PASSWORD, remove, write
from rackcheck.sim.scenario import Scenario
from rackcheck.sim.shell import SimShell
from rackcheck.sim.ssh import SshNode

WRONG = "not-the-password"
HostPort = tuple[str, int]


@dataclass(frozen=True)
class Up:
    """One running simulated node: its addresses, its SSH host key and certificate, and its servers.

    The servers count the requests that they receive.
    """

    station: Station
    ssh: HostPort | None
    https: HostPort | None
    host_key: str
    fingerprint: str
    node: SshNode | None
    bmc: SimBmc | None


class RackAbandoned(Exception):
    """A request to end was received while the rack was starting."""


class SimRack:
    """A simulated rack that runs until `close` is called; `folder` has its inventory, SSH key and BMC password.

    `gone` is called repeatedly while the rack starts; if `gone` returns true, RackAbandoned is raised.
    """

    def __init__(self, scenario: Scenario, folder: Path, gone: Callable[[], bool] = lambda: False) -> None:
        self.scenario, self.folder = scenario, folder
        self._doors = Doors()
        self._over = threading.Event()
        self._addresses = Addresses(self._doors)
        self._written: list[Path] = []
        self._login, self._password = ssh_key(), secrets.token_urlsafe(16)
        try:
            with tempfile.TemporaryDirectory(prefix=".certificates-", dir=folder) as private:
                self._private = Path(private)
                self.stations = tuple(self._up(station, gone) for station in scenario.stations)
            self.inventory = folder / INVENTORY
            self._write()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, and remove the rack's files."""
        self._over.set()
        remove(self._written)
        for up in getattr(self, "stations", ()):
            if up.bmc is not None:
                up.bmc.over.set()
        self._doors.close()

    def _up(self, station: Station, gone: Callable[[], bool]) -> Up:
        if gone():
            raise RackAbandoned
        station = edit.marked(station)
        host, node, key, shown = None, None, "", ssh_key()
        has_host = station.machine.host != NodeCapture()
        if has_host:
            node = SshNode(
                SimShell(station.machine.host, station.name, sudo=station.node.sudo, skew=station.node.skew),
                shown,
                USER,
                self._login if station.node.ssh is not Door.LOCKED else None,
                station.node.latency,
                SimBurnin(station),
            )
            host = self._door("ssh", station.number, station.node.ssh, node.serve)
            key = (ssh_key() if station.node.other_host_key else shown).public
        place, service, fingerprint = None, None, ""
        if station.machine.bmc.bodies:
            service = self._bmc(station)
            made = certificate(self._private, f"bmc-{station.number}", "127.0.0.1")
            contexts, fingerprint = [tls(made.file)], made.fingerprint
            if station.bmc.other_certificate or station.bmc.flapping:
                another = certificate(self._private, "another")
                contexts += [tls(another.file)] if station.bmc.flapping else []
                fingerprint = another.fingerprint if station.bmc.other_certificate else fingerprint
            place = self._door("https", station.number, station.bmc.https, _served(service, *contexts))
            made.file.unlink()
        return Up(station, host, place, key, fingerprint, node, service)

    def _door(self, service: str, number: int, door: Door, welcome: Welcome) -> HostPort:
        if door is Door.CLOSED:
            place = self._addresses.nowhere(service, number)
            return place if place[1] else (place[0], 9)  # port 9 (discard) is not in use on modern systems
        return self._addresses.open(service, number, self._accept_only if door is Door.SILENT else welcome)

    def _accept_only(self, _: socket.socket) -> None:
        self._over.wait()

    def _bmc(self, station: Station) -> SimBmc:
        conduct = station.bmc
        faults = {uri: replace(fault) for uri, fault in conduct.faults.items()}  # each rack counts repeats on its own
        if conduct.hanging:
            faults["*"] = ResourceFault("hang")
        if "*" in faults:
            faults.setdefault(ROOT, ResourceFault(times=0))
        return SimBmc(
            _LiveBodies(station.machine.bmc, conduct), faults=faults, limit=conduct.sessions - conduct.taken,
            workers=conduct.workers, lines=conduct.lines, latency=conduct.latency, user=USER,
            expand=conduct.expand or False,
            password=WRONG if conduct.https is Door.LOCKED else self._password,
        )  # fmt: skip

    def _write(self) -> None:
        """Write the inventory and its secrets, readable only by the current user; existing files are never replaced."""
        key, password, known = (self.folder / name for name in (KEY, PASSWORD, KNOWN))
        rows = [f"[{up.ssh[0]}]:{up.ssh[1]} {up.host_key}\n" for up in self.stations if up.ssh is not None]
        lines = [
            "rackcheck: 1",
            f"inventory: {_quoted(f'sim-{self.scenario.name}')}",
            "defaults:",
            f"  ssh: {{ user: {USER}, key: {_quoted(str(key))}, known-hosts: {_quoted(str(known))} }}",
            f"  bmc: {{ user: {USER}, password: {_quoted(f'file:{password}')} }}",
            *(["racks:"] if self.scenario.racks else []),
            *(f"  {_quoted(name)}: {{ type: {kind} }}" for name, kind in self.scenario.racks.items()),
            "nodes:",
            *(_entry(up) for up in self.stations),
        ]
        texts = {key: self._login.private, password: self._password + "\n", known: "".join(rows)}
        for file, text in (texts | {self.inventory: "\n".join(lines) + "\n"}).items():
            write(file, text)
            self._written.append(file)


def _quoted(text: str) -> str:
    """Quote any text for YAML: as a JSON string, but without escaped surrogate pairs."""
    return json.dumps(text, ensure_ascii=False)


def _served(service: SimBmc, *contexts: ssl.SSLContext) -> Welcome:
    return lambda line: service.serve(line, *contexts)


def _entry(up: Up) -> str:
    station, parts = up.station, []
    if up.ssh is not None:
        host = f"{station.name}.invalid" if station.node.unresolved else up.ssh[0]
        parts += [f"host: {host}", f"ssh: {{ port: {up.ssh[1]} }}"]
    if up.https is not None:
        url = f"https://{up.https[0]}:{up.https[1]}"
        parts.append(f'bmc: {{ url: "{url}", fingerprint: "{up.fingerprint}" }}')
    if station.rack:
        parts.append(f"rack: {_quoted(station.rack)}, u: {station.u}, height: {station.height}")
    return f"  {_quoted(station.name)}: {{ role: {station.role}, {', '.join(parts)} }}"


class _LiveBodies(Mapping[str, object]):
    """The bodies of a BMC; if a body has `DateTime`, its value is the current time of the simulated clock.

    If `conduct.stands_still` is true, the value of `DateTime` is the recorded time.
    """

    def __init__(self, bmc: BmcCapture, conduct: BmcConduct) -> None:
        self._bmc, self._conduct = bmc, conduct

    def __getitem__(self, uri: str) -> object:
        body = self._bmc.bodies[uri]
        if isinstance(body, Unknown):
            raise KeyError(uri)
        value = body.get("DateTime")
        if self._conduct.stands_still or not isinstance(value, str):
            return body
        return {**body, "DateTime": now(self._conduct.skew + _ahead(value, self._bmc.times.get(uri)))}

    def __iter__(self) -> Iterator[str]:
        return iter(self._bmc.bodies)

    def __len__(self) -> int:
        return len(self._bmc.bodies)


def _ahead(text: str, heard: str | None) -> float:
    """Return how many seconds a BMC's clock was ahead when its data was recorded; 0 if the time is unknown."""
    try:
        return (datetime.fromisoformat(text) - datetime.fromisoformat(heard)).total_seconds() if heard else 0.0
    except (ValueError, TypeError):
        return 0.0
