"""Writes a learned profile as a file for a person to read and edit.

Pure. Text from a node cannot break out of its value: YAML reads it back unchanged, and in a comment it has no line
break.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.profile.learn.claim import Claim, Why
from rackcheck.profile.learn.rules import QUESTIONS, Learned, LearnQuestion, Lesson

WIDTH = 120
"""Maximum number of characters of a line, unless a word is longer."""

_PLAIN = regex(r"[A-Za-z0-9/][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./+%-]+)*\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Texts that other YAML readers convert to another type, so they are quoted, except `true` and `false` as operands."""


@dataclass(frozen=True, slots=True)
class LearnedHead:
    """The head of the file, above the rules: `origin` describes the machines and runs it was learned from.

    `doubts` are sentences with the reasons why some of the machines may not be good.
    """

    name: str
    version: str
    origin: str
    role: str = "compute"
    product: str = ""
    doubts: tuple[str, ...] = ()


def text(learned: Learned, head: LearnedHead) -> str:
    """Format a learned profile as the text of its YAML file."""
    return "\n".join(_lines(learned, head)) + "\n"


def _lines(learned: Learned, head: LearnedHead) -> Iterator[str]:
    yield from _comment(
        f"Learned by rackcheck profile learn from {head.origin}. It describes these machines, not what is right: "
        "read every rule, answer every question (# ?), and delete what is true only by chance. A rule with `includes` "
        "allows further members in the list.",
    )
    for doubt in head.doubts:
        yield from _comment(doubt)
    yield "rackcheck: 1"
    yield f"profile: {quoted(head.name)}"
    yield f"version: {quoted(head.version)}"
    yield f"title: {quoted(clean(f'Learned from {head.origin}', 150))}"
    yield "# After reading every rule, replace the next line with `reviewed-by: NAME`."
    yield "# Until then the rules can fail a machine, but a run judged by them cannot be signed."
    yield "reviewed: false"
    applies = {"product": head.product, "role": head.role}
    given = [f"{key}: {quoted(value)}" for key, value in applies.items() if value]
    yield f"applies-to: {{ {', '.join(given)} }}"
    yield "rules:"
    asked: dict[str, list[LearnQuestion]] = {}
    for question in learned.questions[:QUESTIONS]:
        asked.setdefault(question.area, []).append(question)
    areas = dict.fromkeys(lesson.area for lesson in learned.lessons)
    for area in areas:
        yield ""
        yield f"  # {area}"
        for lesson in learned.lessons:
            if lesson.area == area:
                yield from _rule(lesson, head.role)
        for question in asked.pop(area, ()):
            yield _asking(question)
    if asked:
        yield ""
        for questions in asked.values():
            yield from map(_asking, questions)
    yield from _left(learned)


def _rule(lesson: Lesson, role: str) -> Iterator[str]:
    keys = {"title": quoted(lesson.title)}
    if role != "compute":
        keys["role"] = quoted(role)
    if lesson.look:
        keys[lesson.look] = path(lesson.at)
    if len(lesson.claims) == 1:
        ((fact, claim),) = lesson.claims.items()
        keys |= _leaf(fact, claim)
    inner = ", ".join(f"{key}: {value}" for key, value in keys.items())
    line = f"  {lesson.id}: {{ {inner} }}"
    if len(lesson.claims) == 1 and len(line) <= WIDTH:
        yield line
        return
    yield f"  {lesson.id}:"
    yield from (f"    {key}: {value}" for key, value in keys.items())
    if len(lesson.claims) > 1:
        yield "    all-of:"
        for fact, claim in lesson.claims.items():
            yield f"      - {{ {', '.join(f'{key}: {value}' for key, value in _leaf(fact, claim).items())} }}"


def _leaf(fact: str, claim: Claim) -> Mapping[str, str]:
    named = {"fact": path(fact)} if fact else {}
    match claim.operand:
        case (of, by) if claim.op == "within":
            return {**named, claim.op: f"{{ of: {quoted(of)}, by: {quoted(by)} }}"}
        case tuple() as members:
            return {**named, claim.op: f"[{', '.join(map(quoted, members))}]"}
        case operand:
            return {**named, claim.op: operand if operand in {"true", "false"} else quoted(operand)}


def quoted(value: str) -> str:
    """Format a text as one YAML scalar on one line: without quotes if it is unambiguous, else in double quotes."""
    if _PLAIN.match(value) and value.lower() not in _WORDS and not value.endswith(" "):
        return value
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def path(text: str) -> str:
    """Format a fact's path as a YAML scalar, in single quotes if it has special characters."""
    return (
        text
        if re.fullmatch(r"[A-Za-z0-9_./+-]*(?:\*[A-Za-z0-9_./+-]*)*", text)
        else "'" + text.replace("'", "''") + "'"
    )


def _comment(words: str, indent: str = "") -> Iterator[str]:
    lead = f"{indent}# "
    yield from textwrap.wrap(
        clean(words, 4000), WIDTH, initial_indent=lead, subsequent_indent=lead, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _asking(question: LearnQuestion) -> str:
    return f"  # ? {clean(question.path, 250)}: {clean(question.text, 400)}"


def _left(learned: Learned) -> Iterator[str]:
    """Yield comment lines about the facts without a rule: their number by reason, and the names of unknown facts."""
    yield ""
    yield "# No rule was written for these:"
    for why in Why:
        if learned.left.get(why):
            yield f"#   {learned.left[why]:5}  {why.value}"
    more = len(learned.questions) - QUESTIONS
    if more > 0:
        yield f"#   {more:5}  more facts whose values differ"
    if learned.unknown:
        named = [clean(name, 200) for name in learned.unknown[:QUESTIONS]]
        rest = len(learned.unknown) - len(named)
        yield f"#   {len(learned.unknown):5}  facts that are not known on every machine:"
        words = ", ".join(named) + (f" and {rest} more" if rest > 0 else "")
        for line in textwrap.wrap(words, WIDTH - 6, break_long_words=False, break_on_hyphens=False):
            yield f"#     {line}"
