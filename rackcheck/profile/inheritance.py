"""Resolves the files of a profile: finds its parents and all included fragments, checks and merges them.

A file is merged once, however often it is included, so the order of an `include` list changes no verdict.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import Layers, Pile, texts, version_of, word

Finder = Callable[[str, SourcePlace], YamlMapping]
"""A function that returns a profile's file by name; the location says where the name is used, for error messages."""

DEPTH = 8
"""Maximum nesting of fragments, so that profiles stay readable and the loader's work is limited."""


def is_fragment(table: YamlMapping) -> bool:
    """Whether a file declares itself a fragment: it is included in profiles and is not used as a profile."""
    return word(table, "fragment") == "true"


def layers(table: YamlMapping, find: Finder, built_in: YamlMapping | None = None) -> Layers:
    """Merge a profile over its parents and fragments, and all of them over `built_in`.

    Raises BadFile on a wrong version, a cycle or a conflict.
    """
    if is_fragment(table) and "extends" in table.items:
        name = word(table, "profile")
        message = f"{name} is a fragment, and a fragment extends nothing: remove `fragment` or `extends`"
        raise BadFile([Problem(table.keys["fragment"], message)])
    shelf, pile = _Shelf(find), Pile()
    if built_in is not None:
        pile.build_in(built_in)
    chain = shelf.parents(table)
    lineage: list[str] = []
    for number, one in enumerate(chain):
        fragments = list(shelf.fragments(chain[number:]))
        for fragment in fragments:
            pile.add(fragment)
        pile.lay(one)
        included = ", ".join(f"{word(f, 'profile')} {word(f, 'version')}" for f in fragments)
        lineage.append(version_of(one) + (f" (includes {included})" if included else ""))
    return pile.laid(table, tuple(lineage))


@dataclass
class _Shelf:
    """The files found so far; `heights` maps each merged file to the number of levels of fragments below it."""

    find: Finder
    tables: dict[str, YamlMapping] = field(default_factory=dict)
    heights: dict[str, int] = field(default_factory=dict)

    def parents(self, table: YamlMapping) -> list[YamlMapping]:
        """Return a profile and all its parents, the oldest parent first."""
        chain, names = [table], [word(table, "profile")]
        while isinstance(parent := chain[-1].get("extends"), Scalar):
            wanted = parent.text.partition("@")[0]
            if wanted in names:
                own = "; a profile needs another name than its parent" if wanted == names[-1] else ""
                raise BadFile([Problem(parent.place, f"{' extends '.join((*names, wanted))}: a cycle{own}")])
            chain.append(self._found(parent, "extends"))
            names.append(wanted)
        return chain[::-1]

    def fragments(self, chain: Sequence[YamlMapping]) -> Iterator[YamlMapping]:
        """Yield the fragments that the first profile of a chain includes, except those that earlier calls have yielded.

        `chain` is the profile, followed by the profiles that extend it.
        """
        names = [word(table, "profile") for table in reversed(chain)]
        before = set(self.heights)
        self._climb(chain[0], (" extends ".join(names),), frozenset(names))
        yield from (self.tables[name] for name in self.heights if name not in before and name != names[-1])

    def _climb(self, table: YamlMapping, way: tuple[str, ...], above: frozenset[str]) -> None:
        """Record a file after all files that it includes.

        `way` contains the names of the files that include each other, from the profile to this file, for error
        messages. `above` contains the names in `way` as a set: the file must not include any file in `above`.
        """
        height = 0
        for ref in texts(table, "include"):
            wanted = ref.text.partition("@")[0]
            trail = " includes ".join((*way, wanted))
            if wanted in above:
                raise BadFile([Problem(ref.place, f"{trail}: a cycle")])
            fragment = self._found(ref, "includes")
            if "extends" in fragment.items:
                message = f"{wanted} extends {word(fragment, 'extends')}, so it cannot be included: extend it instead"
                raise BadFile([Problem(ref.place, message)])
            if wanted not in self.heights and len(way) <= DEPTH:
                self._climb(fragment, (*way, wanted), above | {wanted})
            height = max(height, 1 + self.heights.get(wanted, DEPTH))
            if height > DEPTH:
                raise BadFile([Problem(ref.place, f"{trail}: fragments are nested more than {DEPTH} deep")])
        self.heights[word(table, "profile")] = height

    def _found(self, ref: Scalar, how: str) -> YamlMapping:
        """Find the file of NAME or NAME@VERSION; cached. Raises BadFile if the file states another name or version."""
        wanted, versioned, version = ref.text.partition("@")
        if wanted not in self.tables:
            self.tables[wanted] = self.find(wanted, ref.place)
        table = self.tables[wanted]
        have, called = word(table, "version"), word(table, "profile")
        if called != wanted:
            message = f"{how} {wanted}, but the profile in {table.place.file} is called {called}"
            raise BadFile([Problem(ref.place, message)])
        if versioned and have != version:
            message = f"{how} {wanted}@{version}, but the library has {wanted}@{have}"
            raise BadFile([Problem(ref.place, message)])
        return table
