"""`rackcheck inventory`: check, show and import, as a shell sees them."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import rackcheck

POD = """\
rackcheck: 1
inventory: pod7
defaults:
  ssh: { user: audit }
  bmc: { user: audit, password: env:NOT_SET_HERE }
racks:
  a01: { row: A, type: rack-42u }
groups:
  left: { nodes: "dgx-[01-02]" }
nodes:
  dgx-[01-03]: { role: computee, rack: a01, host: "{node}.mgmt", bmc: { url: "https://{node}-bmc" } }
  dgx-03:      { u: 21, height: 4, bmc: { url: "https://DGX-01-bmc/" } }
  sw-[1-2]:    { role: nvswitch-tray, rack: a01, bmc: { url: "https://{node}-bmc" } }
  lone:        { host: dgx-01.mgmt }
"""


@pytest.fixture(autouse=True)
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    (tmp_path / "pod.yaml").write_text(POD)


def test_check_counts_and_reports_oddities_and_passes() -> None:
    done = rackcheck("inventory", "check", "pod.yaml")
    assert (done.status, done.err) == (0, "")
    for words in (
        "pod.yaml is valid (pod7)",
        "nodes  6: 3 computee, 2 nvswitch-tray, 1 compute",
        "planes os of 4, bmc of 5",
        "racks  a01 (42 U, 5 nodes)",
        "groups @left (2)",
        "role computee: did you mean compute? (dgx-[01-03])",
        "no BMC: lone (1 of 6 nodes)",
        "no host: sw-[1-2] (2 of 6 nodes)",
        "one BMC for 2 nodes: dgx-[01,03] have the url https://dgx-01-bmc",
        "one host for 2 nodes: dgx-01,lone have dgx-01.mgmt port 22",
        "secret env:NOT_SET_HERE cannot be fetched",
        "rack a01: no position (`u` or `slot`) for dgx-[01-02],sw-[1-2]",
    ):
        assert words in done.out


def test_check_finds_the_inventory_beside_and_the_one_named_by_an_option(tmp_path: Path) -> None:
    assert "no inventory" in rackcheck("inventory", "check").err
    assert rackcheck("inventory", "check", "-i", "pod.yaml").status == 0
    (tmp_path / "inventory.yaml").write_text(
        "rackcheck: 1\nnodes:\n  n1: { host: a, bmc: { url: 'https://b', user: a, password: 'env:HOME' } }\n"
    )
    done = rackcheck("inventory", "check")
    assert done.status == 0
    assert "note" not in done.out


def test_a_word_of_the_site_s_own_is_no_odd_role(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "rackcheck: 1\nnodes:\n  n1: { role: tape-robot, host: a, bmc: { url: 'https://b', user: a, password: 'env:HOME' } }\n"
    )
    assert "note" not in rackcheck("inventory", "check", "own.yaml").out


def test_check_reports_every_error_with_its_place_and_exits_two(tmp_path: Path) -> None:
    rows = "".join(f"  n{i}: {{ host: a, rol: x }}\n" for i in range(30))
    (tmp_path / "bad.yaml").write_text(f"rackcheck: 1\nnodes:\n{rows}")
    done = rackcheck("inventory", "check", "bad.yaml")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("bad.yaml:") == 20
    assert "and 10 more" in done.err


def test_check_names_a_key_file_that_others_may_read_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("x")
    (tmp_path / "key").chmod(0o644)
    (tmp_path / "pw").write_text("hunter2")
    (tmp_path / "pw").chmod(0o600)
    monkeypatch.setenv("PW", "hunter2")
    (tmp_path / "i.yaml").write_text(
        f"rackcheck: 1\ndefaults: {{ bmc: {{ password: env:PW }} }}\nnodes:\n"
        f"  n1: {{ host: a, ssh: {{ key: '{tmp_path}/key', password: 'file:{tmp_path}/pw', passphrase: 'prompt:never asked' }}, "
        "bmc: { url: 'https://b', user: a, password: 'env:HOME' } }\n"
    )
    done = rackcheck("inventory", "check", "i.yaml")
    assert done.status == 0
    assert f"key file {tmp_path}/key may be read by others; chmod 600 {tmp_path}/key (n1)" in done.out
    assert "cannot be fetched" not in done.out
    assert "hunter2" not in done.out + done.err


def test_check_as_json_is_one_document() -> None:
    document = json.loads(rackcheck("inventory", "check", "pod.yaml", "--json").out)
    assert (document["count"], document["planes"], document["racks"]) == (6, {"os": 4, "bmc": 5}, {"a01": 5})
    assert any(note.startswith("role computee") for note in document["notes"])


def test_show_folds_nodes_of_equal_shape() -> None:
    rows = [line.split() for line in rackcheck("inventory", "show", "-i", "pod.yaml").out.splitlines()]
    assert rows[1:] == [
        ["dgx-[01-02]", "2", "computee", "{node}.mgmt", "https://{node}-bmc", "a01"],
        ["dgx-03", "1", "computee", "{node}.mgmt", "https://DGX-01-bmc/", "a01", "21-24"],
        ["sw-[1-2]", "2", "nvswitch-tray", "https://{node}-bmc", "a01"],
        ["lone", "1", "compute", "dgx-01.mgmt"],
    ]
    only = rackcheck("inventory", "show", "-i", "pod.yaml", "@left,lone")
    assert [line.split()[0] for line in only.out.splitlines()[1:]] == ["dgx-[01-02]", "lone"]
    assert "did you mean @left" in rackcheck("inventory", "show", "-i", "pod.yaml", "@lft").err


def test_show_draws_the_whole_of_each_rack_that_is_meant() -> None:
    lines = rackcheck("inventory", "show", "-i", "pod.yaml", "--elevation", "@left").out.splitlines()
    assert lines[0] == "a01: rack of 42 units, row A, 5 nodes"
    assert [line.split()[0] for line in lines[1:43]] == [str(unit) for unit in range(42, 0, -1)]
    assert lines[43 - 24] == "   24  dgx-03  computee"
    assert lines[43 - 23 : 43 - 20] == ["   23  |", "   22  |", "   21  |"]
    assert lines[43:] == ["       without a position: dgx-[01-02],sw-[1-2]"]
    assert "is in a rack" in rackcheck("inventory", "show", "-i", "pod.yaml", "--elevation", "lone").err


def test_show_as_json_holds_references_and_places() -> None:
    document = json.loads(rackcheck("inventory", "show", "-i", "pod.yaml", "--json", "dgx-03").out)
    (node,) = document["nodes"]
    assert (node["name"], node["u"], node["height"], node["bmc"]["password"]) == ("dgx-03", 21, 4, "env:NOT_SET_HERE")
    assert (document["racks"]["a01"]["height"], document["groups"]) == (42, {"left": []})


def test_import_prints_an_inventory_that_loads_and_notes_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name,host,serial\nn1,n1.x,1\nn2,n2.x,2\n")
    done = rackcheck("inventory", "import", "--from", "csv", "s.csv")
    assert done.status == 0
    assert 'n[1-2]: { host: "{node}.x" }' in done.out
    assert "serial (2)" in done.err
    (tmp_path / "out.yaml").write_text(done.out)
    assert "valid" in rackcheck("inventory", "check", "out.yaml").out


def test_import_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"NodeName=n1 NodeAddr=10.0.0.1 State=IDLE\n")))
    done = rackcheck("inventory", "import", "--from", "slurm", "-")
    assert done.status == 0
    assert "n1: { host: 10.0.0.1 }" in done.out


def test_import_overwrites_only_when_requested(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name\nn1\n")
    (tmp_path / "out.yaml").write_text("mine")
    words = ("inventory", "import", "--from", "csv", "s.csv", "-o", "out.yaml")
    done = rackcheck(*words)
    assert (done.status, (tmp_path / "out.yaml").read_text()) == (2, "mine")
    assert "--force overwrites it" in done.err
    assert rackcheck(*words, "--force").status == 0
    assert "nodes:" in (tmp_path / "out.yaml").read_text()


def test_import_lists_what_still_needs_fixing(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name,rack,u\nn1,a,1\nn2,a,1\n")
    done = rackcheck("inventory", "import", "--from", "csv", "s.csv")
    assert done.status == 0
    assert "to be fixed: the result:4:" in done.err
    assert "n2 is on U 1 of a, which n1 occupies" in done.err


def test_import_of_a_wrong_file_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name,u\nn1,x\n")
    for kind, output in (
        ("csv", "s.csv:2:4: `u` is a number"),
        ("ansible", "s.csv:1:1: not JSON"),
        ("slurm", "NodeName="),
    ):
        done = rackcheck("inventory", "import", "--from", kind, "s.csv")
        assert (done.status, done.out) == (2, "")
        assert output in done.err


def test_text_of_a_file_cannot_command_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "i.yaml").write_text('rackcheck: 1\nnodes:\n  n1: { host: a, rack: "\\e[2J", u: 1 }\n')
    (tmp_path / "bad.yaml").write_text('rackcheck: 1\nnodes:\n  n1: { host: "\\e[2Ja" }\n')
    assert "\x1b" not in rackcheck("inventory", "check", "bad.yaml").err
    for words in (("check", "i.yaml"), ("show", "-i", "i.yaml"), ("show", "-i", "i.yaml", "--elevation")):
        done = rackcheck("inventory", *words)
        assert done.status == 0
        assert "\x1b" not in done.out + done.err


def test_check_notes_files_of_this_machine_that_open_no_door(tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "sound"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", "locked"], check=True)
    for name in ("junk", "nocert"):
        (tmp_path / name).write_text("no key and no certificate\n")
        (tmp_path / name).chmod(0o600)
    bmc = "bmc: {{ url: 'https://b{}', user: a, password: 'env:HOME', ca: {} }}".format
    (tmp_path / "i.yaml").write_text(
        f"rackcheck: 1\nnodes:\n  n1: {{ host: a, ssh: {{ key: sound }}, {bmc(1, 'nowhere.pem')} }}\n"
        f"  n2: {{ host: b, ssh: {{ key: locked }}, {bmc(2, 'nocert')} }}\n"
        f"  n3: {{ host: c, ssh: {{ key: junk }}, {bmc(3, 'nocert')} }}\n"
        f"  n4: {{ host: d, ssh: {{ key: locked, passphrase: 'prompt:x' }}, bmc: {{ url: 'https://b4' }} }}\n"
    )
    done = rackcheck("inventory", "check", "i.yaml")
    assert done.status == 0
    assert [line.split(maxsplit=1)[1] for line in done.out.splitlines() if "note" in line] == [
        "key file locked: encrypted, and no `passphrase` is set (n2)",
        "key file junk: contains no readable private key (n3)",
        "CA file nowhere.pem: does not exist (n1)",
        "CA file nocert: contains no certificate in PEM form (n2-3)".replace("n2-3", "n[2-3]"),
        "BMC without a user: n4; write `bmc: { user: NAME }`",
        "BMC without a password: n4; write `bmc: { password: env:RACKCHECK_BMC_PASSWORD }`",
    ]


@pytest.mark.parametrize("command", ["show", "audit", "doctor"])
def test_an_empty_set_of_targets_contacts_no_node_and_exits_two(command: str) -> None:
    words = (
        ("inventory", "show")
        if command == "show"
        else (command, *(("-p", "linux-server") if command == "audit" else ()))
    )
    done = rackcheck(*words, "-i", "pod.yaml", "@left!dgx-[01-02]")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "no node of pod.yaml is in '@left!dgx-[01-02]'" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes: [a]", "`nodes` must be a table, not a list"),
        ("nodes: { n1: { host: [a] } }", "`host` must be a single value, not a list"),
        ("nodes: { n1: { host: a, u: x } }", "`u` cannot be 'x'; it must be a whole number of at most 9 digits"),
        ("nodes: { n1: { host: a, role: A } }", "`role` cannot be 'A'; it must be a word of small letters"),
        (
            "groups: { 'a b': { nodes: n1 } }\nnodes: { n1: { host: a } }",
            "2:11: a name in `groups` cannot be 'a b'; it must be letters, digits",
        ),
    ],
)
def test_a_wrong_shape_is_reported_in_words_and_without_a_pattern(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "i.yaml").write_text(f"rackcheck: 1\n{text}\n")
    done = rackcheck("inventory", "check", "i.yaml")
    assert done.status == 2
    assert message in done.err
    assert "^" not in done.err
