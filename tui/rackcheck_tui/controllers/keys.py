"""The keys of the screens in one table, and the lists of them: for the help, the manual, the foot.

`do('NAME')` is the action NAME of the application's table of actions (`app.Screens.actions`).
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
    Binding("z", "do('every')", "all", tooltip="show what passes, too, or only what does not"),
    Binding("d", "do('diff')", "diff", tooltip="hold the node against its peers, or what D chose; two that are marked"),
    Binding("e", "do('evidence')", "evidence", tooltip="what the verdict rests on: raw replies, the other plane"),
    Binding("f", "do('fix')", "fix", tooltip="what would mend it, in lines to type; applies nothing"),
    Binding("r", "do('again')", "re-read", tooltip="ask the marked nodes again, after a question"),
    Binding("w", "do('waive')", "waive", tooltip="answer for the finding until a day, in a file"),
    Binding("y", "do('copy')", "copy", tooltip="copy the value, the nodes, or the line that reads it: ssh, curl"),
    Binding("x", "do('export')", "export", tooltip="write the rows that are shown, or the report, to a file"),
    Binding("colon", "do('command')", "command", key_display=":", tooltip="type a view or a command of rackcheck"),
    Binding("escape", "do('up')", "back", key_display="esc", show=False, tooltip="drop the filter, then go back"),
    Binding("ctrl+p", "do('palette')", "commands", show=False, tooltip="choose among all views and commands"),
    Binding("left_square_bracket", "step(-1)", "back", key_display="[", show=False, tooltip="the place before"),
    Binding("right_square_bracket", "step(1)", "on", key_display="]", show=False, tooltip="the place after"),
    Binding("D", "do('baseline')", "against", show=False, tooltip="choose what a node is held against"),
    Binding("F", "do('facts')", "facts", show=False, tooltip="everything the node told"),
    Binding("H", "do('history')", "history", show=False, tooltip="how the rule, or the node, went run by run"),
    Binding("c", "do('mode')", "mode", show=False, tooltip="racks: state, temperature, power, drift"),
    Binding("p", "do('pause')", "pause", show=False, tooltip="hold the screen still while a reading goes on"),
    Binding("t", "do('theme')", "colours", show=False, tooltip="colours: the terminal's, safe for all eyes, none"),
    Binding("ctrl+l", "do('redraw')", "redraw", show=False, tooltip="draw all anew, after others wrote here"),
    Binding("i", "do('about')", "run", show=False, tooltip="the run itself, and its notes in full"),
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
    moves = dict.fromkeys([*_listed(TableWidget.BINDINGS), *_listed(Racks.BINDINGS)])
    rest = [b for b in mine if b.action not in ON_ROWS and not b.action.startswith("view(")]
    return [
        ("views", views),
        ("act on the row, or on those that are marked", _listed([b for b in mine if b.action in ON_ROWS])),
        ("move and mark", list(moves)),
        ("look, find, leave", _listed(rest)),
    ]  # fmt: skip


def _listed(bindings: Sequence[BindingType]) -> list[tuple[str, str]]:
    """Return each key with its action."""
    made = [b for b in bindings if isinstance(b, Binding)]
    return [(b.key_display or b.key.replace(",", " "), b.tooltip or b.description) for b in made]


def at_foot() -> list[tuple[str, str]]:
    """Return the keys that the line at the foot lists, each with one word."""
    shown = [b for b in BINDINGS if isinstance(b, Binding) and b.show]
    return [(b.key_display or b.key.split(",")[0], b.description) for b in shown]
