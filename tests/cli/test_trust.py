"""Host keys and certificates of real servers: nothing is trusted unseen, and what changed is never replaced."""

import io
import json
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.sim import scenario

RACK = "rackcheck: 1\nscenario: two\nnodes: { 'dgx[1-2]': { machine: dgx-h100 } }\n"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The inventory of a running rack, without what it trusts."""
    folder = tmp_path_factory.mktemp("rack")
    (folder / "rack.yaml").write_text(RACK)
    with Rack(scenario.load(folder / "rack.yaml"), folder) as rack:
        text = Path(rack.inventory).read_text()
        bare = re.sub(r', known-hosts: "[^"]*"|, fingerprint: "[^"]*"', "", text)
        assert bare != text
        (folder / "bare.yaml").write_text(bare)
        yield folder / "bare.yaml"


@pytest.fixture
def pod(up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    (tmp_path / "pod.yaml").write_bytes(up.read_bytes())
    return tmp_path / "pod.yaml"


def beside(pod: Path) -> set[str]:
    return {path.name for path in pod.parent.iterdir() if path.stem == "pod"}


def seen(pod: Path, *words: object) -> dict[tuple[str, str], tuple[str, str]]:
    done = rackcheck("inventory", "trust", "-i", pod, "--json", *words)
    return {
        (row["node"], row["plane"]): (row["state"], row.get("fingerprint", "")) for row in json.loads(done.out)["seen"]
    }


def listed(pod: Path) -> list[str]:
    return [f"{node} {mark}" for (node, _), (_, mark) in seen(pod).items()]


def test_without_a_terminal_and_a_list_all_is_shown_and_nothing_is_trusted(pod: Path) -> None:
    done = rackcheck("inventory", "trust", "-i", pod)
    assert done.status == 2
    assert "nothing was trusted: 2 host keys and 2 certificates new; --expect FILE trusts those on a list" in done.err
    assert re.findall(r"SHA256:[A-Za-z0-9+/]{43}|\b[0-9a-f]{64}\b", done.out)
    assert len(re.findall(r"^dgx[12] ", done.out, re.MULTILINE)) == 4
    assert beside(pod) == {"pod.yaml"}
    answers = rackcheck("doctor", "-i", pod)
    assert "its host key is not known; bmc: its certificate is not trusted" in answers.out
    assert "`rackcheck inventory trust` does this for all nodes" in " ".join(answers.out.split())


def test_what_is_on_a_list_is_trusted_and_the_nodes_are_ready(pod: Path) -> None:
    (pod.parent / "list").write_text("# from the installer\n" + "\n".join(listed(pod)) + "\n")
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert done.status == 0, done.out + done.err
    assert beside(pod) == {"pod.yaml", "pod.known_hosts", "pod.certificates"}
    assert {state for state, _ in seen(pod).values()} == {"trusted"}
    assert "2 of 2 ready" in rackcheck("doctor", "-i", pod, "-p", "linux-server").out
    before = (pod.parent / "pod.known_hosts").read_bytes()
    assert rackcheck("inventory", "trust", "-i", pod).status == 0
    assert (pod.parent / "pod.known_hosts").read_bytes() == before


def test_a_certificate_or_key_that_is_not_the_one_on_the_list_is_not_trusted(pod: Path) -> None:
    rows = listed(pod)
    wrong = [re.sub(r" [0-9a-f]{64}$", f" {'0' * 64}", row) if row.startswith("dgx2") else row for row in rows]
    wrong = [re.sub(r" SHA256:.*", f" SHA256:{'A' * 43}", row) if row.startswith("dgx1") else row for row in wrong]
    (pod.parent / "list").write_text("\n".join(wrong))
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert done.status == 1
    assert f"dgx2, bmc plane: expected is {'0' * 64}; never replaced" in done.err
    assert f"dgx1, os plane: expected is SHA256:{'A' * 43}; never replaced" in done.err
    assert {key: state for key, (state, _) in seen(pod).items()} == {
        ("dgx1", "os"): "new", ("dgx1", "bmc"): "trusted", ("dgx2", "os"): "trusted", ("dgx2", "bmc"): "new",
    }  # fmt: skip


def test_what_is_trusted_already_but_differs_from_the_list_is_no_pass(pod: Path) -> None:
    right = listed(pod)
    (pod.parent / "list").write_text("\n".join(right))
    assert rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list").status == 0
    wrong = [re.sub(r" [0-9a-f]{64}$", f" {'0' * 64}", row) if row.startswith("dgx2") else row for row in right]
    wrong = [re.sub(r" SHA256:.*", f" SHA256:{'A' * 43}", row) if row.startswith("dgx1") else row for row in wrong]
    (pod.parent / "list").write_text("\n".join(wrong))
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert done.status == 1
    assert len(re.findall("trusted, not as expected", done.out)) == 2
    assert f"dgx2, bmc plane: expected is {'0' * 64}" in done.err
    assert f"dgx1, os plane: expected is SHA256:{'A' * 43}" in done.err
    states = {key: state for key, (state, _) in seen(pod, "--expect", pod.parent / "list").items()}
    assert states == {
        ("dgx1", "os"): "trusted, not as expected", ("dgx1", "bmc"): "trusted",
        ("dgx2", "os"): "trusted", ("dgx2", "bmc"): "trusted, not as expected",
    }  # fmt: skip


def test_a_node_of_the_list_that_the_inventory_lacks_is_an_error_with_the_nearest_name(pod: Path) -> None:
    (pod.parent / "list").write_text("\n".join([*listed(pod), f"dgx11 SHA256:{'A' * 43}"]))
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert (done.status, beside(pod)) == (2, {"pod.yaml"})
    assert re.search(r"list:5: no node dgx11 in .*pod\.yaml; did you mean dgx1\b", done.err), done.err


def test_a_node_that_is_not_on_the_list_stays_untrusted(pod: Path) -> None:
    (pod.parent / "list").write_text("\n".join(row for row in listed(pod) if row.startswith("dgx1")))
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert done.status == 3
    assert {node for (node, _), (state, _) in seen(pod).items() if state == "trusted"} == {"dgx1"}


def test_what_changed_is_never_replaced(pod: Path) -> None:
    (pod.parent / "list").write_text("\n".join(listed(pod)))
    rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    known, pins = pod.parent / "pod.known_hosts", pod.parent / "pod.certificates"
    known.write_text(re.sub(r"(AAAA\S{30}).{3}", r"\1AAA", known.read_text()))
    pins.write_text(re.sub(r" [0-9a-f]{4}", " 0000", pins.read_text()))
    before = known.read_bytes(), pins.read_bytes()
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert done.status == 1
    assert {state for state, _ in seen(pod).values()} == {"changed"}
    assert (known.read_bytes(), pins.read_bytes()) == before


def test_a_host_that_presents_another_kind_of_key_than_is_trusted_is_changed(
    pod: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place,) = re.findall(r"^dgx1  os +(\S+)", rackcheck("inventory", "trust", "-i", pod).out, re.MULTILINE)
    known = pod.parent / "pod.known_hosts"
    known.write_text(f"{place} ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7\n")
    before = known.read_bytes()
    assert seen(pod)["dgx1", "os"][0] == "changed"
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert rackcheck("inventory", "trust", "dgx1", "-i", pod).status == 1
    assert known.read_bytes() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "status", "files"), [("y\n", 0, 3), ("n\n", 3, 1), ("\n", 3, 1)])
def test_on_a_terminal_one_yes_trusts_what_was_shown(
    pod: Path, monkeypatch: pytest.MonkeyPatch, answer: str, status: int, files: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    done = rackcheck("inventory", "trust", "-i", pod)
    assert (done.status, len(beside(pod))) == (status, files), done.err
    assert "Trust 2 host keys and 2 certificates, as shown?" in done.err


def test_a_node_that_does_not_answer_is_named_with_the_reason(pod: Path) -> None:
    pod.write_text(
        "rackcheck: 1\nnodes:\n  n1: { host: 127.0.0.1, ssh: { port: 1 }, bmc: { url: 'https://127.0.0.1:1' } }\n"
    )
    done = rackcheck("inventory", "trust", "-i", pod)
    assert done.status == 3
    assert done.out.count("not read") == 2
    assert "Connection refused" in done.out


def test_a_port_that_sends_nothing_is_named_without_the_text_of_a_library(pod: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.MonkeyPatch.context() as patch:
        patch.setattr("rackcheck.session.trust.SECONDS", 0.5)
        port = silent.getsockname()[1]
        pod.write_text(
            f"rackcheck: 1\nnodes:\n  n1: {{ host: 127.0.0.1, ssh: {{ port: {port} }}, "
            f"bmc: {{ url: 'https://127.0.0.1:{port}' }} }}\n"
        )
        done = rackcheck("inventory", "trust", "-i", pod)
    assert done.status == 3
    assert "the SSH handshake did not complete\n" in done.out
    assert "the TLS handshake did not complete within 0.5 s\n" in done.out


@pytest.mark.parametrize("line", ["dgx1", "dgx1 SHA256:short", "dgx1 md5:aa:bb", f"{'0' * 64}"])
def test_an_invalid_line_of_a_list_is_named(pod: Path, line: str) -> None:
    (pod.parent / "list").write_text(f"# list\n{line}\n")
    done = rackcheck("inventory", "trust", "-i", pod, "--expect", pod.parent / "list")
    assert (done.status, "list:2: a line has a node and a SHA-256 fingerprint" in done.err) == (2, True)


def test_an_invalid_line_beside_the_inventory_stops_every_command(pod: Path) -> None:
    (pod.parent / "pod.certificates").write_text("https://bmc 12\n")
    done = rackcheck("inventory", "show", "-i", pod)
    assert (done.status, "pod.certificates:1: " in done.err) == (2, True)


def test_a_fingerprint_in_the_inventory_counts_more_than_the_file_beside_it(pod: Path) -> None:
    text = pod.read_text().replace("https://127", "https://128", 0)
    pod.write_text(re.sub(r'(bmc: \{ url: "[^"]*")', rf'\1, fingerprint: "{"ab" * 32}"', text))
    (pod.parent / "pod.certificates").write_text("".join(
        f"{url} {'cd' * 32}\n" for url in re.findall(r'url: "([^"]*)"', text)
    ))  # fmt: skip
    assert {state for (_, plane), (state, _) in seen(pod).items() if plane == "bmc"} == {"changed"}
    done = rackcheck("inventory", "trust", "-i", pod)
    assert "ab" * 32 in done.err
    assert "cd" * 32 not in done.err
