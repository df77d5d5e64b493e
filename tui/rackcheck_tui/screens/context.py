"""The input of every view: the run as it stands, its session, and the user's view settings."""

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
    """The state that views read; each field has one controller that writes it.

    `every` shows what passes, too; `against` is what a node is compared with; `fetched` is what was read in the
    background for a place; `volatile` are readings, by node and pattern, of facts that are measured and not counted;
    `burns` is a burn-in as it stands, empty of other runs.
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
        """The facts that a rule reads, as patterns."""
        if rule.id not in self._facts:
            self._facts[rule.id] = tuple(sorted(map(str, rule.facts())))
        return self._facts[rule.id]

    def paths_like(self, pattern: str) -> Sequence[str]:
        """Return the paths that any node reported and that match a pattern, and the pattern itself where it is one."""
        if self._looked != self.board.version:
            self._like, self._looked = self.board.census.like(), self.board.version
        return (*self._like.get(pattern, ()), pattern)
