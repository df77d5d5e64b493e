"""What the choice of the host reads: the systems, and their processors and chassis only if the systems leave a doubt."""

from collections.abc import Mapping
from typing import Any

import pytest
from noted import Noted
from one_probe import Found, ask, bodies, of
from trees import ALL, DGX, GB200, LENOVO, bmc_probes, read

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.probe.collect import collect

SYSTEMS = "/redfish/v1/Systems"
HOSTS = {DGX: f"{SYSTEMS}/DGX", GB200: f"{SYSTEMS}/System_0"}
BOARD = f"{SYSTEMS}/HGX_Baseboard_0"
LOST = Unknown(Reason.TIMEOUT, "no answer")
PROBES = bmc_probes()
CHOOSING = ("bmc_boot", "bmc_host", "bmc_tpm", "bmc_running")
"""Probes that need the host, and no part of it that another system lists."""


def unknown(reading: object, part: str) -> bool:
    return isinstance(reading, Unknown) and part in reading.detail


def body(name: str, uri: str, **properties: object) -> dict[str, Any]:
    found = bodies(PROBES["bmc_cpu"], name)[uri]
    assert not isinstance(found, Unknown)
    return {**found, **properties}


def visited(name: str, probe: str, changes: Mapping[str, object]) -> set[str]:
    """The URIs that a visit for one probe requests from an altered tree."""
    return set(read(name, changes, probe).bodies)


def decides(uris: set[str]) -> set[str]:
    """Those that only decide in case of doubt."""
    return {uri for uri in uris if "/Processors" in uri or "/Chassis/" in uri}


@pytest.mark.parametrize("probe", CHOOSING)
@pytest.mark.parametrize("name", ALL)
def test_systems_that_show_the_host_are_not_asked_for_processors_or_chassis(name: str, probe: str) -> None:
    assert decides(visited(name, probe, {})) == set()


@pytest.mark.parametrize("name", [DGX, GB200])
def test_a_second_system_that_may_boot_is_compared_by_its_processors(name: str) -> None:
    doubt = {BOARD: body(name, BOARD, BiosVersion=None)}
    assert {f"{BOARD}/Processors", f"{HOSTS[name]}/Processors"} <= visited(name, "bmc_boot", doubt)
    first = "Boot0026" if name == DGX else "Boot0011"
    assert ask(PROBES["bmc_boot"], name, doubt)["bmc.boot.first"] == first


def test_a_link_to_boot_firmware_alone_shows_no_host() -> None:
    tray = {key: value for key, value in body(DGX, HOSTS[DGX], BiosVersion="").items() if key not in SILENT}
    reset = {HOSTS[DGX]: tray, BOARD: body(DGX, BOARD, Bios={"@odata.id": f"{BOARD}/Bios"})}
    assert f"{BOARD}/Processors" in visited(DGX, "bmc_host", reset)
    assert ask(PROBES["bmc_host"], DGX, dict(reset))["bmc.host.serial"] == "1662923610124"


SILENT = ("Bios", "SecureBoot", "Boot", "TrustedModules")


def test_a_host_alone_is_asked_for_nothing_more_whatever_it_shows() -> None:
    place = f"{SYSTEMS}/1"
    mute = {key: value for key, value in body(LENOVO, place, BiosVersion=None).items() if key not in SILENT}
    assert decides(visited(LENOVO, "bmc_host", {place: mute})) == set()
    assert ask(PROBES["bmc_host"], LENOVO, {place: mute})["bmc.host.serial"] == "J105958B"


# Captures of earlier versions, which did not fetch processors and chassis of other systems


def stored(probe: str, name: str, changes: Mapping[str, Body | Unknown]) -> Found:
    """A probe's facts from a capture without processors and chassis, some of its bodies replaced."""
    held = {uri: each for uri, each in bodies(PROBES[probe], name).items() if uri not in decides({uri})}
    return of(PROBES[probe], held | dict(changes))


@pytest.mark.parametrize("name", [DGX, GB200])
@pytest.mark.parametrize("probe", [*CHOOSING, "bmc_memory"])
def test_a_capture_without_processors_and_chassis_has_the_same_host(name: str, probe: str) -> None:
    found = stored(probe, name, {})
    assert not [path for path, each in found.items() if unknown(each, "not fetched")]
    assert found == ask(PROBES[probe], name)


def test_the_only_system_with_a_version_is_the_host_if_what_decides_was_not_fetched() -> None:
    doubt: dict[str, Body | Unknown] = {BOARD: body(DGX, BOARD, BiosVersion=None)}
    assert stored("bmc_host", DGX, doubt)["bmc.host.serial"] == "1662923610124"
    assert stored("bmc_tpm", DGX, doubt)["bmc.tpm"] == ("0",)
    assert stored("bmc_running", DGX, doubt)["firmware.bios"] == "1.1.3"


def test_no_host_is_chosen_if_what_decides_was_not_fetched_and_two_or_no_systems_have_a_version() -> None:
    for board in ({"BiosVersion": "1.0"}, {"BiosVersion": None, "Bios": {"@odata.id": f"{BOARD}/Bios"}}):
        host = body(DGX, HOSTS[DGX]) if board["BiosVersion"] else body(DGX, HOSTS[DGX], BiosVersion=None)
        changes: dict[str, Body | Unknown] = {HOSTS[DGX]: host, BOARD: body(DGX, BOARD, **board)}
        for probe, path in (("bmc_host", "bmc.host.serial"), ("bmc_tpm", "bmc.tpm"), ("bmc_running", "firmware.bios")):
            assert unknown(stored(probe, DGX, changes)[path], "not fetched: /redfish/v1/Systems/"), path


def test_modules_of_a_board_that_may_be_a_card_leave_the_list_unknown_if_the_capture_cannot_show_it() -> None:
    found = stored("bmc_memory", GB200, {f"{HOSTS[GB200]}/Memory": EMPTY})
    assert unknown(found["bmc.dimm"], "not fetched: /redfish/v1/Systems/")
    assert found["bmc.memory.total"] == 960
    assert len(ask(PROBES["bmc_memory"], GB200, {f"{HOSTS[GB200]}/Memory": EMPTY})["bmc.dimm"]) == 2  # type: ignore[arg-type]


EMPTY = {"Members": [], "Members@odata.count": 0}


# What a board adds


def test_a_lost_list_of_a_boards_processors_costs_the_parts_that_it_may_add_and_not_the_host() -> None:
    lost: dict[str, Body | Unknown] = {f"{BOARD}/Processors": LOST}
    assert unknown(ask(PROBES["bmc_cpu"], GB200, {**lost, f"{HOSTS[GB200]}/Processors": EMPTY})["bmc.cpu"], "no answer")
    assert ask(PROBES["bmc_boot"], GB200, dict(lost))["bmc.boot.first"] == "Boot0011"


def test_only_probes_of_parts_read_the_processors_of_a_board() -> None:
    held = read(GB200, None, *CHOOSING, "bmc_memory").bodies
    noted = Noted(held)
    collect([PROBES[each] for each in CHOOSING], BmcCapture(noted))
    assert decides(set(noted.seen)) == set()
    collect([PROBES["bmc_memory"]], BmcCapture(noted))
    assert f"{BOARD}/Processors" in noted.seen
