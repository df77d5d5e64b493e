"""Loads the parameters of a stored run: its profile, waivers, planes, nodes and racks."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import NODES, BmcAccess, Node, Rack, RackSlot
from rackcheck.inventory.rack import UNITS
from rackcheck.model.fact import Plane
from rackcheck.model.profile import FIRST, Phase, Profile
from rackcheck.probe.group import Seat
from rackcheck.profile import library
from rackcheck.run import store, stored_forms
from rackcheck.run.event import RunStarted
from rackcheck.run.job import Again, Job
from rackcheck.run.kept_facts import kept_facts
from rackcheck.session.limits import LONGEST_WAIT
from rackcheck.session.registry_loading import known
from rackcheck.signoff import waivers

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError)


def stored_job(
    stored: store.Stored,
    profile_name: str | None = None,
    values: dict[str, str] | None = None,
    folders: Iterable[Path] = (),
    waived: tuple[Waiver, ...] | None = None,
    law: int | None = None,
) -> Job:
    """Return the job of a stored run, by default with the run's own waivers and its law (criteria for outcomes).

    The law is the version of the criteria by which verdicts decide a node's outcome. The job always contains the
    waivers in the profile itself. The facts of all parts are only planned for a run that read them, not for a run of an
    earlier release. Raises UserError if stored files were changed.
    """
    head = stored.head
    began = stored.started()
    try:
        words = {name: stored_forms.word(head, name) for name in ("run", "time", "targets")}
        planes = frozenset(map(Plane, stored_forms.words_of(head, "planes")))
        phases = frozenset(map(Phase, stored_forms.words_of(head, "phases")))
        nodes = stored_nodes(stored)
        again = head.get("again")
        if again is not None and (type(again) not in (int, float) or not 1 <= again <= LONGEST_WAIT):
            raise TypeError(f"`again` is not a number of seconds from 1 to {LONGEST_WAIT}: {again!r:.80}")
        others = tuple(
            Seat(*(stored_forms.word(doc, word) for word in ("name", "role", "rack"))) for doc in head.get("others", ())
        )
        profile = (
            _own(stored, began, values or {})
            if profile_name is None
            else library.load(profile_name, known().catalogue, values or {}, tuple(folders))
        )
    except _DAMAGED as error:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {error!r}") from None
    profile = profile.under(began.law if law is None else law)
    return Job(
        known().planned(profile, phases, parts=head.get("parts") is True), nodes, profile, planes, phases,
        words["targets"], (*waivers.own(profile.files), *(_waivers(stored) if waived is None else waived)),
        id=words["run"], time=words["time"],
        expected=(*(Seat(n.name, n.role, n.rack) for n in nodes), *others),
        again=Again(float(again), known().plan(profile.twice())) if again is not None else None, kept=kept_facts(),
    )  # fmt: skip


def _waivers(stored: store.Stored) -> tuple[Waiver, ...]:
    """Read the waivers that the run stored; raises UserError if a file was changed."""
    found: list[Waiver] = []
    value = stored.head.get("waivers", {})
    if not isinstance(value, dict) or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name) for name in value):
        raise UserError(f"{stored.folder / 'run.json'} is damaged: `waivers` is not a list of file names")
    for name, digest in value.items():
        place = stored.folder / "waivers" / name
        file = waivers.load(place)
        if file.digest != digest:
            raise UserError(
                f"the run's waivers were changed: {place}; judge with --waivers {place} to use them on purpose"
            )
        found += file.waivers
    return tuple(found)


def _own(stored: store.Stored, began: RunStarted, values: Mapping[str, str]) -> Profile:
    """Load the profile that the run stored, with the run's site values, overridden by `values`."""
    value = stored.head["profile"]
    name, digest = stored_forms.word(value, "name"), stored_forms.word(value, "digest")
    given = {param: stored_forms.word(value["set"], param) for param in value["set"]}
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError(f"{name!r:.80} is not a profile's name")
    place, catalogue = stored.folder / "profile" / f"{name}.yaml", known().catalogue
    profile = library.load(str(place), catalogue, given)
    if not profile.digest == digest == began.digest:
        # The digest covers the rules with all parents merged, and the values.
        raise UserError(f"the run's profile was changed: {place}; judge with -p {place} to use it on purpose")
    if began.law != FIRST and profile.machines != stored_forms.word(value, "machines", ""):
        message = f"`applies-to` of the run's profile was changed: {place}"
        raise UserError(f"{message}; judge with -p {place} to use it on purpose")
    if waivers.fingerprint(waivers.within(profile.files)) != stored_forms.word(value, "waivers", ""):
        message = f"the waivers in the run's profile were changed: {place.parent}"
        raise UserError(f"{message}; judge with -p {place} to use them on purpose")
    return library.load(str(place), catalogue, {**given, **values}) if values else profile


def stored_nodes(stored: store.Stored) -> tuple[Node, ...]:
    """Return the nodes of a stored run, as they were in its inventory; raises UserError if `run.json` is damaged."""
    try:
        return tuple(map(_node, stored.head["nodes"]))
    except _DAMAGED as error:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {error!r}") from None


def _node(doc: Mapping[str, Any]) -> Node:
    name, role, host, bmc, rack = (stored_forms.word(doc, word) for word in ("name", "role", "host", "bmc", "rack"))
    u, height = doc["u"], doc.get("height", 1)
    if not isinstance(height, int) or not isinstance(u, int):
        raise TypeError(f"`u` or `height` of {name} is not a whole number")
    return Node(
        name,
        role,
        host,
        bmc=BmcAccess(bmc) if bmc else None,
        rack=rack,
        u=u,
        height=height,
        slot=stored_forms.word(doc, "slot", ""),
        pdu=stored_forms.word(doc, "pdu", ""),
    )


def stored_racks(stored: store.Stored) -> dict[str, Rack]:
    """Return the racks of a run's nodes by name, as they were in its inventory.

    Runs of older releases contain no racks. Raises UserError if `run.json` is damaged.
    """
    try:
        listed = stored.head.get("racks", [])
        if not isinstance(listed, list) or len(listed) > NODES:
            raise TypeError(f"`racks` is not a list of at most {NODES} racks")
        racks = list(map(_rack, listed))
        if len({rack.name for rack in racks}) < len(racks):
            raise ValueError("two racks with the same name")
    except _DAMAGED as error:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {error!r}") from None
    return {rack.name: rack for rack in racks}


def _rack(doc: Mapping[str, Any]) -> Rack:
    name, row, title = (stored_forms.word(doc, word) for word in ("name", "row", "title"))
    listed = doc["slots"]
    if not isinstance(listed, list) or len(listed) > UNITS:
        raise TypeError(f"`slots` is not a list of at most {UNITS} slots")
    slots = {stored_forms.word(slot, "name"): _slot(slot) for slot in listed}
    return Rack(name, row, title, _units(doc, "height", 0), slots)


def _slot(doc: Mapping[str, Any]) -> RackSlot:
    return RackSlot(_units(doc, "u", 1), _units(doc, "height", 1), stored_forms.word(doc, "role"))


def _units(doc: Mapping[str, Any], name: str, least: int) -> int:
    """Return the number of rack units at a key; raises TypeError if the number is invalid."""
    value = doc[name]
    if type(value) is not int or not least <= value <= UNITS:
        raise TypeError(f"`{name}` is not a number of rack units from {least} to {UNITS}: {value!r:.60}")
    return value
