"""`rackcheck capture`: everything that nodes and their BMCs answer, as a folder to send, to test with, to simulate."""

import secrets
import shlex
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rackcheck import __version__
from rackcheck.anonymise.captures import Anonymous
from rackcheck.anonymise.identities import Identities, logins, named, of_capture, of_facts, together
from rackcheck.cli import options
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.run import captured
from rackcheck.run.captured.writing import CaptureHead
from rackcheck.run.engine import ask_plane
from rackcheck.run.engine import audit as drive
from rackcheck.run.event import Answered, Event, FactsRead, RunDone
from rackcheck.run.job import Job
from rackcheck.session import captures, cli_choices
from rackcheck.session.output import Watch, note, progress
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of
from rackcheck.views import machine
from rackcheck.views.summary import several

if TYPE_CHECKING:
    from rackcheck.transport.redfish.trace import Trace

SALT = 32
"""Bytes of chance that stand-ins hang on; they are forgotten with the command."""


@click.command(epilog="Exit: 0 when all answered, 2 your mistake, 3 when a plane did not, 130 interrupted.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.inventory_option
@options.rack_option
@click.option("--planes", metavar="os,bmc", shell_complete=options.complete_planes, help="Ask these planes only.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for it (default: ./capture-ID).")
@click.option("--anonymise", is_flag=True, help="Put stand-ins of the same shape for names, addresses and serials.")
@options.timeout_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
def capture(
    targets: tuple[str, ...], file: Path | None, rack: str | None, planes: str | None, output: Path | None,
    anonymise: bool, seconds: float | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Ask everything of every plane, and keep the answers in a folder; changes nothing on the nodes.

    The folder is a bug report, a test case and a simulated rack at once. Passwords and keys are never in it.

    \b
    rackcheck capture                              this machine
    rackcheck capture dgx03 -i a.yaml --anonymise  for a bug report
    rackcheck capture --rack sim:dgx-h100 -o kept  a simulated rack
    rackcheck facts node1 --from ./kept            what it told
    rackcheck audit --from ./kept -p h100-dgx      judged
    rackcheck sim up --machine ./kept              up again
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    known()
    wanted = cli_choices.planes(planes)
    nodes, origin = cli_choices.choose(targets, file, rack)
    asked = captures.everything()
    asking = captures.asking(nodes, asked, wanted, named=planes is not None)
    job = Job(
        asked, nodes, planes=wanted, targets=origin, seconds=seconds, secrets=secrets_of(nodes, asked.planes & wanted)
    )
    target = output or Path(f"capture-{job.id}")
    captured.free(target)
    if not quiet:
        count = sum(len(of) for plane, of in ((Plane.OS, asked.questions), (Plane.BMC, asked.links)) if plane in asking)
        note(f"rackcheck {__version__}: {origin}, {several(count, 'question')}")
    nothing = captures.unasked(nodes, wanted)
    if nothing:
        named = " or ".join(plane.value for plane in sorted(wanted, reverse=True))
        note(f"rackcheck: nothing is asked of {fold(nothing)}: the inventory names no way to {named}")
    stop = threading.Event()
    with stopped_by_ctrl_c(stop), captured.writing(target) as scratch:
        taking = _Taking(job, anonymise=anonymise)
        plain = scratch / ("plain" if anonymise else "made")
        with progress(len(nodes), quiet=quiet, judging=False) as watch:
            doc = taking.ask(plain, watch, stop)
        if anonymise:
            doc = taking.anonymised(plain, scratch / "made")
    if as_json:
        click.echo(machine.text(doc))
    elif not quiet:
        _print_capture(target, doc)
    return 130 if taking.interrupted else 3 if taking.silent or nothing else 0


@dataclass
class _Taking:
    """A capture while it is taken: who was silent, what tells whose machines these are, what came beside bodies."""

    job: Job
    anonymise: bool
    silent: bool = False
    interrupted: bool = False
    found: list[Identities] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    traces: dict[str, "Trace"] = field(default_factory=dict)

    def ask(self, folder: Path, watch: Watch, stop: threading.Event) -> dict[str, Any]:
        """Ask every node, and write each answer as it comes; a disk that takes no more ends the asking, in order."""
        writer = captured.CaptureWriter(folder, self.job.nodes)
        failed: OSError | None = None
        for event in drive(self.job, self._ask, stop):
            watch(event)
            if failed is None:
                try:
                    self._take(event, writer)
                except OSError as error:
                    failed = error
                    stop.set()
        if failed is not None:
            raise failed
        return writer.finish(self._head())

    def anonymised(self, plain: Path, folder: Path) -> dict[str, Any]:
        """Write again what was written plain, without identities."""
        old = captured.load(plain)
        nodes = {node.name: node for node in self.job.nodes}
        ways = [node.host for node in nodes.values() if not node.is_local]
        ways += [node.bmc.url.removeprefix("https://").partition(":")[0] for node in nodes.values() if node.bmc]
        who = logins(user for node in nodes.values() for user in (node.ssh.user, node.bmc.user if node.bmc else ""))
        found = together([*self.found, named([*nodes, *ways]), who])
        hiding = Anonymous(list(nodes), found, secrets.token_bytes(SALT), self.hosts)
        racks = {rack: f"rack{n}" for n, rack in enumerate(dict.fromkeys(n.rack for n in nodes.values() if n.rack), 1)}
        renamed = tuple(
            replace(node, name=hiding.nodes[node.name], rack=racks.get(node.rack, ""), slot="")
            for node in nodes.values()
        )
        writer = captured.CaptureWriter(folder, renamed)
        for answer in old.answers():
            headers, seconds = old.beside(answer.node) if answer.plane is Plane.BMC else ({}, {})
            writer.write(
                replace(
                    answer, node=hiding.nodes[answer.node],
                    trouble=None if answer.trouble is None else hiding.unknown(answer.trouble),
                    capture=None if answer.capture is None else hiding.capture(answer.capture),
                ),
                {hiding.text(uri): {n: hiding.text(v) for n, v in values.items()} for uri, values in headers.items()},
                {hiding.text(uri): values for uri, values in seconds.items()},
            )  # fmt: skip
        return writer.finish(replace(self._head(), anonymised=True))

    def _ask(self, node: Node, plane: Plane, job: Job, stop: threading.Event) -> Answered:
        if plane is not Plane.BMC:
            return ask_plane(node, plane, job, stop)
        from rackcheck.transport.redfish.trace import Trace  # noqa: PLC0415  only where a BMC is asked

        trace = self.traces[node.name] = Trace()
        return ask_plane(node, plane, job, stop, trace)

    def _take(self, event: Event, writer: captured.CaptureWriter) -> None:
        match event:
            case Answered():
                trace = self.traces.pop(event.node, None) if event.plane is Plane.BMC else None
                writer.write(event, trace.headers if trace else {}, trace.seconds if trace else {})
                self.silent = self.silent or event.trouble is not None
                if self.anonymise and event.capture is not None:
                    self.found.append(of_capture(event.capture))
            case FactsRead() if self.anonymise:
                self.found.append(of_facts(event.tree))
                host = event.tree.leaves.get("node.hostname")
                if host is not None and isinstance(host.reading, str):
                    self.hosts.setdefault(host.reading, event.node)
            case RunDone():
                self.interrupted = event.interrupted

    def _head(self) -> CaptureHead:
        planes = tuple(sorted(plane.value for plane in self.job.planes))
        return CaptureHead(self.job.id, self.job.time, self.job.version, planes, interrupted=self.interrupted)


def _print_capture(target: Path, doc: Mapping[str, Any]) -> None:
    """Say where it lies, and what it is good for."""
    first, place = next(iter(doc["nodes"])), shlex.quote(str(target))
    if doc.get("interrupted"):
        whole = sum(_whole(value["planes"], doc["planes"]) for value in doc["nodes"].values())
        note(f"Interrupted: {whole} of {several(len(doc['nodes']), 'node')} answered wholly; capture.json says which")
    note(f"Capture: {target} ({several(len(doc['nodes']), 'node')}{', anonymised' if doc['anonymised'] else ''})")
    if doc["anonymised"]:
        note("Read it before you send it: docs/guide/capture.md says what stand-ins cannot promise")
    note(f"Next:    rackcheck facts {shlex.quote(first)} --from {place}")
    note(f"         rackcheck sim up --machine {place}")


def _whole(values: Mapping[str, Mapping[str, Any]], planes: Collection[str]) -> bool:
    """Whether every plane of a node that was asked has answered."""
    asked = [answer for plane, answer in values.items() if plane in planes]
    return bool(asked) and all(answer and "trouble" not in answer for answer in asked)
