"""The list of installed packages: every one of them, what is held, and what only looks like a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.os import dpkg

PIECES = (
    "dpkg amd64\n",
    "rpm x86_64\n",
    "ii |",
    "hi |",
    "rc |",
    "iHR|",
    "adduser",
    "|",
    "all",
    "amd64",
    dpkg.END,
    "\n",
)


def answer(case: str) -> str:
    (output,) = recorded(OURS / "packages" / f"{case}.json")[0].commands.values()
    assert isinstance(output, Output)
    return output.out


def listed(*rows: str, head: str = "dpkg amd64") -> dpkg.Installed:
    return dpkg.installed("".join(f"{row}\n" for row in (head, *rows, dpkg.END)))


def test_every_package_of_a_recorded_machine_is_read() -> None:
    text = answer("debian-vm")
    found = dpkg.installed(text)
    assert (found.manager, found.native) == ("dpkg", "amd64")
    assert len(found.packages) == text.count("\nii ") + text.count("\nhi ") > 0
    assert dpkg.versions(found.packages, found.native)["adduser"] == ["3.134"]


def test_a_removed_package_whose_settings_are_left_is_not_installed_and_a_held_one_is() -> None:
    found = listed("hi |linux-image-5.15.0-1053-nvidia|amd64|5.15.0-1053.54", "rc |old|all|1", "un |never|amd64|")
    assert [(package.name, package.held, package.broken) for package in found.packages] == [
        ("linux-image-5.15.0-1053-nvidia", True, False)
    ]


@pytest.mark.parametrize("state", ["iU ", "iF ", "iH ", "iW ", "it ", "iiR"])
def test_a_package_that_is_not_wholly_installed_is_broken(state: str) -> None:
    assert [package.broken for package in listed(f"{state}|a|all|1").packages] == [True]


def test_rpms_keys_are_no_packages_and_several_kernels_are_several_versions_of_one() -> None:
    found = listed(
        "ii |gpg-pubkey|(none)|5-1", "ii |kernel|x86_64|5.14-1", "ii |kernel|x86_64|5.14-2", "ii |glibc|i686|2.34",
        head="rpm x86_64",
    )  # fmt: skip
    assert dpkg.versions(found.packages, found.native) == {"kernel": ["5.14-1", "5.14-2"], "glibc:i686": ["2.34"]}


@pytest.mark.parametrize(
    "text",
    ["", f"dpkg amd64\n{dpkg.END}\n", "dpkg amd64\nii |a|all|1\n", f"pacman x\nii |a|all|1\n{dpkg.END}\n",
     f"dpkg amd64\nii |a|all|\n{dpkg.END}\n", f"dpkg amd64\nii |a b|all|1\n{dpkg.END}\n"],
)  # fmt: skip
def test_a_list_that_is_cut_empty_or_holds_something_else_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        dpkg.installed(text)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join), st.booleans())
def test_nonsense_is_a_list_or_unreadable(text: str, ended: bool) -> None:
    try:
        found = dpkg.installed(f"dpkg amd64\n{text}\n{dpkg.END}\n" if ended else text)
    except Unreadable:
        return
    assert all(package.name and package.version for package in found.packages)
    assert sum(map(len, dpkg.versions(found.packages, found.native).values())) == len(found.packages)
