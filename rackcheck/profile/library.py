"""Finds profiles in the profile folders, and loads them with their parents, fragments and sources."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
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
from rackcheck.probe.registry import is_own
from rackcheck.profile import profile_form
from rackcheck.profile.compile import compile_profile, read_profile
from rackcheck.profile.document import SIZE, BadFile, Problem, SourcePlace, YamlMapping, read
from rackcheck.profile.inheritance import layers
from rackcheck.profile.kept_profiles import COMPILED, FileRead, Kept, Reread, kept
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
        near = here or _near(name.partition("@")[0], known)
        raise UserError(f"no profile {name or repr(name)}{near or '; rackcheck profile list shows all'}")
    return known[name]


def _near(word: str, known: Mapping[str, ProfileFile]) -> str:
    """Format the profiles that the user may have meant; fragments, which give no verdict, only if no other fits."""
    whole = [name for name, found in known.items() if not seems_fragment(found)]
    return did_you_mean(word, whole) or did_you_mean(word, known)


def load(
    name: str, catalogue: Catalogue, values: Mapping[str, str] | None = None, extra: Sequence[Path] = ()
) -> Profile:
    """Load a profile with its parents and fragments; raises UserError or BadFile.

    A profile that was loaded before from the same files is read from the user's cache.
    """
    found = find(name, extra)
    head = _file("", found.path)
    place = _place(COMPILED, found, head, values or {}) if is_own(catalogue) else None
    compiled = None if place is None else _kept(place, partial(_reread, found, head, extra))
    if compiled is None:
        compiled, _, read_files = _load(found, head, catalogue, values or {}, extra)
        if place is not None:
            _keep(place, compiled, read_files)
    return replace(compiled, meant=_meant(found.name, extra)) if compiled.fragment else compiled


def load_laid(
    name: str, catalogue: Catalogue, values: Mapping[str, str] | None = None, extra: Sequence[Path] = ()
) -> tuple[Profile, Layers]:
    """Load a profile, and return it with the layers it was merged from; raises UserError or BadFile."""
    found = find(name, extra)
    compiled, laid, _ = _load(found, _file("", found.path), catalogue, values or {}, extra)
    return replace(compiled, meant=_meant(found.name, extra) if compiled.fragment else ""), laid


def result(
    use: str,
    name: str,
    values: Mapping[str, str],
    extra: Sequence[Path],
    catalogue: Callable[[], Catalogue],
    make: Callable[[Profile, Layers], str],
) -> str:
    """Return the text that `make` makes of a profile and its layers, and of nothing else but the program.

    A text that was made before from the same files for the same `use` is read from the user's cache; `catalogue` is
    then not called. Raises UserError or BadFile as `load_laid` does, and what `make` raises.
    """
    found = find(name, extra)
    head = _file("", found.path)
    place = _place(use, found, head, values)
    known = None if place is None else place.load(partial(_reread, found, head, extra))
    if known is not None:
        return known[0]
    all_facts = catalogue()
    compiled, laid, came = _load(found, head, all_facts, values, extra)
    made = make(compiled, laid)
    if place is not None and is_own(all_facts) and all(rule.called is None for rule in compiled.rules):
        place.store(came, made)
    return made


def _load(
    found: ProfileFile, head: FileRead, catalogue: Catalogue, values: Mapping[str, str], extra: Sequence[Path]
) -> tuple[Profile, Layers, list[FileRead]]:
    """Load a profile from its files, and return it with its layers and all files that were read.

    `head` is its own file, which is read once: it may be a pipe.
    """
    came: list[FileRead] = []
    problems: list[Problem] = []
    table = _read(head, came, problems)
    if found.origin != "file" and word(table, "profile") != found.name:
        message = f"the file is {found.path.name}, but its profile is called {word(table, 'profile')}"
        raise BadFile([Problem(table.items["profile"].place, message)])
    refs = set(_refs(table))

    def below(wanted: str, place: SourcePlace) -> YamlMapping:
        try:
            read_now = _read(_file(wanted, _below_path(wanted, found, extra)), came, problems)
        except UserError as error:
            raise error if isinstance(error, BadFile) else BadFile([Problem(place, str(error))]) from None
        refs.update(_refs(read_now))
        return read_now

    try:
        laid = layers(table, below, _built_in(catalogue))
    except BadFile as error:  # all problems are reported at once
        raise BadFile([*problems, *error.problems]) from None
    known: dict[str, Source] = {}
    beside = _beside(found, extra)
    for file in beside:
        if file.wanted == SOURCES:
            for source in _sources_found(file.text, file.shown, ours=file.ours):
                known.setdefault(source.id, source)
    compiled = compile_profile(laid, catalogue, known, values, problems)
    # Sources of rules that a child drops or changes are kept for its parent: each stored file must load by itself.
    cited = [known[ref] for ref in sorted(refs) if ref in known]
    return _with_files(compiled, came, _cited(cited)), laid, [*came, *beside]


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
    """Return the text of a sources file that contains the sources which a profile cites; a JSON text is a YAML text."""
    listed = {s.id: {name: getattr(s, name) for name in _SOURCE} for s in sources}
    return json.dumps({"rackcheck": 1, "sources": listed}, indent=1, ensure_ascii=False) + "\n"


def text_of(path: Path) -> str:
    """Read a file named by the user; raises UserError if it cannot be read, is not a file, or is too large."""
    return safe_read.text(path, SIZE)


def _read(file: FileRead, came: list[FileRead], problems: list[Problem]) -> YamlMapping:
    came.append(file)
    table, wrong = _parsed(file.text, file.shown, ours=file.ours)
    problems += wrong
    name = word(table, "profile")
    if f"{name}.yaml" == SOURCES:
        raise BadFile(
            [Problem(table.items["profile"].place, f"a profile must not be called {name}: {SOURCES} is for sources")]
        )
    return table


def _file(wanted: str, path: Path) -> FileRead:
    text = text_of(path)
    return FileRead(wanted, _shown(path), _ships(path) or _shipped(path.name) == text, text)


def _below_path(wanted: str, found: ProfileFile, extra: Sequence[Path]) -> Path:
    """Return the file of a parent or fragment: the one beside the profile, else the one in the profile folders."""
    beside = found.path.parent / f"{wanted}.yaml"
    return beside if beside.is_file() else find(wanted, extra).path


def _beside(found: ProfileFile, extra: Sequence[Path]) -> list[FileRead]:
    """Read the files of sources that a profile may cite, the first folder counts, and the built-in rules."""
    places = dict.fromkeys((found.path.parent, *(folder for _, folder in folders(extra))))
    sources = [_source_file(folder / SOURCES) for folder in places]
    built_in = shipped("profiles") / BUILT_IN
    return [*(file for file in sources if file is not None), FileRead(BUILT_IN, BUILT_IN, True, text_of(built_in))]


def _reread(found: ProfileFile, head: FileRead, extra: Sequence[Path], wanted: Sequence[str]) -> list[FileRead]:
    """Read the files below a profile's own file again, in the order in which `_load` read them."""
    names = [name for name in wanted if name not in {SOURCES, BUILT_IN}]
    own = [_file(name, _below_path(name, found, extra)) if name else head for name in names]
    return [*own, *_beside(found, extra)]


def _place(use: str, found: ProfileFile, head: FileRead, values: Mapping[str, str]) -> Kept | None:
    return kept(use, "" if found.origin == "file" else found.name, head, values)


def _kept(place: Kept, reread: Reread) -> Profile | None:
    """Return the profile that is kept at a place, with the texts of its files; None if there is none."""
    known = place.load(reread)
    if known is None:
        return None
    body, came = known
    cited, _, compiled = body.partition("\n")
    try:
        profile = profile_form.loads(compiled)
        return _with_files(profile, came, json.loads(cited))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _keep(place: Kept, compiled: Profile, came: Sequence[FileRead]) -> None:
    with suppress(TypeError, ValueError):  # a rule in Python has no form
        place.store(came, f"{json.dumps(compiled.files[SOURCES])}\n{profile_form.dumps(compiled)}")


def _with_files(compiled: Profile, came: Iterable[FileRead], cited: str) -> Profile:
    own = {f"{file.wanted or compiled.name}.yaml": file.text for file in came if file.wanted not in {SOURCES, BUILT_IN}}
    return replace(compiled, files={**own, SOURCES: cited})


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


def _source_file(path: Path) -> FileRead | None:
    try:
        if not path.is_file():
            return None
    except OSError:  # this login cannot enter the folder: `closed` reports the folder
        return None
    return FileRead(SOURCES, _shown(path), _ships(path), text_of(path))


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
