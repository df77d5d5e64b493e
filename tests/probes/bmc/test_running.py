"""The running BIOS and BMC: from system and manager, else from the firmware inventory, and never guessed."""

from typing import Any

import pytest
from one_probe import ask
from trees import (
    BLUEFIELD,
    DELL,
    DGX,
    GB200,
    HPE_AMD,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    bmc_probes,
    completed,
    readings,
    resource,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import wanted
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.parse.bmc.running import version_of
from rackcheck.probe.collect import collect
from rackcheck_probes.bmc.identity import bmc_identity
from rackcheck_probes.bmc.running import bmc_running

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"


def of(name: str, bodies: dict[str, Any]) -> dict[str, Reading]:
    """The running versions of a recorded BMC with some of its bodies replaced."""
    capture = BmcCapture(completed(name, bmc_running.ask.links, bodies))
    return {path: leaf.reading for path, leaf in collect([bmc_running], capture).items()}


def without(name: str, *uris: str, **more: object) -> dict[str, Any]:
    """The bodies of these URIs without their versions."""
    lost = ("BiosVersion", "FirmwareVersion")
    return {uri: {k: v for k, v in resource(name, uri).items() if k not in lost} | more for uri in uris}


@pytest.mark.parametrize("version", [None, "", "null"])
def test_a_version_that_is_null_now_is_not_replaced_by_another_spelling_of_the_inventory(version: str | None) -> None:
    """Just after its restart a BMC may return null for what it reports as `iLO 5 v2.72`: 2.72 Sep 04 2022 is no change."""
    lost = {"BiosVersion": version, "FirmwareVersion": version}
    uris = ("/redfish/v1/Systems/1", "/redfish/v1/Managers/1")
    found = of(HPE_AMD, {uri: {**resource(HPE_AMD, uri), **lost} for uri in uris})
    assert isinstance(found["firmware.bios"], Unknown)
    assert isinstance(found["firmware.bmc"], Unknown)


@pytest.mark.parametrize(
    ("name", "bios", "bmc"),
    [
        (GB200, "buildbrain-gcid-38635631", "GB200Nvl-24.12-8"),
        (BLUEFIELD, "4.9.0-46-g7e3911bd4d", "BF-24.10-10"),
        (DGX, "1.1.3", "23.11.20"),
    ],
)
def test_the_inventory_names_what_the_system_does_not(name: str, bios: str, bmc: str) -> None:
    assert (readings(name)["firmware.bios"], readings(name)["firmware.bmc"]) == (bios, bmc)


def test_a_machine_without_a_bios_in_its_inventory_has_an_unknown_bios() -> None:
    assert isinstance(readings(NVSWITCH)["firmware.bios"], Unknown)


def test_no_inventory_is_requested_if_system_and_manager_report_versions() -> None:
    assert not any(INVENTORY in uri for uri in completed(DELL, bmc_running.ask.links, {}))
    assert any(INVENTORY in uri for uri in completed(GB200, bmc_running.ask.links, {}))


@pytest.mark.parametrize(
    ("name", "system", "manager", "bios", "bmc"),
    [
        (SUPERMICRO, "Systems/1", "Managers/1", "1.4", "11.01.01"),
        (LENOVO, "Systems/1", "Managers/1", "22J-1.51", "42S-2.83"),
        (DELL, "Systems/System.Embedded.1", "Managers/iDRAC.Embedded.1", "1.8.2", "6.00.30.00"),
    ],
)
def test_the_active_image_counts_and_no_copy(name: str, system: str, manager: str, bios: str, bmc: str) -> None:
    found = of(name, without(name, f"/redfish/v1/{system}", f"/redfish/v1/{manager}"))
    assert (found["firmware.bios"], found["firmware.bmc"]) == (bios, bmc)


def test_the_version_in_a_sentence_of_the_inventory_is_the_one_that_the_system_reports() -> None:
    bare = without(SUPERMICRO, "/redfish/v1/Systems/1")
    assert of(SUPERMICRO, bare)["firmware.bios"] == readings(SUPERMICRO)["firmware.bios"] == "1.4"
    image = resource(SUPERMICRO, f"{INVENTORY}/BIOS")
    for odd in ("BIOS Date: 08/04/2023", "BIOS Date: 08/04/2023 Ver 1.4 beta", "Ver 1.4"):
        bodies = bare | {f"{INVENTORY}/BIOS": {**image, "Version": odd}}
        assert of(SUPERMICRO, bodies)["firmware.bios"] == odd


def doubled(version: str, **manager: object) -> Reading:
    """The BMC version of a recorded Supermicro whose backup image is listed like the running one."""
    backup = resource(SUPERMICRO, f"{INVENTORY}/Backup_BMC")
    bodies = without(SUPERMICRO, "/redfish/v1/Managers/1", **manager)
    bodies[f"{INVENTORY}/Backup_BMC"] = {**backup, "Id": "BMC2", "Name": "BMC image", "Version": version}
    return of(SUPERMICRO, bodies)["firmware.bmc"]


def test_of_several_images_the_manager_names_the_active_one() -> None:
    assert doubled("11.01.00") == "11.01.01"
    second = {"ActiveSoftwareImage": {"@odata.id": f"{INVENTORY}/Backup_BMC"}}
    assert doubled("11.01.00", Links=second) == "11.01.00"


def test_several_images_without_a_named_one_are_unknown_and_both_named() -> None:
    found = doubled("11.01.00", Links={})
    assert isinstance(found, Unknown)
    assert all(text in found.detail for text in ("BMC: 11.01.01", "BMC2: 11.01.00"))
    assert doubled("11.01.01", Links={}) == "11.01.01"


def test_a_manager_that_could_not_be_read_is_not_replaced_by_the_inventory() -> None:
    lost = Unknown(Reason.TIMEOUT, "no answer")
    found = of(SUPERMICRO, {"/redfish/v1/Managers/1": lost, "/redfish/v1/Systems/1": lost})
    assert (found["firmware.bmc"], found["firmware.bios"]) == (lost, lost)


def test_an_inventory_that_could_not_be_read_names_nothing() -> None:
    bodies = without(SUPERMICRO, "/redfish/v1/Systems/1", "/redfish/v1/Managers/1", Links={})
    bodies[f"{INVENTORY}/BIOS"] = Unknown(Reason.TIMEOUT, "no answer")
    found = of(SUPERMICRO, bodies)
    assert isinstance(found["firmware.bmc"], Unknown)
    assert isinstance(found["firmware.bios"], Unknown)


def test_a_service_without_systems_reports_its_manager() -> None:
    root = {name: value for name, value in resource(SUPERMICRO, "/redfish/v1").items() if name != "Systems"}
    assert of(SUPERMICRO, {"/redfish/v1": root})["firmware.bmc"] == "11.01.01"


def test_every_link_is_followed_to_its_end() -> None:
    assert "bmc_running" in bmc_probes()
    assert wanted(bmc_running.ask.links, completed(GB200, bmc_running.ask.links, {})) == {}


def test_components_that_cannot_be_distinguished_leave_only_the_version_from_the_inventory_unknown() -> None:
    """Two forged Ids look like the extended name of a component."""
    bodies = without(SUPERMICRO, "/redfish/v1/Systems/1")
    forged = {"BIOS": "x", "BMC": "x", "Backup_BMC": "x:BMC", "Backup_BIOS": f"x:BMC:{INVENTORY}/BMC"}
    for name, id_ in forged.items():
        bodies[f"{INVENTORY}/{name}"] = {**resource(SUPERMICRO, f"{INVENTORY}/{name}"), "Id": id_}
    found = of(SUPERMICRO, bodies)
    assert found["firmware.bios"] == Unknown(
        Reason.UNPARSABLE, "items of this BMC cannot be distinguished by their names"
    )
    assert found["firmware.bmc"] == "11.01.01"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("BIOS Date: 03/12/2020 Ver 1.4", "1.4"),
        ("BIOS Date:03/12/2020 Ver: 1.4b", "1.4b"),
        ("Build Date 2020-03-12, Version 1.4.2", "1.4.2"),
        ("Version: 1.4 Date: 03/12/2020", "1.4"),
        ("Rev. 3.2 Build Date: 03/12/2020", "3.2"),
        # Not composed of a labelled date and a labelled version: the text is the version.
        *((text, text) for text in ("U72 v1.34 (04/18/2025)", "A42 v2.60 (08/11/2022)", "1.4", "03/12/2020")),
        *((text, text) for text in ("FRU Ver 0.01", "BIOS Date: 03/12/2020", "Ver 1.4", "X Date: 03/12/2020 Ver 1.4")),
        *((text, text) for text in ("BIOS Date: 03/12/2020 Ver 1.4 Ver 1.5", "BIOS Date: today Ver 1.4")),
    ],
)
def test_only_a_text_of_a_labelled_date_and_version_is_split(text: str, version: str) -> None:
    assert version_of(text) == version


def test_the_version_of_a_composite_text_is_given_wherever_the_running_version_is() -> None:
    system = {**resource(SUPERMICRO, "/redfish/v1/Systems/1"), "BiosVersion": "BIOS Date: 03/12/2020 Ver 1.4"}
    bodies = {"/redfish/v1/Systems/1": system}
    assert of(SUPERMICRO, bodies)["firmware.bios"] == "1.4"
    assert ask(bmc_identity, SUPERMICRO, bodies)["bmc.system/1.bios_version"] == "1.4"


def test_an_active_image_that_the_inventory_does_not_list_leaves_the_version_unknown() -> None:
    """The other image is the one that the manager states not to run."""
    manager = "/redfish/v1/Managers/1"
    active = {"Links": {"ActiveSoftwareImage": {"@odata.id": f"{INVENTORY}/NotListed"}}}
    found = of(SUPERMICRO, without(SUPERMICRO, manager, **active))
    assert isinstance(found["firmware.bmc"], Unknown)


def test_a_long_text_is_not_searched_for_a_version() -> None:
    assert version_of("ver" + " " * 1_000_000 + "!") == "ver" + " " * 1_000_000 + "!"
