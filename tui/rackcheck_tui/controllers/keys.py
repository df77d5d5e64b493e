"""The keys of the screens in one table, and the lists of keys for the help, the guide and the bottom line.

`do('NAME')` is the action NAME in the application's table of actions (`app.Screens.actions`).
"""

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import TableWidget

BINDINGS: list[BindingType] = [
    *(
        Binding(view.key, f"view('{name}')", name, show=False, tooltip=view.words)
        for name, view in VIEWS.items() if view.key
    ),
    Binding(
        "slash", "do('find')", "filter", key_display="/", tooltip="filter what is shown: state:fail rack:r03 ~words"
    ),
    Binding("question_mark", "do('guide')", "keys", key_display="?", tooltip="this page"),
    Binding("q,ctrl+c", "do('leave')", "quit", tooltip="quit"),
    Binding("z", "do('every')", "all", tooltip="show or hide what passes"),
    Binding("d", "do('diff')", "diff", tooltip="compare the node with its peers or D's baseline, or two marked nodes"),
    Binding("e", "do('evidence')", "evidence", tooltip="evidence of the verdict: raw replies, the other plane"),
    Binding("f", "do('fix')", "fix", tooltip="the fix, as commands to type; nothing is applied"),
    Binding("r", "do('again')", "re-read", tooltip="collect from the marked nodes again, after a confirmation"),
    Binding("w", "do('waive')", "waive", tooltip="waive the finding until a date, in a file"),
    Binding("y", "do('copy')", "copy", tooltip="copy the value, the nodes, or the command that reads it: ssh, curl"),
    Binding("x", "do('export')", "export", tooltip="write the shown rows, or the report, to a file"),
    Binding("colon", "do('command')", "command", key_display=":", tooltip="type a view or a command of rackcheck"),
    Binding("escape", "do('up')", "back", key_display="esc", show=False, tooltip="drop the filter, then go back"),
    Binding("ctrl+p", "do('palette')", "commands", show=False, tooltip="choose among all views and commands"),
    Binding("left_square_bracket", "step(-1)", "back", key_display="[", show=False, tooltip="the previous view"),
    Binding("right_square_bracket", "step(1)", "forward", key_display="]", show=False, tooltip="the next view"),
    Binding("D", "do('baseline')", "against", show=False, tooltip="choose what a node is compared with"),
    Binding("F", "do('facts')", "facts", show=False, tooltip="all facts of the node"),
    Binding("H", "do('history')", "history", show=False, tooltip="history of the rule, or of the node, run by run"),
    Binding("c", "do('mode')", "mode", show=False, tooltip="racks: state, temperature, power, drift"),
    Binding("p", "do('pause')", "pause", show=False, tooltip="freeze the screen during a collection"),
    Binding("t", "do('theme')", "colours", show=False, tooltip="colours: the terminal's, colour-blind safe, none"),
    Binding("ctrl+l", "do('redraw')", "redraw", show=False, tooltip="redraw the screen, after other output"),
    Binding("i", "do('about')", "run", show=False, tooltip="details of the run, and its notes in full"),
]  # fmt: skip

ON_ROWS = frozenset(
    f"do('{name}')"
    for name in (
        "diff", "baseline", "evidence", "fix", "facts", "history", "again", "waive", "copy", "export",
    )
)  # fmt: skip
"""Actions on the row under the cursor, or on the marked rows."""


def chapters() -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """Group all keys and views for a help page: each chapter's title and its lines."""
    mine = [b for b in BINDINGS if isinstance(b, Binding)]
    views = [(f"{view.key} :{name} {view.takes}".strip(), view.words) for name, view in VIEWS.items()]
    moves = dict(_listed(TableWidget.BINDINGS))
    for key, words in _listed(Racks.BINDINGS):  # a key that both have is listed once
        known = moves.get(key, "")
        moves[key] = known if words in known else f"{known}; racks: {words}" if known else words
    rest = [b for b in mine if b.action not in ON_ROWS and not b.action.startswith("view(")]
    return [
        ("views", views),
        ("act on the row, or on the marked rows", _listed([b for b in mine if b.action in ON_ROWS])),
        ("move and mark", list(moves.items())),
        ("view, filter, quit", _listed(rest)),
    ]  # fmt: skip


def _listed(bindings: Sequence[BindingType]) -> list[tuple[str, str]]:
    """Return each key with its description."""
    made = [b for b in bindings if isinstance(b, Binding)]
    return [(b.key_display or b.key.replace(",", " "), b.tooltip or b.description) for b in made]


def at_foot() -> list[tuple[str, str]]:
    """Return the keys that the bottom line lists, each with one word."""
    shown = [b for b in BINDINGS if isinstance(b, Binding) and b.show]
    return [(b.key_display or b.key.split(",")[0], b.description) for b in shown]
