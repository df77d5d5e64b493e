"""Docker's answers: only requested settings are read, and a value other than true and false is not false."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.os import docker

TEXTS, FLAGS = ("data-root", "storage-driver"), ("live-restore",)


def recorded_rows(probe: str) -> list[str]:
    capture, _ = recorded(OURS / probe / "written.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    return output.out.splitlines()[:-1]


def test_recorded_pieces_are_texts_flags_an_option_and_a_runtime() -> None:
    texts = ("default-runtime", "storage-driver", "data-root", "log-driver", "default-shm-size")
    found = docker.settings(recorded_rows("docker_config"), texts=texts, flags=("live-restore", "cdi"))
    assert found["data-root"] == "/raid/docker"
    assert (found["live-restore"], found["cdi"], found[docker.NVIDIA_RUNTIME]) == (True, True, True)
    assert found[docker.CGROUP_DRIVER] == "systemd"
    assert len(found) == 9


def test_of_a_repeated_setting_the_last_counts_and_of_a_repeated_line_the_first() -> None:
    twice = ['"data-root": "/a"', '"data-root" : "/b"']
    assert docker.settings(twice, texts=TEXTS, flags=FLAGS) == {"data-root": "/b"}
    assert docker.info([" Server Version: 26.1.4", "Server Version: 1"]) == {"Server Version": "26.1.4"}


@pytest.mark.parametrize(
    "row", ["", '"registry": "x"', '"data-root": /a', '"live-restore": "true"', '"nvidia": true', "data-root: a"]
)
def test_a_piece_that_is_no_setting_of_ours_is_unreadable(row: str) -> None:
    with pytest.raises(Unreadable):
        docker.settings([row], texts=TEXTS, flags=FLAGS)


def test_recorded_lines_of_docker_info_are_numbers_names_and_words() -> None:
    found = docker.info(recorded_rows("docker_info"))
    values = {name: docker.shown(name, value) for name, value in found.items()}
    assert values["Cgroup Version"] == 2
    assert values["Runtimes"] == ("io.containerd.runc.v2", "nvidia", "runc")
    assert values["Live Restore Enabled"] is False
    assert values["Server Version"] == "26.1.4"


PIECES = [
    '"data-root": "/a"',
    '"live-restore": maybe',
    '"native.cgroupdriver=x"',
    '"nvidia": {',
    " Runtimes: a b",
    "Cgroup Version: x",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(), max_size=5))
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        assert set(docker.settings(rows, texts=TEXTS, flags=FLAGS)) <= {
            *TEXTS,
            *FLAGS,
            docker.CGROUP_DRIVER,
            docker.NVIDIA_RUNTIME,
        }
    except Unreadable:
        pass
    try:
        for name, value in docker.info(rows).items():
            docker.shown(name, value)
    except Unreadable:
        pass
