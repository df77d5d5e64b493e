"""Inventories of other tools: what is imported, what is left out and reported, and invalid input with its one error."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Inventory
from rackcheck.inventory.importers import READERS, Taken, text_of, written
from rackcheck.inventory.importers.taken import ImportedNodes
from rackcheck.inventory.reading import parse
from rackcheck.profile.document import BadFile


def read(kind: str, text: str) -> Taken:
    return READERS[kind](text, "file")


def back(taken: Taken) -> Inventory:
    """The result of reading the imported inventory with our own reader."""
    return parse(written(taken, "a test"), "result", Path())


ANSIBLE: dict[str, Any] = {
    "_meta": {
        "hostvars": {
            "gpu01": {
                "ansible_host": "10.0.0.1",
                "ansible_user": "ubuntu",
                "ansible_port": 2222,
                "bmc_address": "10.1.0.1",
                "bmc_user": "root",
                "bmc_password": "hunter2",
                "ansible_password": "hunter2",
                "ansible_become_password": "hunter2",
                "ntp_servers": ["a", "b"],
            },
            "gpu02": {
                "ansible_host": "{{ inventory_hostname }}.mgmt",
                "ansible_user": "ubuntu",
                "rack": "a01",
                "rack_u": 5,
            },
            "gpu03": {"ansible_host": "{{ lookup('dns') }}", "redfish_host": "fd00::3", "ansible_connection": "winrm"},
            "me": {"ansible_connection": "local", "ipmi_address": "http://10.1.0.9"},
            "we ird": {"ansible_host": "x"},
        }
    },
    "all": {"children": ["gpu", "ungrouped"]},
    "gpu": {"children": ["left", "right"]},
    "left": {"hosts": ["gpu01", "gpu02"], "children": ["gpu"]},
    "right": {"hosts": ["gpu03", "gpu04"]},
    "old": ["gpu04", "we ird"],
    "bad name!": {"hosts": ["gpu01"]},
}


def test_ansible_hosts_keep_addresses_users_bmcs_and_groups() -> None:
    nodes = back(read("ansible", json.dumps(ANSIBLE))).nodes
    first = nodes["gpu01"]
    assert (first.host, first.ssh.user, first.ssh.port) == ("10.0.0.1", "ubuntu", 2222)
    assert first.bmc is not None
    assert (first.bmc.url, first.bmc.user) == ("https://10.1.0.1", "root")
    assert (nodes["gpu02"].host, nodes["gpu02"].rack, nodes["gpu02"].u) == ("gpu02.mgmt", "a01", 5)
    assert nodes["gpu03"].bmc is not None
    assert (nodes["gpu03"].host, nodes["gpu03"].bmc.url) == ("gpu03", "https://[fd00::3]")
    assert (nodes["gpu04"].host, nodes["me"].host, nodes["me"].is_local) == ("gpu04", "localhost", True)
    assert "we ird" not in nodes


def test_ansible_groups_hold_the_hosts_of_their_children_and_a_circle_ends() -> None:
    groups = read("ansible", json.dumps(ANSIBLE)).groups
    assert {name: sorted(nodes) for name, nodes in groups.items()} == {
        "gpu": ["gpu01", "gpu02", "gpu03", "gpu04"],
        "left": ["gpu01", "gpu02", "gpu03", "gpu04"],  # for gpu is below it, and right below gpu
        "right": ["gpu03", "gpu04"],
        "old": ["gpu04"],
    }


def test_no_password_is_imported_and_omissions_are_reported() -> None:
    taken = read("ansible", json.dumps(ANSIBLE))
    text = written(taken, "a test")
    assert "hunter2" not in text
    assert "password: env:RACKCHECK_SSH_PASSWORD" in text
    assert "password: env:RACKCHECK_BMC_PASSWORD" in text
    notes = "\n".join(taken.notes)
    for words in (
        "`ssh.password` is set to env:RACKCHECK_SSH_PASSWORD instead: gpu01",
        "left out: ansible_host is a template, which the import does not resolve: gpu03",
        "`bmc.url` left out: it must be https://HOST or an address: me",
        "not a valid node name: we ird",
        "not a valid group name: bad name!",
        "Ansible uses winrm: gpu03",
        "ansible_become_password (1)",
        "ntp_servers (1)",
    ):
        assert words in notes


@pytest.mark.parametrize(
    ("arguments", "jump", "left"),
    [
        ("-o ProxyJump=a@b1,b2:2222", "a@b1,b2:2222", False),
        ("-J bastion", "bastion", False),
        ("-Jbastion", "bastion", False),
        ("-oProxyJump=bastion -o ForwardAgent=yes", "bastion", True),
        ("-o 'ProxyJump bastion'", "bastion", False),
        ('-o ProxyCommand="ssh -W %h:%p bastion"', "", True),
        ("-o ProxyJump=-oProxyCommand=x", "", True),
        ("-J '$(reboot)'", "", True),
        ("-J 'unclosed", "", True),
        ("-J", "", True),
    ],
)
def test_jump_hosts_are_taken_from_the_arguments_of_ssh(arguments: str, jump: str, *, left: bool) -> None:
    hosts = {"n1": {"ansible_ssh_common_args": arguments}}
    taken = read("ansible", json.dumps({"_meta": {"hostvars": hosts}, "all": {"hosts": ["n1"]}}))
    assert taken.nodes["n1"].get("ssh.jump", "") == jump
    assert any("left out" in note for note in taken.notes) is left
    assert back(taken).nodes["n1"].ssh.jump == jump


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file:1:1: not JSON"),
        ('{\n  "a": }', "file:2:8: not JSON"),
        ("[]", "a table of groups"),
        ("{}", "contains no node"),
        ('{"_meta": {"hostvars": []}, "all": 3}', "contains no node"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' + "9" * 5000 + "}", "nested too deep"),
    ],
)
def test_an_invalid_ansible_inventory_is_a_single_error(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read("ansible", text)
    assert message in str(caught.value)


LONG = """\
NodeName=gpu01 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=0 CPUEfctv=128 CPUTot=128 CPULoad=2.33
   Gres=gpu:h100:8(S:0-1)
   NodeAddr=10.4.0.11 NodeHostName=gpu01 Version=22.05.8
   OS=Linux 6.5.0-25-generic #25~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC Tue Feb 20 16:09:15 UTC 2
   RealMemory=2051970 AllocMem=0 FreeMem=88759 Sockets=2 Boards=1
   State=IDLE+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all,debug
   Reason=Kill task failed NodeAddr=evil NodeName=evil [root@2024-08-08T19:12:57]

NodeName=gpu02 Arch=x86_64
   Gres=(null)
   NodeAddr=gpu02 NodeHostName=other Version=22.05.8
   State=IDLE+CLOUD+POWERED_DOWN ThreadsPerCore=2
   Partitions=all

NodeName=gpu03 NodeAddr=gpu03 State=FUTURE
"""


def as_lines(text: str) -> str:
    """The same as `scontrol -o` prints it."""
    return "\n".join(" ".join(record.split("\n   ")) for record in text.split("\n\n"))


@pytest.mark.parametrize("text", [LONG, as_lines(LONG), LONG.replace("\n", "\r\n")], ids=["long", "one-line", "crlf"])
def test_slurm_nodes_keep_their_addresses_and_partitions(text: str) -> None:
    taken = read("slurm", text)
    inventory = back(taken)
    assert {n.name: n.host for n in inventory.nodes.values()} == {"gpu01": "10.4.0.11", "gpu02": "gpu02"}
    assert inventory.groups == {"all": ("gpu01", "gpu02"), "debug": ("gpu01",)}
    notes = "\n".join(taken.notes)
    for words in (
        "does not exist yet (Slurm state FUTURE): gpu03",
        "CLOUD: gpu02",
        "NodeHostName differs from NodeName: gpu02",
        "Gres left out (gpu:h100:8(S:0-1)): GPUs are read from the node: gpu01",
    ):
        assert words in notes


@pytest.mark.parametrize("text", ["", "{}", "PARTITION AVAIL TIMELIMIT\nall up infinite\n", "slurm_load_node error"])
def test_an_invalid_scontrol_output_is_a_single_error(text: str) -> None:
    with pytest.raises(UserError, match="has no NodeName="):
        read("slurm", text)


SHEET = """\
Name,Role,Host,Rack,Unit,Height,BMC IP,BMC_User,BMC Password,Serial,Notes
gpu01,compute,10.0.0.1,a01,3,2,10.1.0.1,root,hunter2,S1,"a
note, over two lines"
gpu02,,10.0.0.2,a01,5,2,10.1.0.2,root,env:PW,S2,

sw1,nvswitch-tray,,a01,9,,bmc-sw1,,,S3,
"""


@pytest.mark.parametrize(
    "text",
    [
        SHEET,
        "\ufeff" + SHEET.replace("\n", "\r\n"),
        SHEET.replace("note, over", "note over").replace(",", ";"),
        SHEET.replace("gpu01", '"gpu01"').replace("10.1.0.1", '" 10.1.0.1 "'),
    ],
    ids=["plain", "bom", "semicolons", "quotes"],
)
def test_a_sheet_gives_nodes_whatever_wrote_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(text, encoding="utf-8", newline="")
    taken = READERS["csv"](text_of(tmp_path / "sheet.csv"), "sheet.csv")
    nodes = back(taken).nodes
    first = nodes["gpu01"]
    assert first.bmc is not None
    assert (first.role, first.host, first.rack, first.u, first.height) == ("compute", "10.0.0.1", "a01", 3, 2)
    assert (first.bmc.url, first.bmc.user, first.bmc.password) == (
        "https://10.1.0.1",
        "root",
        "env:RACKCHECK_BMC_PASSWORD",
    )
    second, switch = nodes["gpu02"].bmc, nodes["sw1"].bmc
    assert second is not None
    assert switch is not None
    assert (second.password, switch.url, nodes["sw1"].host) == ("env:PW", "https://bmc-sw1", "")
    assert "hunter2" not in written(taken, "a test")
    assert any("Serial (3)" in note for note in taken.notes)


def test_a_sheet_of_host_names_alone_names_its_nodes_by_them() -> None:
    nodes = back(read("csv", "Hostname\tiDRAC IP\nn1\t10.0.0.9\nn2\t\n")).nodes
    assert {n.name: (n.host, n.bmc.url if n.bmc else "") for n in nodes.values()} == {
        "n1": ("n1", "https://10.0.0.9"),
        "n2": ("n2", ""),
    }


def test_a_place_and_a_height_are_taken_as_sheets_spell_them() -> None:
    nodes = back(read("csv", "name,rack,u,height\nn1,a,U17,8U\nn2,a,u 3,2u\nn3,a,5,1\n")).nodes
    assert {n.name: (n.u, n.height) for n in nodes.values()} == {"n1": (17, 8), "n2": (3, 2), "n3": (5, 1)}


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("n1,a,x", "2:6"),
        ('"n1","a,b",x', "2:12"),
        ('"n""1",a,x', "2:1"),
        ('n1,"two\nlines",x', "3:8"),
        ("n1,,17U", "2:5"),
    ],
)
def test_a_wrong_cell_is_reported_with_the_column_where_it_begins(row: str, place: str) -> None:
    with pytest.raises(BadFile) as caught:
        read("csv", f"name,rack,u\n{row}\n")
    assert str(caught.value).startswith(f"file:{place}: ")


@pytest.mark.parametrize("host", ["root@n1", "https://n1", "n1:22", "a b", "-n1"])
def test_a_host_that_can_never_work_is_left_out_and_noted(host: str) -> None:
    taken = read("csv", f"name,host,bmc\nn1,{host},b1\n")
    assert "host" not in taken.nodes["n1"]
    assert any("`host` left out" in note for note in taken.notes)


def test_every_wrong_row_of_a_sheet_is_reported_with_its_line() -> None:
    with pytest.raises(BadFile) as caught:
        read("csv", "name,u\nn1,x\nn1,2\nn 3,3\nn4\nn5,5\n")
    assert str(caught.value).splitlines() == [
        "file:2:4: `u` is a number, not 'x'",
        "file:3:1: n1 occurs twice; it is also in line 2",
        "file:4:1: 'n 3' cannot be a node's name",
        "file:5:1: 1 cells; the header has 2",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n1,2\n", "file:1:1: no column `name` in the header: a, b"),
        ("name,node\n1,2\n", "two columns for `name`"),
        ('name,u\n"n1,2\n', "file:2:1: not CSV"),
        ("name\n", "contains no node"),
        ("name" + "," * 500, "columns"),
        ("name\n" + "x" * 200_000, "not CSV"),
    ],
)
def test_an_invalid_sheet_is_a_single_error(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read("csv", text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_an_unreadable_or_binary_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"name\n\xff")
    for path, output in (
        (tmp_path / "none", "cannot read"),
        (tmp_path, "cannot read"),
        (tmp_path / "bytes", "not UTF-8"),
    ):
        with pytest.raises(UserError, match=output):
            text_of(path)


NONSENSE = {
    "ansible": st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["_meta", "hostvars", "hosts", "children", "all", "n1", "ansible_host", "bmc_ip", "rack_u"]
                )
                | st.text(max_size=6),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    ).map(json.dumps),
    "slurm": st.lists(
        st.sampled_from(
            ["NodeName=", "NodeAddr=", "State=", "FUTURE", "Partitions=", "\n", " ", "n1", "(null)", "=", "\x1b", "{"]
        )
        | st.text(max_size=4)
    ).map("".join),
    "csv": st.lists(
        st.sampled_from(["name", "host", "u", "bmc", "bmc_password", ",", ";", '"', "\n", "\r", "n1", "\x00", "\ufeff"])
        | st.text(max_size=4)
    ).map("".join),
}


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_nonsense_is_an_error_or_an_inventory_that_reads_back(kind: str, data: st.DataObject) -> None:
    text = data.draw(st.text(max_size=60) | NONSENSE[kind])
    try:
        taken = read(kind, text)
    except UserError as error:
        assert len(str(error)) < 5000
        return
    try:
        inventory = back(taken)
    except BadFile as error:  # what stands in the source and cannot be: two nodes in one place, a key that is not here
        assert all(
            "stands on U" in str(p)
            or "key file" in str(p)
            or "`u`" in str(p)
            or "units" in str(p)
            or "neither a host nor a BMC" in str(p)
            for p in error.problems
        )
        return
    assert set(inventory.nodes) == set(taken.nodes) != set()


names = st.from_regex(r"[a-c]{1,2}[0-9]{0,3}([a-b.-][0-9]{1,2})?", fullmatch=True)
values = st.sampled_from(
    ["x", "10.0.0.1", "fd00::1", "a: b", "#c", "yes", "'q", '"d', "a,b", "]", "ä", "-", "{x", "~/key"]
)


@given(
    st.dictionaries(
        names,
        st.fixed_dictionaries(
            {"host": values},
            optional={
                "role": st.just("dpu"),
                "rack": values,
                "ssh.user": values,
                "ssh.port": st.just("22"),
                "bmc.user": values,
            },
        ),
        min_size=1,
        max_size=30,
    ),
    st.booleans(),
)
def test_what_is_written_reads_back_to_the_same_words_of_the_same_nodes(
    text: dict[str, dict[str, str]], named: bool
) -> None:
    found = ImportedNodes("file")
    for name, words in text.items():
        assert found.node(name)
        for key, value in words.items():
            found.set(name, key, f"{name}.{value}" if named and key == "host" else value)
        found.bmc(name, f"{name}-bmc")
    taken = found.finish()
    taken = Taken({n: {"host": n, **w} for n, w in taken.nodes.items()}, {"g": tuple(taken.nodes)}, taken.notes)
    inventory = back(taken)
    assert set(inventory.nodes) == set(taken.nodes)
    for name, values_of in taken.nodes.items():
        node = inventory.nodes[name]
        assert node.bmc is not None
        assert node.bmc.url == f"https://{name}-bmc"
        fields = {
            "host": node.host,
            "role": node.role,
            "rack": node.rack,
            "ssh.user": node.ssh.user,
            "bmc.user": node.bmc.user,
        }
        assert {k: v for k, v in fields.items() if k in values_of} == {
            k: v for k, v in values_of.items() if k in fields
        }
    assert set(inventory.groups["g"]) == set(taken.nodes)


def test_many_equal_nodes_are_one_line_and_no_key_is_longer_than_yaml_reads() -> None:
    found = ImportedNodes("file")
    for number in range(0, 4000, 2):
        found.node(f"n{number:04}")
        found.set(f"n{number:04}", "host", f"n{number:04}.mgmt")
    inventory = back(found.finish())
    assert len(inventory.nodes) == 2000
    found = ImportedNodes("file")
    for number in range(1000):
        found.node(f"n{number:04}")
        found.set(f"n{number:04}", "host", f"n{number:04}.mgmt")
    assert '  n[0000-0999]: { host: "{node}.mgmt" }\n' in written(found.finish(), "a test")
