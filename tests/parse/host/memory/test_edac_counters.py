"""Memory error counters: each place once, as the driver lists modules, ranks, or rows with their channels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.memory import edac_counters

MC = "/sys/devices/system/edac/mc"


def files(*names: str) -> Files:
    return Files({f"{MC}/{name}": "1\n" for name in names}, {})


def names(found: Files) -> list[str]:
    numbers = edac_counters.controllers(found, ["mc_name"])
    return [f"{one.controller}:{one.name}" for one in edac_counters.counted(found, numbers)]


def test_recorded_ranks_stand_for_modules() -> None:
    capture, _ = recorded(OURS / "edac_dimms" / "ranks.json")
    found = list(
        edac_counters.counted(
            Files(capture.files, {}), edac_counters.controllers(Files(capture.files, {}), ["mc_name"])
        )
    )
    assert found[0] == edac_counters.Counted("0", "rank0", "module", f"{MC}/mc0/rank0", f"{MC}/mc0/rank0/dimm_")
    assert all(one.kind == "module" for one in found)


def test_rows_are_left_out_where_modules_are_listed() -> None:
    both = ("mc0/mc_name", "mc0/dimm0/dimm_ce_count", "mc0/csrow0/ce_count", "mc0/csrow0/ch0_ce_count")
    assert names(files(*both)) == ["0:dimm0"]
    assert names(files(*(both[0], *both[2:]))) == ["0:csrow0", "0:csrow0:ch0"]


def test_each_controller_is_read_in_its_own_layout() -> None:
    value = files(
        "mc0/mc_name", "mc1/mc_name", "mc0/dimm3/dimm_ce_count", "mc1/csrow2/ce_count", "mc1/csrow2/ch1_ce_count"
    )
    assert names(value) == ["0:dimm3", "1:csrow2", "1:csrow2:ch1"]


def test_a_controller_of_no_number_is_none() -> None:
    assert edac_counters.controllers(files("mc0/mc_name", "mcx/mc_name", "mc99999/mc_name"), ["mc_name"]) == {"0"}


def test_counts_before_an_unlistable_folder_are_kept() -> None:
    contents = {f"{MC}/mc0/mc_name": "x\n", f"{MC}/mc0/dimm0/dimm_ce_count": "0\n"}
    rank = edac_counters.MODULES[1] + "/dimm_ce_count"
    walk = edac_counters.counted(Files(contents, {rank: Unknown(Reason.DENIED, "no")}), {"0"})
    assert next(walk).name == "dimm0"
    with pytest.raises(Unreadable):
        next(walk)


PLACES = st.builds(
    "{}/{}/{}".format,
    st.sampled_from(["mc0", "mc1", "mcx"]),
    st.sampled_from(["dimm0", "rank1", "csrow0", "dimm", "csrow²", "rank12345"]),
    st.sampled_from(["dimm_ce_count", "ce_count", "ch0_ce_count", "chx_ce_count", "ch_ce_count"]),
)


@given(st.sets(PLACES, max_size=8))
def test_no_item_is_listed_twice_and_each_has_a_number(places: set[str]) -> None:
    found = names(files("mc0/mc_name", "mc1/mc_name", *places))
    assert len(found) == len(set(found))
    assert all(name[0] in "01" and "²" not in name and "x" not in name for name in found)
