"""Version output of container tools: a tool that is missing, that fails, and that prints something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.os.tool_versions import TOOLS, versions


@pytest.mark.parametrize(
    ("row", "version"),
    [
        ("docker Docker version 26.1.4, build 5650f9b", "26.1.4"),
        ("containerd containerd containerd.io 1.6.33 d2d58213f83a351ca8f528a95fbd145f5654e957", "1.6.33"),
        (
            "containerd containerd github.com/containerd/containerd v1.7.2 0cae528dd6cb557f7201036e9f43420650207b58",
            "1.7.2",
        ),
        ("runc runc version 1.1.12-0ubuntu2~22.04.1", "1.1.12-0ubuntu2~22.04.1"),
        ("runc runc version 1.1.4+dev", "1.1.4"),
        ("kubelet Kubernetes v1.29.3", "1.29.3"),
        ("nvidia-ctk NVIDIA Container Toolkit CLI version 1.15.0", "1.15.0"),
        ("nvidia-container-cli cli-version: 1.15.0", "1.15.0"),
    ],
)
def test_a_tools_first_line_gives_its_version_without_what_a_builder_appends(row: str, version: str) -> None:
    assert list(versions([row])) == [(row.partition(" ")[0], version)]


def test_a_missing_tool_is_absent_and_one_that_fails_or_prints_anything_else_is_unknown() -> None:
    values = dict(versions(["none crio", "fails runc", "docker podman version 4.9.3"]))
    assert values == {
        "crio": Absent("no crio in PATH"),
        "runc": Unknown(Reason.NOT_COLLECTED, "runc --version failed"),
        "docker": Unknown(Reason.UNPARSABLE, "docker printed 'podman version 4.9.3'"),
    }


@pytest.mark.parametrize("row", ["", "podman podman version 4.9.3", "none podman", "fails"])
def test_a_row_of_no_tool_of_ours_ends_the_reading_after_those_before_it(row: str) -> None:
    walk = versions(["none crio", row])
    assert next(walk)[0] == "crio"
    with pytest.raises(Unreadable, match="unknown tool"):
        next(walk)


@given(st.lists(st.tuples(st.sampled_from(["none", "fails", *TOOLS, "x"]), st.sampled_from(["", *TOOLS]) | st.text())))
def test_nonsense_is_read_or_unreadable(rows: list[tuple[str, str]]) -> None:
    try:
        for tool, reading in versions([" ".join(row) for row in rows]):
            assert tool in TOOLS
            assert isinstance(reading, str | Absent | Unknown)
    except Unreadable:
        pass
