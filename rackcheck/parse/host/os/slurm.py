"""Slurm on a node: the settings in its configuration files, and the output of `scontrol show node`."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.regex import regex

HIDDEN = Unknown(Reason.DENIED, "no permission to read the file, or to enter its folder")

_VERSION = regex(r"(?:slurm|slurm-wlm) ([\w.-]{1,40})")
_INCLUDE = regex(r"\s{0,80}include\s", re.IGNORECASE)
_FIELD = regex(r"(?:^|\s)(NodeName|CPUTot|Gres|Version|RealMemory|State|Partitions|ActiveFeatures)=(\S*)")
_REASON = regex(r"^[ \t]{0,20}Reason=(.{0,500})$", re.MULTILINE)


def version(row: str) -> str | None:
    """Return the version in a row `slurm 23.11.7`; None if the row has another form."""
    match = _VERSION.fullmatch(row)
    return match[1] if match else None


@dataclass(frozen=True)
class SlurmSettings:
    """The settings in Slurm's files by lower-case name, whether each file exists, and why a file lacks a setting."""

    given: dict[str, Reading] = field(default_factory=dict)
    files: dict[str, Reading] = field(default_factory=dict)
    lacking: dict[str, Reading] = field(default_factory=dict)

    def there(self, file: str) -> Reading:
        """Return whether the node has this configuration file; Unknown if the login may not enter its folder."""
        return self.files.get(file, False)

    def setting(self, file: str, name: str) -> Reading:
        """Return the value of a Slurm setting, or the reason why the file does not set it."""
        return self.given.get(name.lower(), self.lacking.get(file, Absent(f"no {file}")))


def settings(rows: Sequence[str], files: Collection[str]) -> SlurmSettings:
    """Read rows `== FILE`, each followed by the file's `Name=value` lines, and `hidden FILE` for an unreadable file.

    The names of Slurm's settings are not case-sensitive. Raises Unreadable at a line that is not a setting, and at a
    setting before the first row `== FILE`.
    """
    slurm_settings = SlurmSettings()
    for row in rows:
        word, _, rest = row.partition(" ")
        if word in {"==", "hidden"} and rest in files:
            slurm_settings.files[rest] = HIDDEN if word == "hidden" and rest not in slurm_settings.files else True
            slurm_settings.lacking[rest] = HIDDEN if word == "hidden" else Absent(f"not in {rest}")
            continue
        if slurm_settings.lacking and _INCLUDE.match(row):
            name = list(slurm_settings.lacking)[-1]
            further = f"not in {name}, which includes other files that are not read"
            slurm_settings.lacking[name] = Unknown(Reason.NOT_READ_FURTHER, further)
            continue
        # gres.conf may have further words on the line.
        key, _, value = row.partition("#")[0].strip().partition("=")
        if not slurm_settings.lacking or not key.strip().isalnum():
            raise Unreadable(f"not a setting of Slurm: {row[:80]!r}")
        slurm_settings.given[key.strip().lower()] = (
            value.strip().split()[0] if value.strip() else Absent("set to an empty value")
        )
    return slurm_settings


@dataclass(frozen=True)
class SlurmNode:
    """A node as the controller reports it: its state without flags, its flags, and further fields by Slurm's names."""

    state: str
    marks: tuple[str, ...]
    reason: str | Absent
    fields: Mapping[str, str]

    def text(self, name: str) -> str | Absent:
        """Return a field of the node; absent if Slurm prints no value for the field, or prints (null) or N/A."""
        return _text(self.fields.get(name))

    def names(self, name: str) -> tuple[str, ...] | Absent:
        """Return the comma-separated names in a field of the node, sorted; absent if Slurm prints none."""
        reading = self.text(name)
        return reading if isinstance(reading, Absent) else tuple(sorted(reading.split(",")))


def node(answer: str) -> SlurmNode:
    """Read the words `Key=value` of `scontrol show node`, and the line `Reason=`, whose value may contain blanks.

    Raises Unreadable if the node's name or state is missing.
    """
    # The first value of a key counts: the reason is free text, and follows the other fields.
    fields = dict(reversed(_FIELD.findall(answer)))
    if "NodeName" not in fields or "State" not in fields:
        raise Unreadable("NodeName or State is missing")
    parts = fields["State"].split("+")
    state, *marks = (part.rstrip("*~#!%$@^-") for part in parts)
    if any(part.endswith("*") for part in parts):
        marks.append("NOT_RESPONDING")
    reason = _REASON.search(answer)
    return SlurmNode(state, tuple(sorted(set(marks))), _text(reason[1].strip() if reason else None), fields)


def _text(value: str | None) -> str | Absent:
    return Absent("the controller reports no value") if value in {None, "", "(null)", "N/A"} else str(value)
