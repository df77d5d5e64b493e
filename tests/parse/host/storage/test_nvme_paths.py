"""Paths to NVMe subsystems: how many there are, and how many work."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.text import Files
from rackcheck.parse.host.storage import nvme_paths

DENIED = Unknown(Reason.DENIED, "Permission denied")


def nqn(name: str) -> str:
    return f"{nvme_paths.FOLDER.format(name)}/subsysnqn"


def state(name: str, controller: int) -> str:
    return f"{nvme_paths.FOLDER.format(name)}/nvme{controller}/state"


def test_each_subsystem_has_the_states_of_its_own_paths() -> None:
    files = {nqn(name): "nqn\n" for name in ("nvme-subsys0", "nvme-subsys10", "nvme-subsys2")}
    files |= {state("nvme-subsys0", 0): "live\n", state("nvme-subsys0", 1): "connecting\n"}
    values = nvme_paths.states(Files(files, {}))
    assert list(values.items()) == [
        ("nvme-subsys0", ["live", "connecting"]),
        ("nvme-subsys2", []),
        ("nvme-subsys10", []),
    ]


def test_a_path_whose_state_is_not_known_is_not_counted_as_lost() -> None:
    assert nvme_paths.live(["live", "connecting", "live"]) == 2
    assert nvme_paths.live(["live", DENIED]) == DENIED
    assert nvme_paths.live([]) == 0


@given(st.text())
def test_nonsense_is_a_path_that_does_not_work_or_unknown(text: str) -> None:
    rows = nvme_paths.states(Files({state("nvme-subsys0", 0): text}, {}))["nvme-subsys0"]
    live = nvme_paths.live(rows)
    assert isinstance(live, Unknown) or live == (text.strip() == "live")
