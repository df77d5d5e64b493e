"""From an empty folder to the first audit: answers become an inventory, and each further step is shown before it runs."""

import io
import sys
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import WatchedRack

from rackcheck.inventory import load
from rackcheck.sim import scenario


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "pod").mkdir()
    monkeypatch.chdir(tmp_path / "pod")
    return tmp_path / "pod"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_options_make_the_inventory_and_the_next_command_is_shown(empty: Path) -> None:
    done = rackcheck(
        "init", "--nodes", "dgx[01-08]", "--bmc", "https://{node}-bmc", "--user", "audit", "--bmc-user", "op",
        "--bmc-password", "env:BMC", "--rack", "a01",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "inventory.yaml: 8 nodes" in done.err
    assert "Next: rackcheck inventory trust -i inventory.yaml" in done.err
    nodes = load(empty / "inventory.yaml").nodes
    assert list(nodes) == [f"dgx0{n}" for n in range(1, 9)]
    node = nodes["dgx03"]
    assert (node.host, node.ssh.user, node.rack) == ("dgx03", "audit", "a01")
    assert node.bmc is not None
    assert (node.bmc.url, node.bmc.user, node.bmc.password) == ("https://dgx03-bmc", "op", "env:BMC")


def test_with_only_no_next_step_is_offered_on_a_terminal(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    done = rackcheck("init", "--only", "--nodes", "dgx01", "--host", "{node}", "--user", "audit", "--bmc", "none")
    assert (done.status, done.err) == (0, "inventory.yaml: 1 node\n"), done.err
    assert (empty / "inventory.yaml").is_file()


@pytest.mark.parametrize("words", [("last",), ("-p", "linux-server"), ("--rack", "sim:dgx-h100")])
def test_the_start_page_takes_no_run_profile_or_rack(words: tuple[str, ...]) -> None:
    done = rackcheck("tui", "--start", *words)
    assert done.status == 2
    assert "--start shows the steps of an inventory" in done.err


def test_without_a_run_and_a_terminal_the_first_step_is_named() -> None:
    done = rackcheck("tui")
    assert done.status == 2
    assert "the screens need a terminal; `rackcheck init`" in done.err


def test_nodes_without_bmcs_need_no_more_than_their_names(empty: Path) -> None:
    assert rackcheck("init", "--nodes", "n[1-3]").status == 0
    nodes = load(empty / "inventory.yaml").nodes
    assert [(node.host, node.bmc) for node in nodes.values()] == [("n1", None), ("n2", None), ("n3", None)]


def test_without_a_terminal_and_names_it_is_one_clear_error(empty: Path) -> None:
    done = rackcheck("init")
    assert (done.status, "name the nodes: --nodes SET" in done.err) == (2, True)
    assert list(empty.iterdir()) == []


def test_an_inventory_is_never_overwritten(empty: Path) -> None:
    (empty / "inventory.yaml").write_text("mine")
    done = rackcheck("init", "--nodes", "n1")
    assert (done.status, "inventory.yaml exists already" in done.err) == (2, True)
    assert (empty / "inventory.yaml").read_text() == "mine"


def test_a_range_of_addresses_has_one_for_each_node(empty: Path) -> None:
    words = ("--host", "10.9.3.[2-3,7]", "--port", "2222", "--bmc", "https://10.9.4.[012-014]:8443", "--key", "key")
    (empty / "key").touch(0o600)
    assert rackcheck("init", "--nodes", "n[1-3]", *words).status == 0
    nodes = load(empty / "inventory.yaml").nodes.values()
    assert [node.host for node in nodes] == ["10.9.3.2", "10.9.3.3", "10.9.3.7"]
    assert [node.bmc and node.bmc.url for node in nodes] == [f"https://10.9.4.{n}:8443" for n in ("012", "013", "014")]
    assert {node.ssh.port for node in nodes} == {2222}


def test_an_ipv6_address_is_no_range(empty: Path) -> None:
    assert rackcheck("init", "--nodes", "n1", "--bmc", "https://[fd00::12]").status == 0
    assert [node.bmc and node.bmc.url for node in load(empty / "inventory.yaml").nodes.values()] == [
        "https://[fd00::12]"
    ]


@pytest.mark.parametrize(("addresses", "count"), [("10.9.3.[11-18]", 8), ("10.9.3.[4]", 1)])
def test_a_range_with_too_few_or_too_many_addresses_writes_nothing(empty: Path, addresses: str, count: int) -> None:
    done = rackcheck("init", "--nodes", "n[1-3]", "--host", addresses)
    assert (done.status, f"{count} in the range, for 3 nodes" in done.err) == (2, True)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("--nodes", "dgx[01"),
        ("--nodes", "n1", "--bmc", "http://n1"),
        ("--nodes", "n1", "--host", "root@{node}"),
        ("--nodes", "n[1-999999]"),
    ],
)
def test_an_invalid_answer_writes_nothing(empty: Path, words: tuple[str, ...]) -> None:
    assert rackcheck("init", *words).status == 2
    assert list(empty.iterdir()) == []


REFUSED = [
    ("dgx[01-02\ndgx[1-2]\n\naudit\nnone\n", "Error: not a node set: dgx[01-02"),
    ("dgx1!dgx1\ndgx[1-2]\n\naudit\nnone\n", "Error: no node is in 'dgx1!dgx1'"),
    ("dgx[1-2]\n10.9.3.[11-13]\n\naudit\nnone\n", "Error: --host 10.9.3.[11-13]: 3 in the range, for 2 nodes"),
    ("dgx[1-2]\nroot@{node}\n\naudit\nnone\n", "Error: `host` of dgx1: 'root@dgx1' contains a user name"),
    ("dgx[1-2]\n\naudit\nhttp://{node}\nnone\n", "Error: `url` of dgx1: a BMC's url is https://HOST"),
    ("dgx[1-2]\n\naudit\nhttps://{node}\n\nhunter2\nenv:BMC\n", "Error: `password` is a reference to the secret"),
]


@pytest.mark.parametrize(("answers", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_on_a_terminal_an_invalid_answer_is_refused_at_its_question_and_asked_again(
    empty: Path, monkeypatch: pytest.MonkeyPatch, answers: str, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answers}n\n"))
    done = rackcheck("init")
    assert done.status == 0, done.err
    assert message in done.err
    assert "hunter2" not in done.out + done.err
    assert load(empty / "inventory.yaml").nodes["dgx2"].ssh.user == "audit"


@pytest.mark.parametrize("answers", ["dgx[01-02\n", "", "dgx[1-2]\n\n"])
def test_answers_that_end_early_write_nothing(empty: Path, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    assert rackcheck("init").status != 0
    assert list(empty.iterdir()) == []


def test_on_a_terminal_an_invalid_option_is_refused_before_any_question(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    done = rackcheck("init", "--nodes", "dgx[01-02")
    assert (done.status, "not a node set: dgx[01-02" in done.err) == (2, True)
    assert "Address" not in done.err


def test_after_a_no_to_trust_nothing_more_is_offered(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty / "rack.yaml").write_text("rackcheck: 1\nscenario: one\nnodes: { dgx1: { machine: dgx-h100 } }\n")
    with WatchedRack(scenario.load(empty / "rack.yaml"), empty) as rack:
        ssh = load(Path(rack.inventory)).nodes["dgx1"]
        monkeypatch.setattr(sys, "stdin", Terminal("y\nn\n"))
        words = ("--host", ssh.host, "--port", str(ssh.ssh.port), "--user", "audit", "--bmc", "none", "-o", "pod.yaml")
        done = rackcheck("init", "--nodes", "dgx1", *words)
    assert done.status == 0, done.err
    assert "Trust 1 host key, as shown?" in done.err
    assert "no key or certificate is trusted yet" in done.err
    assert done.err.rstrip().endswith("Next: rackcheck inventory trust -i pod.yaml")
    assert "doctor" not in done.err


def test_on_a_terminal_it_asks_and_shows_each_command_before_it_runs(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("dgx[1-2]\n\naudit\nnone\nn\n"))
    done = rackcheck("init")
    assert done.status == 0, done.err
    assert "Nodes, such as dgx[01-08]" in done.err
    assert "$ rackcheck inventory trust -i inventory.yaml" in done.err
    assert "Next: rackcheck inventory trust -i inventory.yaml" in done.err
    assert load(empty / "inventory.yaml").nodes["dgx2"].ssh.user == "audit"
    assert not (empty / "inventory.known_hosts").exists()


@pytest.mark.parametrize("place", ["missing/pod.yaml", "file/pod.yaml", "/proc/pod.yaml"])
def test_a_place_that_cannot_be_written_is_an_error_before_the_first_question(
    empty: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (empty / "file").write_text("")
    monkeypatch.setattr(sys, "stdin", Terminal("dgx01\n"))
    done = rackcheck("init", "-o", place)
    assert (done.status, done.err.splitlines()[-1][: len(f"rackcheck: cannot write {place}: ")]) == (
        2, f"rackcheck: cannot write {place}: ",
    )  # fmt: skip
    assert "Nodes" not in done.err
    assert [each.name for each in empty.iterdir()] == ["file"]


def test_an_interrupt_after_the_inventory_was_written_names_the_command_that_goes_on(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("dgx01\n\n\nnone\n"))  # its end is an interrupt for the next question
    done = rackcheck("init")
    assert (done.status, (empty / "inventory.yaml").is_file()) == (130, True)
    assert done.err.endswith("\nNext: rackcheck inventory trust -i inventory.yaml\nrackcheck: interrupted\n")


def test_nodes_that_cannot_be_reached_leave_one_next_command_on_a_line_of_its_own(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    done = rackcheck("init", "--nodes", "dgx01", "--host", "127.0.0.9", "--port", "1", "--user", "a", "--bmc", "none")
    assert (done.status, "not read" in done.out, "Errno" in done.out) == (0, True, False)
    assert [line for line in done.err.splitlines() if line.startswith("Next: ")] == [
        "Next: rackcheck inventory trust -i inventory.yaml"
    ]
    assert "nothing could be read: rackcheck doctor -i inventory.yaml shows why" in done.err
    assert "\\n" not in done.err
