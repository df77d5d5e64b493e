"""A compiled profile as JSON, and back: all of it except the texts of its files. Pure."""

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

from rackcheck.base.codec import PLAIN, Form, Shared, maybe, only, record, several, table, unordered, words
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Class, Plane
from rackcheck.model.operator import Mask, Test, Within
from rackcheck.model.path import Path
from rackcheck.model.profile import (
    Across,
    AgreedFact,
    Clause,
    Phase,
    Profile,
    Rule,
    RuleSelection,
    Scope,
    Severity,
    Source,
)
from rackcheck.model.sibling_silence import Ground, Siblings


def _text(path: Path) -> str:
    if paths.parse(path.text) != path:
        raise ValueError(f"{path.text} is read as another path")
    return path.text


NAMES = several(PLAIN)
PATH = Form(_text, paths.parse)
ROOT = Form(lambda path: _text(path) if path.segments else "", lambda text: paths.parse(text) if text else Path(()))
"""The form of a path that may be empty: the fact of a rule about a collection itself."""

PLANE = words(Plane)
PLANES = unordered(PLANE)


def _operand(value: Any) -> Any:
    match value:
        case Within():
            return {"within": [value.of, value.by, value.share]}
        case Mask():
            return {"mask": [value.bits, value.is_]}
        case Path():
            return {"path": PATH.write(value)}
        case tuple():
            return [_operand(each) for each in value]
    return PLAIN.write(value)


def _operand_of(doc: Any) -> Any:
    match doc:
        case {"within": parts}:
            return Within(*parts)
        case {"mask": parts}:
            return Mask(*parts)
        case {"path": text}:
            return PATH.read(text)
        case list():
            return tuple(map(_operand_of, doc))
    return PLAIN.read(doc)


KIND = record(Kind, type=words(Type), cls=words(Class), words=NAMES, alike=maybe(NAMES))
TEST = record(Test, operand=Form(_operand, _operand_of))
GROUND = record(Ground, fact=PATH, plane=PLANE)
SIBLINGS = record(Siblings, collection=PATH, plane=PLANE, by=several(GROUND), vacant=maybe(GROUND))


def dumps(profile: Profile) -> str:
    """Return a profile as JSON; raises TypeError or ValueError if it has no such form, as with a rule in Python."""
    kinds, siblings = Shared(KIND), Shared(SIBLINGS)
    written = _profile(kinds.form, siblings.form).write(replace(profile, files={}, meant=""))
    doc = {"kinds": kinds.rows, "siblings": siblings.rows, "profile": written}
    return json.dumps(doc, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=16)
def loads(text: str) -> Profile:
    """Return the profile without the texts of its files; raises ValueError, or another error of lookup or type.

    Cached, because each run of an acceptance has the profile of the acceptance.
    """
    kinds, siblings = Shared(KIND), Shared(SIBLINGS)
    kinds.rows, siblings.rows, written = only(json.loads(text), "kinds", "siblings", "profile")
    found = _profile(kinds.form, siblings.form).read(written)
    assert isinstance(found, Profile)
    return found


def _profile(kind: Form, siblings: Form) -> Form:
    clause = record(
        Clause, fact=ROOT, kind=kind, plane=PLANE, tests=several(TEST), other=maybe(PATH), other_plane=PLANE,
        inputs=PLANES, siblings=maybe(siblings), other_siblings=maybe(siblings),
    )  # fmt: skip
    look = record(RuleSelection, collection=PATH, plane=PLANE, where=maybe(clause), siblings=maybe(siblings))
    agreed = record(AgreedFact, fact=PATH, kind=kind, plane=PLANE, inputs=PLANES)
    rule = record(
        Rule, clauses=several(clause), look=maybe(look), when=maybe(clause), needs=NAMES, severity=words(Severity),
        phase=words(Phase), roles=NAMES, refs=NAMES, unset=NAMES, scope=words(Scope),
        across=maybe(record(Across, shared=several(agreed), left=unordered(PATH))),
    )  # fmt: skip
    return record(
        Profile, rules=several(rule), applies_to=table(NAMES), params=table(PLAIN), dropped=table(PLAIN),
        lineage=NAMES, sources=table(record(Source)), files=table(PLAIN),
    )  # fmt: skip
