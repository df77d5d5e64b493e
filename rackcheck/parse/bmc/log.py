"""Event logs of a BMC: which logs hold events, and their newest entries, without reading every entry."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from rackcheck.model.catalogue import Kind, collection, integer, listing, quantity
from rackcheck.model.documents import NEXT, Documents, Walk
from rackcheck.model.fact import Absent, Class, Facts, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.redfish_value import health, text_of
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource, counted
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import at_own, others
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, gone, read_ones
from rackcheck.parse.bmc.systems import has_some

NEWEST = 50
"""Maximum number of entries that are read of one log; if a log has more, the newest entries are read."""

SHOWN = 5
"""Maximum number of entries of one log that are quoted in a fact."""

_EVENTS = regex(r"event|sel|iml|iel|health|fault|alert|system log|chassis log|platform|lifecycle|lclog|xid", re.I)
_OTHERS = regex(r"audit|security|journal|post.?code|dump|debug|token|diagnostic|flight|fdr|console|host.?logger", re.I)
"""Words in a log's Id or Name: `_EVENTS` denote logs of hardware events, `_OTHERS` logs of logins, traces and dumps."""

_SKIP = regex(r"\?\$skip=[0-9]{1,9}(&\$top=[0-9]{1,9})?", re.ASCII)


def logs(docs: Documents, *places: str) -> Gathered:
    """Return the event logs at these paths (`Systems/*/LogServices/*`), and why the list may be incomplete.

    A log that is listed and does not exist (404) may be one of hardware events, unless its name shows that it is not.
    If the BMC has no log of hardware events, the list counts as incomplete, because a missing log does not prove that
    no event occurred.
    """
    found: dict[str, Resource] = {}
    trouble: Unknown | None = None
    for place in places:
        left, doubt = others(docs) if place.startswith("Chassis/") else (frozenset[str](), None)
        mine, cut = read_ones(*at_own(docs, place, left))
        trouble = trouble or cut or gone(log for log in mine if not _OTHERS.search(log.uri.rpartition("/")[2])) or doubt
        there = [log for log in mine if log.unread is None and "Members" not in log.body]
        found |= {log.uri: log for log in there if holds_events(log)}
    return has_some(list(found.values()), trouble, "log of events")


def holds_events(log: Resource) -> bool:
    """Return whether a log contains hardware events, by its Id and Name, or else by the type of its entries."""
    names = " ".join(name for name in (log.body.get("Id"), log.body.get("Name")) if isinstance(name, str))
    if _OTHERS.search(names):
        return False
    return _EVENTS.search(names) is not None or log.body.get("LogEntryType") in (
        "Event",
        "SEL",
    )  # not a set: the value may be a list


def facts(docs: Documents, area: str, *places: str) -> Facts:
    """Yield the facts of every event log at these paths, such as its number of entries and its newest open alerts."""
    found, trouble = logs(docs, *places)
    for log in found:
        item = f"{area}/{spell_key(named(log))}"
        log_entries = entries(docs, log)
        yield f"{item}.entries", log_entries.count
        yield f"{item}.read", log_entries.trouble or len(log_entries.newest)
        yield f"{item}.critical", log_entries.severe("Critical")
        yield f"{item}.critical_age", log_entries.age("Critical", _clock(log))
        yield f"{item}.warning", log_entries.severe("Warning")
        yield f"{item}.alerts", log_entries.quoted()
    if trouble is not None:
        yield area, trouble


def gives(area: str, where: str) -> dict[str, Kind]:
    """Return the kinds of all facts about event logs, by path.

    `area` is the beginning of each path; `where` states in the help text which logs are meant, such as `of chassis`.
    """
    return {
        area: collection(f"logs of hardware events {where}, by path; without logs of logins, traces and dumps"),
        f"{area}/*.entries": integer("number of entries that the log reports", Class.MEASUREMENT),
        f"{area}/*.read": integer(f"newest entries that were read, {NEWEST} at most", Class.MEASUREMENT),
        f"{area}/*.critical": integer(f"open Critical entries among the newest {NEWEST}", Class.MEASUREMENT),
        f"{area}/*.critical_age": quantity(
            "h",
            f"age of the newest open Critical entry among the newest {NEWEST}; absent if there is none",
            Class.MEASUREMENT,
        ),
        f"{area}/*.warning": integer(f"open Warning entries among the newest {NEWEST}", Class.MEASUREMENT),
        f"{area}/*.alerts": listing(
            f"newest open Critical and Warning entries, at most {SHOWN}, with times by the BMC's clock",
            Class.MEASUREMENT,
        ),
    }


def way(*places: str) -> Walk:
    """Return the `Walk` that fetches the entries of every event log at these paths."""

    def walked(docs: Documents) -> None:
        for log in logs(docs, *places)[0]:
            entries(docs, log)

    return Walk("the Entries of event logs: one page, or the first and the last", walked)


def named(log: Resource) -> str:
    """Return a log's path, such as `Managers/BMC/SEL`, as its name: several logs often have the same Id (`Log1`)."""
    return log.uri.removeprefix("/redfish/v1/").replace("/LogServices/", "/")


@dataclass(frozen=True)
class LogEntries:
    """What was read of a log: the number of its entries and the newest entries, or why they could not be read."""

    source: str
    count: int | Unknown
    newest: tuple[Resource, ...] = ()
    trouble: Unknown | None = None

    def severe(self, word: str) -> Sourced:
        """Count, among the newest entries, those of severity `word` that are not marked as resolved."""
        if self.trouble is not None:
            return Sourced(self.trouble, self.source)
        rows = [entry.read("Severity", health).reading for entry in self.newest]
        mute = [reading for reading in rows if isinstance(reading, Unknown)]
        if mute:
            some = f"{len(mute)} of {len(rows)} entries: {mute[0].detail}"
            return Sourced(Unknown(mute[0].reason, some), self.source)
        return Sourced(len(self._open(word)), self.source)

    def age(self, word: str, now: datetime | None) -> Sourced:
        """Return the age in hours of the newest open entry of one severity, by the BMC's clock; absent if none is open.

        The age is unknown if the BMC's clock, or the time of an open entry of this severity, cannot be read.
        """
        number = self.severe(word)
        if isinstance(number.reading, Unknown):
            return number
        times = [_time(entry) for entry in self._open(word)]
        if not times:
            return Sourced(Absent(f"no open entry is {word}"), self.source)
        known = [time for time in times if time is not None]
        if now is None or len(known) < len(times):
            what = "the BMC's clock" if now is None else f"the time of an entry that is {word}"
            return Sourced(Unknown(Reason.NOT_COLLECTED, f"{what} was not reported"), self.source)
        return Sourced(max(0.0, (now - max(known)).total_seconds() / 3600), self.source)

    def quoted(self) -> Sourced:
        """Quote the newest open entries that are Critical or Warning, the newest first."""
        if self.trouble is not None:
            return Sourced(self.trouble, self.source)
        return Sourced(tuple(_line(entry) for entry in self._open("Critical", "Warning")[:SHOWN]), self.source)

    def _open(self, *words: str) -> list[Resource]:
        return [e for e in self.newest if e.body.get("Severity") in words and e.body.get("Resolved") is not True]


def entries(docs: Documents, log: Resource) -> LogEntries:
    """Read a log's newest entries; if the log has several pages, only the first and the last page are read.

    A page must contain the entries themselves and not only links to them, as on all recorded BMCs: one GET for each
    entry would take minutes.
    """
    pages, trouble = gather(docs.at("Entries", log))
    source = pages[0].uri if pages else log.uri
    unread = next((page.unread for page in pages if page.unread is not None), None)
    if trouble or unread or not pages:
        none = trouble or unread or Unknown(Reason.NOT_COLLECTED, f"{log.uri} has no Entries")
        return LogEntries(source, none, (), none)
    first = pages[0]
    try:
        held = list(_lying_in(first))
        count = _count(first, len(held))
        rest = _last(docs, first, held, count) if count > len(held) or _next(first) is not None else held
        return LogEntries(source, count, tuple(_newest(held, rest)))
    except Unreadable as error:
        trouble = Unknown(error.reason, str(error))
        return LogEntries(source, _entry_count(first) or trouble, (), trouble)


def _lying_in(page: Resource) -> Iterator[Resource]:
    """Yield the entries that a page contains; one that it contains twice is one."""
    members = page.body.get("Members")
    if not isinstance(members, list):
        missing = Reason.UNPARSABLE if "Members" in page.body else Reason.NOT_COLLECTED
        raise Unreadable(f"{page.uri} has no list of Members", missing)
    seen: set[str] = set()
    for number, member in enumerate(members):
        if not isinstance(member, Mapping):
            raise Unreadable(f"{page.uri}: a member is not an entry: {clean(repr(member))}")
        if not any(not name.startswith("@") for name in member):
            raise Unreadable(f"{page.uri} lists links only; its entries were not read", Reason.NOT_READ_FURTHER)
        place = member.get("@odata.id")
        if not isinstance(place, str) or place not in seen:
            yield Resource(f"{page.uri}#/Members/{number}", member, above=page)
        seen |= {place} if isinstance(place, str) else set()


def _entry_count(page: Resource) -> int | None:
    """Return how many entries a log reports that could not be read; an entry that a page lists twice counts once."""
    try:
        value = counted(page, "Members")
    except Unreadable:
        return None
    members = page.body.get("Members")
    uris = [each.get("@odata.id") for each in members if isinstance(each, Mapping)] if isinstance(members, list) else []
    named = [uri for uri in uris if isinstance(uri, str)]
    return None if value is None else max(value - len(named) + len(set(named)), len(set(named)))


def _count(page: Resource, held: int) -> int:
    value = counted(page, "Members")
    if _next(page) is not None and (value is None or value <= held):
        raise Unreadable(f"{page.uri} has a next page, but reports no count of all entries", Reason.NOT_READ_FURTHER)
    members = page.body.get("Members")
    repeated = len(members) - held if isinstance(members, list) else 0
    return held if value is None else max(value - repeated, held)


def _next(page: Resource) -> object:
    """Return the link to the next page of a log; None on the last page, and on a page that links to itself."""
    link = next((page.body[name] for name in NEXT if page.body.get(name) is not None), None)
    return None if isinstance(link, str) and link.rstrip("/") == page.uri.rstrip("/") else link


def _last(docs: Documents, first: Resource, held: list[Resource], count: int) -> list[Resource]:
    """Read the last page of a log; raises Unreadable if the link to the next page is not of the form `?$skip=N`."""
    link = _next(first)
    base, query = (link.partition("?")[0], link[link.find("?") :]) if isinstance(link, str) else ("", "")
    if base.rstrip("/") != first.uri.rstrip("/") or not _SKIP.fullmatch(query):
        raise Unreadable(
            f"{first.uri} reports a count of {count} entries, but lists {len(held)}", Reason.NOT_READ_FURTHER
        )
    skipped = max(len(held), count - NEWEST)
    page = docs.fetched(f"{base}?$skip={skipped}", first)
    if page.unread is not None:
        raise Unreadable(f"{page.uri}: {page.unread.detail}", page.unread.reason)
    last = list(_lying_in(page))
    ids = [entry.body.get("@odata.id", entry.id) for entry in (*held, *last)]
    if len(last) != count - skipped or _next(page) is not None or len(set(map(str, ids))) < len(ids):
        raise Unreadable(
            f"{page.uri} is not the last page: {len(last)} of {count - skipped} entries", Reason.NOT_READ_FURTHER
        )
    return last


def _newest(first: list[Resource], last: list[Resource]) -> list[Resource]:
    """Return the newest entries of a log, newest first, whether the BMC lists the oldest or the newest entry first.

    The order of the entries is found by comparing the times of neighbouring entries, so that it stays right if the
    BMC's clock was set once. If more than `NEWEST` entries were read, and their times do not show the order, the newest
    entries are unknown.
    """
    listed = first if first is last else [*first, *last]
    pairs = [(_time(one), _time(other)) for one, other in pairwise(listed)]
    steps = [one < other for one, other in pairs if one is not None and other is not None and one != other]
    upward = sum(steps)
    if len(listed) > NEWEST and (len(steps) < len(listed) // 10 or not 4 * abs(2 * upward - len(steps)) >= len(steps)):
        raise Unreadable("the times of its entries do not show which are the newest", Reason.NOT_READ_FURTHER)
    newest = first[:NEWEST] if 2 * upward < len(steps) else last[::-1][:NEWEST]
    times = {entry.uri: _time(entry) for entry in newest}
    known = {uri: time for uri, time in times.items() if time is not None}
    # Two entries of the same second may be in either order, and a clock may be set while a log is kept.
    return sorted(newest, key=lambda e: known[e.uri], reverse=True) if len(known) == len(newest) else newest


def _clock(log: Resource) -> datetime | None:
    """Return the BMC's time when a log was read, from the log or from the nearest resource above it that has a time."""
    at: Resource | None = log
    while at is not None:
        time = _time(at, "DateTime")
        if time is not None:
            return time
        at = at.above
    return None


def _time(resource: Resource, name: str = "Created") -> datetime | None:
    """Return a time of a resource; a time without a zone counts as UTC."""
    written = resource.body.get(name)
    try:
        time = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


def _line(entry: Resource) -> str:
    created = clean(str(entry.body.get("Created")), 40)
    try:
        words = text_of(entry.body.get("Message"))
    except Unreadable:
        words = str(entry.body.get("MessageId") or "no message")
    return f"{created} {entry.body.get('Severity')}: {clean(words, 200)}"
