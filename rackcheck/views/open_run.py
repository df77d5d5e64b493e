"""The interface that the screens use: a run's events, the data behind them, and commands called by name.

The screens open no file and no connection themselves: all access goes through here, and only `again` contacts nodes.
Each protocol is one use of the run; a part of the screens depends on those that it uses, and `OpenRun` is all of them.
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
        """The run's id, or the acceptance's name, as commands take it."""

    @property
    def profile(self) -> Profile:
        """The profile that the run is judged by."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The run's nodes by name: places and access."""

    @property
    def racks(self) -> Mapping[str, Rack]:
        """The configured racks, by name."""

    @property
    def waivers(self) -> Sequence[Waiver]:
        """The waivers it is judged with."""

    @property
    def began(self) -> Sequence[str]:
        """When each run of an acceptance began, the oldest first; empty of a run."""

    @property
    def replays(self) -> bool:
        """Whether the events are those of a stored run, which need no waiting."""


class EventSource(Protocol):
    """A run's events, and notes on the reading once it has ended or failed in part."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes for the reader that the events do not contain, complete once they have ended."""

    @property
    def troubles(self) -> Sequence[str]:
        """Errors so far in recording the reading under way."""

    def events(self) -> Iterator[Event]:
        """Yield the run's events: a stored run is judged again, a live one is followed; raises UserError."""

    def stop(self) -> None:
        """Stop collecting; data collected so far is kept."""


class Collector(Protocol):
    """Collects from nodes once more."""

    @property
    def mute(self) -> str:
        """Why nodes cannot be collected from again; empty where they can."""

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Collect from these nodes again, as a separate run; raises UserError."""


class FactCatalogue(Protocol):
    """Facts by path: their kind, plane and probe, and suggestions for a misspelt name."""

    def kind(self, fact: str) -> Kind | None:
        """The kind of a fact, by its path or pattern; None if no probe returns it."""

    def plane(self, fact: Path) -> Plane:
        """Which plane a fact comes from."""

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that returns a fact."""

    def near(self, fact: str) -> Sequence[str]:
        """Facts with similar names."""

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Return a suggestion of a known word: `; did you mean groups?`; empty if none is near."""


class NodeFacts(Protocol):
    """The facts of one node, from its newest replies."""

    def tree(self, node: str) -> Tree:
        """Return a node's facts from its newest replies; raises UserError. Slow."""


class RawAnswers(NodeFacts, Protocol):
    """The evidence of a verdict: a node's facts, its raw replies, the rules that pair planes, and its age."""

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that pair facts of two planes: the profile's own, and the shipped ones."""

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Return a node's newest raw replies; raises UserError. Slow."""

    def since(self, node: str, rule: str) -> str:
        """Since when a rule has had its verdict on a node, as text; empty if not known. Slow."""


class Lookups(NodeFacts, Protocol):
    """Data that the run's events do not contain: a node's facts, a history, a comparison."""

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Return the history of a node or a rule: which of the two it is, and the runs, the newest first."""

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Compare a node with another one: a document like that of `diff NODE peers`; raises UserError. Slow."""

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Run a rackcheck command with `--json`, and return its document; raises UserError. Slow."""


class Baselines(Protocol):
    """Runs and acceptances that a node can be compared with."""

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Return runs and acceptances that a node can be compared with, each with its description."""


class OfferedRemedies(Protocol):
    """Remedies for findings."""

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Return the remedies of some rules, by node; `verdicts` are all of these nodes'; raises UserError. Slow."""


class RunArguments(Protocol):
    """The command-line arguments for this run, its profile and its waivers."""

    @property
    def profile_word(self) -> str:
        """The profile as an argument of commands: its name, or its file."""

    @property
    def waiver_words(self) -> Sequence[str]:
        """Options for waivers that were written since the run; empty if there are none."""

    def run_of(self, *nodes: str) -> str:
        """Return the newest run that read these nodes, as an argument of commands."""


class Commands(Protocol):
    """Rackcheck's own commands, called by their arguments."""

    def say(self, words: Sequence[str], width: int = 100) -> CommandResult:
        """Run a rackcheck command with lines of at most `width` columns. Slow."""


class Exporter(Commands, Protocol):
    """Writes documents of the run to files, with rackcheck's own command."""

    @property
    def left_behind(self) -> str:
        """What a document of this run lacks, as text to follow its name; empty if it is complete."""


class WaiverFiles(Protocol):
    """Files of waivers that the run is judged with."""

    def waived(self, file: str) -> None:
        """Judge with this file of waivers from now on."""


class Viewed(RunInfo, FactCatalogue, RunArguments, Protocol):
    """The data that every view reads."""


class OpenRun(
    Viewed, EventSource, Collector, RawAnswers, Lookups, Baselines, OfferedRemedies, Exporter, WaiverFiles, Protocol
):  # fmt: skip
    """A run open in the screens: a stored one, or one under way."""
