"""What the screens are given to work with: a run's events, what lies behind them, and commands to be called by name.

The screens open nothing and ask no one themselves: all they do goes through here, and only `again` asks a node.
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
class Said:
    """What a command said, and how it ended (GRAMMAR section 4)."""

    status: int
    text: str


class Desk(Protocol):
    """A run on the desk: one that is stored, or one that is being made."""

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
    def notes(self) -> Sequence[str]:
        """What a reader must know beside the verdicts and the events do not tell, once they have ended."""

    @property
    def troubles(self) -> Sequence[str]:
        """What went wrong with the record of a reading that is made, so far."""

    @property
    def mute(self) -> str:
        """Why nodes cannot be asked again from here; empty where they can."""

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that pair facts of two planes: the profile's, and those that ship for it."""

    @property
    def replays(self) -> bool:
        """Whether the events are those of a stored run, so that nobody waits for them."""

    @property
    def left_behind(self) -> str:
        """What a document of this run does not hold, in words to be said behind its name; empty where it holds all."""

    @property
    def profile_word(self) -> str:
        """What commands call the profile by: its name, or its file."""

    @property
    def waiver_words(self) -> Sequence[str]:
        """What commands are told of waivers that were written since the run; empty where there are none."""

    def run_of(self, *nodes: str) -> str:
        """Name the newest run that read these nodes: what commands are to look at."""

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Give runs and acceptances that a node can be held against, each with what it is."""

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Say which known word was meant: `; did you mean groups?`; empty where none is near."""

    def events(self) -> Iterator[Event]:
        """Give the run's events: of a stored run judged again, of a live one as it goes; raises Mistake."""

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Ask these nodes again, as a run of its own; raises Mistake."""

    def stop(self) -> None:
        """Stop asking; what came in is kept."""

    def kind(self, fact: str) -> Kind | None:
        """What a fact is, by its path or pattern; None where no probe tells it."""

    def plane(self, fact: Path) -> Plane:
        """Which plane tells a fact."""

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that tells a fact."""

    def since(self, node: str, rule: str) -> str:
        """Say since when a rule has had its verdict on a node; empty where nobody knows. Takes a while."""

    def near(self, fact: str) -> Sequence[str]:
        """Facts of names like this one."""

    def tree(self, node: str) -> Tree:
        """Read a node's facts from its newest answers; raises Mistake. Takes a while."""

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Give a node's newest raw answers; raises Mistake. Takes a while."""

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Tell what became of a node or a rule run by run: which of both it is, and the runs, the newest first."""

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Write what would mend some rules, by node, of which all verdicts are given; raises Mistake. Takes a while."""

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Call one of rackcheck's commands with `--json`, and read its document; raises Mistake. Takes a while."""

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Hold a node against another one: a document as that of `diff NODE peers`; raises Mistake. Takes a while."""

    def say(self, words: Sequence[str], width: int = 100) -> Said:
        """Call one of rackcheck's commands, its lines at most so wide. Takes a while."""

    def waived(self, file: str) -> None:
        """Judge with this file of waivers from now on."""
