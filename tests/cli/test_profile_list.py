"""`rackcheck profile list` and the error for an unknown name: one bad file hides no other, nothing is cut."""

import json
import os
from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.cli import options

FINE = "rackcheck: 1\nprofile: fine\nversion: 3\ntitle: {title}\nrules:\n  r: {{ fact: cpu.smt, is: true }}\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_each_file_is_listed_with_its_kind_and_one_that_cannot_be_used_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "fine.yaml").write_text(FINE.format(title="Fine"))
    (tmp_path / "binary.yaml").write_bytes(b"\x7fELF\xff\xfe")
    (tmp_path / "empty.yaml").write_text("")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "dangling.yaml").symlink_to("nowhere.yaml")
    done = rackcheck("profile", "list", "--profile-path", tmp_path, "--json")
    rows = {row["name"]: row for row in json.loads(done.out) if row["origin"] == "--profile-path"}
    assert done.status == 0
    assert rows.pop("fine") == {
        "name": "fine", "kind": "profile", "version": "3", "rules": "1", "origin": "--profile-path", "title": "Fine",
    }  # fmt: skip
    assert {name: row["title"].partition(": ")[0] for name, row in rows.items()} == dict.fromkeys(
        ("binary", "empty", "pipe", "dangling"), "cannot be used"
    )


def test_a_list_of_shipped_files_only_has_no_file_column() -> None:
    head = rackcheck("profile", "list").out.splitlines()[:2]
    assert head[0].startswith("profiles, for audits")
    assert head[1].split() == ["profile", "version", "rules", "title"]


def test_a_file_is_compared_by_its_path_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "fine.yaml").write_text(FINE.format(title="Fine"))
    (tmp_path / "other").write_text(FINE.format(title="Fine"))
    assert rackcheck("profile", "diff", "fine.yaml", "./other").status == 0
    assert "for the file write ./other" in rackcheck("profile", "diff", "fine.yaml", "other").err


def test_a_name_that_was_only_begun_has_all_that_begin_so() -> None:
    for begun, meant in (
        ("gb200", "gb200-nvl72"),
        ("H100-DGX", "h100-dgx"),
        ("linux", "linux-server or linux-gpu-node"),
    ):
        assert f"did you mean {meant}?" in rackcheck("profile", "diff", begun, "nvme").err


def test_a_profile_without_a_title_is_named_without_a_comma_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "bare.yaml").write_text(
        "rackcheck: 1\nprofile: bare\nversion: 1\nrules:\n  r: { fact: cpu.smt, is: true }\n"
    )
    assert rackcheck("profile", "diff", "bare.yaml", "bare.yaml").out.splitlines()[0] == "A bare 1  1 rule"


def test_what_is_there_to_be_included_stands_apart_and_no_profile_that_extends_does() -> None:
    rows = {row["name"]: row["kind"] for row in json.loads(rackcheck("profile", "list", "--json").out)}
    lines = rackcheck("profile", "list").out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("fragments, "))
    below = {line.split()[0] for line in lines[at + 2 :] if not line.startswith(" ")}
    assert below == {name for name, kind in rows.items() if kind == "fragment"}
    assert {"infiniband", "nvme", "hgx-links", "cross-plane"} <= below
    assert {"linux-server", "h100-dgx", "burn-in", "example-site"}.isdisjoint(below)


def test_a_fragment_that_extends_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        "rackcheck: 1\nprofile: f\nversion: 1\nfragment: true\nextends: linux-server@2026.11\n"
    )
    done = rackcheck("profile", "check", "f.yaml")
    assert (done.status, "f is a fragment, and a fragment extends nothing" in done.err) == (2, True)


def test_completion_offers_profiles_before_fragments() -> None:
    found = [item.value for item in options.complete_profiles(None, None, "")]  # type: ignore[arg-type]
    rows = {row["name"]: row["kind"] for row in json.loads(rackcheck("profile", "list", "--json").out)}
    kinds = [rows[name] for name in found]
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {"profile", "fragment"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gb200", "no profile gb200; did you mean gb200-nvl72?"),
        ("H100-DGX", "did you mean h100-dgx?"),
        ("h100-dgx@2026.11", "did you mean h100-dgx?"),
        ("h100-dgx.yaml", "no profile file h100-dgx.yaml; did you mean the profile h100-dgx?"),
        ("quux", "no profile quux; rackcheck profile list shows all"),
        ("here", "no profile here; for the file write ./here"),
        ("", "no profile ''; "),
    ],
)
def test_an_unmatched_name_is_reported_in_one_short_line(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "here").write_text(FINE.format(title="Fine"))
    done = rackcheck("profile", "check", name)
    assert (done.status, text in done.err, done.err.count("\n")) == (2, True, 1)
