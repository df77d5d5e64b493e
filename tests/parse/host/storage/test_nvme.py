"""The byte of active firmware of an NVMe drive: the current slot, and the slot after the next reset."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown
from rackcheck.parse.host.storage import nvme

DENIED = Unknown(Reason.DENIED, "sudo: a password is required")


def warning_text(byte: object, name: str = "nvme0") -> str:
    return json.dumps(
        {name: {"Active Firmware Slot (afi)": byte, "Firmware Rev Slot 1": "4913481276801305153 (ABCDF)"}}
    )


@pytest.mark.parametrize(
    ("byte", "running", "pending"),
    [(0x01, 1, False), (0x21, 1, True), (0x11, 1, False), (0x72, 2, True), (0x00, 0, False), ("33", 1, True)],
)
def test_another_slot_waits_only_if_it_is_named_and_not_the_running_one(
    byte: object, running: int, pending: bool
) -> None:
    assert nvme.slots(warning_text(byte), "nvme0") == nvme.Slots(running, pending)


def test_a_log_of_another_device_or_without_the_byte_is_unknown() -> None:
    other, without = nvme.slots(warning_text(1, "nvme1"), "nvme0"), nvme.slots('{"nvme0": {}}', "nvme0")
    assert other.running == other.pending == Unknown(Reason.UNPARSABLE, "no 'nvme0'")
    assert without.running == Unknown(Reason.NOT_COLLECTED, "no 'Active Firmware Slot (afi)'")


def test_a_drive_that_was_not_queried_keeps_its_reason() -> None:
    assert nvme.slots(DENIED, "nvme0") == nvme.Slots(DENIED, DENIED)


@given(st.text() | st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()).map(warning_text))
def test_nonsense_is_a_slot_or_unknown(text: str) -> None:
    slots = nvme.slots(text, "nvme0")
    assert isinstance(slots.running, Unknown) or 0 <= slots.running <= 7
