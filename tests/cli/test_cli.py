"""The command line as a newcomer types it: exit codes, one-line errors, replay, and the cost of help."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from command import rackcheck
from waiting import PATIENCE, until

from rackcheck.cli import guarded

PROFILE = "rackcheck: 1\nprofile: p\nversion: 1\nrules:\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def profile(tmp_path: Path, rules: str) -> Path:
    path = tmp_path / "p.yaml"
    path.write_text(PROFILE + rules)
    return path


def test_a_plain_machine_reports_at_least_sixty_facts_and_every_unknown_has_a_reason() -> None:
    done = rackcheck("audit", "localhost", "-p", "linux-server", "-q")
    assert done.status in {0, 1, 3}
    value = json.loads(rackcheck("facts", "localhost", "--from", "last", "--json").out)["facts"]
    assert sum("value" in fact for fact in value.values()) >= 60
    assert all(fact["unknown"] for fact in value.values() if "unknown" in fact)
    assert all(fact["detail"] for fact in value.values() if "unknown" in fact)


def test_a_replay_gives_the_same_bytes_and_contacts_no_host(tmp_path: Path, home: Path) -> None:
    first = rackcheck("audit", "localhost", "-p", "linux-server", "--json", "-q", "-o", tmp_path / "run")
    before = sorted((p, p.stat().st_mtime_ns) for p in (tmp_path / "run").rglob("*"))
    environment = {**os.environ, "PATH": "/nonexistent"}
    again = subprocess.run(
        [sys.executable, "-m", "rackcheck", "audit", "--from", str(tmp_path / "run"), "--json"],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert (again.returncode, again.stdout) == (first.status, first.out)
    assert sorted((p, p.stat().st_mtime_ns) for p in (tmp_path / "run").rglob("*")) == before
    assert not list(home.glob("runs/*"))


def test_a_stored_run_is_judged_by_another_profile_without_asking(tmp_path: Path) -> None:
    rackcheck("audit", "-p", "linux-server", "-q", "-o", tmp_path / "run")
    other = profile(
        tmp_path,
        "  never: { fact: memory.total, at-most: 1 MiB }\n  not_asked: { fact: sysctl.kernel.ostype, is: Linux }\n",
    )
    done = rackcheck("audit", "--from", tmp_path / "run", "-p", other, "--json")
    verdicts = {v["rule"]: v for v in json.loads(done.out)["nodes"]["localhost"]["verdicts"]}
    assert (done.status, verdicts["never"]["status"]) == (1, "fail")
    assert verdicts["not_asked"]["status"] == "unknown"
    assert verdicts["not_asked"]["evidence"][0]["unknown"] == "not collected"


OK = "  ok: { fact: kernel.release, present: true }\n"
"""A rule that passes: without a deciding rule there is no PASS."""


@pytest.mark.parametrize(
    ("rules", "status", "strict"),
    [
        ("  r: { fact: kernel.release, present: true }\n", 0, 0),
        ("  r: { fact: kernel.release, is: none }\n", 1, 1),
        (f"{OK}  r: {{ severity: minor, fact: kernel.release, is: none }}\n", 0, 1),
        (f"{OK}  r: {{ severity: advisory, fact: kernel.release, is: none }}\n", 0, 1),
        ("  r: { fact: bmc.vendor, is: ACME }\n", 3, 3),
        (f"{OK}  r: {{ severity: minor, fact: bmc.vendor, is: ACME }}\n", 0, 3),
        ("  r: { fact: kernel.release, is: none }\n  s: { fact: bmc.vendor, is: ACME }\n", 1, 1),
    ],
)
def test_the_exit_is_the_table_s(tmp_path: Path, rules: str, status: int, strict: int) -> None:
    chosen = profile(tmp_path, rules)
    assert rackcheck("audit", "-p", chosen, "-q", "-o", tmp_path / "a").status == status
    assert rackcheck("audit", "-p", chosen, "-q", "-o", tmp_path / "b", "--strict").status == strict


def test_planes_narrow_the_scope_and_the_verdict_states_it(tmp_path: Path) -> None:
    chosen = profile(tmp_path, "  r: { fact: kernel.release, present: true }\n  s: { fact: bmc.vendor, is: ACME }\n")
    done = rackcheck("audit", "-p", chosen, "-q", "--planes", "os")
    assert done.status == 0
    assert "os plane only" in done.out
    assert "1 not in scope" in done.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["audit", "-p", "linux-sever"], "did you mean linux-server?"),
        (["audit"], "which profile?"),
        (["audit", "-p", "linux-server", "--planes", "bcm"], "no plane 'bcm'"),
        (["audit", "-p", "linux-server", "--set", "full_shar=1 %"], "did you mean full_share?"),
        (["audit", "-p", "linux-server", "-i", "nowhere.yaml"], "cannot read nowhere.yaml"),
        (["audit", "-p", "nowhere/p.yaml"], "no profile file nowhere/p.yaml"),
        (["audit", "--from", "nothing"], "no run nothing"),
        (["audit", "n[1-", "-p", "linux-server"], "not a node set: n[1-"),
        (["adit"], "did you mean audit?"),
        (["probe", "show", "memry"], "did you mean memory?"),
        (["facts", "localhost", "memroy", "--from", "x"], "no run x"),
        (["profile", "check", "linux-servr"], "did you mean linux-server?"),
        (["audit", "-p", "linux-server", "--timeout", "never"], "not a valid float"),
    ],
)
def test_a_user_error_is_stated_clearly_and_exits_2(words: list[str], text: str) -> None:
    done = rackcheck(*words)
    assert (done.status, done.out) == (2, "")
    assert text in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (("nosuch-a03",), "nosuch-a03 is used as an address"),
        (("nosuch-a[03-04]", "localhost"), "nosuch-a[03-04] are used as addresses"),
        (("localhost",), ""),
        (("127.0.0.9",), ""),
        ((), ""),
    ],
)
@pytest.mark.parametrize("words", [("audit", "-q", "-p"), ("doctor", "-p")], ids=" ".join)
def test_without_an_inventory_a_name_is_an_address_and_that_is_noted_once(
    words: tuple[str, ...], targets: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    profile(tmp_path, "  r: { fact: memory.total, at-least: 1 GiB }\n")
    done = rackcheck(*words, "p.yaml", *targets)
    assert done.err.count("used as") == bool(message), done.err
    assert f"no inventory (no ./inventory.yaml, and no -i FILE): {message}" in done.err or not message
    (tmp_path / "inventory.yaml").write_text("rackcheck: 1\nnodes: { localhost: { host: localhost } }\n")
    assert "used as" not in rackcheck(*words, "p.yaml", *targets).err


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (
            "  r: { fact: memory.totl, at-least: 1 GiB }\n",
            "p.yaml:5:14: no probe provides memory.totl; did you mean memory.total?",
        ),
        (
            "  r: { fact: memory.total, at-least: 1 GHz }\n",
            "p.yaml:5:38: `at-least`: GHz is a frequency; a size in GiB is expected",
        ),
        ("  r: { fact: memory.total, at-least: 1024 }\n", "'1024' has no unit"),
        (
            "  r: { fact: memory.total, at_least: 1 GiB }\n",
            "p.yaml:5:28: no such key: `at_least`; did you mean `at-least`?",
        ),
        ("  r: { fact: os.release.id, at-least: a }\n", "`at-least` needs an order"),
        ("  r: { fact: kernel.release }\n", "asserts nothing"),
    ],
)
def test_a_profile_error_is_reported_with_its_place(tmp_path: Path, rules: str, text: str) -> None:
    done = rackcheck("audit", "-p", profile(tmp_path, rules))
    assert (done.status, done.out) == (2, "")
    assert text in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_help_loads_no_screen_no_transport_and_no_yaml() -> None:
    code = (
        "import sys; from rackcheck.cli import cli, guarded; "
        "guarded(lambda: cli.main(['--help'], standalone_mode=False)); "
        "print([m for m in ('textual', 'paramiko', 'redfish', 'yaml', 'requests', 'jsonschema', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "audit" in done.stdout


def test_the_end_of_a_command_searches_no_cycles_in_memory_that_is_freed_anyway() -> None:
    code = (
        "import atexit, gc, sys; from rackcheck.cli import main; sys.argv[1:] = ['profile', 'list']; "
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000, gc.get_count()[0] < 1000)); main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


@pytest.mark.parametrize("command", ["audit", "facts", "profile", "probe", "runs", "tui", "completion"])
def test_every_command_has_help_with_what_it_takes(command: str) -> None:
    done = rackcheck(command, "--help")
    assert done.status == 0
    assert "Usage: rackcheck" in done.out


def test_ctrl_c_keeps_what_came_in_and_exits_130(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "slow_probe.py"
    package.parent.mkdir()
    package.write_text(
        "from rackcheck import Shell, probe, text\n"
        "@probe(Shell('sleep 30', seconds=40), gives={'os.slow': text('Never comes.')})\n"
        "def slow(raw):\n    yield 'os.slow', raw\n"
    )
    info = package.parent / "slow-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\nslow = slow_probe\n")
    chosen = profile(tmp_path, "  r: { fact: os.slow, is: x }\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "rackcheck", "audit", "-p", str(chosen), "-o", str(tmp_path / "run"), "--json"],
        env={**os.environ, "PYTHONPATH": str(package.parent)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until((tmp_path / "run" / "events.jsonl").exists, "the run does not begin")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert (document["outcome"], document["interrupted"]) == ("INCOMPLETE", True)
    assert "the run was interrupted" in out
    events = [json.loads(line)["event"] for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    assert events[0] == "run started"
    assert events[-1] == "run done"


def test_no_color_and_ascii_are_honoured() -> None:
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    environment["PYTHONIOENCODING"] = "ascii"
    command = [sys.executable, "-m", "rackcheck", "audit", "-p", "linux-server", "-q", "--all"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode in {0, 1, 3}, done.stderr
    assert b"\x1b" not in done.stdout
    assert done.stdout.isascii()


def test_runs_are_listed_and_shown(tmp_path: Path) -> None:
    assert "no run yet" in rackcheck("runs", "list").err
    first = rackcheck("audit", "-p", "linux-server", "-q")
    listed = json.loads(rackcheck("runs", "list", "--json").out)
    assert [row["profile"] for row in listed] == ["linux-server"]
    shown = rackcheck("runs", "show", listed[0]["run"])
    assert (shown.status, shown.out) == (first.status, first.out)


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    rackcheck("audit", "-p", "linux-server", "-q", "-o", tmp_path / "run")
    done = rackcheck("audit", "-p", "linux-server", "-q", "-o", tmp_path / "run")
    assert done.status == 2
    assert "already exists" in done.err


def test_secrets_never_leave_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMC_PASSWORD", "s3cret-of-the-bmc")
    (tmp_path / "inventory.yaml").write_text(
        "rackcheck: 1\nnodes:\n  localhost:\n    host: localhost\n"
        '    bmc: { url: "https://127.0.0.1:9", user: audit, password: "env:BMC_PASSWORD" }\n'
    )
    chosen = profile(tmp_path, "  r: { fact: bmc.vendor, is: ACME }\n")
    done = rackcheck("audit", "-p", chosen, "-o", tmp_path / "run")
    assert done.status == 3
    written = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert not [text for text in written if b"s3cret" in text]
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_profiles_and_runs(shell: str) -> None:
    script = rackcheck("completion", shell)
    assert "_RACKCHECK_COMPLETE" in script.out
    word = "linux" if shell == "fish" else "3"  # fish prints the word itself, the others its number
    environment = {**os.environ, "_RACKCHECK_COMPLETE": f"{shell}_complete"}
    environment |= {"COMP_WORDS": "rackcheck audit -p linux", "COMP_CWORD": word}
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck"], env=environment, capture_output=True, text=True, check=False
    )
    assert "linux-server" in done.stdout


@pytest.mark.parametrize(
    ("words", "at", "wanted"),
    [
        ("rackcheck facts localhost memory.t", "3", "memory.total"),
        ("rackcheck capture --planes o", "3", "os"),
        ("rackcheck audit --planes b", "3", "bmc"),
    ],
)
def test_completion_offers_facts_and_planes(words: str, at: str, wanted: str) -> None:
    environment = {**os.environ, "_RACKCHECK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck"], env=environment, capture_output=True, text=True, check=False
    )
    assert f"plain,{wanted}" in done.stdout.splitlines()


def test_each_probe_can_be_shown_and_tried() -> None:
    names = [row["name"] for row in json.loads(rackcheck("probe", "list", "--json").out)]
    assert len(names) >= 20
    for name in names:
        assert rackcheck("probe", "show", name).status == 0
    done = rackcheck("probe", "run", "memory", "--json")
    assert done.status == 0
    assert json.loads(done.out)["facts"]["memory.total"]["unit"] == "GiB"


def test_an_audit_leaves_nothing_on_the_machine(tmp_path: Path) -> None:
    def seen() -> set[tuple[str, float]]:
        folders = ("/var/tmp", "/dev/shm", "/etc/sysctl.d", "/run", Path.home(), tmp_path)
        return {
            (e.path, e.stat(follow_symlinks=False).st_mtime) for f in folders if Path(f).is_dir() for e in os.scandir(f)
        }

    rackcheck("probe", "list")
    (tmp_path / "run").mkdir()
    before = seen()
    rackcheck("audit", "-p", "linux-server", "-q", "-o", tmp_path / "run" / "it")
    own = tmp_path / "home"  # rackcheck's own folder, in which a run would be stored without `-o`
    new = {path for path, _ in seen() - before if "sshd" not in path} - {str(tmp_path / "run"), str(own)}
    assert new == set()
    assert {path.name for path in own.glob("*")} <= {"cache"}
    left = subprocess.run(["pgrep", "-g", "0", "-f", "timeout -k 2"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_a_secret_that_a_node_prints_is_dropped_before_anything_is_kept(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "leaky_probe.py"
    package.parent.mkdir()
    (tmp_path / "leak").write_text("url=x password=hunter2-planted\ntoken: hunter3-planted\n")
    package.write_text(
        "from rackcheck import Shell, probe, text\n"
        f"@probe(Shell('cat {tmp_path}/leak; cat {tmp_path}/leak >&2'), gives={{'os.leak': text('Says all.')}})\n"
        "def leaky(raw):\n    yield 'os.leak', raw\n"
    )
    info = package.parent / "leaky-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: leaky\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\nleaky = leaky_probe\n")
    chosen = profile(tmp_path, "  r: { fact: os.leak, is: x }\n")
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", "audit", "-p", str(chosen), "-o", str(tmp_path / "run"), "--json"],
        env={**os.environ, "PYTHONPATH": str(package.parent)}, capture_output=True, check=False,
    )  # fmt: skip
    kept = [p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file() and p.suffix != ".gz"]
    kept += [gzip.decompress(p.read_bytes()) for p in (tmp_path / "run" / "raw").iterdir()]
    assert b"url=x" in done.stdout
    assert not [text for text in (done.stdout, done.stderr, *kept) if b"-planted" in text]


HOSTILE = "\x1b]0;owned\x07\x1b[2J[bold red]x[/]\u202e\x9b31m\udcff\nforged line"


def hostile(tmp_path: Path) -> dict[str, str]:
    """An environment with one more probe, `hostile`, whose answer would move a terminal."""
    (tmp_path / "value").write_bytes(HOSTILE.encode("utf-8", "surrogateescape"))
    package = tmp_path / "lib" / "hostile_probe.py"
    package.parent.mkdir()
    package.write_text(
        "from rackcheck import Shell, probe, text, collection, spell_key\n"
        f"@probe(Shell('cat {tmp_path}/value'), gives={{'os.say': text('Says all.'), 'os.list': collection('x'), 'os.list/*.a': text('x')}})\n"
        "def hostile(raw):\n    yield 'os.say', raw\n    yield f'os.list/{spell_key(raw)}.a', raw\n"
    )
    info = package.parent / "hostile-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\nhostile = hostile_probe\n")
    return {**os.environ, "PYTHONPATH": str(package.parent)}


def test_nothing_a_node_prints_moves_the_terminal(tmp_path: Path) -> None:
    environment = hostile(tmp_path)
    chosen = profile(tmp_path, "  r: { fact: os.say, is: x }\n  s: { each: os.list, fact: a, is: x }\n")
    for words in (
        ["audit", "-p", str(chosen), "-o", str(tmp_path / "run")],
        ["audit", "-p", str(chosen), "--json"],
        ["runs", "show", str(tmp_path / "run"), "--all"],
        ["facts", "localhost", "--source"],
        ["facts", "localhost", "--json"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "rackcheck", *words], env=environment, capture_output=True, check=False
        )
        text = done.stdout.decode() + done.stderr.decode()
        assert "Traceback" not in text
        assert "owned" in text
        assert [c for c in text if c != "\n" and not c.isprintable()] == []
        assert not [line for line in text.splitlines() if line.lstrip().startswith("forged line")]


def test_a_raw_answer_is_shown_and_moves_no_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", "probe", "run", "hostile", "--raw"],
        env=hostile(tmp_path), capture_output=True, check=False,
    )  # fmt: skip
    text = done.stdout.decode()
    assert text.startswith("\\x1b]0;owned\\x07\\x1b[2J[bold red]x[/]\\u202e\\x9b31m\\udcff\nforged line\n")
    assert [c for c in text if c != "\n" and not c.isprintable()] == []


@pytest.mark.parametrize(
    "words",
    [["audit", "localhost", "-p", "linux-server", "-i"], ["inventory", "check"], ["audit", "localhost", "-p"]],
    ids=["audit", "check", "profile"],
)
def test_an_endless_or_never_opening_file_is_a_user_error(tmp_path: Path, words: list[str]) -> None:
    os.mkfifo(tmp_path / "fifo")
    for place, output in (("/dev/zero", "a character device"), (f"{tmp_path}/fifo", "a FIFO")):
        code = f"import sys; from rackcheck.cli import main; sys.argv[1:] = {[*words, place]!r}; main()"
        done = subprocess.run(
            ["sh", "-c", 'ulimit -v 1000000; exec "$@"', "sh", sys.executable, "-c", code],
            capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"rackcheck: cannot read {place}: {output}, not a file\n"


def test_a_file_larger_than_any_of_ours_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "big.yaml").open("wb") as file:
        file.truncate(1 << 40)
    done = rackcheck("profile", "check", tmp_path / "big.yaml")
    assert (done.status, done.out) == (2, "")
    assert "big.yaml has more than 2097152 bytes" in done.err


@pytest.mark.parametrize("source", ["/dev/stdin < <(cat inv.yaml)", "<(cat inv.yaml)", "/dev/stdin < inv.yaml"])
def test_a_pipe_of_our_users_own_shell_is_read_like_a_file(tmp_path: Path, source: str) -> None:
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nnodes:\n  n1: { host: 10.0.0.1 }\n")
    command = f"{sys.executable} -m rackcheck inventory check {source}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr


def test_an_unexpected_exception_is_no_verdict() -> None:
    def broken() -> None:
        raise LookupError("\x1b[2Jthis cannot happen")

    out = io.StringIO()
    with redirect_stderr(out):
        assert guarded(broken) == 70
    *before, last = out.getvalue().splitlines()
    assert last.startswith("rackcheck failed: LookupError: \\x1b[2Jthis cannot happen; please report it")
    assert any("in broken" in line for line in before)


def test_an_output_that_takes_nothing_is_no_verdict(tmp_path: Path) -> None:
    command = f"{sys.executable} -m rackcheck profile show linux-server"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (141, b"")
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "rackcheck", "audit", "-p", "linux-server", "-q"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"rackcheck: output: No space left on device\n"
