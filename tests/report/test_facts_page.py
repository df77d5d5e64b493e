"""The page of all facts lists what the code provides, in order and completely, and nothing in it breaks its tables."""

import re

import places
import pytest

from rackcheck import Class, Facts, Shell, flag, integer, probe, text
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.question import Read
from rackcheck.model.text import natural
from rackcheck.probe.registry import Registry, registry
from rackcheck.report.facts_page import AREAS, ROOT, area, page

PLACE = places.ROOT / "docs" / "reference" / "facts.md"
PAGE = page(registry())


def rows(of: str = PAGE) -> list[list[str]]:
    """Every row of the tables, by its cells."""
    found = [line for line in of.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found]


def test_the_page_that_ships_is_what_the_code_gives() -> None:
    assert PLACE.read_text(encoding="utf-8") == PAGE, "make schemas"


def test_every_fact_stands_once_and_in_the_order_of_names_below_its_area() -> None:
    items = [row[0].strip("`") for row in rows()]
    assert sorted(items) == sorted(registry().catalogue.entries)
    headings = re.findall(r"^## (\S+)$", PAGE, re.MULTILINE)
    assert headings == [*sorted({area(pattern) for pattern in items}), "Requests"]
    for part in PAGE.split("\n## ")[1:-1]:
        name, _, body = part.partition("\n")
        patterns = [row[0].strip("`") for row in rows(body)]
        assert {area(pattern) for pattern in patterns} == {name}
        assert patterns == sorted(patterns, key=natural)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("gpu", "gpu"),
        ("gpu/*.amd", "gpu"),
        ("gpu.amd/*.power.limit", "gpu.amd"),
        ("gpu.amdahl", "gpu"),
        ("nic/*.port/*.state", "nic"),
        ("nic.interface/*.mtu", "nic.interface"),
        ("log.kernel.mce.corrected", "log.kernel"),
        ("sysctl.**", "sysctl"),
        ("theirs.own/*.fact", "theirs"),
    ],
)
def test_a_fact_stands_in_the_area_whose_words_it_begins_with(pattern: str, expected: str) -> None:
    assert area(pattern) == expected


def test_every_area_has_a_sentence_and_every_link_leads_to_a_heading() -> None:
    assert {area(pattern) for pattern in registry().catalogue.entries} == AREAS.keys()
    assert [words for words in AREAS.values() if not words.endswith(".") or not words[0].isupper()] == []
    headings = {name.lower().replace(".", "") for name in re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= headings


def test_every_row_states_type_unit_class_and_the_probe_and_whether_it_needs_root() -> None:
    roots = {p.name for p in registry().probes if isinstance(p.ask, Shell) and p.ask.root}
    entries = registry().catalogue.entries
    for fact, says, kind, cls, came in rows():
        entry = entries[fact.strip("`")]
        assert says.endswith((".", "...")), fact
        assert kind.removesuffix(", or unlimited") == str(entry.kind)
        assert cls == ("" if kind == "collection" else entry.kind.cls.value)
        root = ", root" if entry.probe in roots else ""
        assert came == f"{entry.plane.value}{root}: {entry.probe}"
    assert len({came for *_, came in rows() if ", root: " in came}) == len(roots)


def test_every_probe_stands_by_its_question_and_roots_by_theirs() -> None:
    asked = PAGE.partition("\n## Requests\n")[2]
    names = [name for line in re.findall(r"^- (.*)$", asked, re.MULTILINE) for name in line.split(", ")]
    assert sorted(names) == sorted([p.name for p in registry().probes] + [j.name for j in registry().joins])
    first = re.split(r"^### .*$", asked, flags=re.MULTILINE)[1]
    assert asked.lstrip().startswith(f"### {ROOT}\n")
    roots = [p.name for p in registry().probes if isinstance(p.ask, Shell) and p.ask.root]
    assert sorted(", ".join(re.findall(r"^- (.*)$", first, re.MULTILINE)).split(", ")) == sorted(roots)


def test_no_text_of_a_third_party_probe_breaks_a_table_or_its_list() -> None:
    @probe(
        Shell("echo '```' |\n\n# cut\nx"),
        gives={
            "theirs.one": text("either a | b, `c | d` or <b>*bold*</b>\n| row |", words=("x|y", "z")),
            "theirs.two": integer("nvidia-smi's own.", Class.COUNTER, unlimited=True),
        },
    )
    def theirs(_: str) -> Facts:
        yield from ()

    @probe(Read("/theirs/*"), gives={"theirs.three": flag("whether.")})
    def files(_: object) -> Facts:
        yield from ()

    probes = (theirs, files)
    made = page(Registry(probes, Catalogue.of(entry for one in probes for entry in one.entries())))
    values = {row[0]: row for row in rows(made)}
    assert values["`theirs.one`"][1:3] == [
        r"Either a \| b, `c \| d` or \<b\>\*bold\*\</b\> \| row \|. One of: x\|y, z.",
        "text",
    ]
    assert values["`theirs.two`"][1:4] == ["nvidia-smi's own.", "integer, or unlimited", "counter"]
    assert values["`theirs.three`"][1] == "Whether."
    block = made.partition("### Commands\n")[2].partition("### ")[0].split("\n- theirs\n\n")[1].rstrip("\n")
    assert block.split("\n") == ["      echo '```' |", "", "      # cut", "      x"]
