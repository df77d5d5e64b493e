"""Writes the views and keys into `docs/guide/tui.md`, from their tables: `python -m rackcheck_tui.page docs/guide`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.controllers.keys import chapters

MADE = "<!-- made by `make schemas` from the tables of views and keys, never by hand -->"
END = "<!-- end of what is made -->"


def page(text: str) -> str:
    """Write the current views and keys into a page; raises ValueError unless it has exactly one section for them."""
    made = "\n".join((MADE, "", *tables(), "", END))
    parts = re.split(f"{re.escape(MADE)}.*?{re.escape(END)}", text, flags=re.DOTALL)
    if len(parts) != 2:
        raise ValueError(f"{len(parts) - 1} sections for the views and keys (from {MADE} to {END}), expected 1")
    return made.join(parts)


def tables() -> Iterator[str]:
    """Yield a table of the views with the commands that print the same, and a table for each chapter of keys."""
    yield "| key | `:` | shows | the same on the command line |"
    yield "| --- | --- | --- | --- |"
    for name, view in VIEWS.items():
        line = view.twin.format(run="RUN", about=_about(view.takes), profile="PROFILE", node="NODE", fact="burnin.GPU")
        yield _row(_code(view.key), _code(f"{name} {view.takes}".strip()), view.words, _code(line))
    for title, rows in chapters()[1:]:
        yield ""
        yield f"| key | {title} |"
        yield "| --- | --- |"
        for key, does in rows:
            yield _row(" ".join(map(_code, key.split())), does)


def _about(takes: str) -> str:
    """Return the subjects of a view, in one word each: `NODE OTHER` for `NODE [peers|before|NODE|RUN]`."""
    return re.sub(r"\[.*?\]", "OTHER", takes).partition("|")[0]


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main(folder: Path) -> None:
    """Write the generated tables of views and keys into the page `tui.md`."""
    file = folder / "tui.md"
    file.write_text(page(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
