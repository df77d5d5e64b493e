"""The uptime, and the boot id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck_probes.boot import boot as proc_boot

PIECES = ("351735.47", " ", "234388.90", "0a1b2c3d", "-0a1b", "\n")


def test_a_recorded_machine_gives_its_uptime_and_its_boot_id() -> None:
    files = recorded(OURS / "boot" / "written.json")[0].files
    assert proc_boot.uptime(files["/proc/uptime"]) == float(files["/proc/uptime"].split()[0])
    place = "/proc/sys/kernel/random/boot_id"
    assert proc_boot.boot_id(files[place]) == files[place].strip()


@pytest.mark.parametrize("content", ["", "soon\n", "1e9 2\n", "1.5 2\n1.5 2\n"])
def test_what_is_no_uptime_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        proc_boot.uptime(content)


@pytest.mark.parametrize("content", ["", "0A1B2C3D-0000-0000-0000-000000000000\n", "0a1b2c3d-0000-0000-0000-00\n"])
def test_what_is_no_uuid_as_the_kernel_prints_it_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        proc_boot.boot_id(content)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    for reader in (proc_boot.uptime, proc_boot.boot_id):
        try:
            assert isinstance(reader(content), float | str)
        except Unreadable:
            continue
