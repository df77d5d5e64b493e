"""The interface between the screens and a run: events, facts and replies of nodes, and rackcheck's commands.

The screens open no file and no connection themselves: all access uses this interface. Nodes are contacted only by a new
run (`events`), by a second reading (`again`) and by rackcheck commands. The interface is split into protocols, so that
each part of the screens depends only on the protocols that it uses. `OpenRun` combines all protocols.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rackcheck.evaluate.verdict import Verdict
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import Node, Rack
from rackcheck.model.capture import Capture
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Plane
from rackcheck.model.path import Path
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.run.event import Event
from rackcheck.views.steps import Step


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A command's output and its exit code."""

    status: int
    text: str


class RunInfo(Protocol):
    """A run's metadata: its name, profile, nodes, racks and waivers."""

    @property
    def name(self) -> str:
        """The id of the run, or the name of the acceptance."""

    @property
    def profile(self) -> Profile:
        """The profile by which the run is judged."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The run's nodes by name, with their locations and access data."""

    @property
    def racks(self) -> Mapping[str, Rack]:
        """The configured racks, by name."""

    @property
    def waivers(self) -> Sequence[Waiver]:
        """The waivers with which the run is judged."""

    @property
    def began(self) -> Sequence[str]:
        """The time when each run of an acceptance began, the oldest first; empty for a single run."""

    @property
    def steps(self) -> Sequence[Step]:
        """The steps of an acceptance, with their states as of the last reading; empty for a single run."""

    @property
    def replays(self) -> bool:
        """Whether the events come from a stored run; these events arrive without delay."""


class EventSource(Protocol):
    """The events of a run, and notes and errors about reading the nodes."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes for the user that are not in the events; all notes are available after the last event."""

    @property
    def troubles(self) -> Sequence[str]:
        """Errors that occurred so far while the current reading was stored."""

    def events(self) -> Iterator[Event]:
        """Yield the events of the run: a stored run is judged again, and a new run reads its nodes.

        Raises UserError if the run cannot be read or started.
        """

    def stop(self) -> None:
        """Stop collecting; data collected so far is kept."""


class Collector(Protocol):
    """Collects data from nodes again."""

    @property
    def mute(self) -> str:
        """The reason why data cannot be collected again; empty if data can be collected."""

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Collect data from these nodes again in a separate run; raises UserError if this is not possible."""


class FactCatalogue(Protocol):
    """Facts by path: their kind, plane and probe, and suggestions for a misspelt name."""

    def kind(self, fact: str) -> Kind | None:
        """The type and unit of a fact, by path or pattern; None if no probe provides the fact."""

    def plane(self, fact: Path) -> Plane:
        """The plane that a fact is read from."""

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that provides a fact."""

    def near(self, fact: str) -> Sequence[str]:
        """Return the known facts with similar names."""

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Return a hint such as `; did you mean groups?`; empty if no known word is similar."""


class NodeFacts(Protocol):
    """The facts of one node, from its newest replies."""

    def tree(self, node: str) -> Tree:
        """Return the facts in the newest replies of a node; raises UserError if they cannot be read. Slow."""


class RawAnswers(NodeFacts, Protocol):
    """The evidence of a verdict: a node's facts and raw replies, rules that compare planes, and the verdict's age."""

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that may compare facts of two planes: the rules of the profile, and the shipped cross-plane rules."""

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Return the newest raw replies of a node; raises UserError if they cannot be read. Slow."""

    def since(self, node: str, rule: str) -> str:
        """Return since when a rule has had its current verdict on a node, as a text; empty if this is unknown.

        Slow.
        """


class Lookups(NodeFacts, Protocol):
    """Data that is not in the events of a run: the facts of a node, histories and comparisons."""

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Return `node` or `rule`, and the history of this node or rule by run, the newest run first."""

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Compare two nodes; the result has the same form as the JSON document of `diff NODE peers`.

        Raises UserError if a node cannot be read. Slow.
        """

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Run a rackcheck command with `--json`, and return its JSON output; raises UserError if the command fails.

        Slow.
        """


class Baselines(Protocol):
    """Runs and acceptances that a node can be compared with."""

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Return the runs and acceptances that a node can be compared with, each with a description."""


class OfferedRemedies(Protocol):
    """Remedies for findings."""

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Return remedies as lines of text; `only` contains the rules to remedy, by node.

        `verdicts` contains all verdicts by node. Raises UserError if the replies of a node cannot be read. Slow.
        """


class RunArguments(Protocol):
    """The command-line arguments for this run, its profile and its waivers."""

    @property
    def run_word(self) -> str:
        """The run or acceptance as an argument for commands: its name, or the folder of a run stored elsewhere."""

    @property
    def profile_word(self) -> str:
        """The profile as an argument for commands: its name or its file."""

    @property
    def waiver_words(self) -> Sequence[str]:
        """Command-line options for waivers that were written after the run; empty if there are no such waivers."""

    def run_of(self, *nodes: str) -> str:
        """Return the newest run that read the nodes `nodes`, as an argument for commands."""


class Commands(Protocol):
    """Runs rackcheck commands, each given as a list of arguments."""

    def run_command(self, words: Sequence[str], width: int = 100) -> CommandResult:
        """Run a rackcheck command with lines of at most `width` columns. Slow."""


class Exporter(Commands, Protocol):
    """Writes reports of the run to files with a rackcheck command."""

    @property
    def left_behind(self) -> str:
        """A text about data that a report of this run does not contain, to append to the name of the report.

        The text is empty if the report contains all data of the run.
        """


class WaiverFiles(Protocol):
    """The waiver files with which the run is judged."""

    def waived(self, file: str) -> None:
        """Add a waiver file to the waiver files with which the run is judged."""


class Viewed(RunInfo, FactCatalogue, RunArguments, Protocol):
    """The data that every view reads."""


class OpenRun(
    Viewed, EventSource, Collector, RawAnswers, Lookups, Baselines, OfferedRemedies, Exporter, WaiverFiles, Protocol
):  # fmt: skip
    """A run that is shown on the screens: a stored run, or a run in progress."""
