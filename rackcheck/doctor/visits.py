"""Connects once to every plane, in parallel and with short time limits; a trouble is a finding, not an exception."""

import threading
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from getpass import getuser
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

from rackcheck.doctor import transport_reasons
from rackcheck.doctor.bmc import visit
from rackcheck.doctor.bmc_plane import read, unread
from rackcheck.doctor.finding import NO_INVENTORY, PlaneAddress, PlaneTrouble, PlaneVisit, Trouble
from rackcheck.doctor.names import look_up
from rackcheck.doctor.os_plane import Questions
from rackcheck.doctor.pace import VisitLimits
from rackcheck.doctor.unknown_rules import of_plane
from rackcheck.doctor.worker_pool import work
from rackcheck.inventory import AskLimit, Node
from rackcheck.inventory.files import ca_trouble, key_trouble
from rackcheck.inventory.node import references
from rackcheck.model.fact import Plane, Unknown, clean
from rackcheck.probe import answers, script
from rackcheck.probe.plan import Plan
from rackcheck.run.asking import bmc_of
from rackcheck.run.limited_queue import limits_of
from rackcheck.run.turns import widths
from rackcheck.transport import known_hosts, local, ssh, ssh_config, ssh_login
from rackcheck.transport.ssh_config import Target

THREADS = 256
"""Maximum number of planes that are visited in parallel, if enough files can be open."""

CONFIGS = 8
"""Maximum number of `ssh -G` processes in parallel."""

CONFIG = 20.0
"""Time limit of one `ssh -G`, in seconds."""


@dataclass(frozen=True)
class Doctor:
    """Connects to each node, and checks the access that the probes of a plan need."""

    plan: Plan
    nodes: tuple[Node, ...]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    lost: Mapping[str, str] = field(default_factory=dict)
    """The secrets that could not be fetched, each with the reason; planes that need such a secret are not visited."""
    needed: bool = True
    """Whether a plane that the inventory lacks for a node is a trouble; true if a profile is used."""
    listed: bool = True
    """Whether there is an inventory to which lines can be added."""
    pace: VisitLimits = field(default_factory=VisitLimits)
    limits: tuple[AskLimit, ...] = ()
    """How many nodes are visited at the same time, as the inventory limits it for an audit."""

    @cached_property
    def planes(self) -> tuple[tuple[Node, Plane], ...]:
        """Return every plane to visit, operating systems first."""
        wanted = [plane for plane in (Plane.OS, Plane.BMC) if plane in self.plan.planes]
        return tuple((node, plane) for plane in wanted for node in self.nodes if self.needed or _has(node, plane))

    def visits(self, stop: threading.Event) -> Generator[PlaneVisit]:
        """Visit all planes and yield each result when the visit ends; if `stop` is set, the visits end early."""
        targets = self._targets(stop)
        direct = {
            name: each for name, each in targets.items() if not each.is_behind_others and not each.is_only_for_client
        }
        hosts = {name: target.host for name, target in direct.items()}
        bmcs = {node.name: urlsplit(node.bmc.url).hostname or "" for node in self.nodes if node.bmc is not None}
        lost = look_up([*hosts.values(), *bmcs.values()], stop)

        def ask(job: tuple[Node, Plane]) -> PlaneVisit:
            node, plane = job
            place = self._place(node, plane, targets.get(node.name))
            if not _has(node, plane):
                trouble = Trouble.NO_HOST if plane is Plane.OS else Trouble.NO_BMC
                return self._silent(place, plane, trouble, "" if self.listed else NO_INVENTORY)
            hindered = self._hindered(node, plane)
            if hindered is not None:
                return self._silent(place, plane, *hindered)
            name = (hosts if plane is Plane.OS else bmcs).get(node.name, "")
            if name in lost:
                return self._silent(place, plane, Trouble.NO_NAME, lost[name])
            try:
                if plane is Plane.BMC:
                    return self._bmc(node, place, stop)
                if node.name not in targets and not node.is_local:
                    return self._silent(place, plane, Trouble.OURS, "ssh -G returned no configuration for this node")
                return self._system(node, targets.get(node.name), place)
            except Exception as error:  # noqa: BLE001  a bug of rackcheck affects one plane of one node
                return self._silent(place, plane, Trouble.OURS, repr(error))

        patience, threads = self.pace.patience, min(THREADS, sum(widths().values()))
        for (node, plane), done in work(
            self.planes,
            ask,
            threads=threads,
            seconds=patience,
            stop=stop,
            limits=lambda job: limits_of(self.limits, *job),
        ):
            late = f"not finished within {patience:g} s"
            place = self._place(node, plane, targets.get(node.name))
            if isinstance(done, Exception):
                yield self._silent(place, plane, Trouble.OURS, repr(done))
            else:
                yield done if done is not None else self._silent(place, plane, Trouble.SILENT, late)

    def _targets(self, stop: threading.Event) -> dict[str, Target]:
        """Resolve each node with the user's SSH configuration, in parallel: `ssh -G` may be slow and run commands."""
        remote = [node for node in self.nodes if node.host and not node.is_local and Plane.OS in self.plan.planes]
        rows = work(remote, lambda n: ssh_config.resolve(n, self.secrets), threads=CONFIGS, seconds=CONFIG, stop=stop)
        return {node.name: target for node, target in rows if isinstance(target, Target)}

    def _place(self, node: Node, plane: Plane, target: Target | None) -> PlaneAddress:
        if plane is Plane.BMC:
            url = urlsplit(node.bmc.url) if node.bmc is not None else None
            host, port = (url.hostname or "", str(url.port or 443)) if url is not None else ("", "")
            return PlaneAddress(node.name, host, port, node.bmc.user if node.bmc is not None else "")
        if target is None:
            return PlaneAddress(node.name, node.host, user=getuser())
        key, public = _key(target, node)
        known = target.known_hosts[0] if target.known_hosts else ""
        user = target.user or getuser()
        return PlaneAddress(
            node.name, target.host, str(target.port), user, key, known, target.alias, public, target.jump
        )

    def _hindered(self, node: Node, plane: Plane) -> tuple[Trouble, str] | None:
        """Return the trouble in the inventory or on this machine that prevents a visit to this plane, if any."""
        lost = [reference for reference in references(node, plane) if reference in self.lost]
        if lost:
            return Trouble.SECRET, f"{lost[0]}: {self.lost[lost[0]]}"
        if plane is Plane.BMC and node.bmc is not None:
            if not node.bmc.user or not node.bmc.password:
                return Trouble.NO_PASSWORD, "" if node.bmc.user else "no user either"
            if node.bmc.ca and (wrong := ca_trouble(node.bmc.ca)):
                return Trouble.CA_FILE, f"{node.bmc.ca} {wrong}"
        return None

    def _silent(self, place: PlaneAddress, plane: Plane, trouble: Trouble, seen: str) -> PlaneVisit:
        lost = of_plane(self.plan, plane)
        return PlaneVisit(place.node, plane, place, (PlaneTrouble(trouble, clean(seen, 300), (), lost),))

    def _system(self, node: Node, target: Target | None, place: PlaneAddress) -> PlaneVisit:
        questions, mark, limits = self._questions[node.ssh.sudo], token_hex(16), self.pace.system
        text = script.compose(questions.asked, mark, sudo=node.ssh.sudo)
        began = time.time()
        reply = local.run(text, limits) if target is None else ssh.run(target, text, limits)
        ended = time.time()
        if not reply.reached:
            trouble = transport_reasons.of_ssh(reply.stage, reply.cut, known=target is not None and _knows(target))
            if trouble is Trouble.LOGIN and node.ssh.key and not node.ssh.password:
                passphrase = self.secrets.get(node.ssh.passphrase, "")
                if wrong := key_trouble(node.ssh.key, passphrase):
                    return self._silent(place, Plane.OS, Trouble.KEY_FILE, f"{node.ssh.key} {wrong}")
            return self._silent(place, Plane.OS, trouble, transport_reasons.seen(reply.cut))
        split = answers.split(reply.raw, questions.asked, mark, reply.cut)
        found, system, sent = questions.read(split.capture)
        if system is not None and sent is not None and began - 0.01 <= sent <= ended:
            system = replace(system, login=max(0.0, sent - began) if target is not None else None, script=ended - sent)
        return PlaneVisit(node.name, Plane.OS, place, found, system)

    @cached_property
    def _questions(self) -> Mapping[bool, Questions]:
        return {sudo: Questions(self.plan, sudo, self.pace.question) for sudo in (True, False)}

    def _bmc(self, node: Node, place: PlaneAddress, stop: threading.Event) -> PlaneVisit:
        bmc = bmc_of(node, self.secrets)
        heard = visit(bmc, stop, self.pace.bmc)
        if isinstance(heard, Unknown):
            return self._silent(place, Plane.BMC, transport_reasons.of_bmc(heard), transport_reasons.seen(heard))
        found: Sequence[PlaneTrouble] = tuple(unread(heard.bodies, self.plan))
        if heard.trouble is not None:
            trouble = transport_reasons.of_bmc(heard.trouble, answered=True)
            found = (PlaneTrouble(trouble, transport_reasons.seen(heard.trouble), (), of_plane(self.plan, Plane.BMC)),)
        if heard.left is not None:
            found = (*found, PlaneTrouble(Trouble.BMC_SESSION, transport_reasons.seen(heard.left)))
        return PlaneVisit(node.name, Plane.BMC, place, tuple(found), read(heard.bodies, bmc.user, heard.seconds))


def _has(node: Node, plane: Plane) -> bool:
    return bool(node.host) if plane is Plane.OS else node.bmc is not None


def _key(target: Target, node: Node) -> tuple[str, str]:
    """Return the key file of a login, and the file of its public half; an empty text stands for a missing file."""
    usual = [f"~/.ssh/{name}" for name in ssh_login.KEYS]
    keys = [node.ssh.key] if node.ssh.key else [*target.keys, *usual]
    key = next((key for key in keys if Path(key).expanduser().is_file()), "")
    public = f"{key}.pub"
    return key, public if key and Path(public).expanduser().is_file() else ""


def _knows(target: Target) -> bool:
    """Return whether known_hosts has any key of this host: a new host needs different advice than a changed key."""
    return bool(known_hosts.load(target.known_hosts).keys(target.alias or target.host, target.port))
