"""The interface that the screens use: a run's events, the data behind the events, and rackcheck's commands.

The screens open no file and no connection themselves: all access goes through this interface, and only `again`
contacts nodes. Each protocol is one use of the run; each part of the screens depends only on the protocols that it
uses, and `OpenRun` combines all of them.
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


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A command's output and its exit code (GRAMMAR section 4)."""

    status: int
    text: str


class RunInfo(Protocol):
    """A run's metadata: its name, profile, nodes, racks and waivers."""

    @property
    def name(self) -> str:
        """The run's id, or the acceptance's name, as an argument of commands."""

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
    def replays(self) -> bool:
        """Whether the events come from a stored run, so that they arrive without waiting."""


class EventSource(Protocol):
    """A run's events, and notes and errors about reading the nodes."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes for the user that the events do not contain; complete after the last event."""

    @property
    def troubles(self) -> Sequence[str]:
        """Errors that have occurred so far in storing the current run."""

    def events(self) -> Iterator[Event]:
        """Yield the run's events: a stored run is judged again, a live run is followed; raises UserError."""

    def stop(self) -> None:
        """Stop collecting; data collected so far is kept."""


class Collector(Protocol):
    """Collects data from nodes again."""

    @property
    def mute(self) -> str:
        """The reason why data cannot be collected again; empty if data can be collected."""

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Collect data from these nodes again, as a separate run; raises UserError."""


class FactCatalogue(Protocol):
    """Facts by path: their kind, plane and probe, and suggestions for a misspelt name."""

    def kind(self, fact: str) -> Kind | None:
        """The kind of a fact, by path or pattern; None if no probe returns the fact."""

    def plane(self, fact: Path) -> Plane:
        """The plane from which a fact comes."""

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that returns a fact."""

    def near(self, fact: str) -> Sequence[str]:
        """Facts with similar names."""

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Return a suggestion of a known word: `; did you mean groups?`; empty if no word is near."""


class NodeFacts(Protocol):
    """The facts of one node, from its newest replies."""

    def tree(self, node: str) -> Tree:
        """Return a node's facts from its newest replies; raises UserError. Slow."""


class RawAnswers(NodeFacts, Protocol):
    """The evidence of a verdict: a node's facts and raw replies, the rules that pair planes, the verdict's age."""

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that pair facts of two planes: the rules of the profile, and the shipped rules."""

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Return a node's newest raw replies; raises UserError. Slow."""

    def since(self, node: str, rule: str) -> str:
        """The time since which a rule has had its current verdict on a node, as text; empty if not known. Slow."""


class Lookups(NodeFacts, Protocol):
    """Data that the run's events do not contain: a node's facts, a history, a comparison."""

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Return whether the name is a `node` or a `rule`, and its history by run, the newest first."""

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Compare two nodes; the result has the form of the document of `diff NODE peers`; raises UserError. Slow."""

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Run a rackcheck command with `--json`, and return its document; raises UserError. Slow."""


class Baselines(Protocol):
    """Runs and acceptances that a node can be compared with."""

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Return runs and acceptances that a node can be compared with, each with its description."""


class OfferedRemedies(Protocol):
    """Remedies for findings."""

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Return the remedies of some rules, by node; `verdicts` are all verdicts, by node; raises UserError. Slow."""


class RunArguments(Protocol):
    """The command-line arguments for this run, its profile and its waivers."""

    @property
    def profile_word(self) -> str:
        """The profile as an argument of commands: its name, or its file."""

    @property
    def waiver_words(self) -> Sequence[str]:
        """Options for waivers that were written after the run; empty if there are none."""

    def run_of(self, *nodes: str) -> str:
        """Return the newest run that read these nodes, as an argument of commands."""


class Commands(Protocol):
    """Rackcheck's own commands, called by their arguments."""

    def run_command(self, words: Sequence[str], width: int = 100) -> CommandResult:
        """Run a rackcheck command with lines of at most `width` columns. Slow."""


class Exporter(Commands, Protocol):
    """Writes documents of the run to files, with a rackcheck command."""

    @property
    def left_behind(self) -> str:
        """The data that a document of this run lacks, as a text to append to its name; empty if it is complete."""


class WaiverFiles(Protocol):
    """Files of waivers with which the run is judged."""

    def waived(self, file: str) -> None:
        """Add this file of waivers to the files with which the run is judged."""


class Viewed(RunInfo, FactCatalogue, RunArguments, Protocol):
    """The data that every view reads."""


class OpenRun(
    Viewed, EventSource, Collector, RawAnswers, Lookups, Baselines, OfferedRemedies, Exporter, WaiverFiles, Protocol
):  # fmt: skip
    """A run open in the screens: a stored run, or a run under way."""
