"""GPUs and NICs compared with each other: the nearest by name, their distance, and rails of one of each."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.probe.pairing import distance, nearest_named, rail
from rackcheck.probe.pcie_near import PcieLocations

LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
NONE = Absent("no PCI device")
TOP = Absent("on a root bus")
PLACES = PcieLocations(
    upstream={"gpu": "port", "near": "port", "port": "root", "root": TOP, "far": "other", "other": TOP},
    host_bridge=dict.fromkeys(("gpu", "near", "port", "root"), "0000:00") | {"far": "0000:80", "other": "0000:80"},
    numa=dict.fromkeys(("gpu", "near", "port", "root"), 0) | {"far": 1, "other": 1},
)


def test_the_nearest_are_named_with_how_far_they_are() -> None:
    others: dict[str, Reading] = {"mlx5_0": "far", "mlx5_1": "near", "mlx5_2": "near", "mlx5_3": NONE}
    found = nearest_named("gpu", others, None, PLACES)
    assert found == ("mlx5_1", "mlx5_2")
    assert distance("gpu", found, others, PLACES) == "PIX"
    assert distance("gpu", ("mlx5_0",), others, PLACES) == "SYS"


def test_where_there_are_none_the_nearest_are_none_and_no_distance_away() -> None:
    assert nearest_named("gpu", {}, None, PLACES) == ()
    assert isinstance(distance("gpu", (), {}, PLACES), Absent)


def test_one_whose_place_is_not_known_or_that_is_hidden_might_be_the_nearest() -> None:
    assert nearest_named("gpu", {"mlx5_0": "near", "mlx5_1": LOST}, None, PLACES) == LOST
    assert nearest_named("gpu", {"mlx5_0": "near"}, LOST, PLACES) == LOST


INDEX: dict[str, Reading] = {"3": 3, "4": 4}


def test_a_rail_is_one_gpu_and_one_nic_that_are_each_others_nearest() -> None:
    assert rail("mlx5_0", ("3",), {"3": ("mlx5_0",)}, INDEX) == 3
    assert isinstance(rail("mlx5_0", ("3",), {"3": ("mlx5_0", "mlx5_1")}, INDEX), Absent)
    assert isinstance(rail("mlx5_0", ("3", "4"), {"3": ("mlx5_0",), "4": ("mlx5_0",)}, INDEX), Absent)
    assert isinstance(rail("mlx5_0", ("3",), {"3": ("mlx5_1",)}, INDEX), Absent)


def test_a_rail_that_hangs_on_something_unknown_is_unknown() -> None:
    assert rail("mlx5_0", LOST, {}, INDEX) == LOST
    assert rail("mlx5_0", ("3",), {"3": LOST}, INDEX) == LOST


@given(
    st.sampled_from(["gpu", "near", "nowhere", NONE, LOST]),
    st.dictionaries(st.text(max_size=3), st.sampled_from(["far", "near", "nowhere", NONE, LOST]), max_size=4),
)
def test_whatever_the_addresses_are_the_nearest_are_some_of_the_others_or_why_not(
    address: Reading, others: dict[str, Reading]
) -> None:
    found = nearest_named(address, others, None, PLACES)
    assert set(found) <= set(others) if isinstance(found, tuple) else isinstance(found, Absent | Unknown)
    assert isinstance(distance(address, found, others, PLACES), str | Absent | Unknown)
    for name in others:
        assert isinstance(rail(name, found, others, INDEX), int | Absent | Unknown | str)
