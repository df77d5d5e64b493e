"""What the screens are given to work with: a run's events, what lies behind them, and commands to be called by name.

The screens open no file and no connection themselves: all they do goes through here, and only `again` contacts nodes.
Each protocol is one use of the desk; a part of the screens depends on those that it uses, and `Desk` is all of them.
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
    """What a command said, and how it ended (GRAMMAR section 4)."""

    status: int
    text: str


class RunInfo(Protocol):
    """What a run is about: its name, profile, nodes, racks and waivers."""

    @property
    def name(self) -> str:
        """The run's id, or the acceptance's name: what commands call it by."""

    @property
    def profile(self) -> Profile:
        """What the run is judged by."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The run's nodes by name: places, and how they are reached."""

    @property
    def racks(self) -> Mapping[str, Rack]:
        """The racks that somebody described, by name."""

    @property
    def waivers(self) -> Sequence[Waiver]:
        """The waivers it is judged with."""

    @property
    def began(self) -> Sequence[str]:
        """When each run of an acceptance began, the oldest first; empty of a run."""

    @property
    def replays(self) -> bool:
        """Whether the events are those of a stored run, so that nobody waits for them."""


class EventSource(Protocol):
    """A run's events, and what is known of their reading once it has ended or failed in part."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know beside the verdicts and the events do not hold, once they have ended."""

    @property
    def troubles(self) -> Sequence[str]:
        """What went wrong with the record of a reading that is made, so far."""

    def events(self) -> Iterator[Event]:
        """Give the run's events: of a stored run judged again, of a live one as it goes; raises UserError."""

    def stop(self) -> None:
        """Stop collecting; what came in is kept."""


class Collector(Protocol):
    """Collects from nodes once more."""

    @property
    def mute(self) -> str:
        """Why nodes cannot be collected from again; empty where they can."""

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Collect from these nodes again, as a run of its own; raises UserError."""


class FactCatalogue(Protocol):
    """Facts by path: their kind, plane and probe, and names like a misspelt one."""

    def kind(self, fact: str) -> Kind | None:
        """What a fact is, by its path or pattern; None where no probe gives it."""

    def plane(self, fact: Path) -> Plane:
        """Which plane a fact comes from."""

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that gives a fact."""

    def near(self, fact: str) -> Sequence[str]:
        """Facts of names like this one."""

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Name the known word that was meant: `; did you mean groups?`; empty where none is near."""


class NodeFacts(Protocol):
    """The facts of one node, from its newest answers."""

    def tree(self, node: str) -> Tree:
        """Read a node's facts from its newest answers; raises UserError. Takes a while."""


class RawAnswers(NodeFacts, Protocol):
    """What a verdict rests on: a node's facts, its raw answers, the rules that pair planes, and since when."""

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that pair facts of two planes: the profile's, and those that ship for it."""

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Give a node's newest raw answers; raises UserError. Takes a while."""

    def since(self, node: str, rule: str) -> str:
        """Since when a rule has had its verdict on a node, in words; empty where it is unknown. Takes a while."""


class Lookups(NodeFacts, Protocol):
    """What a view shows that the run's events do not hold: a node's facts, a history, a comparison."""

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Give what became of a node or a rule run by run: which of both it is, and the runs, the newest first."""

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Hold a node against another one: a document as that of `diff NODE peers`; raises UserError. Takes a while."""

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Call one of rackcheck's commands with `--json`, and read its document; raises UserError. Takes a while."""


class Baselines(Protocol):
    """Runs and acceptances that a node can be compared with."""

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Give runs and acceptances that a node can be held against, each with what it is."""


class OfferedRemedies(Protocol):
    """What would mend findings."""

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Write the remedies of some rules, by node, of which all verdicts are given; raises UserError. Slow."""


class RunArguments(Protocol):
    """The arguments by which commands are given this run, its profile and its waivers."""

    @property
    def profile_word(self) -> str:
        """What commands call the profile by: its name, or its file."""

    @property
    def waiver_words(self) -> Sequence[str]:
        """Options for waivers that were written since the run; empty where there are none."""

    def run_of(self, *nodes: str) -> str:
        """Name the newest run that read these nodes: what commands are to look at."""


class Commands(Protocol):
    """Rackcheck's own commands, called by their words."""

    def say(self, words: Sequence[str], width: int = 100) -> CommandResult:
        """Call one of rackcheck's commands, its lines at most so wide. Takes a while."""


class Exporter(Commands, Protocol):
    """Writes documents of the run to files, by rackcheck's own command."""

    @property
    def left_behind(self) -> str:
        """What a document of this run does not hold, in words to be put behind its name; empty where it holds all."""


class WaiverFiles(Protocol):
    """Files of waivers that the run is judged with."""

    def waived(self, file: str) -> None:
        """Judge with this file of waivers from now on."""


class Viewed(RunInfo, FactCatalogue, RunArguments, Protocol):
    """What every view reads of the desk, whatever else can be done with it."""


class OpenRun(
    Viewed, EventSource, Collector, RawAnswers, Lookups, Baselines, OfferedRemedies, Exporter, WaiverFiles, Protocol
):  # fmt: skip
    """A run on the desk: one that is stored, or one that is being made."""
