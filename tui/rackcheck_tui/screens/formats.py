"""The report in every format; enter writes it to the working directory and shows the file's name."""

import shlex

from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

FORMATS = (
    ("html", "html", "one file for a browser: what a customer reads and signs"),
    ("pdf", "pdf", "the same for printing, with embedded fonts"),
    ("json", "json", "every verdict with its evidence, for programs"),
    ("junit", "xml", "for build servers"),
    ("csv", "", "a folder of tables, for spreadsheets"),
    ("markdown", "md", "for tickets"),
)
"""Report formats: the name, the file's extension (empty for a folder), and the purpose."""


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show the formats."""
    message = f"report of {ctx.desk.name}: what is shown here, in a file"
    return ViewContent(ListEntries([_entry(ctx, name, words) for name, _, words in FORMATS]), message, "")


def file_of(ctx: ViewContext, name: str) -> str:
    """Return the file name of this run's report in a format."""
    ending = next(ending for each, ending, _ in FORMATS if each == name)
    return f"{ctx.desk.name}.{ending}" if ending else f"{ctx.desk.name}-{name}"


def _entry(ctx: ViewContext, name: str, words: str) -> ListEntry:
    line = shlex.join(["rackcheck", "report", ctx.desk.run_word, "--format", name, "-o", file_of(ctx, name)])
    line += "".join(f" {shlex.quote(word)}" for word in ctx.desk.waiver_words)
    return ListEntry(
        name,
        lambda width: Line(((f"{name:<10}", "bold"), (ctx.signs.fit(words, max(width - 10, 0)), ""))),
        lambda width: list(labelled("the same", line, ctx.signs, width)),
        into=ViewState("write", (name,)),
    )
