"""The filter: what it selects, what it cannot decide, and that no text makes it crash."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path as File

import click
import pytest
from command import rackcheck
from hypothesis import example, given, settings
from hypothesis import strategies as st
from places import ROOT
from stored_runs import made

from rackcheck.cli import filters
from rackcheck.cli.facts import _subject as fact_row
from rackcheck.filter.where import (
    KEYS,
    LETTERS,
    NODE_KEYS,
    TERMS,
    WORDS,
    FilterError,
    FilterRow,
    Where,
    left_out,
    parse,
    reader,
)
from rackcheck.model import path as paths
from rackcheck.model.catalogue import (
    Catalogue,
    Entry,
    Kind,
    collection,
    flag,
    listing,
    quantity,
    setting,
    text,
    version,
)
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.path import Path
from rackcheck.model.tree import Leaf, Tree

PAGE = ROOT / "docs" / "reference" / "filter.md"

KINDS = {
    "driver.version": version("dotted", ""),
    "firmware.bmc": version("opaque", ""),
    "gpu": collection(""),
    "gpu/*.temperature": quantity("C", "", Class.MEASUREMENT),
    "gpu/*.ecc.mode": text("", words=("enabled", "disabled")),
    "pcie/*.link.width": quantity("GT/s", ""),
    "bios.smt": text("", words=("enabled", "disabled")),
    "bios.sr_iov": text("", words=("enabled", "disabled")),
    "node.product": text(""),
    "kernel.tainted": flag(""),
    "os.boot.order": listing(""),
    "sysctl.**": setting(""),
}
CATALOGUE = Catalogue.of(Entry(pattern, kind, Plane.OS, "p") for pattern, kind in KINDS.items())
UNKNOWN = Unknown(Reason.DENIED)


def kind_of(text: str) -> Kind | None:
    entry = CATALOGUE.find(paths.parse(text))
    return entry.kind if entry is not None else None


def where(text: str) -> Where:
    return parse(text, kind_of)


def row(facts: Mapping[str, Reading] = {}, text: str = "", **words: str | tuple[str, ...]) -> FilterRow:
    """A row with these words and facts; a star in a fact's path stands for any item."""

    def read(pattern: Path) -> Iterable[Reading]:
        return [reading for path, reading in facts.items() if str(paths.parse(path).pattern) == str(pattern.pattern)]

    return FilterRow({k: v if isinstance(v, tuple) else (v,) for k, v in words.items()}, text, read)


SMT = row(
    {"driver.version": "570.86.15", "gpu/0.temperature": 41.0, "gpu/1.temperature": 84.0, "bios.sr_iov": UNKNOWN},
    "bios.smt dgx03 r03 enabled, must be disabled",
    state="fail", rule="bios.smt", node="dgx03", rack="r03", severity="major", group="7", u="12", profile="h100-dgx",
)  # fmt: skip

ANSWERS = {True: "yes", False: "no", None: "undecided"}


def rows_of(page: str, width: int) -> list[list[str]]:
    """The tables of the page: the code spans of each row."""
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in some] for some in cells if len(some) == width]


def test_every_answer_of_the_page_is_the_one_returned() -> None:
    values = dict(cells for cells in rows_of(PAGE.read_text(), 2) if cells[1] in ANSWERS.values())
    assert len(values) == 9
    for cell, answer in values.items():
        assert (cell, ANSWERS[where(cell.strip("`")).holds(SMT)]) == (cell, answer)


def test_every_term_of_the_page_is_one_with_the_real_catalogue() -> None:
    terms = [term for cells in rows_of(PAGE.read_text(), 2) for term in re.findall(r"`([^`]+)`", cells[0])]
    assert len(terms) > 25
    for term in terms:
        filters.where(term)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("", True),
        ("state:pass,fail", True),
        ("state:FAIL", True),
        ("state:un*", False),
        ("!state:fail", False),
        ("rule:bios", True),
        ("rule:bio", False),
        ("rule:*smt", True),
        ("node:dgx[01-02,03]", True),
        ("node:dgx[1-8]", False),
        ("node:dgx?3 rack:r[01-08]", True),
        ("u:[10-20] group:[1,7]", True),
        ("u:[010-020]", True),
        ("group:8", False),
        ("profile:h100*", True),
        ("slot:3", False),
        ("!slot:3", True),
        ("~SMT", True),
        ("~sriov,smt", True),
        ('"must be"', True),
        ("dgx03", True),
        ("dgx0*", True),
        ("dgx[04-99]", False),
        ("bios.*", True),
        ("bios.", True),
        ("mios.smt", False),
        ("disabled", True),
        ("driver.version=570.86.15,1.0", True),
        ("driver.version=570*", True),
        ("driver.version==570.86.15", True),
        ("driver.version!=570.86.15", False),
        ("driver.version<570.100", True),
        ("driver.version<570.86", False),
        ("gpu/*.temperature>80", True),
        ("gpu/*.temperature>84C", False),
        ("gpu/*.temperature<=41", True),
        ("bios.sr_iov=enabled", None),
        ("!bios.sr_iov=enabled", None),
        ("bios.sr_iov=enabled state:pass", False),
        ("state:fail bios.sr_iov=enabled", None),
    ],
)
def test_a_row_is_chosen_by_what_it_is(asked: str, answer: bool | None) -> None:
    assert where(asked).holds(SMT) is answer


def test_what_is_absent_compares_with_nothing_and_its_denial_takes_it_in() -> None:
    bare = row({"driver.version": Absent()})
    asked = ["driver.version=570.86", "driver.version!=570.86", "driver.version<570.86", "gpu/*.temperature>1"]
    assert [where(each).holds(bare) for each in asked] == [False] * 4
    assert [where(f"!{each}").holds(bare) for each in asked] == [True] * 4


def test_what_cannot_be_compared_is_neither_yes_nor_no() -> None:
    for reading in ("not a version", "570.86.15-rc1"):
        assert where("driver.version<570.86").holds(row({"driver.version": reading})) is None
    odd: dict[str, Reading] = {
        "gpu/0.temperature": "warm", "kernel.tainted": 3, "os.boot.order": "disk", "bios.smt": (), "sysctl.vm.a": "x",
    }  # fmt: skip
    for asked in (
        "gpu/*.temperature>1",
        "kernel.tainted=true",
        "os.boot.order=disk",
        "bios.smt=enabled",
        "sysctl.vm.a>1",
    ):
        assert where(asked).holds(row(odd)) is None
    assert where("gpu/*.temperature>1").holds(FilterRow({})) is None


def test_one_item_that_compares_is_enough_whatever_the_others_are() -> None:
    some = row({"gpu/0.temperature": UNKNOWN, "gpu/1.temperature": 84.0})
    assert [where(f"gpu/*.temperature>{limit}").holds(some) for limit in (80, 90)] == [True, None]
    assert [where(f"!gpu/*.temperature>{limit}").holds(some) for limit in (80, 90)] == [False, None]


def test_a_quantity_is_written_out_with_its_unit() -> None:
    spelt = ("80", "80C", '"80 C"', "80.0", "8e1C")
    assert [str(where(f"gpu/*.temperature>{value}")) for value in spelt] == [
        f"gpu/*.temperature>{value}" for value in ("80C", "80C", "80C", "80.0C", "8e1C")
    ]


def test_a_filter_on_a_list_matches_its_members() -> None:
    order = row({"os.boot.order": ("disk0", "net")})
    assert [where(f"os.boot.order={value}").holds(order) for value in ("net", "disk*", "cd,net", "none")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert where("os.boot.order=none").holds(row({"os.boot.order": ()})) is True


def test_nodes_are_chosen_by_the_terms_about_nodes_and_findings_by_the_rest() -> None:
    whole = where("state:fail rack:r03 driver.version<600 ~smt !role:switch")
    assert str(whole.about(NODE_KEYS)) == "rack:r03 driver.version<600 !role:switch"
    assert str(whole.about(KEYS - NODE_KEYS)) == "state:fail ~smt"
    assert whole.about(KEYS) is whole
    assert [str(path) for path in whole.facts] == ["driver.version"]
    assert left_out(whole, "3 nodes") == "3 nodes left out: the facts in `driver.version<600` are unknown there"


@pytest.mark.parametrize(
    ("asked", "column", "message"),
    [
        ("rack:r03 state:fial", 16, "no state `fial`"),
        ("stat:fail", 1, "no key `stat`"),
        ("group:x", 7, "expected a number"),
        ("u:[1-x]", 3, "expected a number"),
        ("node:dgx[1-20000]", 6, "more than 10,000 names"),
        ("node:*[1-101]", 6, "more than 100 globs"),
        ("node:[9-1]", 6, "is not a range"),
        ("!!state:fail", 1, "one `!`"),
        ("a !", 3, "one `!`"),
        ("state:fail,", 12, "a word is missing"),
        ("~", 2, "a word is missing"),
        ('~"a b', 2, "the quote is not closed"),
        ('"a"b', 1, "a value that begins with a quote must end with a quote"),
        ("rack:r03 driver.versio<3", 10, "no fact driver.versio"),
        ("gpu>3", 1, "gpu is a collection"),
        ("<3", 1, "needs a fact before it"),
        ("Driver<3", 1, "is not a valid word"),
        ("driver.version<1,2", 16, "`<` takes one value"),
        ("bios.smt<on", 10, "needs an order"),
        ("bios.smt=enabeld", 10, "did you mean 'enabled'?"),
        ("gpu/*.temperature>80W", 19, "temperature in C is expected"),
        ("driver.version<x", 16, "is not a dotted number"),
        ("kernel.tainted=yes", 16, "did you mean true?"),
        ("x " * 65, 129, "at most 64 terms; this one has 65"),
        ("x" * 4001, 4001, "at most 4,000 characters"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(asked: str, column: int, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        where(asked)
    assert message in str(caught.value)
    assert caught.value.column == column


def test_a_term_that_the_rows_cannot_answer_is_wrong() -> None:
    with pytest.raises(FilterError, match="`group:7`: the valid keys are rule: and text") as caught:
        parse("a group:7", kind_of, frozenset({"rule", "text"}))
    assert caught.value.column == 3


# --- laws

ITEMS = ("0", "1", "0000:17:00.0")
VALUES = st.one_of(
    st.sampled_from(
        ["fail", "dgx[01-08]", "a b", "80", "80C", "570.86", "enabled", "true", "net", "*", "1e3W", "=x", "~a"]
    ),
    st.text(st.characters(exclude_characters='"', codec="utf-8"), min_size=1, max_size=6),
)
SPELT = st.builds(lambda value, quoted: f'"{value}"' if quoted else value, VALUES, st.booleans())
BODIES = st.one_of(
    st.builds(lambda key, some: f"{key}:{','.join(some)}", st.sampled_from(WORDS), st.lists(SPELT, min_size=1, max_size=3)),
    st.builds(
        lambda path, op, some: f"{path}{op}{','.join(some)}",
        st.sampled_from([*KINDS, 'pcie/"0000:17:00.0".link.width', "sysctl.vm.swappiness"]),
        st.sampled_from(["<", "<=", ">", ">=", "=", "==", "!="]),
        st.lists(SPELT, min_size=1, max_size=2),
    ),
    st.builds(lambda mark, some: f"{mark}{','.join(some)}", st.sampled_from(["~", ""]), st.lists(SPELT, min_size=1, max_size=3)),
)  # fmt: skip
LINES = st.lists(st.builds(lambda no, body: f"{'!' * no}{body}", st.booleans(), BODIES), max_size=4).map(" ".join)
NONSENSE = st.one_of(LINES, st.text(max_size=60), st.text('stae:rul,!~<>="[]0-9/.* \tgpu', max_size=60))
READINGS = st.one_of(
    st.sampled_from([UNKNOWN, Absent(), "570.86.15", "enabled", "net", ("net",), (), True, 41.0, 84.0, 3, float("nan"), "x"]),
    st.integers(), st.text(max_size=5),
)  # fmt: skip
FACTS = st.dictionaries(
    st.sampled_from(["driver.version", "bios.smt", "kernel.tainted", "gpu/0.temperature", "gpu/1.temperature", "os.boot.order"]),
    READINGS,
)  # fmt: skip
WORDED = st.dictionaries(st.sampled_from(WORDS), st.lists(st.text(max_size=8), max_size=2).map(tuple))


def parsed(text: str) -> Where | None:
    try:
        return where(text)
    except FilterError as error:
        assert 1 <= error.column <= len(text) + 1
        return None


@settings(max_examples=500)
@given(NONSENSE)
@example('~"a b" rule:"x y",z "c d" node.product="DGX H100"')
@example('a,"x<5"')
@example('bios.smt="=x"')
@example("\x1c~\x85")
@example("dgx[01-08],sw[1-2]")
def test_a_filter_that_is_written_out_is_read_back_as_the_same(text: str) -> None:
    found = parsed(text)
    if found is not None:
        again = where(str(found))
        assert again == found
        assert str(again) == str(found)


@given(LINES, LINES, FACTS, WORDED, st.text(max_size=20))
def test_the_order_of_terms_does_not_matter(
    one: str, other: str, facts: dict[str, Reading], words: dict[str, tuple[str, ...]], text: str
) -> None:
    if parsed(one) is None or parsed(other) is None:
        return
    subject = row(facts, text, **words)
    assert where(f"{one} {other}").holds(subject) is where(f"{other} {one}").holds(subject)


COMPARISONS = st.lists(
    st.sampled_from(
        [
            "driver.version<600", "!driver.version<600", "driver.version!=570.86.15", "bios.smt=enabled",
            "!bios.smt=enabled", "kernel.tainted=true", "gpu/*.temperature>80", "!gpu/*.temperature>80",
            "gpu/*.temperature!=41", "os.boot.order=net", "!os.boot.order=net", "!node:n1", "~text",
        ]
    ),
    max_size=3,
).map(" ".join)  # fmt: skip


@given(st.one_of(COMPARISONS, LINES), FACTS, st.data())
def test_what_becomes_unknown_makes_no_yes_a_no_and_no_no_a_yes(
    line: str, facts: dict[str, Reading], data: st.DataObject
) -> None:
    found = parsed(line)
    if found is None:
        return
    hidden = data.draw(st.sets(st.sampled_from(sorted(facts)))) if facts else set()
    before = found.holds(row(facts))
    assert found.holds(row({**facts, **dict.fromkeys(hidden, UNKNOWN)})) in {before, None}


@given(COMPARISONS, FACTS)
def test_an_unlistable_item_turns_no_answer_into_its_opposite(line: str, facts: dict[str, Reading]) -> None:
    before = where(line).holds(row(facts))
    assert where(line).holds(row({**facts, "gpu/9.temperature": UNKNOWN})) in {before, None}


@given(
    st.sets(st.from_regex(r"[a-z]{1,3}[0-9]{1,3}(-[a-z])?", fullmatch=True), min_size=1, max_size=12),
    st.text(max_size=6),
)
def test_nodes_as_a_screen_folds_them_are_these_nodes(names: set[str], other: str) -> None:
    asked = where(f"node:{fold(names)}")
    assert all(asked.holds(row(node=name)) for name in names)
    assert asked.holds(row(node=other)) is (other in names)


@given(st.text("a*?", max_size=LETTERS), st.text("ab", max_size=2000))
@example("*a" * (LETTERS // 2 - 10), "a" * 2000)
def test_the_longest_filter_ends_soon(glob: str, name: str) -> None:
    found = parsed(f"rule:{glob}")
    if found is not None:
        assert found.holds(row(rule=name)) in {True, False}
    assert len(where("x " * TERMS).terms) == TERMS


def test_a_tree_is_read_with_all_that_it_does_not_know() -> None:
    def values(reading: Reading, kind: Kind = KINDS["gpu/*.temperature"]) -> Leaf:
        return Leaf(reading, kind, Plane.OS, "")

    listed = {"gpu": values(("0", "1"), collection("")), "gpu/0.temperature": values(41.0)}
    asked = paths.parse("gpu/*.temperature")

    def answers(tree: Tree) -> list[Reading]:
        return list(reader(tree, lambda _: Plane.OS)(asked))

    known, missing = answers(Tree(listed))
    assert known == 41.0
    assert isinstance(missing, Unknown)
    assert answers(Tree({"gpu": values((), collection(""))})) == []
    assert answers(Tree({"gpu": values(UNKNOWN, collection("")), "gpu/0.temperature": values(41.0)})) == [41.0, UNKNOWN]
    assert answers(Tree({}, {Plane.OS: UNKNOWN})) == [UNKNOWN]
    alone = reader(Tree({}, {Plane.OS: UNKNOWN}), lambda _: Plane.OS)
    assert list(alone(paths.parse("driver.version"))) == [UNKNOWN]


# --- on the command line


@pytest.fixture(autouse=True)
def home(tmp_path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RACKCHECK_INDEX", raising=False)


def test_a_wrong_filter_is_shown_with_a_mark_below_its_place() -> None:
    made("r1", {"n1": {}})
    done = rackcheck("diff", "r1", "r1", "--where", "node:n1 state:fial")
    assert (done.status, done.out) == (2, "")
    lines = done.err.splitlines()[-3:]
    assert lines[0].endswith("there are pass, fail, warn, waived, unknown, n/a; did you mean fail?")
    assert lines[1:] == ["  node:n1 state:fial", "                ^"]


def test_a_long_and_hostile_filter_is_shown_around_its_place() -> None:
    with pytest.raises(click.UsageError) as caught:
        filters.where("\x1b[2J " * 50 + "kernel.releas<6.0 " + "x " * 10)
    output, shown, mark = str(caught.value.message).splitlines()
    assert "did you mean kernel.release" in output
    assert "\x1b" not in shown
    assert shown[len(mark) - 1 :].startswith("kernel.releas")
    assert max(map(len, (shown, mark))) <= 80


def test_two_runs_are_compared_only_in_the_filtered_facts() -> None:
    before = {f"n{i}": {"sysctl.vm.swappiness": ("config", 10), "firmware.bmc": ("version", "1.0")} for i in (1, 2, 3)}
    after = {
        n: {"sysctl.vm.swappiness": ("config", 60), "firmware.bmc": ("version", "1.1")} for n in ("n1", "n2", "n9")
    }
    made("r1", before)
    made("r2", after, {"n2": "b"})

    def message(filter_: str) -> list[str]:
        return rackcheck("diff", "r1", "r2", "--where", filter_).out.splitlines()

    gone = ["new in r2: n9", "missing in r2: n3"]
    assert message("class:version") == [*gone, "firmware.bmc 1.0 -> 1.1 on 2 of 2: n[1-2]"]
    assert message("n[1-2] fact:sysctl") == ["sysctl.vm.swappiness 10 -> 60 on 2 of 2: n[1-2]"]
    assert message("node:n2 !fact:sysctl") == ["firmware.bmc 1.0 -> 1.1 on 1 of 2: n2", "b pass -> fail on 1 of 2: n2"]
    assert message("state:fail node:n?") == [*gone, "b pass -> fail on 1 of 2: n2"]
    assert message('"10 -> 60"') == [*gone, "sysctl.vm.swappiness 10 -> 60 on 2 of 2: n[1-2]"]
    refused = rackcheck("diff", "r1", "r2", "--where", "driver.version<570.86")
    assert refused.status == 2
    assert "the valid keys are class:, fact:, node:, plane:, rule:, state: and text" in refused.err


def test_two_nodes_are_compared_only_in_the_filtered_facts() -> None:
    made(
        "r1",
        {f"n{i}": {"sysctl.vm.a": ("config", i), "firmware.bmc": ("version", f"1.{i}")} for i in (1, 2)},
        {"n2": "b"},
    )

    def message(filter_: str) -> tuple[int, list[str]]:
        done = rackcheck("diff", "n1", "n2", "--where", filter_)
        return done.status, done.out.splitlines()

    assert message("class:version") == (1, ["firmware.bmc 1.1 -> 1.2"])
    assert message("rule:b,c") == (1, ["b pass -> fail"])
    assert message("!class:version !rule:b") == (1, ["sysctl.vm.a 1 -> 2"])
    assert message("plane:bmc") == (0, [])


def test_a_history_has_only_the_filtered_runs_and_verdicts() -> None:
    facts = {f"n{i}": {"sysctl.vm.swappiness": ("config", 10)} for i in (1, 2)}
    made("r1", facts)
    made("r2", facts, {"n1": "b"})
    made("r3", {**facts, "n1": {"sysctl.vm.swappiness": ("config", 60)}}, {"n1": "b", "n2": "b"})
    made("r4", facts)

    def values(*words: str) -> list[str]:
        return [line.split("Z", 1)[-1].strip() for line in rackcheck("history", *words).out.splitlines()]

    def runs(*words: str) -> list[str]:
        return [line.split()[1] for line in rackcheck("history", *words).out.splitlines() if not line.startswith(" ")]

    assert runs("n1", "--where", "rule:b") == ["r4", "r2"]
    assert runs("n1", "--where", "fact:sysctl") == ["r4", "r3"]
    assert runs("n1", "--where", "run:r[1-2]") == ["r2", "r1"]
    assert values("n1", "--where", "rule:b run:r[1-2]")[1:] == ["b pass -> fail: 7 of 8"]
    assert runs("b", "--where", "state:fail") == ["r3", "r2"]
    assert [line for line in values("b", "--where", "state:fail node:n2") if ":" in line] == ["fail: n2"]
    assert runs("b", "--where", "run:r[1-2]") == ["r2", "r1"]
    assert "the valid keys are" in rackcheck("history", "n1", "--where", "node:n1").err
    assert "the valid keys are" in rackcheck("history", "b", "--where", "rule:b").err


def test_a_moved_part_is_shown_to_filters_that_match_it() -> None:
    for name, letters in (("r1", "ABD"), ("r2", "ABCD")):
        made(name, {"n1": {f"gpu/{i}.serial": ("identity", letter) for i, letter in enumerate(letters)}})
    moved = "gpu D moved: n1 gpu/2 -> gpu/3"
    for asked in ("gpu/3.serial", "plane:os class:identity", "fact:gpu/2", "~d"):
        assert moved in rackcheck("diff", "r1", "r2", "--where", asked).out, asked
        assert moved in rackcheck("history", "n1", "--where", asked).out, asked
    for asked in ("rule:b", "plane:bmc", "!fact:gpu"):
        assert moved not in rackcheck("diff", "r1", "r2", "--where", asked).out, asked
        assert moved not in rackcheck("history", "n1", "--where", asked).out, asked


def test_facts_of_this_machine_are_narrowed_by_class_by_text_and_by_value() -> None:
    done = rackcheck("facts", "localhost", "kernel.release", "--where", "class:version kernel.release>1.0 ~kernel")
    assert "kernel.release" in done.out
    assert "1 known" in done.err
    done = rackcheck("facts", "localhost", "kernel.release", "--where", "!kernel.release>1.0")
    assert "0 known" in done.err
    done = rackcheck("facts", "localhost", "firmware.bmc", "--where", "!firmware.bmc=1.0")
    assert "1 fact left out: the facts in `!firmware.bmc=1.0` are unknown there" in done.err
    assert "0 known, 0 absent, 0 unknown" in done.err


def test_a_fact_is_chosen_by_its_own_value_and_one_that_is_unknown_is_neither() -> None:
    def answer(path: str, reading: Reading, asked: str) -> bool | None:
        kind = KINDS.get(str(paths.parse(path).pattern)) or KINDS["gpu/*.temperature"]
        return where(asked).holds(fact_row(path, Leaf(reading, kind, Plane.OS, "")))

    assert answer("gpu/1.temperature", 84.0, "gpu/*.temperature>80") is True
    assert answer("gpu/1.temperature", 41.0, "gpu/*.temperature>80") is False
    assert answer("gpu/1.temperature", UNKNOWN, "gpu/*.temperature>80") is None
    assert answer("gpu", UNKNOWN, "gpu/*.temperature>80") is None
    assert answer("gpu", ("0",), "gpu/*.temperature>80") is False
    assert answer("driver.version", "570.86", "gpu/*.temperature>80") is False
    assert answer("gpu/1.temperature", UNKNOWN, "~denied class:measurement plane:os") is True


@pytest.mark.parametrize(
    ("begun", "wanted"),
    [
        ("sta", {"state:"}),
        ("rack:r03 !st", {"rack:r03 !state:"}),
        ("state:fail,w", {"state:fail,warn", "state:fail,waived"}),
        ("x class:v", {"x class:version"}),
        ("gpu", {"gpu"}),
        ("rule:x", set()),
    ],
)
def test_keys_words_and_facts_are_completed(begun: str, wanted: set[str]) -> None:
    command = click.Command("c", params=[])
    command = filters.where_option("")(command)
    parameter = command.params[-1]
    found = {item.value for item in parameter.shell_complete(click.Context(command), begun)}
    assert wanted <= found
    assert all(value.startswith(begun) for value in found)


def test_an_unclosed_set_is_an_error_and_no_text() -> None:
    with pytest.raises(FilterError, match="the set is not closed"):
        parse("dgx[01-04", kind_of)
    assert parse('"dgx[01-04"', kind_of).terms
