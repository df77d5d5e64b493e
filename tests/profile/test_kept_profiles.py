"""Kept profiles are those that their files give: whatever happens to a file, no rule is another one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.base import program
from rackcheck.model.profile import Profile
from rackcheck.model.python_rule import Called
from rackcheck.probe import registry as registries
from rackcheck.probe.registry import registry
from rackcheck.profile import kept_profiles, library, profile_form
from rackcheck.profile.document import BadFile
from rackcheck.session.registry_loading import known

SHIPPED = sorted(library.profiles())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder, in which a program that was edited shortly before keeps profiles, too."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RACKCHECK_PROGRAM_CACHE")
    monkeypatch.setattr(program, "STARTED", float("inf"))
    monkeypatch.chdir(tmp_path)
    program.digest.cache_clear()
    known.cache_clear()  # a test before this one may have loaded the registry anew
    yield tmp_path
    monkeypatch.undo()
    program.digest.cache_clear()


def kept(home: Path, use: str = kept_profiles.COMPILED) -> list[Path]:
    return sorted((home / "home" / "cache").glob(f"profiles-{use}/*"))


def loads(name: str, *folders: Path, **values: str) -> Profile:
    return library.load(name, registry().catalogue, values, folders)


def compiled(name: str, *folders: Path, **values: str) -> tuple[Profile, bool]:
    """A profile, and whether its files were compiled for it."""
    calls: list[str] = []
    real = library._load

    def counted(*given: object) -> object:
        calls.append(name)
        return real(*given)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "_load", counted)
        return loads(name, *folders, **values), calls != []


def test_every_shipped_profile_is_read_back_as_it_was_compiled(home: Path) -> None:
    for name in SHIPPED:
        first, made = compiled(name)
        again, made_again = compiled(name)
        assert (made, made_again) == (True, False), name
        assert deep(again) == deep(first), name
        assert (list(again.files), again.files, again.meant) == (list(first.files), first.files, first.meant), name
        assert json.dumps(again.files) == json.dumps(first.files)
    assert 0 < len(kept(home)) <= kept_profiles.MOST[kept_profiles.COMPILED]


def test_state_folders_with_one_program_cache_compile_a_profile_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_PROGRAM_CACHE", str(home / "program"))
    first, made = compiled("linux-server")
    monkeypatch.setenv("RACKCHECK_HOME", str(home / "another"))
    again, made_again = compiled("linux-server")
    assert (made, made_again) == (True, False)
    assert again == first
    assert not (home / "home" / "cache").exists()
    assert not (home / "another").exists()


def deep(value: object) -> object:
    """A value with the types of all its parts, and with the fields that equality leaves out."""
    if is_dataclass(value):
        return type(value), [(each.name, deep(getattr(value, each.name))) for each in fields(value)]
    if isinstance(value, dict):
        return [(key, deep(part)) for key, part in value.items()]
    if isinstance(value, tuple):
        return tuple, [deep(part) for part in value]
    if isinstance(value, frozenset):
        return frozenset, sorted((deep(part) for part in value), key=repr)
    return type(value), value


OWN = """\
rackcheck: 1
profile: own
version: 1
title: Ours
include: [part@1]
params: { threads: 2 }
rules:
  own.threads: { fact: cpu.threads, at-least: $threads, title: T, why: W, refs: [ours] }
"""
PART = """\
rackcheck: 1
profile: part
version: 1
fragment: true
rules:
  part.smt: { fact: cpu.smt, is: "true", title: T, why: W }
"""
SOURCES = """\
rackcheck: 1
sources:
  ours: { title: A, section: "1", publisher: P, date: 2026-01-01, confidence: read in source }
"""


@pytest.fixture
def own(home: Path) -> Path:
    """A folder with a profile of a user, its fragment, and its source."""
    folder = home / "profiles"
    folder.mkdir()
    for name, text in {"own": OWN, "part": PART, "sources": SOURCES}.items():
        (folder / f"{name}.yaml").write_text(text)
    assert compiled("own", folder)[1]
    return folder


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


CHANGES: dict[str, Callable[[Path], None]] = {
    "a rule": lambda folder: edited(folder / "own.yaml", "at-least", "at-most"),
    "a fragment": lambda folder: edited(folder / "part.yaml", '"true"', '"false"'),
    "a source": lambda folder: edited(folder / "sources.yaml", "read in source", "from memory"),
    "a comment": lambda folder: edited(folder / "part.yaml", "rules:\n", "# more\nrules:\n"),
    "a value of a param": lambda folder: edited(folder / "own.yaml", "threads: 2", "threads: 4"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_compiled_again(change: str, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, made = compiled("own", own)
    assert not made
    CHANGES[change](own)
    after, made = compiled("own", own)
    assert made
    monkeypatch.setenv(kept_profiles.OFF, "0")
    assert deep(after) == deep(loads("own", own)) != deep(before)


def test_a_profile_is_kept_for_the_same_values_and_program_alone(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled("own", own, threads="8")[1]
    assert compiled("own", own, threads="8")[0].params == {"threads": "8"}
    assert compiled("own", own)[0].params == {"threads": "2"}
    assert not compiled("own", own)[1]
    monkeypatch.setattr(program, "digest", lambda: "another")
    assert compiled("own", own)[1]
    monkeypatch.setattr(program, "digest", lambda: "")
    assert compiled("own", own)[1], "a program that cannot be identified keeps nothing"


def test_a_fragment_that_is_found_in_another_place_is_used(own: Path, home: Path) -> None:
    first = home / "first"
    first.mkdir()
    (first / "part.yaml").write_text(PART.replace('"true"', '"false"'))
    (own / "part.yaml").rename(home / "gone.yaml")
    profile, made = compiled("own", own, first)
    assert made
    assert {str(test.operand) for rule in profile.own for c in rule.clauses for test in c.tests} == {"False", "2"}


def test_rules_have_their_place_as_it_is_seen_from_the_folder_of_the_command(
    own: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {rule.place for rule in loads("own", own).own} == {"profiles/own.yaml:8", "profiles/part.yaml:6"}
    monkeypatch.chdir(own)
    assert {rule.place for rule in loads("own", own).own} == {"own.yaml:8", "part.yaml:6"}


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-40],
    "longer": lambda data: data + b"\n",
    "one bit": lambda data: changed(data, len(data) - 60),
    "another seal": lambda data: changed(data, 30),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_not_used_and_is_written_anew(damage: str, own: Path, home: Path) -> None:
    (file,) = kept(home)
    whole, expected = file.read_bytes(), deep(loads("own", own))
    file.write_bytes(DAMAGES[damage](whole))
    profile, made = compiled("own", own)
    assert (made, deep(profile), file.read_bytes()) == (True, expected, whole)


def test_the_file_of_another_profile_in_a_files_place_is_not_used(own: Path, home: Path) -> None:
    (file,) = kept(home)
    loads("own", own, threads="64")
    (other,) = set(kept(home)) - {file}
    file.write_bytes(other.read_bytes())
    profile, made = compiled("own", own)
    assert (made, profile.params) == (True, {"threads": "2"})


@pytest.mark.parametrize("mode", [0o777, 0o772])
def test_a_folder_that_others_can_write_is_not_used(mode: int, own: Path, home: Path) -> None:
    (file,) = kept(home)
    file.parent.chmod(mode)
    assert compiled("own", own)[1]


def test_a_profile_with_an_error_is_not_kept_and_its_message_is_the_same_each_time(own: Path, home: Path) -> None:
    edited(own / "part.yaml", "cpu.smt", "cpu.smtt")
    before = kept(home)
    seen = []
    for _ in range(2):
        with pytest.raises(BadFile) as error:
            loads("own", own)
        seen.append(str(error.value))
    assert seen == ["profiles/part.yaml:6:21: no probe provides cpu.smtt; did you mean cpu.smt?"] * 2
    assert kept(home) == before


def test_a_file_that_became_wrong_is_found_although_it_was_kept(own: Path) -> None:
    assert not compiled("own", own)[1]
    edited(own / "sources.yaml", "ours:", "theirs:")
    with pytest.raises(BadFile, match=r"no source ours in sources\.yaml"):
        loads("own", own)
    (own / "part.yaml").unlink()
    with pytest.raises(BadFile, match=r"profiles/own\.yaml:5:11: no profile part"):
        loads("own", own)


def test_a_profile_with_a_rule_in_python_has_no_form(own: Path) -> None:
    profile = loads("own", own)
    rule = replace(profile.rules[0], called=Called("x", ("cpu.smt",), lambda _: ()))
    with pytest.raises(TypeError):
        profile_form.dumps(replace(profile, rules=(rule,)))


def test_with_probes_of_other_packages_no_profile_is_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kept_profiles, registries):
        monkeypatch.setattr(module, "only_own", lambda: False)
    assert compiled("own", own)[1]


def test_with_another_catalogue_no_profile_is_kept(own: Path, home: Path) -> None:
    before = kept(home)
    other = replace(registry().catalogue)
    library.load("own", other, {"threads": "128"}, (own,))
    assert kept(home) == before


SHAPES: dict[str, Callable[[dict[str, object]], object]] = {
    "a list": lambda doc: [doc],
    "another key": lambda doc: doc | {"more": 1},
    "no kinds": lambda doc: doc | {"kinds": []},
    "a profile of another shape": lambda doc: doc | {"profile": ["own"]},
    "an operand of another form": lambda doc: json.loads(
        json.dumps(doc).replace('"at-least", 2', '"at-least", {"a": 1}')
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sealed_file_of_another_shape_is_not_used(shape: str, own: Path) -> None:
    found = library.find("own", (own,))
    head = library._file("", found.path)
    place = library._place(kept_profiles.COMPILED, found, head, {})
    assert place is not None
    body, came = place.load(partial(library._reread, found, head, (own,))) or ("", ())
    cited, _, text = body.partition("\n")
    place.store(came, f"{cited}\n{json.dumps(SHAPES[shape](json.loads(text)))}")
    assert compiled("own", own)[1]


def test_a_profile_in_a_pipe_is_read_once(own: Path, home: Path) -> None:
    env = {**os.environ, "RACKCHECK_HOME": str(home / "home")}
    for words in ("profile check /dev/stdin", "profile show /dev/stdin"):
        seen = []
        for _ in range(2):
            command = f"sed 's/, refs.*]//; /include/d' {own}/own.yaml | {sys.executable} -m rackcheck {words}"
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=env)
            assert done.returncode in {0, 1}, done.stderr
            seen.append((done.returncode, done.stdout))
        assert seen[0] == seen[1]


@pytest.mark.parametrize("source", ["/dev/stdin < <(cat {})", "<(cat {})"])
def test_an_audit_reads_a_profile_in_a_pipe_once(source: str, home: Path) -> None:
    profile = source.format(library.find("linux-server").path)
    command = f"{sys.executable} -m rackcheck audit localhost --json -q -o {home}/run -p {profile}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1, 3}, done.stderr
    assert json.loads(done.stdout)["profile"]["name"] == "linux-server"


COMMANDS = (
    ["profile", "check", "own"], ["profile", "check", "own", "--strict"], ["profile", "check", "own", "--json"],
    ["profile", "check", "own", "--set", "threads=0", "--strict"], ["profile", "list"], ["profile", "list", "--json"],
    ["profile", "check", "part", "--strict"], ["profile", "check", "./profiles/own.yaml"],
)  # fmt: skip


def test_check_and_list_print_the_same_from_kept_results(
    own: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(own / "own.yaml", "why: W, ", "")
    for words in COMMANDS:
        given = [*words, "--profile-path", str(own)]
        monkeypatch.setenv(kept_profiles.OFF, "0")
        expected = rackcheck(*given)
        monkeypatch.delenv(kept_profiles.OFF)
        assert rackcheck(*given) == expected, "the first time"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(library, "_load", None)  # not called
            assert rackcheck(*given) == expected
    edited(own / "own.yaml", "at-least", "at-mist")
    wrong = rackcheck("profile", "check", "own", "--profile-path", str(own))
    assert wrong.status == 2
    assert wrong.err.startswith("profiles/own.yaml:8:")
    assert "did you mean `at-most`" in wrong.err or "did you mean" in wrong.err
    assert "cannot be used" in rackcheck("profile", "list", "--profile-path", str(own)).out
