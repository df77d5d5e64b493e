"""Makes redacted copies: `customer` (the owner of the machines) without logins and addresses, `public` without names.

TABLE defines how each text of the model is redacted; `docs/design/decisions/0011-redaction-levels.md` explains why. A
value to be hidden that has a field of its own (such as a serial) is removed from this field and from every other text.
After known values, text that looks like an address, an id or a path is removed by regular expressions. Verdicts,
counts, versions, models and rules are kept. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum, StrEnum, auto
from typing import Any
from urllib.parse import urlsplit

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import Class, Plane, Reason
from rackcheck.model.fit import ProfileFit
from rackcheck.model.profile import Phase, Severity, Source
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.probe.group import FLEET
from rackcheck.report import known
from rackcheck.report.burn_model import (
    FIGURE,
    POINTS,
    BurnBand,
    BurnChart,
    Burned,
    BurnFault,
    BurnFigure,
    BurnGap,
    BurnLimit,
    BurnLine,
    BurnPanel,
    BurnRow,
    BurnRun,
    BurnTable,
    BurnUntested,
)
from rackcheck.report.report_model import (
    LETTERS,
    OUT,
    Area,
    Baseline,
    Billed,
    BomComparison,
    Brand,
    CountedRun,
    DeviatingPart,
    Dossier,
    Exemption,
    Exhibit,
    FindingEntry,
    Gate,
    GroupRow,
    Hardware,
    Logo,
    NodeRow,
    Party,
    Punch,
    RawReply,
    ReportSubject,
    Rework,
    RuleChange,
    Unchecked,
    Unlisted,
    VerdictTally,
    Versions,
)
from rackcheck.signoff.removed_run import RemovedRun
from rackcheck.views.locations import RACK
from rackcheck.views.steps import CounterRise, Step

LEVELS = ("customer", "public")

WITHHELD = "(withheld)"


class How(StrEnum):
    """How a text is redacted."""

    KEEP = auto()
    TEXT = auto()
    """Known values, addresses and home folders are removed from the text; in the public copy, ids and paths, too."""
    WORDS = auto()
    """Like TEXT, but the customer's copy keeps URLs, because a profile's URLs are not the customer's addresses."""
    VERSION = auto()
    """Like TEXT, but four numbers joined by dots are treated as a version and kept, unless they are a known address."""
    TIME = auto()
    """A text with the form of a time is kept; any other text is redacted like TEXT."""
    DIGEST = auto()
    """A text with the form of a SHA-256 is kept; any other text is removed."""
    VECTOR = auto()
    """A text that consists of verdict letters is kept; any other text is removed."""
    FIGURE = auto()
    """A text with the form of a measured number, or of points of a curve, is kept; any other text is removed."""
    NODE = auto()
    NODE_OR_TEXT = auto()
    RACK = auto()
    RUN = auto()
    SUBJECT = auto()
    SERIAL = auto()
    OTHER = auto()
    """A part's properties by name: those in MAKES (such as the model) are redacted like TEXT, others are removed."""
    ADDRESS = auto()
    LOGIN = auto()
    SITE = auto()
    SITES = auto()
    """Like SITE; in addition, words of 4 or more letters in this text are removed from all other texts."""
    PERSON = auto()
    TICKET = auto()
    REASON = auto()
    PARAM = auto()
    """A param's value: kept if it begins with a digit (a quantity or version) or is a common word, else replaced."""
    CHANGE = auto()
    """How a rule was changed: redacted like TEXT if it contains ` -> `, else withheld, because it may be any text."""
    FILE = auto()
    """Of a file's path, only the name of the file is kept, and redacted like TEXT."""
    GONE = auto()


H = How
_Hows = How | tuple[How, ...]
"""How a value is redacted; for a tuple such as a pair, one `How` for each element."""

TABLE: Mapping[type, Mapping[str, tuple[_Hows, _Hows]]] = {
    Logo: {"kind": (H.KEEP, H.KEEP), "data": (H.KEEP, H.KEEP)},
    Party: {"role": (H.WORDS, H.WORDS), "name": (H.KEEP, H.PERSON)},
    Brand: {
        "title": (H.KEEP, H.SITE), "integrator": (H.KEEP, H.SITES), "customer": (H.KEEP, H.SITES),
        "site": (H.KEEP, H.SITES), "hall": (H.KEEP, H.SITE), "contract": (H.KEEP, H.SITE),
        "revision": (H.WORDS, H.WORDS), "footer": (H.WORDS, H.GONE), "logo": (H.KEEP, H.GONE),
    },
    CountedRun: {
        "run": (H.KEEP, H.RUN), "time": (H.TIME, H.TIME), "ended": (H.TIME, H.TIME), "kind": (H.WORDS, H.WORDS),
        "nodes": (H.KEEP, H.NODE), "planes": (H.WORDS, H.WORDS), "targets": (H.TEXT, H.GONE),
        "version": (H.VERSION, H.VERSION), "operator": (H.LOGIN, H.LOGIN), "note": (H.TEXT, H.GONE),
    },
    ReportSubject: {
        "kind": (H.WORDS, H.WORDS), "name": (H.KEEP, H.SUBJECT), "state": (H.WORDS, H.WORDS),
        "profile": (H.WORDS, H.WORDS), "profile_version": (H.VERSION, H.VERSION), "profile_title": (H.WORDS, H.WORDS),
        "digest": (H.DIGEST, H.DIGEST), "lineage": (H.VERSION, H.VERSION), "params": (H.WORDS, H.WORDS),
        "given": (H.WORDS, H.PARAM), "inventory": (H.DIGEST, H.GONE),
    },
    VerdictTally: {"counts": (H.KEEP, H.KEEP), "nodes": (H.KEEP, H.NODE), "severe": (H.KEEP, H.KEEP)},
    Unchecked: {
        "kind": (H.WORDS, H.WORDS), "what": (H.TEXT, H.NODE_OR_TEXT), "why": (H.TEXT, H.TEXT),
        "nodes": (H.KEEP, H.NODE),
    },
    Gate: {
        **dict.fromkeys(("id", "title", "phase", "planes", "expects"), (H.WORDS, H.WORDS)),
        **dict.fromkeys(("why", "fix", "refs", "unset", "scope"), (H.WORDS, H.WORDS)), "counts": (H.KEEP, H.KEEP),
    },
    RuleChange: {"rule": (H.WORDS, H.WORDS), "kind": (H.WORDS, H.WORDS), "how": (H.WORDS, H.CHANGE)},
    Source: dict.fromkeys(("id", "title", "section", "publisher", "date", "confidence"), (H.WORDS, H.WORDS)),
    NodeRow: {
        "name": (H.KEEP, H.NODE), "role": (H.WORDS, H.WORDS), "vector": (H.VECTOR, H.VECTOR), "rack": (H.KEEP, H.RACK),
        "slot": (H.WORDS, H.GONE), "host": (H.ADDRESS, H.ADDRESS), "bmc": (H.ADDRESS, H.ADDRESS),
        "vendor": (H.VERSION, H.VERSION), "product": (H.VERSION, H.VERSION), "serial": (H.KEEP, H.SERIAL),
        "run": (H.KEEP, H.RUN), "note": (H.TEXT, H.TEXT), "reason": (H.TEXT, H.TEXT),
    },
    ProfileFit: {"words": (H.VERSION, H.VERSION)},
    GroupRow: {
        "name": (H.KEEP, H.NODE), "scope": (H.WORDS, H.WORDS), "vector": (H.VECTOR, H.VECTOR),
        "nodes": (H.KEEP, H.NODE), "reason": (H.TEXT, H.TEXT),
    },
    Exhibit: dict.fromkeys(("item", "observed", "expected", "source"), (H.TEXT, H.TEXT)),
    DeviatingPart: {
        "node": (H.KEEP, H.NODE), "kind": (H.WORDS, H.WORDS), "name": (H.TEXT, H.TEXT), "slot": (H.TEXT, H.TEXT),
        "pci": (H.TEXT, H.TEXT), "serial": (H.KEEP, H.SERIAL),
    },
    FindingEntry: {
        "rule": (H.WORDS, H.WORDS), "reason": (H.TEXT, H.TEXT), "nodes": (H.KEEP, H.NODE),
        "under": (H.WORDS, H.WORDS), "fix": (H.TEXT, H.GONE),
    },
    Hardware: {
        "node": (H.KEEP, H.NODE), "item": (H.TEXT, H.TEXT), "kind": (H.WORDS, H.WORDS), "model": (H.VERSION, H.VERSION),
        "part_number": (H.VERSION, H.VERSION), "serial": (H.KEEP, H.SERIAL), "other": (H.TEXT, H.OTHER),
        "items": (H.TEXT, H.TEXT), "serials": (H.KEEP, H.SERIAL), "part_numbers": (H.VERSION, H.VERSION),
        "no_serial": (H.TEXT, H.TEXT), "no_part_number": (H.TEXT, H.TEXT), "notes": (H.TEXT, H.TEXT),
    },
    Unlisted: {"node": (H.KEEP, H.NODE), "kind": (H.WORDS, H.WORDS), "why": (H.TEXT, H.TEXT)},
    BomComparison: {"file": (H.FILE, H.GONE), "digest": (H.DIGEST, H.GONE)},
    Billed: {
        "kind": (H.WORDS, H.WORDS), "node": (H.KEEP, H.NODE), "item": (H.TEXT, H.TEXT), "serial": (H.KEEP, H.SERIAL),
        "said": (H.TEXT, H.TEXT),
    },
    Versions: {
        "fact": (H.TEXT, H.TEXT), "plane": (H.WORDS, H.WORDS), "groups": ((H.VERSION, H.KEEP), (H.VERSION, H.NODE)),
        "why": (H.TEXT, H.TEXT),
    },
    Area: {"plane": (H.WORDS, H.WORDS), "area": (H.WORDS, H.WORDS), "counts": (H.KEEP, H.KEEP)},
    Exemption: {
        "rule": (H.WORDS, H.WORDS), "nodes": (H.KEEP, H.NODE), "pins": ((H.TEXT, H.TEXT), (H.TEXT, H.TEXT)),
        "until": (H.TIME, H.TIME), "by": (H.KEEP, H.PERSON), "ticket": (H.KEEP, H.TICKET), "reason": (H.TEXT, H.REASON),
        "place": (H.FILE, H.GONE), "state": (H.WORDS, H.WORDS), "detail": (H.TEXT, H.TEXT), "used": (H.KEEP, H.NODE),
    },
    Punch: {
        "cls": (H.KEEP, H.KEEP), "rule": (H.WORDS, H.WORDS), "what": (H.TEXT, H.TEXT), "nodes": (H.KEEP, H.NODE),
        "owner": (H.KEEP, H.PERSON), "until": (H.TIME, H.TIME),
    },
    Step: {
        "kind": (H.WORDS, H.WORDS), "tier": (H.WORDS, H.WORDS), "declined": (H.TEXT, H.REASON),
        "left": ((H.TEXT, H.KEEP), (H.TEXT, H.NODE)),
    },
    CounterRise: {
        **dict.fromkeys(("rule", "fact", "before", "after"), (H.TEXT, H.TEXT)), "nodes": (H.KEEP, H.NODE),
    },
    Rework: {
        "rule": (H.WORDS, H.WORDS), "fact": (H.TEXT, H.TEXT), "nodes": (H.KEEP, H.NODE),
        "steps": ((H.KEEP, H.TIME, H.TEXT), (H.RUN, H.TIME, H.TEXT)),
    },
    RemovedRun: {
        "run": (H.KEEP, H.RUN), "time": (H.TIME, H.TIME), "by": (H.LOGIN, H.LOGIN), "found": (H.WORDS, H.WORDS),
        "reason": (H.TEXT, H.REASON),
    },
    Baseline: {"digest": (H.DIGEST, H.GONE), "classes": (H.DIGEST, H.GONE), "nodes": (H.DIGEST, H.GONE)},
    RawReply: {
        "run": (H.KEEP, H.RUN), "node": (H.KEEP, H.NODE), "plane": (H.WORDS, H.WORDS), "time": (H.TIME, H.TIME),
        "digest": (H.DIGEST, H.DIGEST), "trouble": (H.TEXT, H.TEXT),
    },
    BurnRun: {
        "run": (H.KEEP, H.RUN), "tier": (H.WORDS, H.WORDS), "seconds": (H.FIGURE, H.FIGURE),
        "version": (H.VERSION, H.VERSION), "ended": (H.TEXT, H.TEXT), "why": (H.TEXT, H.TEXT),
        "nodes": (H.KEEP, H.NODE),
    },
    BurnUntested: {"what": (H.TEXT, H.TEXT), "why": (H.TEXT, H.TEXT), "nodes": (H.KEEP, H.NODE)},
    BurnFault: {
        "node": (H.KEEP, H.NODE), "item": (H.TEXT, H.TEXT), "name": (H.TEXT, H.TEXT), "stage": (H.TEXT, H.TEXT),
        "model": (H.VERSION, H.VERSION), "serial": (H.KEEP, H.SERIAL), "slot": (H.TEXT, H.TEXT),
        "said": (H.TEXT, H.TEXT), "tier": (H.WORDS, H.WORDS),
    },
    BurnFigure: {
        **dict.fromkeys(("name", "unit", "help", "apart", "note"), (H.WORDS, H.WORDS)),
        **dict.fromkeys(("lowest", "median", "highest", "spread"), (H.FIGURE, H.FIGURE)),
        **dict.fromkeys(("low", "high"), ((H.KEEP, H.TEXT), (H.NODE, H.TEXT))),
    },
    BurnRow: {
        "node": (H.KEEP, H.NODE), "item": (H.TEXT, H.TEXT), "serial": (H.KEEP, H.SERIAL), "slot": (H.TEXT, H.TEXT),
        "values": (H.FIGURE, H.FIGURE),
    },
    BurnTable: {"kind": (H.WORDS, H.WORDS), "model": (H.VERSION, H.VERSION)},
    BurnGap: {"said": (H.TEXT, H.TEXT), "nodes": (H.KEEP, H.NODE)},
    BurnLimit: {
        "name": (H.WORDS, H.WORDS), "unit": (H.WORDS, H.WORDS), "model": (H.VERSION, H.VERSION),
        **dict.fromkeys(("rate", "limit_low", "limit_high"), (H.FIGURE, H.FIGURE)),
        **dict.fromkeys(("lowest", "median", "highest"), (H.FIGURE, H.FIGURE)),
        "low": ((H.KEEP, H.TEXT), (H.NODE, H.TEXT)), "why": (H.TEXT, H.TEXT),
    },
    BurnLine: {"name": (H.TEXT, H.TEXT), "role": (H.KEEP, H.KEEP), "points": (H.FIGURE, H.FIGURE)},
    BurnPanel: {"what": (H.WORDS, H.WORDS), "unit": (H.WORDS, H.WORDS)},
    BurnBand: {"side": (H.WORDS, H.WORDS), "stage": (H.TEXT, H.TEXT)},
    BurnChart: {"nodes": (H.KEEP, H.NODE), "findings": (H.TEXT, H.TEXT)},
    Burned: {},
    Dossier: {
        "level": (H.KEEP, H.KEEP), "version": (H.VERSION, H.VERSION), "notes": (H.TEXT, H.TEXT),
        "performance": (H.TEXT, H.TEXT),
    },
}  # fmt: skip
"""How each text is redacted, by data class and field: in the customer's copy, then in the public copy."""

NAMED = {H.NODE: "node-{:0{}}", H.RUN: "run-{:0{}}", H.SUBJECT: "acceptance-{:0{}}", H.RACK: "rack-{:0{}}",
         H.SERIAL: "serial-{:0{}}"}  # fmt: skip
"""Formats of pseudonyms by kind of value; a value of two kinds gets the pseudonym of the kind that is listed first."""

WIDTH = {H.NODE: 3, H.RUN: 1, H.SUBJECT: 1, H.RACK: 2, H.SERIAL: 4}

MAKES = frozenset({"pci", "simulator", "manufacturer", "vendor", "model", "part_number", "psid", "sku", "board"})
"""Properties that all parts of a model share; they are not identities."""

REPLACED = {
    H.LOGIN: "[operator]", H.PERSON: known.PERSON, H.ADDRESS: known.ADDRESS, H.OTHER: known.ID, H.SITE: "[site]",
    H.SITES: "[site]", H.TICKET: "[ticket]", H.REASON: "[reason]", H.PARAM: "[param]",
}  # fmt: skip
"""For each kind of value, the placeholder that replaces it in other texts; the value's own field is emptied."""

COMMON = frozenset(
    {word.value.casefold() for words in (Status, Outcome, Severity, Phase, Plane, Reason, Class) for word in words}
    | {"absent", "accept", "acceptance", "active", "admin", "administrator", "audit", "auto", "capture", "center"}
    | {"centre", "centos", "cloud", "cluster", "compute", "corp", "customer", "data", "datacenter", "debian", "default"}
    | {"disabled", "draft", "enabled", "expired", "extra", "false", "gmbh", "group", "hall", "high", "integrator"}
    | {
        "lapsed",
        "limited",
        "localhost",
        "missing",
        "node",
        "nodes",
        "none",
        "null",
        "operator",
        "performance",
        "person",
    }
    | {
        "phase",
        "rackcheck",
        "plane",
        "processor",
        "rack",
        "re-audit",
        "read",
        "rework",
        "root",
        "rule",
        "scope",
        "serial",
        "server",
        "service",
    }
    | {"services", "site", "storage", "superseded", "swapped", "switch", "system", "systems", "true", "ubuntu"}
    | {"unread", "unused", "used", "user", "value", "waiting", "witness"}
)
"""Words that are never removed: any document may contain them, and as a name or a login they reveal nothing."""

IDENTITY = frozenset({"serial", "uuid", "guid", "mac", "hostname", "wwn", "asset"})
"""Facts whose path ends in one of these words identify a single part, not its kind."""

_TIME = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?")
_DIGEST = regex(r"[0-9a-f]{64}")
_FIGURE = regex(f"{FIGURE.strip('^$')}|{POINTS.strip('^$')}")
_LETTERS = frozenset({*LETTERS.values(), OUT})


def redacted(dossier: Dossier, level: str) -> Dossier:
    """Return a dossier's copy for the level `customer` or `public`; the copy of a public dossier is public.

    Raises ValueError if the level is neither `customer` nor `public`.
    """
    if level not in LEVELS:
        raise ValueError(f"not a redaction level: {level}")
    redaction = _Redaction(dossier, LEVELS.index(level))
    copy = redaction.walked(dossier, H.KEEP)
    assert isinstance(copy, Dossier)
    return replace(copy, level="public" if dossier.level == "public" else level)


class _Redaction:
    """The identities in one dossier, and their redaction in its texts."""

    def __init__(self, dossier: Dossier, at: int) -> None:
        self._at, self._public = at, at == LEVELS.index("public")
        values: dict[How, dict[str, None]] = {how: {} for how in How}
        for how, value in self._leaves(dossier, H.KEEP):
            values[how].setdefault(value)
        values[H.ADDRESS] |= dict.fromkeys(_hostnames(dossier))
        groups = [name for name in values[H.NODE] if name == FLEET or name.startswith(RACK)]
        for name in groups:
            del values[H.NODE][name]
        values[H.RACK] |= dict.fromkeys(name.removeprefix(RACK) for name in groups if name.startswith(RACK))
        self._own = {how: _named(how, values[how]) for how in NAMED}
        self._own[H.NODE] |= {name: self._group(name) for name in groups}
        words: dict[str, str] = {}
        for how in NAMED:
            for value, word in self._own[how].items():
                words.setdefault(value, word)
        for how, word in REPLACED.items():
            for value in values[how]:
                words |= {part: word for part in _parts(how, value) if part not in words}
        if self._public:  # notes name a waiver by its file and line
            words |= {e.place: "[file]" for e in dossier.exemptions if _is_value(e.place) and e.place not in words}
        keep = COMMON if self._public else COMMON | {row.name.casefold() for row in dossier.nodes}
        self._known = known.Known(
            {value: word for value, word in words.items() if value.strip().casefold() not in keep}
        )
        self._sets = known.NodeSets(self._own[H.NODE])
        self._seen: dict[tuple[How, str], str] = {}

    def _group(self, name: str) -> str:
        """Return the pseudonym of a rack or fleet judged as a whole: `@rack:` and the rack's pseudonym, or `@fleet`."""
        rack = name.removeprefix(RACK)
        return f"{RACK}{self._own[H.RACK][rack]}" if name.startswith(RACK) else FLEET

    def walked(self, value: Any, how: _Hows) -> Any:
        """Return a redacted copy of a value of the model."""
        if how is H.GONE:
            return _emptied(value)
        if how is H.OTHER:
            return {key: self._text(text, H.TEXT) for key, text in value.items() if key in MAKES}
        match value:
            case Enum() | int() | bytes() | None:
                return value
            case str():
                assert isinstance(how, How)
                return self._text(value, how)
            case tuple():
                return tuple(self.walked(item, inner) for item, inner in _halves(value, how))
            case Mapping():
                # The keys of digests are names of nodes, which the customer's copy keeps whatever they look like.
                keys = H.KEEP if how is H.DIGEST else H.WORDS
                return {self.walked(key, keys): self.walked(item, how) for key, item in value.items()}
        hows = self._hows(value)
        return type(value)(
            **{f.name: self.walked(getattr(value, f.name), hows.get(f.name, H.KEEP)) for f in fields(value)}
        )

    def _leaves(self, value: Any, how: _Hows) -> Iterator[tuple[How, str]]:
        """Yield every text in a value of the model, as a pair: how the text is redacted, and the text."""
        match value:
            case Enum() | int() | bytes() | None:
                return
            case str():
                assert isinstance(how, How)
                if value:
                    yield how, value
            case tuple():
                for item, inner in _halves(value, how):
                    yield from self._leaves(item, inner)
            case Mapping():
                for key, item in value.items():
                    if how is not H.OTHER or key not in MAKES:
                        yield from self._leaves(item, how)
            case _:
                hows = self._hows(value)
                for f in fields(value):
                    yield from self._leaves(getattr(value, f.name), hows.get(f.name, H.KEEP))

    def _hows(self, value: Any) -> Mapping[str, _Hows]:
        """Return how an object's fields are redacted; in a public copy, values of facts in IDENTITY are identities."""
        assert is_dataclass(value)
        hows = {name: both[self._at] for name, both in TABLE[type(value)].items()}
        if self._public and isinstance(value, Exhibit) and _names_identity(value.item) and _is_value(value.observed):
            return hows | {"observed": H.SERIAL}
        if self._public and isinstance(value, Rework) and _names_identity(value.fact):
            return hows | {"steps": (H.RUN, H.TIME, H.SERIAL)}
        return hows

    def _text(self, text: str, how: How) -> str:
        if not text or how is H.KEEP:
            return text
        if (how, text) not in self._seen:
            self._seen[how, text] = self._read(text, how)
        return self._seen[how, text]

    def _read(self, text: str, how: How) -> str:
        match how:
            case H.NODE | H.RACK | H.RUN | H.SERIAL:
                return self._own[how][text] if _is_value(text) or how is not H.SERIAL else self._scrubbed(text, how)
            case H.SUBJECT:
                return self._own[H.RUN].get(text) or self._own[how][text]
            case H.NODE_OR_TEXT if text in self._own[H.NODE]:
                return self._own[H.NODE][text]
            case H.TIME if _TIME.fullmatch(text):
                return text
            case H.DIGEST:
                return text if _DIGEST.fullmatch(text) else ""
            case H.FIGURE:
                return text if _FIGURE.fullmatch(text) else ""
            case H.VECTOR:
                return text if set(text) <= _LETTERS else ""
            case H.CHANGE if " -> " not in text:
                return WITHHELD
            case H.PARAM if text.casefold() not in COMMON and not text[0].isdigit():
                return REPLACED[how]
            case H.FILE:
                return self._scrubbed(re.split(r"[/\\]", text)[-1], how)
            case _ if how in REPLACED and how is not H.PARAM:
                return ""
        return self._scrubbed(text, how)

    def _scrubbed(self, text: str, how: How) -> str:
        """Return a text without known values, and without text that looks like an address, an id or a path."""
        text = self._known.replaced(self._sets.replaced(text))
        if how is H.VERSION:
            # A version is never an address or an id, so both are removed at either level.
            text = known.hostless(known.homeless(known.addressless(text, fours=False)))
            return known.nameless(text, dates=True)
        text = known.homeless(known.addressless(text, urls=self._public or how is not H.WORDS))
        return known.nameless(text) if self._public else text


def _emptied(value: Any) -> Any:
    """Return an empty text, tuple or mapping, depending on the value's type; None for any other type."""
    match value:
        case str():
            return ""
        case tuple():
            return ()
        case Mapping():
            return {}
    return None


def _halves(value: tuple[Any, ...], how: _Hows) -> Iterator[tuple[Any, _Hows]]:
    """Yield each element of a tuple with its redaction: the same for all elements, or a separate one for each."""
    if isinstance(how, How) or (value and isinstance(value[0], tuple)):
        return ((item, how) for item in value)
    return zip(value, how, strict=True) if value else iter(())


def _named(how: How, values: Mapping[str, None]) -> dict[str, str]:
    """Return a numbered pseudonym for each value: names in natural order, serials in the document's order."""
    if how is H.SERIAL:
        ordered = [value for value in values if _is_value(value)]
    else:
        ordered = sorted(values, key=lambda value: (natural(value), value))
    width = max(WIDTH[how], len(str(len(ordered))))
    return {value: NAMED[how].format(n, width) for n, value in enumerate(ordered, start=1)}


def _parts(how: How, value: str) -> Iterator[str]:
    """Yield a value, and the parts of it that are hidden as well: words of a site's name, the host in a URL."""
    if how is H.PARAM and (value[0].isdigit() or value.casefold() in COMMON):
        return
    yield value
    if how is H.SITES:
        yield from re.findall(r"[^\W_]{4,}", value)
    if how is H.ADDRESS and "://" in value:
        try:
            found = urlsplit(value)
            yield from (part for part in (found.netloc, found.hostname) if part)
        except ValueError:  # not a valid URL
            return


def _hostnames(dossier: Dossier) -> Iterator[str]:
    """Yield the nodes' host names, with and without domain, from the identity `hostname` of parts."""
    for part in dossier.parts:
        name = part.other.get("hostname", "")
        if name and _is_value(name):
            yield name
            yield name.partition(".")[0]


def _names_identity(item: str) -> bool:
    return item.rpartition(".")[2].casefold() in IDENTITY


def _is_value(text: str) -> bool:
    """Whether a text is a value, not the marker of an absent fact or the reason of an unknown fact."""
    words = ("absent", "not read", *(reason.value for reason in Reason))
    return not any(text == word or text.startswith((f"{word}: ", f"{word} (", f"{word} by ")) for word in words)
