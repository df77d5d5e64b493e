"""The views and keys in `docs/guide/tui.md`, from the tables they are in: `python -m rackcheck_tui.page docs/guide`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.controllers.keys import chapters

MADE = "<!-- made by `make schemas` from the tables of views and keys, never by hand -->"
END = "<!-- end of what is made -->"


def page(text: str) -> str:
    """Put the views and keys as they are now into a page; raises ValueError where it has no one place for them."""
    made = "\n".join((MADE, "", *tables(), "", END))
    parts = re.split(f"{re.escape(MADE)}.*?{re.escape(END)}", text, flags=re.DOTALL)
    if len(parts) != 2:
        raise ValueError(f"{len(parts) - 1} places for the views and keys: one is wanted, from {MADE} to {END}")
    return made.join(parts)


def tables() -> Iterator[str]:
    """Write a table of the views, each with its twin on the command line, and one for each chapter of keys."""
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
    """Say in one word each what a view is about: `NODE OTHER` for `NODE [peers|before|NODE|RUN]`."""
    return re.sub(r"\[.*?\]", "OTHER", takes).partition("|")[0]


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main(folder: Path) -> None:
    """Write the part of the page that is made."""
    file = folder / "tui.md"
    file.write_text(page(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
