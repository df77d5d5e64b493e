"""The output of `timedatectl` on the clock, and of `timedatectl timesync-status` on systemd-timesyncd."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import flag, key_values, whole

_SPANS = {"offset": "Offset", "delay": "Delay", "jitter": "Jitter", "root_distance": "Root distance"}
LEAVES = ("server", "stratum", "leap", *_SPANS)
"""Names of the readings about systemd-timesyncd."""

_SYNCHRONIZED = ("System clock synchronized", "NTP synchronized")
_ENABLED = {"NTP service": "active", "systemd-timesyncd.service active": "yes", "NTP enabled": "yes"}
_NO = {"active": "inactive", "yes": "no"}
_RTC = "RTC in local TZ"
_TIME = regex(r"[A-Z][a-z]{2} (?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?: [A-Z]{1,5})?")

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_PART = regex(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(us|ms|s|min|h)")
_SILENT = Absent("no server has answered yet")


@dataclass(frozen=True)
class NtpStatus:
    """Values by the names that systemd prints; before the server's first response, it prints only the server's name."""

    values: Mapping[str, str]

    def facts(self) -> Iterator[tuple[str, Reading]]:
        """Yield a reading for each name in LEAVES; raises Unreadable at the first invalid value."""
        yield "server", self.server()
        yield "stratum", self.number("Stratum")
        yield "leap", self.text("Leap")
        for leaf, key in _SPANS.items():
            yield leaf, self.seconds(key)

    def server(self) -> Reading:
        """Return the time server's address or name; absent if no server is set."""
        return self.values["Server"].partition(" ")[0] or Absent("no time server is set")

    def text(self, key: str) -> Reading:
        """Return the text that systemd prints for `key`; absent before the time server's first response."""
        return self.values.get(key) or _SILENT

    def number(self, key: str) -> Reading:
        """Return the whole number that systemd prints for `key`; absent before the time server's first response."""
        return whole(self.values[key]) if key in self.values else _SILENT

    def seconds(self, key: str) -> Reading:
        """Return the time span that systemd prints for `key`, in seconds; absent before the server's first response."""
        return span(self.values[key]) if key in self.values else _SILENT


def status(rows: list[str]) -> NtpStatus:
    """Read the output of `timedatectl timesync-status`; raises Unreadable if it has no line `Server`."""
    table = key_values("\n".join(rows))
    if "Server" not in table:
        raise Unreadable("not the output of timedatectl: no 'Server'")
    return NtpStatus(table)


def span(text: str) -> float:
    """Convert a time span to seconds: `8min 32s`, `-5.224ms`, `91us (max: 5s)`; raises Unreadable on any other text."""
    words = text.partition(" (")[0].split()
    sign = -1.0 if words[:1] and words[0].startswith("-") else 1.0
    parts = [_PART.fullmatch(word.lstrip("+-")) for word in words]
    if not parts or None in parts:
        raise Unreadable(f"not a time: {text[:80]!r}")
    return round(sign * sum(float(part[1]) * _UNITS[part[2]] for part in parts if part), 9) + 0.0  # not -0


def clock(rows: list[str]) -> Iterator[tuple[str, Reading]]:
    """Yield the readings that plain `timedatectl` of systemd 219, 237 or 239 prints; a missing value has no reading.

    Raises Unreadable if the time zone or the state of synchronization is missing, or if a state is not one of the words
    that timedatectl prints for it, such as yes and no.
    """
    table = key_values("\n".join(rows))
    message = next((table[key] for key in _SYNCHRONIZED if key in table), None)
    if message is None or "Time zone" not in table:
        raise Unreadable("not the output of timedatectl: no 'synchronized', or no 'Time zone'")
    yield "synchronized", flag(message, yes="yes", no="no")
    yield "zone", table["Time zone"].partition(" ")[0] or Absent("no time zone is set")
    if _RTC in table:
        yield "rtc_local", flag(table[_RTC], yes="yes", no="no")
    yield "rtc_ahead", _ahead(table)
    for key, yes in _ENABLED.items():
        if key in table:
            none = Absent("systemd has no time service")
            yield "ntp_enabled", none if table[key] == "n/a" else flag(table[key], yes=yes, no=_NO[yes])


def _ahead(table: Mapping[str, str]) -> Reading:
    """Return the hardware clock minus the node's clock in seconds; absent without either, Unknown on other text."""
    local = table.get(_RTC) == "yes"
    texts = [table.get("RTC time", "n/a"), table.get("Local time" if local else "Universal time", "n/a")]
    matches = [_TIME.match(text) for text in texts]
    if _RTC not in table or "n/a" in texts:
        return Absent("timedatectl prints no time of the hardware clock")
    try:
        rtc, clock = (datetime.fromisoformat(match["time"]) for match in matches if match)
    except ValueError:
        return Unknown(Reason.UNPARSABLE, f"not two times: {texts[0][:60]!r}, {texts[1][:60]!r}")
    return (rtc - clock).total_seconds()
