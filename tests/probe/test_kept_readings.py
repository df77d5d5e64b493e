"""Equal answers of several nodes are parsed once, and every node has exactly the facts of its own answer."""

from collections.abc import Iterator

import pytest

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.catalogue import collection, integer, setting, text
from rackcheck.model.fact import Absent, Facts, Reason, Unknown, Unreadable
from rackcheck.model.path import parse
from rackcheck.model.question import Read, Shell
from rackcheck.model.recently_used import LARGEST, RecentlyUsed
from rackcheck.model.text import Files
from rackcheck.model.tree import Collected
from rackcheck.probe.collect import collect, collected
from rackcheck.probe.contract import Probe, probe
from rackcheck.probe.kept_readings import LEAF, KeptReadings

GIVES = {"host.name": text("the name"), "host.line": collection("lines"), "host.line/*.length": integer("its length")}


def counted() -> tuple[Probe[Shell], list[str]]:
    """A probe of a command, and the answers that its parser read."""
    read: list[str] = []

    def lines(answer: str) -> Facts:
        read.append(answer)
        if not answer:
            raise Unreadable("no lines")
        yield "host.name", answer.split("\n", maxsplit=1)[0]
        for line in answer.split():
            yield f"host.line/{line}.length", len(line)

    return probe(Shell("lines"), gives=GIVES)(lines), read


def printed(out: str, status: int = 0, err: str = "") -> NodeCapture:
    return NodeCapture({"lines": Output(status, out, err)})


def test_an_equal_answer_is_parsed_once() -> None:
    lines, read = counted()
    first = collect([lines], printed("a\nbc"))
    again = collect([lines], printed("a\nbc"))
    assert len(read) == 1
    assert all(again[path] is leaf for path, leaf in first.items())
    assert again == dict(collect([counted()[0]], printed("a\nbc"))), "as if nothing had been kept"


@pytest.mark.parametrize(
    "other", [printed("a\nbd"), printed("a\nbc", 1), printed("a\nbc", 1, "no permission"), printed(""), NodeCapture()]
)
def test_any_other_answer_is_read_on_its_own(other: NodeCapture) -> None:
    lines, _ = counted()
    collect([lines], printed("a\nbc"))
    assert dict(collect([lines], other)) == dict(collect([counted()[0]], other))


def test_two_probes_of_one_name_and_question_do_not_share_facts() -> None:
    lines, _ = counted()
    collect([lines], printed("a\nbc"))

    def reads_nothing(_: str) -> Iterator[tuple[str, Unknown]]:
        yield "host.name", Unknown(Reason.NOT_COLLECTED, "not read by this probe")

    other = Probe(lines.name, lines.ask, lines.gives, reads_nothing, lines.help)
    assert other == lines
    assert isinstance(collect([other], printed("a\nbc"))["host.name"].reading, Unknown)


def test_files_are_an_equal_answer_only_with_the_same_refusals_and_completeness() -> None:
    read: list[Files] = []

    def files(found: Files) -> Facts:
        read.append(found)
        yield "host.name", found.read("/etc/hostname")

    named = probe(Read("/etc/hostname"), gives={"host.name": text("the name")})(files)
    there: dict[str, Unknown | None] = {"/etc/hostname": None}
    denied = Unknown(Reason.DENIED, "Permission denied")
    captures = [
        NodeCapture(globs=there, files={"/etc/hostname": "n1\n"}),
        NodeCapture(globs=there, files={"/etc/hostname": "n2\n"}),
        NodeCapture(globs=there, refused={"/etc/hostname": denied}),
        NodeCapture(globs=there),
        NodeCapture(globs={"/etc/hostname": Unknown(Reason.TIMEOUT, "5 s")}),
    ]
    readings = [collect([named], capture)["host.name"].reading for capture in [*captures, *captures]]
    assert readings[:2] == ["n1", "n2"]
    assert isinstance(readings[2], Unknown)
    assert isinstance(readings[3], Absent)
    assert isinstance(readings[4], Unknown)
    assert readings[5:] == readings[:5]
    assert len(read) == 4, "a list that could not be read is not parsed; each other answer is parsed once"


def test_requested_facts_of_a_family_are_part_of_the_question() -> None:
    settings = probe(
        Read("/proc/sys/vm/swappiness", family=("sysctl", "/proc/sys")),
        gives={"sysctl.vm.swappiness": setting("swapping"), "sysctl.**": setting("any other")},
    )(lambda found: iter([("sysctl.vm.swappiness", found.read("/proc/sys/vm/swappiness"))]))
    capture = NodeCapture(
        globs={"/proc/sys/vm/swappiness": None, "/proc/sys/vm/none": None}, files={"/proc/sys/vm/swappiness": "60\n"}
    )
    assert "sysctl.vm.none" not in collect([settings], capture)
    assert isinstance(collect([settings], capture, [parse("sysctl.vm.none")])["sysctl.vm.none"].reading, Absent)
    assert "sysctl.vm.none" not in collect([settings], capture)


def test_the_kept_answers_stay_within_the_budget_and_the_least_recently_used_goes_first() -> None:
    lines, _ = counted()
    kept, made = KeptReadings(budget=(80 + LEAF) * LARGEST), list[str]()

    def asked(answer: str, size: int = 80) -> None:
        def read() -> tuple[Collected, bool]:
            made.append(answer)
            return Collected(), True

        kept.facts(lines, answer, lambda: size, read)

    for number in range(LARGEST):
        asked(str(number))
    asked("0")
    asked("one more")
    assert made == [*map(str, range(LARGEST)), "one more"]
    asked("0")
    assert made[-1] == "one more", "0 was used later than 1, and is still kept"
    asked("1")
    assert made[-1] == "1", "1 was dropped for the one more"
    asked("large", 81)
    asked("large", 81)
    assert made[-2:] == ["large", "large"], "an answer larger than its part of the budget is not kept"


def test_facts_of_a_parser_that_failed_are_not_kept_for_another_node() -> None:
    fails = [MemoryError("for a moment")]

    def once(answer: str) -> Facts:
        if fails:
            raise fails.pop()
        yield "host.name", answer.strip()

    named = probe(Shell("lines"), gives={"host.name": text("the name")})(once)
    assert isinstance(collect([named], printed("n1"))["host.name"].reading, Unknown)
    assert collect([named], printed("n1"))["host.name"].reading == "n1"


LISTED = GIVES | {"host.line/*.note": text("not in every answer")}


def listing() -> Probe[Shell]:
    """A probe of lines: `list a b` lists items, `note a` is a note of an item, any other line has the item's length."""

    def lines(answer: str) -> Facts:
        for row in answer.splitlines():
            match row.split():
                case ["list", *names]:
                    yield "host.line", tuple(names)
                case ["note", name]:
                    yield f"host.line/{name}.note", "here"
                case [name, size]:
                    yield f"host.line/{name}.length", int(size)

    return probe(Shell("lines"), gives=LISTED)(lines)


ANSWERS = (
    "a 1\nb 2",
    "a 1\nb 3",
    "a 1",
    "a 1\nb 2\nc 3",
    "b 2\na 1",
    "1 1\n01 2",
    "01 1\n1 2",
    "a 1\nnote a\nb 2",
    "a 1\nb 2\nnote b",
    "a 1\nb 2\nb 2",
    "list a b\na 1\nb 2",
    "list a b c\na 1\nb 2",
    "list\na 1\nb 2",
    "a 1\nb no",
    "",
)


@pytest.mark.parametrize("before", ANSWERS)
def test_what_an_answer_does_not_contain_is_not_taken_from_the_answer_before(before: str) -> None:
    for answer in ANSWERS:
        lines = listing()
        for known in (before, before.replace("1", "7"), before):
            collected([lines], printed(known), (), [])
        found, fresh = (collected([each], printed(answer), (), []) for each in (lines, listing()))
        assert found.leaves == fresh.leaves, (before, answer)
        assert {name: [*keys] for name, keys in found.items.items()} == {
            name: [*keys] for name, keys in fresh.items.items()
        }, (before, answer)


def test_a_new_value_is_kept_although_all_others_were_used() -> None:
    kept = RecentlyUsed[str](LARGEST * 10)
    for number in range(LARGEST):
        kept.put(number, "old", 10)
        kept.get(number)
    kept.put("new", "new", 10)
    assert kept.get("new") == "new"
    assert sum(kept.get(number) is not None for number in range(LARGEST)) == LARGEST - 1
