"""What mlxfwmanager prints for one device's flash."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.nic import mlxfwmanager

HEAD = "Device #1:\n----------\n\n"
ROWS = (
    "  Part Number:      MCX75310AAS-NEA_Ax   ",
    "     FW             28.43.1014     N/A",
    "     PXE            3.7.0500       N/A",
)


def test_the_running_firmware_of_a_recorded_device_is_distinguished_from_the_flashed_one() -> None:
    head, first, *_ = re.split(r"^(?=Device #)", shared_text("infiniband/mlxup-query.txt"), flags=re.MULTILINE)
    values = mlxfwmanager.device(head + first)
    assert values["Part Number"] == "MCX4121A-ACA_Ax"
    assert (values["FW"], values["FW (Running)"], values["UEFI"]) == ("14.27.1016", "14.27.1016", "14.20.0019")


def test_the_version_that_is_there_is_read_and_not_the_one_that_could_be() -> None:
    values = mlxfwmanager.device(
        f"{HEAD}     FW             14.27.1016     14.28.2007\n     PXE            N/A        3.6.0102\n"
    )
    assert values == {"FW": "14.27.1016"}


def test_what_a_flash_does_not_have_is_absent_but_its_firmware_is_then_not_known() -> None:
    values = mlxfwmanager.facts(f"{HEAD}{ROWS[0]}\n")
    assert tuple(values) == tuple(mlxfwmanager.LEAVES)
    assert values["part"] == "MCX75310AAS-NEA_Ax"
    assert values["pxe"] == Absent("no PXE")
    assert values["firmware"] == Unknown(Reason.UNPARSABLE, "no FW: the flash could not be read")


@pytest.mark.parametrize(("text", "devices"), [("-E- No devices found\n", 0), (HEAD * 2, 2), ("", 0)])
def test_an_answer_for_one_device_lists_exactly_one(text: str, devices: int) -> None:
    with pytest.raises(Unreadable, match=f"{devices} devices in the answer, expected 1"):
        mlxfwmanager.device(text)


@given(
    st.text()
    | st.lists(st.sampled_from((*ROWS, "Device #2:")) | st.text(), max_size=9).map(lambda r: HEAD + "\n".join(r))
)
def test_nonsense_is_a_device_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        assert all(mlxfwmanager.device(text).values())
