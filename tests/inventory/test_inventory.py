"""Inventories: sets, refinement, defaults, secrets by reference; each mistake with its place."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.inventory import unreachable
from rackcheck.inventory.node import BmcAccess
from rackcheck.inventory.reading import parse
from rackcheck.profile.document import BadFile
from rackcheck.transport import redfish

PIN = ":".join(["AB"] * 32)
POD = """\
rackcheck: 1
inventory: pod7
defaults:
  ssh: { user: audit, port: 2222 }
  bmc: { user: root, password: env:BMC }
racks:
  a01: { row: A, type: rack-48u }
groups:
  left: { nodes: "dgx-[01-02]" }
nodes:
  dgx-[01-03]: { role: compute, rack: a01, host: "{node}.mgmt", bmc: { url: "https://{node}-bmc" } }
  dgx-02:      { u: 21, bmc: { url: "https://10.9.3.14", fingerprint: "PIN" } }
  sw-1:        { role: nvswitch-tray, bmc: { url: "https://{node}-bmc" } }
""".replace("PIN", PIN)


def load(tmp_path: Path, text: str) -> inventory.Inventory:
    path = tmp_path / "inv.yaml"
    path.write_text(text)
    return inventory.load(path)


def test_a_set_is_unfolded_and_a_single_name_refines_it(tmp_path: Path) -> None:
    nodes = load(tmp_path, POD).nodes
    assert sorted(nodes) == ["dgx-01", "dgx-02", "dgx-03", "sw-1"]
    assert (nodes["dgx-01"].host, nodes["dgx-01"].ssh.user, nodes["dgx-01"].ssh.port) == ("dgx-01.mgmt", "audit", 2222)
    first, second = nodes["dgx-01"].bmc, nodes["dgx-02"].bmc
    assert first is not None
    assert second is not None
    assert (first.url, first.user, first.password, first.fingerprint) == ("https://dgx-01-bmc", "root", "env:BMC", "")
    assert (second.url, second.user, second.fingerprint, nodes["dgx-02"].u) == (
        "https://10.9.3.14",
        "root",
        PIN,
        21,
    )
    assert (nodes["sw-1"].host, nodes["sw-1"].role) == ("", "nvswitch-tray")


def test_the_order_of_set_and_refinement_does_not_matter(tmp_path: Path) -> None:
    head, _, body = POD.partition("nodes:\n")
    rows = body.splitlines()
    turned = head + "nodes:\n" + "\n".join(reversed(rows)) + "\n"
    assert load(tmp_path, turned).nodes == load(tmp_path, POD).nodes
    assert list(load(tmp_path, turned).nodes) == ["sw-1", "dgx-02", "dgx-01", "dgx-03"]


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ("  n[1-3]: { host: a }\n  n[3-4]: { host: b }\n", "n3 occurs twice; it is also at"),
        ("  n1: { host: a }\n  n1: { host: b }\n", "duplicate key `n1`; first at line 3"),
        ("  n1: { role: compute }\n", "n1 has neither a host nor a BMC"),
        ("  n[1-: { host: a }\n", "not a node set"),
        ("  n[1-999999999]: { host: a }\n", "the maximum of an inventory"),
        ("  n1: { hots: a }\n", "no such key: `hots`; did you mean `host`?"),
        ("  n1: { host: a, ssh: { pasword: x } }\n", "no such key: `pasword`"),
        (
            "  n1: { host: a, ssh: { port: many } }\n",
            "`port` cannot be 'many'; it must be a whole number from 1 to 65535",
        ),
        ("  n1: { host: a, ssh: { key: /nowhere/key } }\n", "cannot read the key file /nowhere/key"),
    ],
)
def test_an_error_is_reported_with_its_place(tmp_path: Path, nodes: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        load(tmp_path, f"rackcheck: 1\nnodes:\n{nodes}")
    assert text in str(caught.value)
    assert "inv.yaml:" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ('host: "a b"', "1:16: `host` of n1: 'a b' is neither a name nor an address"),
        ("host: https://a", "`host` of n1: 'https://a' is a URL"),
        ("host: root@a", "'root@a' contains a user name; set it with `ssh: { user: NAME }`"),
        ("host: a:2222", "'a:2222' contains a port; set it with `ssh: { port: NUMBER }`"),
        ('host: "[fd00::1]:22"', "contains a port"),
        ('host: "[fd00::1]"', "written without brackets"),
        ('host: "{nod}.mgmt"', "'{nod}.mgmt' contains braces; only {node} is replaced"),
        ("host: -oProxyCommand=x", "begins with a hyphen"),
        ("host: a, ssh: { port: 0 }", "`port` cannot be '0'; it must be a whole number from 1 to 65535"),
        ("host: a, ssh: { port: 65536 }", "`port` cannot be '65536'"),
        ("bmc: { url: b }", "1:22: `url` of n1: a BMC's url is https://HOST or https://HOST:PORT, not 'b'"),
        ("bmc: { url: 'http://b' }", "not 'http://b'"),
        ("bmc: { url: 'https://b/redfish/v1' }", "must end with its host or port"),
        ("bmc: { url: 'https://b:70000' }", "is not a URL"),
        ("bmc: { url: 'https://{nod}-bmc' }", "contains braces"),
        ("bmc: { url: 'https://b', fingerprint: 'AB:CD' }", "'AB:CD' is not a SHA-256 of 64 hex digits"),
    ],
)
def test_a_way_that_can_never_work_is_refused_with_its_place_and_its_remedy(words: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse(f"{{ rackcheck: 1, nodes: {{\n n1: {{ {words} }} }} }}", "inv.yaml", Path())
    assert "inv.yaml:2:" in str(caught.value)
    assert text.removeprefix("1:16: ").removeprefix("1:22: ") in str(caught.value)


@pytest.mark.parametrize(
    "host", ["dgx-01", "dgx01.mgmt.example", "10.0.0.1", "fd00::1", "fe80::1%eth0", "a_b", "häuser"]
)
def test_a_host_that_may_work_is_taken(host: str) -> None:
    assert parse(f"rackcheck: 1\nnodes:\n  n1: {{ host: '{host}' }}\n", "inv", Path()).nodes["n1"].host == host


def test_an_error_in_a_set_is_reported_once() -> None:
    with pytest.raises(BadFile) as caught:
        parse("rackcheck: 1\nnodes:\n  n[01-72]: { host: '{node}:22', bmc: { url: '{node}' } }\n", "inv", Path())
    assert len(caught.value.problems) == 2


@given(
    st.lists(
        st.sampled_from(
            ["https", "http", "://", ":", "/", "@", "[", "]", "::1", "b", "0", "443", "70000", "?", "#", "é"]
        ),
        max_size=7,
    ).map("".join)
)
def test_a_url_that_the_inventory_takes_a_bmc_takes_too(url: str) -> None:
    try:
        redfish.Bmc(url, "root", "")
    except ValueError:
        assert unreachable.url(url)
    else:
        # More may be refused here: a host that no resolver takes.
        assert not unreachable.url(url) or unreachable.host(urlsplit(url).hostname or "") or "@" in url


@given(
    st.text(alphabet="aF0:g sha256", max_size=80) | st.from_regex(r"(sha256:)?([0-9A-Fa-f]{2}:?){32}", fullmatch=True)
)
def test_a_fingerprint_that_the_inventory_takes_a_bmc_takes_too(text: str) -> None:
    try:
        redfish.Bmc("https://b", "root", "", text)
    except ValueError:
        assert unreachable.fingerprint(text)
    else:
        assert not unreachable.fingerprint(text)


def test_a_file_that_is_too_large_states_the_limit_and_how_to_shrink_it() -> None:
    with pytest.raises(BadFile, match=r"2,097,152: write identical nodes as one set \(dgx\[001-512\]\)"):
        parse("rackcheck: 1\n" + "#" * (2 << 20), "inv", Path())


@pytest.mark.parametrize(
    "targets", [("@left!dgx-01,dgx-02",), ("dgx-01!dgx-01",), ("",), ("dgx-01&sw-1", "dgx-02&sw-1")]
)
def test_targets_that_leave_no_node_are_an_error(
    targets: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inv.yaml").write_text(POD.replace("@", ""))
    with pytest.raises(UserError, match=r"no node of .*inv.yaml is in '"):
        inventory.choose([t.replace("!dgx-01,dgx-02", "!dgx-[01-02]") for t in targets], tmp_path / "inv.yaml")
    monkeypatch.chdir(tmp_path)
    if not any("@" in target for target in targets):
        with pytest.raises(UserError, match="no node is in '"):
            inventory.choose(targets, None)


def test_one_node_is_not_called_nodes(tmp_path: Path) -> None:
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nnodes:\n  n1: { host: a }\n")
    assert inventory.choose((), tmp_path / "inv.yaml")[1] == f"the one node of {tmp_path}/inv.yaml"
    assert inventory.choose(("n1",), tmp_path / "inv.yaml")[1] == f"1 of 1 node of {tmp_path}/inv.yaml"


def test_targets_narrow_and_groups_are_found(tmp_path: Path) -> None:
    (tmp_path / "inv.yaml").write_text(POD)

    def chosen(*targets: str) -> list[str]:
        return [node.name for node in inventory.choose(targets, tmp_path / "inv.yaml")[0]]

    assert chosen() == ["dgx-01", "dgx-02", "dgx-03", "sw-1"]
    assert chosen("dgx-[01,03]") == ["dgx-01", "dgx-03"]
    assert chosen("@role:nvswitch-tray") == ["sw-1"]
    assert sorted(chosen("@rack:a01")) == ["dgx-01", "dgx-02", "dgx-03"]
    with pytest.raises(UserError, match="did you mean dgx-01"):
        chosen("dgx-011")
    with pytest.raises(UserError, match="groups are @rack:NAME"):
        chosen("@rack:b02")
    assert chosen("@left", "sw-1") == ["dgx-01", "dgx-02", "sw-1"]
    assert chosen("sw-1,@left") == ["dgx-01", "dgx-02", "sw-1"]
    assert chosen("@rack:a01!dgx-02") == ["dgx-01", "dgx-03"]
    assert chosen("@left&@role:compute&dgx-01") == ["dgx-01"]
    with pytest.raises(UserError, match="did you mean @left"):
        chosen("@lef")
    with pytest.raises(UserError, match="did you mean @role:compute"):
        chosen("@role:computee")
    with pytest.raises(UserError, match="no node dgx-09 in"):
        chosen("@left,dgx-09")


def test_a_machines_own_group_configuration_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clustershell").mkdir()
    (tmp_path / "clustershell" / "groups.conf").write_text(
        f"[Main]\ndefault: x\n[x]\nmap: touch {tmp_path}/called; echo dgx-01\n"
    )
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(tmp_path / "clustershell"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "inv.yaml").write_text(POD)
    for target in ("@x", "@x:y", "@*", "@@rack", "dgx-01,@any", "@{x}", "@rack:*"):
        with pytest.raises(UserError):
            inventory.choose([target], tmp_path / "inv.yaml")
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("target", ["@left", "n1,@rack:a01"])
def test_a_group_without_an_inventory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="needs an inventory"):
        inventory.choose([target], None)


def test_the_name_of_a_simulated_rack_is_no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="use --rack sim:dgx-h100"):
        inventory.choose(["sim:dgx-h100"], None)


def test_without_targets_and_inventory_it_is_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nodes, words = inventory.choose((), None)
    assert ([n.name for n in nodes], nodes[0].is_local, words) == (["localhost"], True, "this machine (no inventory)")
    (tmp_path / "inventory.yaml").write_text(POD)
    nodes, words = inventory.choose((), None)
    assert (len(nodes), words) == (4, "all 4 nodes of inventory.yaml")


def test_a_secret_is_fetched_by_reference_and_never_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMC", "s3cret")
    assert inventory.secret("env:BMC") == "s3cret"
    path = tmp_path / "password"
    path.write_text("s3cret\n")
    path.chmod(0o600)
    assert inventory.secret(f"file:{path}") == "s3cret"
    path.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600") as caught:
        inventory.secret(f"file:{path}")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(UserError, match="has no NOT_SET"):
        inventory.secret("env:NOT_SET")
    # A password typed where a reference belongs must not be repeated on the screen.
    with pytest.raises(UserError) as caught:
        inventory.secret("hunter2")
    assert "hunter2" not in str(caught.value)


def test_sets_side_by_side_are_added_not_multiplied() -> None:
    assert len(inventory.unfold("a[001-512],b[001-512]")) == 1024
    assert inventory.unfold("n[1-3]!n2") == ["n1", "n3"]


@pytest.mark.parametrize(
    "target", ["n[1-1000000000]", "a[1-1000]b[1-1000]", "n[1-60000],m[1-60000]", "n[0-99999999999999999999]"]
)
def test_a_set_of_more_nodes_than_any_hall_has_is_refused_before_it_is_unfolded(target: str) -> None:
    with pytest.raises(UserError, match="more than 100000 nodes"):
        inventory.unfold(target)


@pytest.mark.parametrize("where", ["u: $u", "ssh: { port: $port }", "u: '1e3'", "u: -1"])
def test_a_number_of_a_place_is_a_number(tmp_path: Path, where: str) -> None:
    with pytest.raises(BadFile, match=r"inv\.yaml:3:\d+: `(u|port)` cannot be"):
        load(tmp_path, f"rackcheck: 1\nnodes:\n  n1: {{ host: a, {where} }}\n")


def test_a_duplicate_node_name_is_an_error_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(BadFile) as caught:
        load(tmp_path, "rackcheck: 1\nnodes:\n  n[1-3]: { host: a }\n  n2: { host: b }\n  n[2]: { host: c }\n")
    assert re.search(r"inv\.yaml:5:3: n2 occurs twice; it is also at .*inv\.yaml:4:3", str(caught.value))


@pytest.mark.parametrize("reference", ["hunter2", "hunter2:x", ":hunter2", "hunter2:", "ENV:hunter2"])
def test_a_password_where_a_reference_belongs_is_never_repeated(reference: str) -> None:
    with pytest.raises(UserError) as caught:
        inventory.secret(reference)
    assert "hunter2" not in str(caught.value)


def test_a_missing_or_binary_secret_file_is_reported_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        inventory.secret(f"file:{tmp_path}/none")
    (tmp_path / "binary").write_bytes(b"hunter2\xff")
    (tmp_path / "binary").chmod(0o600)
    with pytest.raises(UserError, match="is not UTF-8 text") as caught:
        inventory.secret(f"file:{tmp_path}/binary")
    assert "hunter2" not in str(caught.value)


def test_all_errors_are_reported_at_once_and_a_wrong_shape_hides_no_other(tmp_path: Path) -> None:
    text = """\
rackcheck: 1
racks: { a01: { type: rack-44u }, a02: { type: rack-42u } }
groups:
  x: { nodes: "n[1-3],m9", ssh: { user: a } }
nodes:
  n[1-2]: { host: a, rol: x }
  n3: { host: a, rack: c }
  n4: { rack: a02 }
  n5: { host: b, rack: a02, u: 42, height: 2 }
  n5,n6: { bmc: { url: "https://b" } }
  n6,n7: { bmc: { url: "https://b" } }
"""
    with pytest.raises(BadFile) as caught:
        load(tmp_path, text)
    rows = [str(problem).replace(f"{tmp_path}/inv.yaml:", "") for problem in caught.value.problems]
    assert rows == [
        "2:23: no rack type rack-44u; did you mean rack-42u or rack-48u?; there are: gb200-nvl72, gb300-nvl72, rack-42u, rack-48u",
        "4:15: group x: no node m9",
        "6:22: no such key: `rol`; did you mean `role`?",
        "7:24: n3: no rack c",
        "8:3: n4 has neither a host nor a BMC",
        "9:32: n5 reaches U 43, but the rack has only 42 units",
        "11:3: n6 occurs twice; it is also at 10:3",
    ]


def test_a_bmc_is_where_a_url_is(tmp_path: Path) -> None:
    nodes = load(tmp_path, "rackcheck: 1\ndefaults: { bmc: { user: root } }\nnodes:\n  n1: { host: a }\n").nodes
    assert nodes["n1"].bmc is None
    with pytest.raises(BadFile, match=r"inv\.yaml:3:\d+: `bmc` of n1 has no `url`"):
        load(tmp_path, "rackcheck: 1\nnodes:\n  n1: { host: a, bmc: { user: root } }\n")


def test_sudo_is_allowed_unless_the_inventory_disables_it(tmp_path: Path) -> None:
    nodes = load(tmp_path, "rackcheck: 1\nnodes:\n  n1: { host: a }\n  n2: { host: a, ssh: { sudo: false } }\n").nodes
    assert (nodes["n1"].ssh.sudo, nodes["n2"].ssh.sudo) == (True, False)


def test_the_request_width_of_a_bmc_is_set_beside_its_url(tmp_path: Path) -> None:
    text = """rackcheck: 1
defaults: { bmc: { width: 4 } }
nodes:
  n1: { bmc: { url: 'https://b' } }
  n2: { bmc: { url: 'https://b', width: 1, expand: false } }
"""
    found = [node.bmc for node in load(tmp_path, text).nodes.values()]
    assert [(bmc.width, bmc.expand) for bmc in found if bmc is not None] == [(4, True), (1, False)]
    assert BmcAccess("https://b").width == redfish.Limits().width
    for wrong in ("0", "5", "two", "-1", "2.5"):
        with pytest.raises(BadFile, match="width"):
            load(tmp_path, f"rackcheck: 1\nnodes:\n  n1: {{ bmc: {{ url: 'https://b', width: {wrong} }} }}\n")


LITERALS = (
    "n1: { host: a, bmc: { url: 'https://b', password: hunter2 } }",
    "n1: { host: a, bmc: { url: 'https://b', password: [hunter2] } }",
    "n1: { host: a, bmc: { url: 'https://b', password: { hunter2: hunter2 } } }",
    'n1: { host: a, ssh: { password: hunter2"x } }',
    "n1: { host: a, ssh: { passphrase: 'Env:hunter2' } }",
    'n1: { host: a, ssh: { password: "hunter2 } }',
    "n1: { host: a, ssh: { password: *hunter2 } }",
    "n1: { host: a, ssh: { password: &hunter2 x } }",
    "n1: { host: a, ssh: { password: !hunter2 x } }",
    "n1: { host: a, ssh: { password: %hunter2 } }",
    "n1: { host: a, bmc: { url: 'https://root:hunter2@b' } }",
    "n1: { host: a, bmc: { url: 'https://root:hunter2@[b' } }",
)


@pytest.mark.parametrize("row", LITERALS)
def test_a_secret_written_into_an_inventory_is_refused_with_its_place_and_never_repeated(
    tmp_path: Path, row: str
) -> None:
    with pytest.raises(BadFile) as caught:
        load(tmp_path, f"rackcheck: 1\nnodes:\n  {row}\n")
    assert "inv.yaml:" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("name", ["n 1", "n1\\e[2J", "n/1", "n1*", "'{node}'"])
def test_a_name_that_no_node_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, f'rackcheck: 1\nnodes:\n  "{name}": {{ host: a }}\n')
    assert "\x1b" not in str(caught.value)


@given(st.text(max_size=200) | st.text(alphabet="nodes:{}[]- \n\"'rackgupsh1,@!&", max_size=200))
def test_any_text_is_an_inventory_or_an_error(text: str) -> None:
    for body in (text, f"rackcheck: 1\nnodes:\n  n1: {{ host: a }}\n{text}"):
        try:
            parse(body, "inv.yaml", Path())
        except UserError as error:
            assert len(str(error)) < 10_000


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("nodes:\n  n[1-9]: { host: a, rack: x, u: 3, height: 999999999 }\n", "but the rack has only 1000 units"),
        (
            "nodes:\n" + "".join(f"  n[{i}-{i + 90000}]: {{ host: a }}\n" for i in range(50)),
            "too many nodes; the maximum of an inventory is 100000",
        ),
        (
            "groups:\n"
            + "".join(f"  g{i}: {{ nodes: 'm[1-90000]' }}\n" for i in range(50))
            + "nodes:\n  n1: { host: a }\n",
            "more than 1000000 members",
        ),
    ],
)
def test_input_that_would_take_too_long_is_refused_at_once(body: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse(f"rackcheck: 1\n{body}", "inv.yaml", Path())
    assert text in str(caught.value)


def test_an_inventory_without_a_node_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"inv\.yaml:2:8: `nodes` is empty"):
        load(tmp_path, "rackcheck: 1\nnodes: {}\n")
