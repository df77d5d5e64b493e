"""The page about the screens: its tables match the code, its pictures load nothing else and all exist."""

import re
from pathlib import Path

import pytest
from places import ROOT
from textual.binding import Binding

from rackcheck_tui.app import Screens
from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.page import END, MADE, page
from rackcheck_tui.pictures import SHOTS, settled

DOCS = ROOT / "docs"
PAGE = DOCS / "guide" / "tui.md"
PICTURES = sorted((DOCS / "screens").glob("tui-*.svg"))


def made() -> str:
    return PAGE.read_text(encoding="utf-8").partition(MADE)[2].partition(END)[0]


def test_the_page_that_ships_has_the_views_and_keys_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "make schemas"


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_stands_once_with_its_key_and_its_twin(name: str) -> None:
    rows = [row for row in made().splitlines() if re.match(rf"\| [^|]* \| `{name}[ `]", row)]
    assert len(rows) == 1
    assert rows[0].startswith(f"| `{VIEWS[name].key}` |" if VIEWS[name].key else "|  |")
    assert "`rackcheck " in rows[0]
    assert "{" not in rows[0], "run and node are written in words"


def test_every_key_of_the_screens_is_documented() -> None:
    bindings = [b for b in Screens.BINDINGS if isinstance(b, Binding)]
    keys = [b.key_display or b.key.split(",")[0] for b in bindings]
    assert len(keys) > 20
    assert [key for key in keys if f"`{key}`" not in made()] == []


def test_a_page_without_a_place_for_the_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="0 sections for the views and keys"):
        page("# The screens\n")


def test_every_picture_is_there_and_every_one_that_is_there_is_made() -> None:
    assert {file.name for file in PICTURES} == {f"tui-{shot.name}.svg" for shot in SHOTS}, "make screens"


def test_every_picture_that_a_page_shows_is_there() -> None:
    for file in (PAGE, DOCS.parent / "README.md"):
        named = re.findall(r"\]\(((?:docs/|\.\./)?screens/[^)]+)\)", file.read_text(encoding="utf-8"))
        assert named
        assert [name for name in named if not (file.parent / name).is_file()] == []


@pytest.mark.parametrize("file", PICTURES, ids=lambda file: file.name)
def test_a_picture_fetches_nothing_and_is_small(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"@font-face|@import|url\((?!#)|href|<script|<image", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", re.sub(r"<text.*?</text>", "", text))) == {
        "http://www.w3.org/2000/svg"
    }
    assert len(text.encode()) <= 60_000
    assert re.findall(r"20\d\d-\d\d-\d\dT", text) in ([], ["2026-11-01T"] * text.count("2026-11-01T")), "times are set"


def test_what_a_picture_would_fetch_is_taken_out() -> None:
    drawn = '<style>\n    @font-face {\n src: url("https://x/y.woff2");\n    }\n .m { font-family: Fira Code, monospace; }</style>'
    assert "url(" not in settled(drawn)
    assert "'DejaVu Sans Mono', Menlo, Consolas, monospace" in settled(drawn)
