"""`rackcheck waive`: pins what a run found, and its output waives just that finding, only there and only that long."""

import json
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from rack_runs import accepted, folder

from rackcheck.base.user_error import UserError
from rackcheck.signoff import waivers

TODAY = datetime.now(UTC).date()
"""A waiver is dated today: only this command has a clock."""

RULE = "nic.rate"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def waive(rule: str = RULE, run: object = None, *words: object, **options: str) -> Done:
    given = {
        "nodes": "n1",
        "until": str(TODAY + timedelta(days=9)),
        "by": "Jo Doe",
        "ticket": "OPS-1",
        "reason": "ordered",
    }
    named = [word for name, value in {**given, **options}.items() for word in (f"--{name.replace('_', '-')}", value)]
    return rackcheck("waive", rule, "--from", run or folder() / "first", *named, *words)


def judged(*words: object) -> dict[str, Any]:
    done = rackcheck("audit", "--from", folder() / "first", "--json", *words)
    found: dict[str, Any] = json.loads(done.out)
    return found


def statuses(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(n, v["rule"]): v["status"] for n, node in found["nodes"].items() for v in node["verdicts"]}


def test_what_it_writes_waives_that_finding_and_nothing_else() -> None:
    done = waive()
    assert done.status == 0, done.err
    assert "+  - rule: nic.rate" in done.out
    before, after = statuses(judged()), statuses(judged("--waivers", "waivers.yaml"))
    assert {where: (before[where], after[where]) for where in before if before[where] != after[where]} == {
        ("n1", RULE): ("fail", "waived"),
    }  # fmt: skip


def test_a_dry_run_shows_the_same_and_writes_nothing(tmp_path: Path) -> None:
    shown = waive(RULE, None, "--dry-run")
    assert not (tmp_path / "waivers.yaml").exists()
    assert waive().out == shown.out


def test_what_stands_in_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("# ours\nrackcheck: 1\nwaivers:\n# none yet\n")
    assert waive(file="ours.yaml").status == 2  # a table without a value is no list
    file.write_text("# ours\nrackcheck: 1\nwaivers: []\n# none yet\n")
    assert waive(file="ours.yaml").status == 0
    assert file.read_text().startswith("# ours\nrackcheck: 1\nwaivers:\n# none yet\n")
    (found,) = waivers.load(file).waivers
    assert (found.rule, found.nodes, found.by) == (RULE, ("n1",), "Jo Doe")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"nodes": "n2"}, "nic.rate is pass on n2: only a fail or a warn can be waived; it fails or warns on n1"),
        ({"nodes": "n[1-2]"}, "on n2: only a fail or a warn"),
        ({"nodes": "n9"}, "not judged on n9"),
        ({"nodes": "n[1"}, "n[1"),
        ({"until": str(TODAY - timedelta(days=1))}, "is in the past"),
        ({"until": str(TODAY + timedelta(days=400))}, "more than a year ahead"),
        ({"until": "2026-02-30"}, "not a date"),
        ({"until": TODAY.strftime("%Y%m%d")}, "use YYYY-MM-DD"),
        ({"item": "gpu/0"}, "no known finding for gpu/0 on n1"),
        ({"by": " "}, "--by is empty"),
        ({"file": "waivers.txt"}, "ends in .yaml"),
        ({"file": "none/waivers.yaml"}, "none/waivers.yaml"),
    ],
)
def test_an_error_is_reported_and_nothing_is_written(tmp_path: Path, options: dict[str, str], text: str) -> None:
    done = waive(**options)
    assert done.status == 2, done.err
    assert text in done.err
    assert "Traceback" not in done.err
    written = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*") if path.is_file()}
    assert written <= {("home", "cache")}, "only what can be made again"


def test_an_unknown_rule_is_reported_with_the_nearest() -> None:
    done = waive("nic.rat")
    assert (done.status, done.err) == (2, "rackcheck: profile h100-dgx has no rule nic.rat; did you mean nic.rate?\n")


def test_what_is_not_known_is_nobodys_to_answer_for() -> None:
    done = waive("psu.count", nodes="n3")
    assert done.status == 2
    assert "psu.count is unknown on n3" in done.err


def test_a_finding_is_waived_once(tmp_path: Path) -> None:
    assert waive().status == 0
    text = (tmp_path / "waivers.yaml").read_text()
    done = waive()
    assert done.status == 2
    assert "waived twice" in done.err
    assert (tmp_path / "waivers.yaml").read_text() == text


@pytest.mark.parametrize("nodes", ["", " "])
def test_a_waiver_for_no_node_is_an_error(tmp_path: Path, nodes: str) -> None:
    assert waive().status == 0
    before = (tmp_path / "waivers.yaml").read_text()
    done = waive("firmware.bios", nodes=nodes)
    assert done.status == 2
    assert "--nodes" in done.err
    assert (tmp_path / "waivers.yaml").read_text() == before


@pytest.mark.parametrize("option", ["by", "ticket", "reason"])
@pytest.mark.parametrize("words", ["", "  ", "\u200b", "\u202e \u200b"])
def test_an_option_without_a_visible_character_is_empty(tmp_path: Path, option: str, words: str) -> None:
    done = waive(**{option: words})
    assert (done.status, done.err) == (2, f"rackcheck: --{option} is empty\n")
    assert not (tmp_path / "waivers.yaml").exists()


def test_a_waiver_that_was_added_meanwhile_is_not_lost(tmp_path: Path) -> None:
    file = tmp_path / "waivers.yaml"
    assert waive().status == 0
    text = file.read_text()
    for before in ("", text + "# edited\n"):
        with pytest.raises(UserError, match="was changed meanwhile; nothing is written"):
            waivers.write(file, before, "rackcheck: 1\nwaivers: []\n")
        assert file.read_text() == text
    waivers.write(file, text, text + "# edited\n")
    assert file.read_text() == text + "# edited\n"


def test_writers_of_one_file_wait_for_each_other(tmp_path: Path) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text("")
    texts = [f"# {n}\n" for n in range(16)]
    with ThreadPoolExecutor(len(texts)) as pool:
        done = [pool.submit(waivers.write, file, "", text) for text in texts]
    (written,) = [text for text, each in zip(texts, done, strict=True) if each.exception() is None]
    assert file.read_text() == written
    assert {type(each.exception()) for each in done} == {type(None), UserError}


def test_hostile_words_are_words(tmp_path: Path) -> None:
    output = 'x"- rule: gpu.count \u202e \\ # {{ }} : ¬'
    done = waive(reason=output)
    assert done.status == 0, done.err
    assert "\u202e" not in done.out
    (found,) = waivers.load(tmp_path / "waivers.yaml").waivers
    assert (found.rule, found.reason) == (RULE, output)


def test_an_acceptance_is_waived_and_shows_it() -> None:
    accepted("pod", "first", "os")
    done = waive(run="pod")
    assert done.status == 0, done.err
    assert "rackcheck accept add pod --waivers waivers.yaml" in done.err
    added = rackcheck("accept", "add", "pod", "--waivers", "waivers.yaml").out
    assert "first INCOMPLETE, now INCOMPLETE\nWhy:     1 of 3 nodes, n3: " in added
    shown = json.loads(rackcheck("report", "pod", "--format", "json", "-q").out)["report"]
    assert [(one["rule"], one["state"], one["used"]) for one in shown["exemptions"]] == [(RULE, "used", ["n1"])]
    (line,) = (line for line in shown["punch"] if line["rule"] == RULE)
    assert (line["cls"], line["owner"], line["until"]) == ("B", "Jo Doe", str(TODAY + timedelta(days=9)))
    assert waive(run="pod").status == 2  # it does not fail any more


@pytest.mark.parametrize("option", ["by", "ticket", "reason"])
@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("two\nlines", "'two\\nlines' contains a line break; use one line of plain text"),
        ("two\u2028lines", "contains a line break"),
        ("red\x1b[31m", "contains the control character \\x1b;"),
        ("a\tb", "contains the control character \\t;"),
        ("half \udc80", "contains the control character \\udc80;"),
    ],
)
def test_words_of_several_lines_or_with_control_characters_are_one_error(
    tmp_path: Path, option: str, words: str, text: str
) -> None:
    done = waive(**{option: words})
    assert done.status == 2
    assert done.err.startswith(f"rackcheck: --{option} ")
    assert text in done.err
    assert len(done.err.splitlines()) == 1
    assert {each.name for each in tmp_path.iterdir()} <= {"home"}  # where the first test of a process stores its runs


def test_a_count_is_waived_by_its_number_alone_and_not_by_what_it_left_out(tmp_path: Path) -> None:
    words = ("-p", "h100-hgx", "--set", "ports=8", "--planes", "os", "-q", "-o", tmp_path / "counted")
    assert rackcheck("audit", "dgx02", "--rack", "sim:dgx-h100", *words).status == 1
    raw = rackcheck("audit", "--from", tmp_path / "counted", "--json", "-q")
    (seen,) = (v for v in json.loads(raw.out)["nodes"]["dgx02"]["verdicts"] if v["rule"] == RULE)
    assert len(seen["evidence"]) > 1, "the rule lists what it left out beside its count"
    assert waive(RULE, tmp_path / "counted", nodes="dgx02").status == 0
    (found,) = waivers.load(tmp_path / "waivers.yaml").waivers
    assert [pin.item.startswith("count of nic/*.port ") for pin in found.pins] == [True]
    other = waive(RULE, tmp_path / "counted", "--item", seen["evidence"][1]["item"], nodes="dgx02")
    assert other.status == 2
    assert "no known finding for" in other.err


# ---- the file --------------------------------------------------------------------------------------------------------


def waived(place: Path, *, room: int) -> "subprocess.CompletedProcess[str]":
    """Waive in a separate process with a limit on file size: the effect of a full disk, also for root."""
    until = str(TODAY + timedelta(days=9))
    words = ["waive", RULE, "--from", folder() / "first", "--nodes", "n1", "--until", until, "--by", "Jo Doe"]
    words += ["--ticket", "OPS-1", "--reason", "ordered " * 100, "--file", place]
    return subprocess.run(
        [sys.executable, "-m", "rackcheck", *map(str, words)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )  # fmt: skip


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    before = "# ours\nrackcheck: 1\nwaivers: []\n"
    file.write_text(before)
    done = waived(file, room=400)
    assert (done.returncode, done.stderr) == (2, f"rackcheck: cannot write {file}: File too large\n")
    assert file.read_text() == before
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == ["ours.yaml"]
    assert waived(file, room=1 << 20).returncode == 0
    assert len(waivers.load(file).waivers) == 1


def test_a_full_disk_makes_no_file(tmp_path: Path) -> None:
    done = waived(tmp_path / "new.yaml", room=400)
    assert (done.returncode, done.stderr) == (2, f"rackcheck: cannot write {tmp_path}/new.yaml: File too large\n")
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []


def test_mode_and_link_stay(tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    real = tmp_path / "git" / "real.yaml"
    real.write_text("rackcheck: 1\nwaivers: []\n")
    real.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(real, 65534, 65534)
    before = real.stat()
    (tmp_path / "waivers.yaml").symlink_to(Path("git") / "real.yaml")
    done = waive()
    assert done.status == 0, done.err
    assert (tmp_path / "waivers.yaml").is_symlink()
    after = real.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert len(waivers.load(real).waivers) == 1
    assert [path.name for path in (tmp_path / "git").iterdir()] == ["real.yaml"]


def test_a_new_file_is_as_open_as_any_new_file(tmp_path: Path) -> None:
    assert waive().status == 0
    (tmp_path / "plain").touch()
    assert (tmp_path / "waivers.yaml").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_links_in_a_circle_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "waivers.yaml").symlink_to("waivers.yaml")
    done = waive()
    assert done.status == 2
    assert done.err.startswith("rackcheck: ")
    assert "waivers.yaml" in done.err
    assert len(done.err.splitlines()) == 1
