"""Twenty machines that a careless client misreads: what is true of each is read, or is unknown with a reason."""

import re
from collections.abc import Mapping
from functools import cache

import odd_hosts
import odd_lists
import pytest
from odd_truths import TRUTHS, Make, No
from trees import client, links
from trees import facts as all_facts

from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.transport import redfish


@cache
def facts(make: Make) -> Mapping[str, Reading]:
    """The facts of a tree, and under `psu#` and the like how many parts are not absent."""
    return counted({path: leaf.reading for path, leaf in all_facts(make().capture).items()})


def counted(found: dict[str, Reading]) -> dict[str, Reading]:
    for kind in ("bmc.dimm", "bmc.drive", "psu", "fan"):
        found[f"{kind}#"] = len(present(found, kind))
    return found | {"bmc.unhealthy#": tuple(sorted(each.strip('"') for each in present(found, "bmc.unhealthy")))}


def present(found: Mapping[str, Reading], kind: str) -> set[str]:
    item = re.compile(rf'{re.escape(kind)}/("[^"]*"|[^./"]+)\.')
    items = {match[1] for path in found if (match := item.match(path))}
    return {each for each in items if found.get(f"{kind}/{each}.state") != "Absent"}


def name(value: object) -> str:
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize("make", TRUTHS, ids=name)
def test_what_is_true_of_an_odd_machine_is_read_or_unknown_for_a_reason(make: Make) -> None:
    found = facts(make)
    wrong = {path: (truth, found.get(path)) for path, truth in TRUTHS[make].items() if truth != found.get(path)}
    assert not wrong


@pytest.mark.parametrize("make", [odd_hosts.four_blades, odd_lists.pages], ids=name)
def test_an_odd_machine_that_is_read_over_https_has_the_same_facts(make: Make) -> None:
    with make() as server:
        capture, trouble = redfish.read(client(server), links())
    assert trouble is None
    found = counted({path: leaf.reading for path, leaf in all_facts(capture).items()})
    assert {path: found.get(path) for path in TRUTHS[make]} == {path: facts(make)[path] for path in TRUTHS[make]}


def test_a_truth_is_unknown_only_for_the_stated_reason() -> None:
    assert No("HTTP 404") == Unknown(Reason.NOT_COLLECTED, "x: HTTP 404")
    assert No("HTTP 404") != Unknown(Reason.TIMEOUT, "no answer")
    assert No("") != 2
    assert No("") != None  # noqa: E711  a fact that nothing yields
