"""The output of `chronyc -n tracking`: the source that chrony follows, and the clock's offset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import key_values, whole

OFFSETS = {"offset": "System time", "last_offset": "Last offset", "rms_offset": "RMS offset",
           "root_delay": "Root delay", "root_dispersion": "Root dispersion"}  # fmt: skip
"""Names of the readings in seconds, and the names that chronyc prints for them."""

LEAVES = ("reference", "stratum", "leap", *OFFSETS)
_WORDS = ("Reference ID", "Stratum", "Leap status", *OFFSETS.values())
_COMPLAINT = regex(r"[0-9]{3} ")
_REFERENCE = regex(r"(?P<id>[^\s()]{1,64}) \((?P<name>[^()]{0,255})\)")
_LOCAL = ("7F7F0101", "127.127.1.1")
"""The reference of a chronyd that follows the node's own clock, as chronyc(1) documents it, and before chrony 3.0."""

LOCAL = "the node's own clock"
_SECONDS = regex(r"(?P<number>[+-]?[0-9]{1,12}\.[0-9]{1,12}) seconds(?: (?P<way>slow|fast) of NTP time)?")


@dataclass(frozen=True)
class Tracking:
    """Values by chronyc's names, and `reference`, the source that chrony follows (empty if it follows none)."""

    values: Mapping[str, str]
    reference: str

    def facts(self) -> Iterator[tuple[str, Reading]]:
        """Yield a reading for each name in LEAVES; all but the leap status are absent if chrony follows no source.

        Raises Unreadable if chronyc prints an invalid number.
        """
        nothing = Absent("chrony follows no source")
        yield "leap", self.leap
        yield "reference", nothing if self.lost else self.reference or nothing
        yield "stratum", nothing if self.lost else self.stratum()
        for leaf in OFFSETS:
            yield leaf, nothing if self.lost else self.seconds(leaf)

    @property
    def leap(self) -> str:
        """The clock's leap status: Normal, Insert second, Delete second, or Not synchronised."""
        return self.values["Leap status"]

    @property
    def lost(self) -> bool:
        """Whether chrony follows no source; if so, its measurements mean nothing."""
        return self.leap == "Not synchronised"

    def stratum(self) -> int:
        """Return the stratum (the number of steps to the reference clock); raises Unreadable at an invalid number."""
        return whole(self.values["Stratum"])

    def seconds(self, leaf: str) -> float:
        """Return one of the values in OFFSETS in seconds; raises Unreadable if the text is not a number of seconds."""
        return seconds(self.values[OFFSETS[leaf]])


def tracking(rows: list[str]) -> Tracking:
    """Read chronyc's table; raises Unreadable if chronyc prints an error, or if a needed value is missing."""
    if _COMPLAINT.match(rows[0] if rows else ""):  # chronyc's own message: 506 Cannot talk to daemon
        raise Unreadable(rows[0][:80], Reason.NOT_COLLECTED)
    table = key_values("\n".join(rows))
    missing = [word for word in _WORDS if word not in table]
    reference = _REFERENCE.fullmatch(table.get("Reference ID", ""))
    if missing or reference is None:
        raise Unreadable(f"not the output of chronyc: {', '.join(map(repr, missing or [table['Reference ID'][:80]]))}")
    return Tracking(table, LOCAL if reference["id"] in _LOCAL else reference["name"])


def seconds(text: str) -> float:
    """Read `0.000000626 seconds slow of NTP time` as seconds, negative if slow; raises Unreadable on anything else."""
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise Unreadable(f"not seconds: {text[:80]!r}")
    number = float(match["number"])
    return (-number if match["way"] == "slow" else number) + 0.0  # not -0
