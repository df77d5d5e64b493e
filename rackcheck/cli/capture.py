"""`rackcheck capture`: writes all answers of nodes and BMCs to a folder, for bug reports, tests and the simulator."""

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
from rackcheck.run.asking import ask_plane
from rackcheck.run.captured.writing import CaptureHead
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
"""Number of random bytes from which replacements of identities are derived; the bytes are never stored."""


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """Arguments and options of `rackcheck capture`; `seconds` limits one plane of one node.

    `memory` limits the replies in flight, in bytes.
    """

    targets: tuple[str, ...]
    file: Path | None
    rack: str | None
    planes: str | None
    output: Path | None
    anonymise: bool
    seconds: float | None
    memory: int
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 all planes answered, 2 usage error, 3 a plane did not answer, 130 interrupted.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.inventory_option
@options.rack_option
@click.option("--planes", metavar="os,bmc", shell_complete=options.complete_planes, help="Read these planes only.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the capture (default: ./capture-ID).")
@click.option("--anonymise", is_flag=True, help="Replace names, addresses and serials by stand-ins of the same shape.")
@options.timeout_option
@options.memory_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
@options.collected(CaptureOptions)
def capture(given: CaptureOptions) -> int:
    """Read all data of every plane, and write the answers to a folder; changes nothing on the nodes.

    The folder can be used as a bug report, a test case or a simulated rack. It never contains passwords or keys.

    \b
    rackcheck capture                              this machine
    rackcheck capture dgx03 -i a.yaml --anonymise  for a bug report
    rackcheck capture --rack sim:dgx-h100 -o kept  a simulated rack
    rackcheck facts node1 --from ./kept            its facts
    rackcheck audit --from ./kept -p h100-dgx      its verdicts
    rackcheck sim up --machine ./kept              simulate it
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    known()
    wanted = cli_choices.planes(given.planes)
    nodes, origin = cli_choices.choose(given.targets, given.file, given.rack)
    asked = captures.everything()
    asking = captures.asking(nodes, asked, wanted, named=given.planes is not None)
    job = Job(
        asked, nodes, planes=wanted, targets=origin, seconds=given.seconds, memory=given.memory,
        secrets=secrets_of(nodes, asked.planes & wanted),
    )  # fmt: skip
    target = given.output or Path(f"capture-{job.id}")
    captured.free(target)
    if not given.quiet:
        reads = {Plane.OS: asked.questions, Plane.BMC: (*asked.links, *asked.whole_links)}
        count = sum(len(reads.get(plane, ())) for plane in asking)
        note(f"rackcheck {__version__}: {origin}, {several(count, 'read')}")
    nothing = captures.unasked(nodes, wanted)
    if nothing:
        named = " or ".join(plane.value for plane in sorted(wanted, reverse=True))
        note(f"rackcheck: {fold(nothing)} not read: the inventory has no address for {named}")
    stop = threading.Event()
    with stopped_by_ctrl_c(stop), captured.writing(target) as scratch:
        taking = _Taking(job, anonymise=given.anonymise)
        plain = scratch / ("plain" if given.anonymise else "made")
        with progress(len(nodes), quiet=given.quiet, judging=False) as watch:
            doc = taking.ask(plain, watch, stop)
        if given.anonymise:
            doc = taking.anonymised(plain, scratch / "made")
    if given.as_json:
        click.echo(machine.text(doc))
    elif not given.quiet:
        _print_capture(target, doc)
    return 130 if taking.interrupted else 3 if taking.silent or nothing else 0


@dataclass
class _Taking:
    """A capture in progress.

    `silent` is whether a plane did not answer, `found` are the identities to replace, `hosts` maps host names to node
    names, and `traces` are the HTTP traces by node.
    """

    job: Job
    anonymise: bool
    silent: bool = False
    interrupted: bool = False
    found: list[Identities] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    traces: dict[str, "Trace"] = field(default_factory=dict)

    def ask(self, folder: Path, watch: Watch, stop: threading.Event) -> dict[str, Any]:
        """Read every node, and write each answer as it arrives; after a write error, end cleanly and raise OSError."""
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
        """Write the plain capture a second time, with all identities replaced."""
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
        from rackcheck.transport.redfish.trace import Trace  # noqa: PLC0415  needed only for BMCs

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
    """Print where the capture is, and how to use it."""
    first, place = next(iter(doc["nodes"])), shlex.quote(str(target))
    if doc.get("interrupted"):
        whole = sum(_whole(value["planes"], doc["planes"]) for value in doc["nodes"].values())
        note(f"Interrupted: {whole} of {several(len(doc['nodes']), 'node')} complete; capture.json shows which")
    note(f"Capture: {target} ({several(len(doc['nodes']), 'node')}{', anonymised' if doc['anonymised'] else ''})")
    if doc["anonymised"]:
        note("Review it before you send it: docs/guide/capture.md lists the limits of anonymising")
    note(f"Next:    rackcheck facts {shlex.quote(first)} --from {place}")
    note(f"         rackcheck sim up --machine {place}")


def _whole(values: Mapping[str, Mapping[str, Any]], planes: Collection[str]) -> bool:
    """Whether every plane that was read on a node has answered."""
    asked = [answer for plane, answer in values.items() if plane in planes]
    return bool(asked) and all(answer and "trouble" not in answer for answer in asked)
