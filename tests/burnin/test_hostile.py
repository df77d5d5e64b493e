"""A node that sends arbitrary output to a burn-in: reported as such, bounded, and without effect on other nodes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from sshd import serving

from rackcheck.burnin.node_stream import MOST, NOISE, Talk
from rackcheck.model.burn_record import Burn
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import local
from rackcheck.transport.wire import ShellLimits

HELLO = {"k": "hello", "t": 0, "wire": 1, "tier": "smoke", "seed": 11}
WHOLE = {"k": "verdict", "t": 15, "status": "whole", "why": ""}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def burnt(folder: Path, *lines: str) -> Done:
    """Burn in a node whose login prints these lines, whatever command it receives."""
    (folder / "output").write_text("\n".join(lines) + "\n")
    with serving(folder / "sshd", force=f"cat {folder / 'output'}") as server:
        (folder / "rack.yaml").write_text(server.inventory())
        return rackcheck(
            "burnin", "n1", "-i", folder / "rack.yaml", "-o", folder / "run", "--seed", "11", "-q", "--json"
        )


def verdicts(done: Done) -> Mapping[str, str]:
    return {v["rule"]: v["status"] for v in json.loads(done.out)["nodes"]["n1"]["verdicts"]}


def lines(*records: Mapping[str, Any]) -> list[str]:
    return [json.dumps(record) for record in (HELLO, *records, WHOLE)]


@pytest.mark.parametrize("about", [{}, {"gpus": {}, "cpus": [], "numa": {}}, {"gpus": {"*": {}}}, {"gpus": {"": {}}}])
def test_a_node_that_claims_success_without_results_does_not_pass(tmp_path: Path, about: dict[str, Any]) -> None:
    done = burnt(tmp_path, *lines({"k": "about", "t": 0, **about}))
    assert done.status in {1, 3}, done.out
    assert verdicts(done)["burnin.cpu_correct"] == "unknown"


def test_the_answers_of_another_burn_in_prove_nothing(tmp_path: Path) -> None:
    done = burnt(tmp_path, *[json.dumps(record) for record in ({**HELLO, "seed": 12}, WHOLE)])
    assert done.status == 3
    assert set(verdicts(done).values()) == {"unknown"}


def test_a_record_without_a_bottom_is_noise(tmp_path: Path) -> None:
    deep = '{"k":' + "[" * 950 + "]" * 950 + "}"
    done = burnt(tmp_path, *lines()[:1], deep, *lines()[1:])
    assert done.status in {1, 3}
    assert verdicts(done)["burnin.readable"] == "fail"
    assert rackcheck("audit", "--from", tmp_path / "run", "--json").status == done.status


def test_words_that_move_a_terminal_or_name_a_thing_oddly_reach_no_output(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202ex"
    fault = {"k": "error", "t": 1, "of": "node", "stage": evil, "name": "crash", "said": evil}
    done = burnt(tmp_path, evil, *lines(fault, {"k": "sample", "t": 1, "of": f"nic/{evil}", "up": 1}))
    plain = rackcheck("audit", "--from", tmp_path / "run")
    assert done.status == plain.status == 1
    for text in (done.out, plain.out, rackcheck("facts", "n1", "--from", tmp_path / "run", "burnin").out):
        assert "\x1b" not in text.replace("\\u001b", "")
        assert "\u202e" not in text


def test_a_flood_of_output_is_cut_and_reported(tmp_path: Path) -> None:
    talk = Talk(b"", threading.Event(), lambda _: None)
    local.talk("yes | head -c 300000", ShellLimits(deadline=20), talk)
    assert len(talk.records) <= NOISE
    many = Talk(b"", threading.Event(), lambda _: None)
    why = local.talk(
        f"yes '{json.dumps({'k': 'beat', 't': 1})}' | head -n {MOST * 2}", ShellLimits(deadline=60), many
    ).cut
    assert "400000 records" in why.detail
    assert len(many.records) < MOST * 1.2


@pytest.mark.parametrize("spelt", ["hunter2-hunter2", "\\u0068unter2-hunter2", "hunter2\\u002dhunter2"])
def test_what_we_log_in_by_is_in_no_record_however_it_is_spelt(spelt: str) -> None:
    hiding = Hiding("hunter2-hunter2")
    talk = Talk(b"", threading.Event(), lambda _: None, hiding.data, hiding.json)
    output = f'{{"k":"error","t":1,"of":"node","name":"crash","said":"{spelt}"}}'
    local.talk(f"cat <<'END'\n{output}\nmotd {spelt}\nEND", ShellLimits(deadline=20), talk)
    assert len(talk.records) == 2
    assert Burn.of(talk.records).faults[0].name == "crash"
    assert "hunter2-hunter2" not in json.dumps(talk.records)


def test_a_host_silent_at_login_does_not_delay_an_interrupt(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        key = tmp_path / "known"
        key.write_text("")
        (tmp_path / "rack.yaml").write_text(
            "rackcheck: 1\nnodes:\n  n1: { host: 127.0.0.1, ssh: { port: "
            f'{door.getsockname()[1]}, known-hosts: "{key}", key: "{key}" }} }}\n'
        )
        words = [sys.executable, "-m", "rackcheck", "burnin", "n1", "-i", str(tmp_path / "rack.yaml")]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ))
        held, _ = door.accept()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        data, _ = process.communicate(timeout=30)
        held.close()
    assert time.monotonic() - began < 9
    assert process.returncode == 130, data
    assert b"interrupted" in data


@pytest.mark.parametrize("name", ["work", "rate", "tested", "pieces"])
def test_work_that_is_done_and_was_none_is_not_tested(name: str) -> None:
    stage = {"k": "stage", "t": 2, "of": "cpu/0", "stage": "ram", "status": "done", "mismatches": 0, name: 0}
    (value,) = Burn.of([HELLO, stage]).stages
    assert not value.done
    assert value.why == f"it did no work: {name} is 0"
    (more,) = Burn.of([HELLO, {**stage, name: 1}]).stages
    assert more.done


@pytest.mark.parametrize("name", ["t", "from", "rate", "work", "seconds", "share", "power"])
def test_an_amount_below_zero_is_no_record(name: str) -> None:
    stage = {"k": "stage", "t": 2, "of": "cpu/0", "stage": "ram", "status": "done", name: -1}
    assert Burn.of([HELLO, stage]).unread == 1


def test_no_node_speaks_for_its_bmc() -> None:
    talk = Talk(b"", threading.Event(), lambda _: None)
    output = json.dumps({"k": "sample", "t": 1, "of": "bmc", "inlet": 18})
    local.talk(f"echo '{output}'", ShellLimits(deadline=20), talk)
    talk.add({"k": "sample", "t": 2, "of": "bmc", "inlet": 31})
    found = Burn.of([HELLO, *talk.records])
    assert [row.number("inlet") for row in found.samples["bmc"]] == [31]
    assert found.unread == 1
