"""Finds profiles in the profile folders, and loads them with their parents, fragments and sources."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import platformdirs

from rackcheck.base import safe_read
from rackcheck.base.names import meant
from rackcheck.base.user_error import UserError
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile, Source
from rackcheck.model.regex import regex
from rackcheck.profile.compile import compile_profile, read_profile
from rackcheck.profile.document import SIZE, BadFile, Problem, SourcePlace, YamlMapping, read
from rackcheck.profile.inheritance import layers
from rackcheck.profile.layers import Layers, did_you_mean, entries, texts, word
from rackcheck.profile.schema import sources as sources_schema
from rackcheck.profile.schema_check import conform

SOURCES = "sources.yaml"
"""Name of the file in a profile folder that contains the sources which profiles cite."""

BUILT_IN = "built-in.yaml"
"""Name of the file among the shipped profiles that contains the rules of every profile."""

_SOURCE = ("title", "section", "publisher", "date", "confidence")


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A profile's file; `origin` is the kind of folder it was found in, or `file` if the user named the file."""

    name: str
    path: Path
    origin: str


def shipped(kind: str) -> Path:
    """Return a folder that is shipped with rackcheck: inside the package in a wheel, beside it in a git clone."""
    inside = Path(str(files("rackcheck"))) / kind
    return inside if inside.is_dir() else Path(__file__).parents[2] / kind


def folders(extra: Sequence[Path] = ()) -> list[tuple[str, Path]]:
    """Return the folders that are searched for profiles, each with its kind, the highest precedence first."""
    home = os.environ.get("RACKCHECK_HOME")
    user = Path(home) if home else platformdirs.user_config_path("rackcheck")
    places = [("--profile-path", folder) for folder in extra]
    places += [("user", user / "profiles"), ("site", platformdirs.site_config_path("rackcheck") / "profiles")]
    return [*places, ("shipped", shipped("profiles"))]


def profiles(extra: Sequence[Path] = ()) -> dict[str, ProfileFile]:
    """Return every profile by name; if several folders contain a name, the first folder counts."""
    found: dict[str, ProfileFile] = {}
    for origin, folder in folders(extra):
        for path in _files(folder):
            if path.name not in {SOURCES, BUILT_IN}:
                found.setdefault(path.stem, ProfileFile(path.stem, path, origin))
    return found


def seems_fragment(found: ProfileFile) -> bool:
    """Whether a file seems to be a fragment, by text search without parsing: shell completion must be fast."""
    try:
        return _FRAGMENT.search(text_of(found.path)) is not None
    except UserError:
        return False


def _files(folder: Path) -> Sequence[Path]:
    """Return the YAML files of a profile folder; empty if the folder is missing or not readable."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".yaml")
    except OSError:  # `closed` reports the folder and the reason
        return ()


def closed() -> Iterator[str]:
    """Yield a message for each profile folder that exists but cannot be read."""
    for _, folder in folders():
        try:
            next(folder.iterdir(), None)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield f"folder {folder} was not searched for profiles: {error.strerror}"


def find(name: str, extra: Sequence[Path] = ()) -> ProfileFile:
    """Find a profile by name or by file path; if there is none, raises UserError with the most similar name."""
    if "/" in name or name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.exists():
            ours = f"; did you mean the profile {path.stem}?" if path.stem in profiles(extra) else ""
            raise UserError(f"no profile file {name}{ours}")
        return ProfileFile(path.stem, path, "file")
    known = profiles(extra)
    if name not in known:
        here = f"; for the file write ./{name}" if Path(name).is_file() else ""
        near = here or did_you_mean(name.partition("@")[0], list(known))
        raise UserError(f"no profile {name or repr(name)}{near or '; rackcheck profile list shows all'}")
    return known[name]


def load(
    name: str, catalogue: Catalogue, values: Mapping[str, str] | None = None, extra: Sequence[Path] = ()
) -> Profile:
    """Load a profile with its parents and fragments; raises UserError or BadFile."""
    return load_laid(name, catalogue, values, extra)[0]


def load_laid(
    name: str, catalogue: Catalogue, values: Mapping[str, str] | None = None, extra: Sequence[Path] = ()
) -> tuple[Profile, Layers]:
    """Load a profile, and return it with the layers it was merged from; raises UserError or BadFile."""
    found = find(name, extra)
    files: dict[str, str] = {}
    problems: list[Problem] = []
    table = _read(found.path, files, problems)
    if found.origin != "file" and word(table, "profile") != found.name:
        message = f"the file is {found.path.name}, but its profile is called {word(table, 'profile')}"
        raise BadFile([Problem(table.items["profile"].place, message)])
    refs = set(_refs(table))

    def below(wanted: str, place: SourcePlace) -> YamlMapping:
        beside = found.path.parent / f"{wanted}.yaml"
        try:
            read_now = _read(beside if beside.is_file() else find(wanted, extra).path, files, problems)
        except UserError as error:
            raise error if isinstance(error, BadFile) else BadFile([Problem(place, str(error))]) from None
        refs.update(_refs(read_now))
        return read_now

    try:
        laid = layers(table, below, _built_in(catalogue))
    except BadFile as error:  # all problems are reported at once
        raise BadFile([*problems, *error.problems]) from None
    known: dict[str, Source] = {}
    for folder in dict.fromkeys((found.path.parent, *(f for _, f in folders(extra)))):
        for source in _sources(folder / SOURCES):
            known.setdefault(source.id, source)
    compiled = compile_profile(laid, catalogue, known, values or {}, problems)
    # Sources of rules that a child drops or changes are kept for its parent: each stored file must load by itself.
    cited = [known[ref] for ref in sorted(refs) if ref in known]
    meant = _meant(found.name, extra) if compiled.fragment else ""
    return replace(compiled, files={**files, SOURCES: _cited(cited)}, meant=meant), laid


def _built_in(catalogue: Catalogue) -> YamlMapping | None:
    """Return the built-in rules; None if the catalogue lacks one of their facts, as the catalogues of tests do."""
    table = _built_in_table()
    facts = (word(rule, "fact") for rule in entries(table, "rules").values() if isinstance(rule, YamlMapping))
    return table if all(catalogue.find(parse(fact)) is not None for fact in facts) else None


@cache
def _built_in_table() -> YamlMapping:
    path = shipped("profiles") / BUILT_IN
    table, problems = read_profile(read(text_of(path), BUILT_IN, ours=True))
    if problems:
        raise BadFile(problems)
    return table


def _meant(name: str, extra: Sequence[Path]) -> str:
    """Return the profile that a user who named a fragment probably meant; empty if none can be guessed."""
    return meant(name, _whole(tuple((each, text_of(found.path)) for each, found in profiles(extra).items())))


@lru_cache(maxsize=4)
def _whole(texts: tuple[tuple[str, str], ...]) -> Mapping[str, frozenset[str]]:
    """Return the profiles that give a verdict, each with all profiles that it extends or includes."""
    heads = dict(texts)
    return {each: frozenset(_below(each, heads)) for each, text in heads.items() if not _FRAGMENT.search(text)}


_FRAGMENT = regex(r"^fragment: *true\b", re.MULTILINE)
_BELOW = regex(r"^(?:extends: *([a-z0-9_.-]+)|include: *\[([^]]*)\])", re.MULTILINE)


def _below(name: str, heads: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of all profiles that a profile extends or includes, at any depth; found by text search."""
    todo, seen = [name], {name}
    while todo:
        for parent, included in _BELOW.findall(heads.get(todo.pop(), "")):
            for each in (part.partition("@")[0].strip() for part in (parent, *included.split(","))):
                if each and each not in seen:
                    seen.add(each)
                    todo.append(each)
                    yield each


def _refs(table: YamlMapping) -> Iterator[str]:
    """Yield the sources that a file's own rules cite."""
    for rule in entries(table, "rules").values():
        if isinstance(rule, YamlMapping):
            yield from (ref.text for ref in texts(rule, "refs"))


def _cited(sources: Iterable[Source]) -> str:
    """Return the text of a sources file that contains the sources which a profile cites."""
    import json  # noqa: PLC0415  a JSON text is a YAML text

    listed = {s.id: {name: getattr(s, name) for name in _SOURCE} for s in sources}
    return json.dumps({"rackcheck": 1, "sources": listed}, indent=1, ensure_ascii=False) + "\n"


def text_of(path: Path) -> str:
    """Read a file named by the user; raises UserError if it cannot be read, is not a file, or is too large."""
    return safe_read.text(path, SIZE)


def _read(path: Path, files: dict[str, str], problems: list[Problem]) -> YamlMapping:
    text = text_of(path)
    table, wrong = _parsed(text, _shown(path), ours=_ships(path) or _shipped(path.name) == text)
    problems += wrong
    name = word(table, "profile")
    if f"{name}.yaml" == SOURCES:
        raise BadFile(
            [Problem(table.items["profile"].place, f"a profile must not be called {name}: {SOURCES} is for sources")]
        )
    files[f"{name}.yaml"] = text
    return table


@lru_cache(maxsize=256)
def _parsed(text: str, shown: str, *, ours: bool) -> tuple[YamlMapping, tuple[Problem, ...]]:
    """Parse a profile's text; cached, because many profiles share their fragments."""
    table, wrong = read_profile(read(text, shown, ours=ours))
    return table, tuple(wrong)


def _ships(path: Path) -> bool:
    return path.parent == shipped("profiles")


@lru_cache(maxsize=256)
def _shipped(name: str) -> str:
    """Return the text of a shipped profile, empty if there is none.

    If a profile in a stored run has the same text as a shipped profile, it is parsed by the fast C parser, too.
    """
    try:
        return text_of(shipped("profiles") / name)
    except UserError:
        return ""


def _shown(path: Path) -> str:
    """Return a file's path relative to the working folder if the file is below it, else the file's name."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return path.name


def _sources(path: Path) -> Iterator[Source]:
    try:
        if not path.is_file():
            return
    except OSError:  # this login cannot enter the folder: `closed` reports the folder
        return
    yield from _sources_found(text_of(path), _shown(path), ours=_ships(path))


@lru_cache(maxsize=16)
def _sources_found(text: str, shown: str, *, ours: bool) -> tuple[Source, ...]:
    table = conform(read(text, shown, ours=ours), sources_schema())
    listed = table.items["sources"]
    assert isinstance(listed, YamlMapping)
    found: list[Source] = []
    for source_id, source in listed.items.items():
        assert isinstance(source, YamlMapping)
        title, section, publisher, date, confidence = (word(source, name) for name in _SOURCE)
        found.append(Source(source_id, title, section, publisher, date, confidence))
    return tuple(found)
