"""The index of rackcheck's own probes: what they declare, kept on disk, so that their modules need not be imported.

The index is data (JSON). It names the module of each probe and of each derivation; their functions are imported when
they are called first. It is kept by a digest of the whole program (see `rackcheck.base.program`) and is used only if it
matches its seal; in every other case the modules are imported as if there were no index, and it is written anew.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rackcheck.base import program, state
from rackcheck.base.sealed_file import SealedFiles
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.documents import LinkPattern, Walk
from rackcheck.model.fact import Class
from rackcheck.model.profile import Scope
from rackcheck.model.question import Ask, Load, Read, Redfish, Shell
from rackcheck.probe.compare import Comparison
from rackcheck.probe.contract import AnyProbe, Probe
from rackcheck.probe.deferred import Deferred
from rackcheck.probe.group import Aggregate
from rackcheck.probe.join import Join

OFF = "RACKCHECK_PROBE_INDEX"
"""With the value `0` of this environment variable, the index is neither read nor written."""

MOST = 4
"""Number of indexes that are kept: one for each version of the program that the user has run lately."""

Giver = AnyProbe | Join | Aggregate | Comparison


@dataclass(frozen=True, slots=True)
class Declared:
    """What rackcheck's own modules declare, in the order of the registry; the derivations are not bound."""

    probes: tuple[AnyProbe, ...]
    joins: tuple[Join, ...] = ()
    gatherings: tuple[Aggregate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def givers(self) -> tuple[Giver, ...]:
        """All probes and derivations."""
        return (*self.probes, *self.joins, *self.gatherings, *self.comparisons)


_own: dict[int, object] = {}
"""A marked cache: by identity, what makes the facts of the probes and joins that were read from an index.

The objects are held, so that no other object has the identity of one of them.
"""


def own_readers() -> frozenset[int]:
    """Return the identities of the probes, and of the functions of joins, that were read from an index."""
    return frozenset(_own)


def load() -> Declared | None:
    """Return what rackcheck's own modules declare, without importing them; None if there is no valid index."""
    key = _key()
    content = _files().load(key) if key else None
    if content is None:
        return None
    try:
        found = declared(json.loads(content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None
    _own.update((id(probe), probe) for probe in found.probes)
    _own.update((id(join.function), join.function) for join in found.joins)
    return found


def store(found: Declared) -> None:
    """Write the index of what was imported; not if a declaration has a form from which it could not be read back."""
    key = _key()
    form_ = form(found) if key else None
    if form_ is not None:
        _files().store(key, json.dumps(form_, separators=(",", ":")).encode())


def _key() -> str:
    return "" if os.environ.get(OFF) == "0" else program.digest()


def _files() -> SealedFiles:
    return SealedFiles(state.program_cache_folder("probes"), b"rackcheck probes 1\n", MOST)


def origin(giver: Giver) -> tuple[str, str]:
    """Return the module and the name of a probe or a derivation; also of one that was read from an index."""
    function = giver.parse if isinstance(giver, Probe) else giver.function
    return (function.module if isinstance(function, Deferred) else function.__module__), giver.name


# ---- the form on disk: tables of kinds and questions, which many probes share, and rows that refer to them


def form(found: Declared) -> dict[str, Any] | None:
    """Return declarations as JSON; None if one could not be found again by the module of its function and its name."""
    if not all(_named(giver) for giver in found.givers):
        return None
    kinds: dict[Kind, int] = {}
    asks: dict[int, tuple[int, Ask]] = {}

    def gives(giver: Giver) -> dict[str, int]:
        return {pattern: kinds.setdefault(kind, len(kinds)) for pattern, kind in giver.gives.items()}

    probes = [[*origin(p), asks.setdefault(id(p.ask), (len(asks), p.ask))[0], p.help, gives(p)] for p in found.probes]
    derived = {
        name: [_derived(each) | {"gives": gives(each)} for each in getattr(found, name)]
        for name in ("joins", "gatherings", "comparisons")
    }
    return {
        "kinds": [[getattr(kind, name) for name in _KIND] for kind in kinds],
        "asks": [_ask_form(ask) for _, ask in asks.values()],
        "probes": probes,
        **derived,
    }


def _named(giver: Giver) -> bool:
    module, name = origin(giver)
    mine = module.partition(".")[0] == program.PROBES
    return mine and getattr(sys.modules.get(module), name, None) is giver and giver.gives.__class__ is dict


_KIND = tuple(each.name for each in fields(Kind))


def _ask_form(ask: Ask) -> dict[str, Any]:
    match ask:
        case Shell():
            return {"shell": ask.command, "more": _more(ask, "command")}
        case Read():
            return {"read": ask.globs, "more": _more(ask, "globs")}
        case Redfish():
            links = {n: [_link_form(link) for link in getattr(ask, n)] for n in ("links", "named", "whole")}
            return {"redfish": links, "dear": ask.dear}
        case Load():
            return {"load": True}


def _more(ask: Shell | Read, first: str) -> dict[str, Any]:
    return {each.name: getattr(ask, each.name) for each in fields(ask) if each.name != first}


def _link_form(link: LinkPattern) -> Any:
    return [link.description] if isinstance(link, Walk) else link


def _derived(each: Join | Aggregate | Comparison) -> dict[str, Any]:
    row: dict[str, Any] = {"at": origin(each), "help": each.help}
    row |= {name: list(getattr(each, name)) for name in ("needs", "also", "beside")}
    if isinstance(each, Aggregate):
        row |= {"scope": each.scope.value, "distil": each.distil is not None}
    return row


def declared(doc: Mapping[str, Any]) -> Declared:
    """Return the declarations in a JSON document; raises an error of lookup, type or value if it has another form."""
    kinds = [_kind(parts) for parts in doc["kinds"]]

    def gives(row: Mapping[str, int]) -> dict[str, Kind]:
        return {pattern: kinds[at] for pattern, at in row.items()}

    probes: list[AnyProbe] = []
    asks: dict[int, Ask] = {}
    for module, name, ask, help_, row in doc["probes"]:
        if ask not in asks:
            asks[ask] = _ask(doc["asks"][ask], module, name)
        probes.append(Probe(name, asks[ask], gives(row), Deferred(module, name, ("parse",)), help_))  # type: ignore[arg-type,type-var]
    return Declared(
        tuple(probes),
        tuple(Join(**_parts(row, gives)) for row in doc["joins"]),
        tuple(
            Aggregate(
                **_parts(row, gives), scope=Scope(row["scope"]),
                distil=_deferred(row["at"], "distil") if row["distil"] else None,
            )
            for row in doc["gatherings"]
        ),
        tuple(Comparison(**_parts(row, gives)) for row in doc["comparisons"]),
    )  # fmt: skip


def _parts(row: Mapping[str, Any], gives: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {name: tuple(row[name]) for name in ("needs", "also", "beside")}
    function = _deferred(row["at"], "function")
    return parts | {"name": function.name, "gives": gives(row["gives"]), "function": function, "help": row["help"]}


def _deferred(at: Sequence[str], step: str) -> Deferred:
    module, name = at
    return Deferred(module, name, (step,))


_TYPES = {each.value: each for each in Type}
_CLASSES = {each.value: each for each in Class}


def _kind(parts: Sequence[Any]) -> Kind:
    type_, help_, unit, scheme, cls, words, unlimited, view, alike, vacant, final = parts
    return Kind(
        _TYPES[type_], help_, unit, scheme, _CLASSES[cls], tuple(words), unlimited, view,
        None if alike is None else tuple(alike), vacant, final,
    )  # fmt: skip


def _ask(row: Mapping[str, Any], module: str, name: str) -> Ask:
    """Make a question; a function that chooses its links is found through the probe of this module and name."""

    def links(kind: str) -> list[LinkPattern]:
        return [
            Walk(link[0], Deferred(module, name, ("ask", kind, at, "go"))) if isinstance(link, list) else link
            for at, link in enumerate(row["redfish"][kind])
        ]

    match row:
        case {"shell": command, "more": more}:
            return Shell(command, **more | {"ok": tuple(more["ok"])})
        case {"read": globs, "more": more}:
            family = more["family"]
            return Read(*globs, **more | {"family": family and tuple(family), "never": tuple(more["never"])})
        case {"redfish": _, "dear": dear}:
            named = links("named")
            every = links("links")
            return Redfish(
                *every[: len(every) - len(named)], dear=dear, named=tuple(named), whole=tuple(links("whole"))
            )
        case {"load": True}:
            return Load()
    raise ValueError("not a question")
