"""The input of every view: the run's current state, its session, and the user's view settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.filter.where import EVERYTHING, Where
from rackcheck.model.fact import Reading
from rackcheck.model.profile import Rule
from rackcheck.views.burning import Burns
from rackcheck.views.open_run import Viewed
from rackcheck.views.signs import Signs
from rackcheck.views.state import Board
from rackcheck_tui.controllers.view_history import ViewState


@dataclass
class ViewContext:
    """The state that views read; one controller writes each field.

    If `every` is true, the views also show passing results. `against` is what a node is compared with, such as `peers`.
    `fetched` contains the data that was read in the background, by view. `volatile` contains the values of measurements
    and counters, by node and fact pattern. `burns` is the current state of a burn-in; it is empty for a run without a
    burn-in.
    """

    board: Board
    desk: Viewed
    signs: Signs
    where: Where = EVERYTHING
    every: bool = False
    against: str = "peers"
    mode: str = "state"
    now: float = 0.0
    fetched: dict[ViewState, object] = field(default_factory=dict)
    volatile: dict[str, Mapping[str, Sequence[Reading]]] = field(default_factory=dict)
    burns: Burns = field(default_factory=Burns)
    _facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _like: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _looked: int = -1

    def rule_facts(self, rule: Rule) -> tuple[str, ...]:
        """Return the facts that a rule reads, as patterns."""
        if rule.id not in self._facts:
            self._facts[rule.id] = tuple(sorted(map(str, rule.facts())))
        return self._facts[rule.id]

    def paths_like(self, pattern: str) -> Sequence[str]:
        """Return the paths that match a pattern and that any node reported, and the pattern itself."""
        if self._looked != self.board.version:
            self._like, self._looked = self.board.census.like(), self.board.version
        return (*self._like.get(pattern, ()), pattern)
