"""The attribute registry of a BIOS: requested where names are opaque, found by name, and compared with our table."""

import json
from typing import Any

import pytest
from mockup_server import Mockup
from one_probe import of
from trees import ALL, BLUEFIELD, DELL, DGX, GB200, HPE_AMD, HPE_INTEL, LENOVO, SUPERMICRO, client, resource, tree

from rackcheck import Reason, Unknown
from rackcheck.model.fact import Reading
from rackcheck.model.resource import ROOT
from rackcheck.parse.bmc.bios_registry import displayed, unread
from rackcheck.transport import redfish
from rackcheck_probes.bmc.bios import TABLE, bmc_bios

PLACE = f"{ROOT}/Systems/1/Bios"
FILE = f"{ROOT}/Registries/BiosAttributeRegistry"
BODY = "/registries/BiosAttributeRegistry.1.0.0.json"


def opaque(**more: object) -> dict[str, object]:
    """The recorded Supermicro with attributes named by number, as some makers do; some bodies replaced."""
    body, registry = resource(SUPERMICRO, PLACE), resource(SUPERMICRO, BODY)
    given: dict[str, Any] = body["Attributes"]  # type: ignore[assignment]
    code = {name: f"SETUP{number:03}" for number, name in enumerate(given)}
    entries: dict[str, Any] = registry["RegistryEntries"]  # type: ignore[assignment]
    called = [e | {"AttributeName": code.get(e["AttributeName"], e["AttributeName"])} for e in entries["Attributes"]]
    return {
        PLACE: body | {"Attributes": {code[name]: value for name, value in given.items()}},
        BODY: registry | {"RegistryEntries": entries | {"Attributes": called}},
        **more,
    }


def visit(bodies: dict[str, object] | None = None, name: str = SUPERMICRO) -> tuple[dict[str, Reading], list[str]]:
    """What the probe reads, and which registries it requested."""
    with Mockup(tree(name), bodies=bodies) as server:
        capture, _ = redfish.read(client(server), bmc_bios.ask.links)
    return of(bmc_bios, capture.bodies), [uri for uri in server.gets if "egistr" in uri]


def known(found: dict[str, Reading]) -> dict[str, Reading]:
    settings = {f"bios.{name}" for name in TABLE}
    return {path: value for path, value in found.items() if path in settings and not isinstance(value, Unknown)}


@pytest.mark.parametrize("name", [name for name in ALL if name != BLUEFIELD])  # whose 28 attributes are its own
def test_no_registry_is_requested_where_names_suffice(name: str) -> None:
    with Mockup(tree(name), ignore_case=name == HPE_AMD) as server:
        redfish.read(client(server), bmc_bios.ask.links)
    assert not [uri for uri in server.gets if "egistr" in uri]


def test_attributes_without_known_names_are_known_by_what_the_registry_displays() -> None:
    found, asked = visit(opaque())
    assert asked == [f"{ROOT}/Registries", FILE, BODY]
    named, _ = visit()
    assert len(known(found)) >= 35
    assert all(named[path] == value for path, value in known(found).items())


def test_what_waits_is_known_by_what_is_displayed_as_well() -> None:
    bodies = opaque()
    setup: dict[str, Any] = bodies[PLACE]["Attributes"]  # type: ignore[index]
    shown = displayed(bodies[BODY])  # type: ignore[arg-type]
    turbo = next(name for name in setup if shown.get(name, "").strip() == "Turbo Mode")
    later = {"Id": "SD", "Attributes": {turbo: "Disable"}}
    found, _ = visit(bodies | {f"{PLACE}/SD": later})
    assert found["bios.turbo"] == "enabled"
    assert found["bios.pending/turbo"] == "disabled"


def locations(*languages: str) -> dict[str, object]:
    places = [{"Language": each, "Uri": BODY if each.startswith("en") else f"/{each}"} for each in languages]
    return {FILE: {"Id": "BiosAttributeRegistry", "Registry": "BiosAttributeRegistry.1.0.0", "Location": places}}


@pytest.mark.parametrize("languages", [("en",), ("ja", "en", "zh"), ("zh", "en-US")])
def test_of_several_languages_english_is_read(languages: tuple[str, ...]) -> None:
    found, asked = visit(opaque(**locations(*languages)))
    assert asked[-1] == BODY
    assert known(found)


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"Location": None},
        {"Location": [None, 3]},
        {"Location": [{"Uri": "https://elsewhere/registry"}]},
        {"Location": [{"Uri": 7}]},
        {"Location": [{"Language": "en", "Uri": "/registries/none"}]},
        {"Location": [{"Language": "en", "Uri": FILE}]},
        {"RegistryEntries": {"Attributes": "none"}},
        {"RegistryEntries": {"Attributes": [{"AttributeName": ["SETUP001"], "DisplayName": "Turbo Mode"}, 7, {}]}},
    ],
)
def test_an_odd_registry_leaves_settings_unknown_and_attributes_known(file: dict[str, object]) -> None:
    found, _ = visit(opaque(**{FILE: file}))
    assert not known(found)
    assert "bios.attribute/SETUP001" in found
    assert isinstance(found["bios.turbo"], Unknown)
    assert found["bios.turbo"].reason is Reason.NOT_COLLECTED


def test_a_registry_of_another_version_is_not_the_one_that_is_named() -> None:
    bios = opaque()[PLACE] | {"AttributeRegistry": "BiosAttributeRegistry.v9_9_9"}  # type: ignore[operator]
    found, asked = visit(opaque(**{PLACE: bios}))
    assert BODY not in asked
    assert not known(found)


def test_a_registry_that_does_not_know_every_attribute_is_of_another_bios() -> None:
    body: Any = opaque()[PLACE]
    bios = body | {"Attributes": body["Attributes"] | {"SETUP999": "Enabled"}}
    found, asked = visit(opaque(**{PLACE: bios}))
    assert BODY in asked
    assert not known(found)


def test_an_attribute_with_two_names_on_the_screen_has_none() -> None:
    twice = [{"AttributeName": "A", "DisplayName": name} for name in ("Turbo Mode", "Hyper-Threading")]
    registry = {"RegistryEntries": {"Attributes": [*twice, {"AttributeName": "B", "DisplayName": "x"}]}}
    assert displayed(registry) == {"B": "x"}


def test_a_registry_that_is_too_long_to_be_read_displays_nothing() -> None:
    entries = [{"AttributeName": f"A{n}", "DisplayName": "x"} for n in range(5001)]
    assert displayed({"RegistryEntries": {"Attributes": entries[:5000]}})
    assert not displayed({"RegistryEntries": {"Attributes": entries}})


def test_of_two_registries_of_which_neither_is_named_none_is_read() -> None:
    both = {"Members": [{"@odata.id": FILE}, {"@odata.id": f"{ROOT}/Registries/BiosAttributeRegistry.2"}]}
    bios = opaque()[PLACE] | {"AttributeRegistry": None}  # type: ignore[operator]
    found, asked = visit(opaque(**{f"{ROOT}/Registries": both, PLACE: bios}))
    assert asked == [f"{ROOT}/Registries"]
    assert not known(found)


@pytest.mark.parametrize(
    ("name", "place", "least"),
    [
        (SUPERMICRO, "registries/Bios*/index.json", 300),
        (DELL, "redfish/v1/Systems/*/Bios/BiosRegistry/index.json", 300),
        (LENOVO, "redfish/v1/schemas/registries/Bios*/index.json", 200),
        (GB200, "redfish/v1/Registries/BiosAttributeRegistry/BiosAttributeRegistry/index.json", 300),
        (HPE_AMD, "redfish/v1/registrystore/registries/en/biosattr*/index.json", 200),
        (HPE_INTEL, "redfish/v1/RegistryStore/registries/en/biosattr*/index.json", 300),
        (DGX, "redfish/v1/Registries/BiosAttributeRegistry113.en-US*/index.json", 200),
    ],
)
def test_every_value_that_a_recorded_registry_allows_is_read(name: str, place: str, least: int) -> None:
    registry = json.loads(next(tree(name).glob(place)).read_text("utf-8"))
    assert len(displayed(registry)) >= least
    left = [each for each in unread(TABLE, registry) if each not in LEFT]
    assert not left


LEFT = {
    ("c_states", "PackageCState", "C0/C1 state"),  # a package that stays awake does not keep cores from sleeping
    ("c_states", "PackageCState_3D25", "0"),
    ("uma_clustering", "UMA_BasedClustering_F301", "0"),
    ("power_restore", "PowerControlPolicy", "Unspecified"),
    *(
        ("workload_profile", "ApplicationProfile", profile)
        for profile in (
            *("General Computing", "Memory BandWidth", "Matrix Calculation"),
            *("Energy Efficiency", "Server Side Java", "OLTP"),
        )
    ),
}
"""Values of the DGX's registry without a neutral word; they stay unknown, with the BIOS's own words beside."""
