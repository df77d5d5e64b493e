"""Words that an editor offers besides facts: names of profiles, ids of sources, and roles, from profile folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.profile import library
from rackcheck.profile.document import BadFile, YamlMapping, read
from rackcheck.profile.layers import entries, texts, version_of, word


@dataclass(frozen=True)
class EditorWords:
    """Words that an editor offers besides facts."""

    profiles: Mapping[str, str] = field(default_factory=dict)
    """Maps NAME@VERSION of each profile to its title."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Maps the id of each source to its title."""
    roles: tuple[str, ...] = ()


ROLES = ("any", "compute")
"""Roles with a meaning of their own: `any` is every node, and `compute` is the default role."""


def shipped() -> EditorWords:
    """Return the words of the shipped profiles, which are the same on every machine and for every user."""
    return words([library.shipped("profiles")])


def here(extra: Sequence[Path] = ()) -> EditorWords:
    """Return the words that an editor suggests, from this machine's profile folders and the `extra` folders."""
    return words([folder for _, folder in library.folders(extra)])


def words(folders: Sequence[Path]) -> EditorWords:
    """Read the profiles and sources in these folders; if a name occurs twice, its first entry is used.

    Files that cannot be read are skipped.
    """
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
