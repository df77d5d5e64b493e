"""The table of mlxconfig: three values of each parameter, and lines that are no rows."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.nic import mlxconfig

HEAD = "Device type:    ConnectX7      \nName:           P3740  \n\nConfigurations:      Default      Current      Next Boot\n"
ROWS = (
    "        LINK_TYPE_P1      IB(1)     ETH(2)     ETH(2)  ",
    "*       SRIOV_EN        False(0)   True(1)   False(0)",
)
LEGEND = "The '*' shows parameters with next value different from default/current value."


def test_a_parameter_has_three_values_and_the_next_boot_changes_what_differs_from_the_current_one() -> None:
    found = mlxconfig.query(HEAD + "\n".join((*ROWS, LEGEND, "")))
    assert found.described == {"Device type": "ConnectX7", "Name": "P3740"}
    link, sriov = found.parameters
    assert (link.name, link.default, link.current, link.following) == ("LINK_TYPE_P1", "IB(1)", "ETH(2)", "ETH(2)")
    assert sriov.following == "False(0)"
    assert found.waiting == ("SRIOV_EN=False(0)",)


def test_a_function_has_its_leaves_and_two_for_each_parameter() -> None:
    values = mlxconfig.facts(HEAD + "\n".join((*ROWS, LEGEND, "")))
    assert values == {
        "model": "ConnectX7", "part": "P3740",
        "config/LINK_TYPE_P1.value": "ETH(2)", "config/LINK_TYPE_P1.default": "IB(1)",
        "config/SRIOV_EN.value": "True(1)", "config/SRIOV_EN.default": "False(0)",
        "config_waiting": ("SRIOV_EN=False(0)",),
    }  # fmt: skip


def test_the_dialogue_of_a_change_is_not_read_as_a_query() -> None:
    with pytest.raises(Unreadable, match="no table of default, current and next values"):
        mlxconfig.query(shared_text("infiniband/mlxconfig-set-cx7-igx.txt"))


@pytest.mark.parametrize("row", ["        LINK_TYPE_P1   IB(1)   ETH(2)", "-E- Failed", "        link_type  1 1 1"])
def test_a_row_that_is_no_parameter_is_not_passed_over(row: str) -> None:
    with pytest.raises(Unreadable, match="not a parameter"):
        mlxconfig.query(f"{HEAD}{ROWS[0]}\n{row}\n")


def test_a_table_without_end_is_not_read() -> None:
    with pytest.raises(Unreadable, match="lines"):
        mlxconfig.query(HEAD + f"{ROWS[0]}\n" * mlxconfig.LINES)


@given(
    st.text() | st.lists(st.sampled_from((*ROWS, LEGEND)) | st.text(), max_size=9).map(lambda r: HEAD + "\n".join(r))
)
def test_nonsense_is_a_table_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        found = mlxconfig.query(text)
        assert len(found.waiting) <= len(found.parameters)
