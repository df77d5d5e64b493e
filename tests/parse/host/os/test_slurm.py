"""Slurm's files and its controller's view of a node: what is set, what is hidden, and who wrote a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.os import slurm

FILES = ("slurm.conf", "cgroup.conf", "gres.conf")


def recorded_answer(probe: str) -> str:
    capture, _ = recorded(OURS / probe / "written.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    return output.out


def test_recorded_settings_are_found_in_any_case_of_their_names() -> None:
    first, *rows = recorded_answer("slurm").splitlines()[:-1]
    found = slurm.settings(rows, FILES)
    assert slurm.version(first) == "23.11.7"
    assert found.setting("slurm.conf", "SLURMDTimeout") == "300"
    assert found.setting("gres.conf", "AutoDetect") == "nvml"
    assert found.setting("cgroup.conf", "ConstrainSwapSpace") == Absent("not in cgroup.conf")
    assert [found.there(name) for name in (*FILES, "topology.conf")] == [True, True, True, False]


def test_a_file_that_is_hidden_is_not_known_and_one_that_is_not_there_is_absent() -> None:
    found = slurm.settings(["hidden slurm.conf", "== gres.conf", "hidden gres.conf"], FILES)
    assert found.there("slurm.conf") == found.setting("slurm.conf", "TaskPlugin") == slurm.HIDDEN
    assert (found.there("gres.conf"), found.setting("gres.conf", "AutoDetect")) == (True, slurm.HIDDEN)
    assert (found.there("cgroup.conf"), found.setting("cgroup.conf", "x")) == (False, Absent("no cgroup.conf"))


def test_what_a_file_includes_may_set_what_it_does_not_set_itself() -> None:
    found = slurm.settings(["== slurm.conf", "TaskPlugin=task/cgroup", " Include /etc/slurm/more.conf"], FILES)
    assert found.setting("slurm.conf", "TaskPlugin") == "task/cgroup"
    reading = found.setting("slurm.conf", "PrologFlags")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_READ_FURTHER


def test_a_recorded_node_has_its_state_its_partitions_and_no_reason() -> None:
    found = slurm.node(recorded_answer("slurm_node"))
    assert (found.state, found.marks, found.text("Gres")) == ("IDLE", (), "gpu:h100:8(S:0-1)")
    assert (found.names("Partitions"), found.names("ActiveFeatures")) == (("batch", "burnin"), ("h100", "ib"))
    assert found.reason == Absent("the controller reports no value")


def test_a_reason_is_anybodys_text_and_sets_no_field() -> None:
    text = "NodeName=n01 State=DOWN*+DRAIN+POWERED_DOWN\n   Partitions=(null)\n   Reason=was State=IDLE Gres=gpu:9 [root@x]\n"
    found = slurm.node(text)
    assert (found.state, found.marks) == ("DOWN", ("DRAIN", "NOT_RESPONDING", "POWERED_DOWN"))
    assert found.reason == "was State=IDLE Gres=gpu:9 [root@x]"
    assert found.names("Partitions") == Absent("the controller reports no value")


@pytest.mark.parametrize(
    "rows", [["TaskPlugin=a"], ["== topology.conf"], ["== slurm.conf", "no setting"], ["== slurm.conf", "a b=c"], [""]]
)
def test_a_line_that_is_no_setting_of_a_file_is_unreadable(rows: list[str]) -> None:
    with pytest.raises(Unreadable, match="not a setting of Slurm"):
        slurm.settings(rows, FILES)


ROWS = [
    "== slurm.conf",
    "hidden gres.conf",
    "a=b",
    "a= #",
    "include x",
    "NodeName=a",
    "State=",
    "State=+*",
    "=",
    " Reason=x y",
]


@given(st.lists(st.sampled_from(ROWS) | st.text(), max_size=8))
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        assert slurm.settings(rows, FILES).there("slurm.conf") in (True, False, slurm.HIDDEN)
    except Unreadable:
        pass
    try:
        found = slurm.node("\n".join(rows))
        assert isinstance(found.names("Gres"), tuple | Absent)
    except Unreadable:
        pass
