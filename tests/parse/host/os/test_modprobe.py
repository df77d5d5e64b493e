"""Lines of modprobe.d and modules-load.d: parameters of modules, and which are loaded, kept back or forbidden."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.parse.host.os import modprobe

OURS = re.compile(r"nvidia(_\w{1,40})?|mlx5_core")


def options(*rows: str) -> dict[str, str]:
    return modprobe.options(rows, OURS)


def test_parameters_are_grouped_by_module_and_the_last_of_duplicates_counts() -> None:
    given_twice = ("options nvidia NVreg_EnableGpuFirmware=1 NVreg_Foo=2", "options nvidia NVreg_Foo=0")
    assert options(*given_twice) == {"nvidia.NVreg_EnableGpuFirmware": "1", "nvidia.NVreg_Foo": "0"}


def test_dashes_of_a_module_are_the_kernels_underscores() -> None:
    assert options("options nvidia-drm modeset=1") == {"nvidia_drm.modeset": "1"}


def test_quotes_keep_a_value_with_blanks_together() -> None:
    row = 'options nvidia NVreg_RegistryDwords="PeerMappingOverride=1; RMSetX=2" NVreg_Y=1'
    assert options(row) == {"nvidia.NVreg_RegistryDwords": "PeerMappingOverride=1; RMSetX=2", "nvidia.NVreg_Y": "1"}


@pytest.mark.parametrize(
    "row", ["", "options nvidia", "options snd_hda_intel power_save=1", "install nvidia a=b", "options nvidia =1 a-b=2"]
)
def test_other_modules_other_lines_and_words_without_a_name_are_left_out(row: str) -> None:
    assert options(row) == {}


@given(
    st.lists(
        st.text() | st.lists(st.sampled_from(["options", "nvidia", "a=b", '"', "=", 'x="y z"', "-"])).map(" ".join)
    )
)
def test_nonsense_gives_names_of_our_modules_only(rows: list[str]) -> None:
    assert all(re.fullmatch(r"(nvidia\w*|mlx5_core)\.\w{1,80}", name) for name in options(*rows))


def test_modules_are_named_as_the_kernel_spells_them_each_once_in_order() -> None:
    assert modprobe.autoload(["nvidia-uvm", "; lp", "ib_umad", "nvidia_uvm", ""]) == ("ib_umad", "nvidia_uvm")
    assert modprobe.blacklisted(["blacklist nouveau", "blacklist snd-hda", "blacklist"]) == ("nouveau", "snd_hda")


def test_a_module_is_forbidden_only_where_a_program_that_does_nothing_is_run_instead() -> None:
    rows = [
        "install nouveau /bin/false",
        "install lp /usr/bin/true",
        "install sd /sbin/modprobe -i sd",
        "install cramfs",
    ]
    assert modprobe.forbidden(rows) == ("lp", "nouveau")


@given(
    st.lists(
        st.lists(st.one_of(st.sampled_from(("install ", "blacklist ", "a-b ", "/bin/true", ";")), st.text())).map(
            "".join
        )
    )
)
def test_nonsense_names_modules_without_dashes(rows: list[str]) -> None:
    for names in (modprobe.autoload(rows), modprobe.blacklisted(rows), modprobe.forbidden(rows)):
        assert not any("-" in name for name in names)
