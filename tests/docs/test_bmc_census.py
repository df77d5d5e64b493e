"""The census of recorded BMCs: its page has the numbers that the census counts, and a wrong fact is found."""

import importlib.util
import sys
from functools import cache
from types import ModuleType

import pytest
from places import ROOT
from trees import DELL, DMTF, HPE_AMD, SUPERMICRO

PAGE = ROOT / "docs" / "reference" / "bmc-census.md"


@cache
def census() -> ModuleType:
    """The module of the census, which is no package."""
    path = ROOT / "benchmarks" / "bmc_census.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(path.parent))  # as if it ran as a script: it drops its folder
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


@pytest.mark.parametrize("name", [DELL, HPE_AMD, DMTF])
def test_the_page_has_the_numbers_of_the_census(name: str) -> None:
    counts, _ = census().census(name)
    listed = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {name} ")]
    assert listed == list(census().rows(name, counts))


def test_the_page_promises_most_properties_and_no_different_value() -> None:
    cells = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| all trees ")]
    total = {row[2].strip(): [float(cell.strip(" %")) for cell in row[3:7]] for row in cells}
    assert total["all"][1] == 0
    assert total["all"][3] >= 95
    assert set(total) == {*census().WANTED, "all"}


def test_a_fact_with_another_value_is_different_and_one_without_a_value_is_missing() -> None:
    part = census().Part("CPU", "/redfish/v1/Systems/1/Processors/1", {"TotalCores": 32})
    source = "/redfish/v1/systems/1/processors/1#/totalcores"
    for readings, expected in (([32], "given"), ([31], "different"), ([31, 32], "given"), ([], "missing")):
        assert census().judged([part], "TotalCores", 32, {source: readings}) == expected


def test_a_placeholder_and_an_empty_slot_are_not_counted() -> None:
    made = census().Part
    assert list(census().values(made("CPU", "/1", {"Model": "N/A", "TotalCores": 0, "SerialNumber": "000"}))) == []
    vacant = {"Model": "x", "Status": {"State": "Absent", "Health": "OK"}}
    assert list(census().values(made("CPU", "/1", vacant))) == [("Status.State", "Absent")]


def test_parts_with_the_same_placeholder_are_not_the_same_part() -> None:
    made = census().Part
    parts = [made("DIMM", "/1", {"SerialNumber": "N/A"}), made("DIMM", "/2", {"SerialNumber": "N/A"})]
    assert [len(group) for group in census().alike(parts).values()] == [1, 1]
    parts = [made("drive", "/1", {"SerialNumber": "S1"}), made("drive", "/2", {"SerialNumber": "S1"})]
    assert [len(group) for group in census().alike(parts).values()] == [2, 2]


def test_the_census_reads_the_tree_itself() -> None:
    found = census().bodies(SUPERMICRO)
    kinds = [part.kind for part in census().parts(found)]
    assert (kinds.count("DIMM"), kinds.count("GPU"), kinds.count("power supply")) == (32, 8, 8)
