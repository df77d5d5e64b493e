"""Tools on a node: found, run with fixed arguments, bounded in time and output, and ended with all their children."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from joined import TOOLS, joined, source
from waiting import until

from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.parse.burnin.tools import every

tools = joined(*TOOLS)
Records = list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of this node's tools."""
    made = tmp_path / "bin"
    made.mkdir()
    return made


def put(folder: Path, name: str, script: str) -> Path:
    """Put a tool into the folder."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def run(
    names: list[str], folder: Path, *, seconds: float = 60.0, root: str = "/", stop: threading.Event | None = None
) -> Records:
    """Run tools as a payload does."""
    rows: Records = []
    begun = time.monotonic()

    def emit(kind: str, **fields: Any) -> None:
        rows.append(json.loads(json.dumps({"k": kind, **fields})))

    tools.run_tools(
        names, emit, lambda: time.monotonic() - begun, stop or threading.Event(), seconds, root, [str(folder)]
    )
    return rows


def real(name: str, command: str, root: str) -> dict[str, Any]:
    """Run a tool of this machine; the test is skipped where it is not installed."""
    place = shutil.which(command)
    if place is None:
        pytest.skip(f"{command} is not installed here: its adapter was not tried for real")
    record, *_ = run([name], Path(place).parent, root=root)
    return record


def facts(*records: dict[str, Any]) -> dict[str, Reading]:
    return dict(every.facts(records))


def gone(pid: int, seconds: float = 3.0) -> bool:
    """Whether a process ends in time; a zombie counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_missing_tool_is_reported_as_missing(folder: Path) -> None:
    records = run(["dcgm-1", "fio", "stress-ng"], folder)
    assert [(r["name"], r["status"], r["why"]) for r in records] == [
        (name, None, "tool missing") for name in ("dcgm-1", "fio", "stress-ng")
    ]
    found = facts(*records)["burnin.dcgm.test"]
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TOOL_MISSING


def test_an_unknown_tool_is_not_looked_for(folder: Path) -> None:
    put(folder, "evil", "touch ran")
    assert [r["why"] for r in run(["evil", "../evil", "sh -c evil"], folder)] == [
        "unsupported: this version of rackcheck has no such tool"
    ] * 3


def test_a_tool_runs_once_with_fixed_arguments_and_reports_its_version(folder: Path) -> None:
    exe = put(
        folder,
        "dcgmi",
        'if [ "$1" = --version ]; then echo; echo "dcgmi  version: 3.3.9"; exit; fi; echo "$@"; echo no >&2; exit 3',
    )
    (record,) = run(["dcgm-2", "dcgm-2"], folder)
    assert record["argv"] == [str(exe), "diag", "-r", "2", "-j"]
    assert (record["version"], record["status"], record["of"]) == ("3.3.9", 3, "node")
    assert (record["out"], record["err"]) == ("diag -r 2 -j\n", "no\n")
    assert "why" not in record
    assert record["seconds"] >= 0


def test_a_tool_sees_no_settings_of_a_user_and_keeps_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    put(folder, "dcgmi", "env; pwd; cat")
    (record,) = run(["dcgm-1"], folder)
    lines = record["out"].splitlines()
    assert "CUDA_CACHE_DISABLE=1" in lines
    assert "LC_ALL=C" in lines
    assert lines[-1] == "/"
    assert not [line for line in lines if line.startswith(("NCCL", "CUDA_V", "HOME", "USER"))]


def test_a_tool_that_everybody_may_change_is_not_run(folder: Path) -> None:
    put(folder, "dcgmi", "echo {}").chmod(0o777)
    assert run(["dcgm-1"], folder)[0]["why"] == "tool missing"


def test_a_relative_folder_of_the_path_is_no_place_for_a_tool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "dcgmi", "echo {}")
    monkeypatch.chdir(folder)
    assert tools.find_tool("dcgmi", ["", ".", "bin", "/", "//", "/[", "/none/**b"]) is None
    assert tools.find_tool("dcgmi", [f"{folder.parent}/b*"]) == str(folder / "dcgmi")


def test_a_tool_that_cannot_be_started_is_denied_and_the_next_one_is_run(folder: Path, tmp_path: Path) -> None:
    for name in ("dcgmi", "ib_write_bw"):
        put(folder, name, "").write_text("#!/none/sh\n")
    root = node(tmp_path, ("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"))
    records = run(["dcgm-1", "ib_write_bw", "fio"], folder, root=root)
    assert [r["why"].partition(":")[0] for r in records] == ["denied", "denied", "tool missing"]


def test_an_answer_without_end_is_cut_and_read_as_too_large(folder: Path) -> None:
    put(
        folder,
        "dcgmi",
        "[ $1 = --version ] || { echo '{'; yes | head -c 3000000; yes e | head -c 9000 >&2; echo last >&2; }",
    )
    (record,) = run(["dcgm-1"], folder)
    assert len(record["out"]) == tools.TOOL_OUT
    assert record["cut"] == 3_000_002 - tools.TOOL_OUT
    assert len(record["err"]) <= tools.TOOL_ERR + 10
    assert record["err"].startswith("e\n")
    assert record["err"].endswith("last\n")
    found = facts(record)["burnin.dcgm.test"]
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TOO_LARGE


def test_bytes_that_are_no_text_do_not_stop_the_record(folder: Path) -> None:
    put(folder, "dcgmi", r"printf '\377\000{'")
    assert run(["dcgm-1"], folder)[0]["out"] == "\ufffd\x00{"


def test_a_stopped_tool_ends_at_once_with_all_that_it_started(folder: Path, tmp_path: Path) -> None:
    put(folder, "dcgmi", f"[ $1 = --version ] && exit; sleep 60 & echo $! > {tmp_path}/pid; sleep 60")
    stop = threading.Event()
    rows: Records = []
    thread = threading.Thread(target=lambda: rows.extend(run(["dcgm-1", "dcgm-2"], folder, stop=stop)))
    thread.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the tool does not start")
    begun = time.monotonic()
    stop.set()
    thread.join(60)
    assert time.monotonic() - begun < 30  # of 60
    assert [(r["status"], r["why"]) for r in rows] == [(None, "stopped")] * 2
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_tool_that_does_not_heed_a_wish_to_end_is_killed(folder: Path, tmp_path: Path) -> None:
    put(
        folder,
        "dcgmi",
        f"[ $1 = --version ] && exit; trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.1; done",
    )
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    begun = time.monotonic()
    (record,) = run(["dcgm-1"], folder, stop=stop)
    assert record["why"] == "stopped"
    assert time.monotonic() - begun < 1.0 + 2 * tools.TOOL_GRACE + 30
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_tool_ends_when_the_burn_in_is_over_and_is_no_result(folder: Path) -> None:
    put(folder, "dcgmi", "[ $1 = --version ] && exit; echo '{'; sleep 60")
    (record,) = run(["dcgm-1"], folder, seconds=6.0)
    assert record["status"] is None
    assert record["why"] == "stopped: the burn-in's time limit was reached"
    assert record["out"] == "{\n"


def test_a_tool_that_hangs_is_reported_as_hanging(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "dcgmi", "[ $1 = --version ] && exit; exec sleep 60")
    monkeypatch.setitem(tools.TOOLS, "dcgm-1", tools.TOOLS["dcgm-1"]._replace(most=0.5))
    (record,) = run(["dcgm-1"], folder)
    assert record["why"].startswith("hang: ")


def test_a_tool_for_which_no_time_is_left_is_not_begun(folder: Path) -> None:
    put(folder, "dcgmi", "echo {}")
    (record,) = run(["dcgm-3"], folder, seconds=20.0)
    assert re.fullmatch(r"stopped: only \d+ s were left", record["why"])


def test_a_child_that_holds_the_pipe_does_not_hold_the_burn_in(folder: Path) -> None:
    put(folder, "dcgmi", "[ $1 = --version ] && exit; sleep 30 & echo {}")
    begun = time.monotonic()
    (record,) = run(["dcgm-1"], folder)
    assert (record["status"], record["out"]) == (0, "{}\n")
    assert time.monotonic() - begun < 10


def test_a_tool_ends_though_the_payload_was_killed(folder: Path, tmp_path: Path) -> None:
    put(folder, "dcgmi", f"[ $1 = --version ] && exit; echo $$ > {tmp_path}/pid; exec sleep 60")
    code = (
        "import runpy, sys, threading, time\n"
        "run = runpy.run_path(sys.argv[1])['run_tools']\n"
        "run(['dcgm-1'], print, time.monotonic, threading.Event(), time.monotonic() + 60, '/', [sys.argv[2]])\n"
    )
    text = tmp_path / "tools.py"
    text.write_text(source(*TOOLS))
    payload = subprocess.Popen([sys.executable, "-c", code, str(text), str(folder)])
    try:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the tool does not start")
        assert payload.poll() is None
        payload.send_signal(signal.SIGKILL)
        assert gone(int((tmp_path / "pid").read_text()))
    finally:
        payload.kill()
        payload.wait()


def node(tmp_path: Path, *files: tuple[str, str]) -> str:
    """A root of files."""
    for name, text in files:
        place = tmp_path / "root" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return f"{tmp_path}/root/"


def test_only_disks_of_a_closed_form_that_stay_in_the_node_are_read_and_none_is_written(
    folder: Path, tmp_path: Path
) -> None:
    put(folder, "fio", "[ $1 = --version ] && echo fio-3.33")
    names = ["nvme0n1", "nvme10n1", "sda", "sdb", "nvme0n1p1", "loop0", "dm-0", "nvme1n1;id", "zram0", "sda --rw=write"]
    root = node(tmp_path, *((f"sys/block/{name}/removable", "1\n" if name == "sdb" else "0\n") for name in names))
    records = run(["fio"], folder, root=root)
    assert [r["of"] for r in records] == ["disk/nvme0n1", "disk/nvme10n1", "disk/sda"]
    for r in records:
        assert f"--filename=/dev/{r['of'][5:]}" in r["argv"]
        assert {word for word in r["argv"] if word.startswith("--rw")} == {"--rw=read", "--rw=randread"}
        assert r["argv"].count("--readonly") == 2
        assert r["version"] == "3.33"


def test_only_nics_whose_port_is_active_are_tried(folder: Path, tmp_path: Path) -> None:
    put(folder, "ib_write_bw", 'echo "Version: 6.06"; exit 1')
    ports = {"mlx5_0": "4: ACTIVE\n", "mlx5_1": "1: DOWN\n", "mlx5_2 -R": "4: ACTIVE\n"}
    root = node(tmp_path, *((f"sys/class/infiniband/{nic}/ports/1/state", state) for nic, state in ports.items()))
    (record,) = run(["ib_write_bw"], folder, root=root)
    assert (record["of"], record["version"], record["status"]) == ("nic/mlx5_0", "6.06", 1)
    assert record["argv"][-1] == "127.0.0.1"


def test_a_node_without_a_test_device_is_unsupported(folder: Path, tmp_path: Path) -> None:
    for name in ("ib_write_bw", "fio", "all_reduce_perf"):
        put(folder, name, "echo ran")
    records = run(["ib_write_bw", "fio", "all_reduce"], folder, root=node(tmp_path))
    assert [r["why"] for r in records] == ["unsupported: this node has nothing for it to test"] * 3


def test_the_client_waits_for_its_server_and_the_server_ends_with_it(folder: Path, tmp_path: Path) -> None:
    script = put(folder, "ib_write_bw", "")
    script.write_text(
        f"#!{sys.executable}\nimport os, socket, sys, time\nwords = sys.argv[1:]\n"
        "if '--version' in words: sys.exit(print('Version: 6.06'))\nport = int(words[words.index('-p') + 1])\n"
        "if words[-1] == '127.0.0.1':\n    socket.create_connection(('127.0.0.1', port)).close()\n    print('written')\n"
        f"else:\n    time.sleep(0.3)\n    s = socket.create_server(('127.0.0.1', port))\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n"
    )
    root = node(tmp_path, ("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"))
    (record,) = run(["ib_write_bw"], folder, root=root)
    assert (record["status"], record["out"]) == (0, "written\n")
    assert gone(int((tmp_path / "pid").read_text()))


def test_all_gpus_take_part_in_a_collective_and_one_alone_in_none(folder: Path, tmp_path: Path) -> None:
    put(folder, "all_reduce_perf", "echo ran")
    one = ("proc/driver/nvidia/gpus/0000:04:00.0/information", "")
    assert run(["all_reduce"], folder, root=node(tmp_path, one))[0]["status"] is None
    (record,) = run(
        ["all_reduce"], folder, root=node(tmp_path, ("proc/driver/nvidia/gpus/0000:05:00.0/information", ""))
    )
    assert record["argv"][-2:] == ["-g", "2"]


@pytest.mark.parametrize(
    ("help_text", "json_asked"), [("  -j [ --json ]  Print output in json format", True), ("  -v", False)]
)
def test_json_is_requested_only_where_it_is_supported(folder: Path, help_text: str, json_asked: bool) -> None:
    put(folder, "nvbandwidth", f'[ "$1" = -h ] && echo "nvbandwidth Version: v0.8" && echo "{help_text}"; exit 0')
    (record,) = run(["nvbandwidth"], folder)
    assert ("-j" in record["argv"]) is json_asked
    assert record["version"] == "0.8"
    assert tuple(record["argv"][-3:]) == tools.TOOL_COPIES


def test_stress_ng_of_this_machine_checks_out_and_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "STRESS_SECONDS", 1)
    # Its default time is 10 s: in 1 s, a busy machine tests little memory.
    record = real("stress-ng", "stress-ng", node(tmp_path, ("proc/meminfo", "MemAvailable:   65536 kB\n")))
    found = facts(record)
    assert found["burnin.stress_ng.stressor"] == ("cpu", "matrix", "vm")
    assert [found[f"burnin.stress_ng.stressor/{name}.result"] for name in ("cpu", "matrix", "vm")] == ["pass"] * 3
    assert found["burnin.stress_ng.result"] == "pass"
    again = subprocess.run(record["argv"], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert again.returncode == 0
    assert list(folder.iterdir()) == []


def test_a_stressor_that_this_machine_skips_is_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("stress-ng") is None:
        pytest.skip("stress-ng is not installed here: its adapter was not tried for real")
    words = [
        "stress-ng",
        "--cpu",
        "1",
        "--matrix",
        "0",
        "--verify",
        "--timeout",
        "1s",
        "--metrics",
        "--yaml",
        "/dev/stdout",
    ]
    done = subprocess.run([*words, "--exclude", "matrix"], capture_output=True, text=True, check=False, timeout=60)
    record = {
        "name": "stress-ng",
        "of": "node",
        "argv": words,
        "status": done.returncode,
        "out": done.stdout,
        "err": done.stderr,
    }
    found = facts(record)
    assert found["burnin.stress_ng.stressor/cpu.result"] == "pass"
    assert isinstance(found["burnin.stress_ng.stressor/matrix.result"], Unknown)
    assert isinstance(found["burnin.stress_ng.result"], Unknown)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that fio reads as a disk."""
    place = tmp_path / "disk"
    place.write_bytes(os.urandom(1 << 20) * 16)
    return place


def test_fio_of_this_machine_reads_and_writes_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe = shutil.which("fio")
    if exe is None:
        pytest.skip("fio is not installed here: its adapter was not tried for real")
    monkeypatch.setattr(tools, "FIO_SECONDS", 1)
    before = file.read_bytes()
    argv = tools.fio_words(exe, "vda", str(file))
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    if "O_DIRECT" in done.stdout + done.stderr:
        pytest.skip("the file system of the tests has no O_DIRECT")
    record = {
        "name": "fio",
        "of": "disk/vda",
        "argv": argv,
        "status": done.returncode,
        "out": done.stdout,
        "err": done.stderr,
    }
    found = facts(record)
    assert found["burnin.fio.disk/vda.error"] == 0
    for leaf in ("read", "iops", "latency"):
        value = found[f"burnin.fio.disk/vda.{leaf}"]
        assert isinstance(value, float)
        assert value > 0
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_fio_of_this_machine_reports_a_missing_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe = shutil.which("fio")
    if exe is None:
        pytest.skip("fio is not installed here: its adapter was not tried for real")
    monkeypatch.setattr(tools, "FIO_SECONDS", 1)
    argv = tools.fio_words(exe, "vda", f"{tmp_path}/none")
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode
    found = facts(
        {
            "name": "fio",
            "of": "disk/vda",
            "argv": argv,
            "status": done.returncode,
            "out": done.stdout,
            "err": done.stderr,
        }
    )
    assert isinstance(found["burnin.fio.disk/vda.error"], Unknown)
    assert list(tmp_path.iterdir()) == []


def test_ib_write_bw_of_this_machine_without_a_nic_is_not_tested() -> None:
    exe = shutil.which("ib_write_bw")
    if exe is None:
        pytest.skip("ib_write_bw is not installed here: its refusals were not tried for real")
    done = subprocess.run([exe, "-d", "mlx5_none", "-F"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode
    record = {
        "name": "ib_write_bw",
        "of": "nic/mlx5_none",
        "argv": [exe, "127.0.0.1"],
        "status": done.returncode,
        "out": done.stdout,
        "err": done.stderr,
    }
    assert isinstance(facts(record)["burnin.ib_write_bw.nic/mlx5_none.loopback"], Unknown)


@pytest.mark.parametrize("version", ["3.6", "3.8"])
def test_the_oldest_pythons_run_it(version: str, folder: Path) -> None:
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    python = str(homes[-1]) if homes else shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"no Python {version} here: it was not tried")
    put(folder, "dcgmi", 'echo "dcgmi  version: 3.3.9"')
    code = (
        "import json, sys, threading, time\n"
        "names = {'__name__': 'joined'}\n"
        "exec(sys.stdin.read(), names)\n"
        "tell = lambda kind, **fields: print(json.dumps(fields))\n"
        "until = time.monotonic() + 60\n"
        "names['run_tools'](['dcgm-1', 'fio'], tell, time.monotonic, threading.Event(), until, '/', [sys.argv[1]])\n"
    )
    done = subprocess.run(
        [python, "-I", "-S", "-c", code, str(folder)],
        input=source(*TOOLS),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["status"], first["version"]) == (0, "3.3.9")
    assert second["why"] == "tool missing"
