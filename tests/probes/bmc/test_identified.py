"""Which machine a BMC manages: recorded ones by their signs, and ones that report less, other values, or two."""

import csv
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from one_probe import altered, ask, bodies, of
from trees import (
    ALL,
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    tree,
)

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.resource import ROOT, Body
from rackcheck.parse.bmc.identified import LINKS, fold, identify, table
from rackcheck_probes.bmc.identified import TABLE, bmc_identified

RAW: dict[str, Any] = json.loads((files("rackcheck_probes") / "systems.json").read_text("utf-8"))
LOST = Unknown(Reason.TIMEOUT, "no answer")
HOST = f"{ROOT}/Systems/DGX"


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def machine(system: Body, *chassis: Body, gpus: tuple[Body, ...] = (), **root: object) -> dict[str, Body | Unknown]:
    """A BMC with one system, these chassis and GPUs."""
    found: dict[str, Body | Unknown] = {
        ROOT: {"Systems": link(f"{ROOT}/Systems"), "Chassis": link(f"{ROOT}/Chassis"), **root}
    }
    host = {"Id": "1", "BiosVersion": "1", **system, "Processors": link(f"{ROOT}/Systems/0/Processors")}
    for place, members in (("Systems", (host,)), ("Chassis", chassis), ("Systems/0/Processors", gpus)):
        uri = f"{ROOT}/{place}"
        found[uri] = {"Members": [link(f"{uri}/{n}") for n in range(len(members))]}
        found |= {f"{uri}/{n}": body for n, body in enumerate(members)}
    return found


def identity_of(held: Mapping[str, Body | Unknown]) -> object:
    return of(bmc_identified, held)["node.identified"]


def gpu(model: object) -> dict[str, object]:
    return {"ProcessorType": "GPU", "Model": model}


@pytest.mark.parametrize(
    ("name", "expected", "sign"),
    [
        (DGX, "NVIDIA DGX H100", "Systems/*/Processors/* has 8 GPUs"),
        (SUPERMICRO, "Supermicro SYS-821GE-TNHR", "Chassis/*.Model is 'HGX_H100', 'X13DEG-OAD'"),
        (GB200, "NVIDIA GB200 NVL compute tray", "Systems/*/Processors/*.Model of a CPU is 'Grace A02'"),
        (NVSWITCH, "NVIDIA GB200 NVLink switch tray", "Systems/*.Model is 'N5110_LD'"),
        (BLUEFIELD, "NVIDIA BlueField-3", "Chassis/*.Model is 'BlueField-3 SmartNIC Main Card'"),
        (DELL, "Dell PowerEdge R750", "the root's Vendor is 'Dell'"),
        (HPE_AMD, "HPE ProLiant DL385 Gen10 Plus v2", "the root's Product is 'ProLiant DL385 Gen10 Plus v2'"),
        (HPE_INTEL, "HPE ProLiant Compute DL380a Gen12", "Chassis/*.Model is 'HPE ProLiant Compute DL380a Gen12'"),
        (LENOVO, "Lenovo ThinkSystem SR670 V2", "Systems/*.Model is 'ThinkSystem SR670 V2'"),
        (DELTA, "Delta AHE50V660A33KWR power shelf", "Chassis/*.Model is 'AHE50V660A33KWR'"),
    ],
)
def test_a_recorded_machine_is_identified_by_its_signs(name: str, expected: str, sign: str) -> None:
    found = ask(bmc_identified, name)
    assert found["node.identified"] == expected
    by = found["node.identified_by"]
    assert isinstance(by, tuple)
    assert sign in by
    assert len(by) >= 3


@pytest.mark.parametrize("name", [DMTF, X10])
def test_a_machine_that_no_row_fits_is_absent_and_has_no_signs(name: str) -> None:
    found = ask(bmc_identified, name)
    assert isinstance(found["node.identified"], Absent)
    assert found["node.identified_by"] == ()


@pytest.mark.parametrize("name", [each for each in ALL if each not in (DMTF, X10)])
def test_no_resource_that_is_lost_or_empty_makes_another_machine_of_it(name: str) -> None:
    held = bodies(bmc_identified, name)
    whole = identity_of(held)
    less: tuple[Body | Unknown, ...] = (LOST, {})
    changed = [identity_of(held | {uri: body}) for uri in held if uri != ROOT for body in less]
    assert [each for each in changed if each != whole and not isinstance(each, Unknown)] == []


@pytest.mark.parametrize("name", ALL)
def test_no_property_that_turns_silent_makes_another_machine_of_it(name: str) -> None:
    held = bodies(bmc_identified, name)
    whole = identity_of(held)
    for uri, body in held.items():
        for word in ("Model", "Manufacturer", "SKU", "PartNumber", "ProcessorType", "Vendor", "Product"):
            if isinstance(body, Mapping) and word in body:
                less = identity_of(held | {uri: {**body, word: None}})
                assert less == whole or isinstance(less, Unknown), f"{uri} {word}: {less}"


def test_one_product_string_alone_names_no_machine() -> None:
    for product in ("P3809", "GB200 NVL", "ProLiant DL385 Gen10 Plus v2"):
        held = machine({"Manufacturer": "Any", "Model": "Other"}, {"Model": "Other"}, Product=product)
        assert isinstance(identity_of(held), Absent)
    assert isinstance(identity_of(machine({"Manufacturer": "Any", "Model": "Other"}, {"Model": "N5110_LD"})), Absent)


def test_all_signs_of_one_resource_are_one_kind_of_sign() -> None:
    held = machine({"Manufacturer": "NVIDIA", "Model": "DGXH100", "SKU": "920-24387-2540-000"}, {"Model": "Other"})
    found = of(bmc_identified, held)
    assert isinstance(found["node.identified"], Absent)
    assert "NVIDIA DGX H100: Systems/*.Model is 'DGXH100'" in str(found["node.identified_by"])


def test_what_contradicts_is_named_beside_what_fits() -> None:
    uri = f"{ROOT}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_3"
    found = altered(bmc_identified, DGX, uri, Model="H200 141GB HBM3e")
    assert isinstance(found["node.identified"], Absent)
    sign = "NVIDIA DGX H100: against it: Systems/*/Processors/*.Model of a GPU is 'H200 141GB HBM3e'"
    assert isinstance(by := found["node.identified_by"], tuple)
    assert sign in by


def test_a_machine_of_another_maker_is_known_by_the_family_of_its_baseboard() -> None:
    eight = tuple(gpu("NVIDIA H100".removeprefix("NVIDIA ") + " 80GB  hbm3") for _ in range(8))
    held = machine({"Manufacturer": "Any", "Model": "Other"}, {"Model": "HGX_H100"}, gpus=eight)
    assert identity_of(held) == "HGX H100 8-GPU"
    fewer = machine({"Manufacturer": "Any", "Model": "Other"}, {"Model": "HGX_H100"}, gpus=eight[:7])
    assert identity_of(fewer) == "HGX H100 8-GPU"


def test_two_machines_that_both_fit_are_none_and_both_are_listed() -> None:
    rows = [{"name": name, "names": {"system.Model": ["X"]}, "fits": {"root.Vendor": ["V"]}} for name in ("a", "b")]
    found, by = identify(table({"machines": rows}), Documents(machine({"Model": "X"}, Vendor="V")))
    assert found == Absent("several known machines match: a or b")
    assert isinstance(by, tuple)
    assert {each[:2] for each in by} == {"a:", "b:"}


def test_gpus_that_do_not_report_their_model_leave_it_unknown() -> None:
    held = bodies(bmc_identified, DGX)
    uri = f"{ROOT}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1"
    body = held[uri]
    assert isinstance(body, Mapping)
    assert isinstance(identity_of(held | {uri: {**body, "Model": None}}), Unknown)
    assert isinstance(identity_of(held | {f"{ROOT}/Systems/HGX_Baseboard_0/Processors": LOST}), Unknown)


@pytest.mark.parametrize("odd", [7, [], {}, True, "x" * 100_000, "DGX\ufffdH100"])
def test_an_odd_model_identifies_nothing(odd: object) -> None:
    held = machine({"Manufacturer": "NVIDIA", "Model": odd}, {"Model": odd}, gpus=(gpu(odd),))
    found = of(bmc_identified, held)
    assert isinstance(found["node.identified"], (Absent, Unknown))
    assert len(str(found)) < 2000


def test_letter_case_and_blanks_do_not_count() -> None:
    assert fold(" PowerEdge  r750 ") == fold("poweredge R750")
    assert identity_of(machine({"Manufacturer": "DELL  inc.", "Model": "poweredge r750 "}, Vendor="dell")) == (
        "Dell PowerEdge R750"
    )


def test_the_table_holds_what_its_reader_expects() -> None:
    assert set(RAW) == {"about", "machines"}
    names = [row["name"] for row in RAW["machines"]]
    assert len(set(names)) == len(names) == len(TABLE)
    for row in RAW["machines"]:
        assert set(row) <= {"name", "within", "names", "fits", "must", "against", "sources"}
        assert row["names"]
        assert row["sources"]
        assert row.get("within", names[0]) in names
        signs = {**row["names"], **row.get("fits", {})}
        assert not set(row["names"]) & set(row.get("fits", {}))
        assert len({place.partition(".")[0] for place in signs}) >= 2
        assert {place.partition(".")[0] for place in signs} <= set(LINKS)
        assert {*row.get("must", ()), *row.get("against", ())} <= set(signs)
        assert all(words and all(isinstance(word, str) and word.strip() for word in words) for words in signs.values())


def test_every_fact_the_table_names_is_in_the_list_of_facts() -> None:
    place = tree(DGX).parents[1] / "facts" / "systems.csv"
    if not place.exists():
        pytest.skip("no list of facts beside the recordings")
    known = {row["id"] for row in csv.DictReader(place.open(encoding="utf-8"))}
    named = {source for row in RAW["machines"] for source in row["sources"] if source.startswith("SYS-")}
    assert named
    assert named <= known
