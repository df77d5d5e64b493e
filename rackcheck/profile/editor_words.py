"""Words that an editor offers besides facts: the profiles, sources and roles of some folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.profile import library
from rackcheck.profile.document import BadFile, YamlMapping, read
from rackcheck.profile.layers import entries, texts, version_of, word


@dataclass(frozen=True)
class EditorWords:
    """Words that an editor offers besides facts: ids with their descriptions."""

    profiles: Mapping[str, str] = field(default_factory=dict)
    """NAME@VERSION of each profile, with its title."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Ids of sources, with their titles."""
    roles: tuple[str, ...] = ()


ROLES = ("any", "compute")
"""Roles that rackcheck itself gives a meaning."""


def shipped() -> EditorWords:
    """Return the shipped words: the same on every machine and for every user."""
    return words([library.shipped("profiles")])


def here(extra: Sequence[Path] = ()) -> EditorWords:
    """Return all words that can be resolved on this machine."""
    return words([folder for _, folder in library.folders(extra)])


def words(folders: Sequence[Path]) -> EditorWords:
    """Read the profiles and sources of these folders; the first folder wins, and unreadable files are skipped."""
    profiles: dict[str, str] = {}
    sources: dict[str, str] = {}
    roles = dict.fromkeys(ROLES)
    for table in _tables(folders):
        if "sources" in table.items:
            for source, value in entries(table, "sources").items():
                sources.setdefault(source, word(value, "title") if isinstance(value, YamlMapping) else "")
            continue
        profiles.setdefault(version_of(table), word(table, "title"))
        for rule in entries(table, "rules").values():
            roles |= dict.fromkeys(role.text for role in texts(rule, "role")) if isinstance(rule, YamlMapping) else {}
    return EditorWords(profiles, sources, tuple(roles))


def _tables(folders: Sequence[Path]) -> Iterator[YamlMapping]:
    seen = {library.BUILT_IN}  # part of every profile: never extended or included
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            if path.name in seen and path.name != library.SOURCES:
                continue  # an earlier folder has a profile of this name
            seen.add(path.name)
            try:
                table = read(library.text_of(path), path.name, ours=folder == library.shipped("profiles"))
            except (BadFile, UserError):
                continue
            if isinstance(table, YamlMapping):
                yield table
