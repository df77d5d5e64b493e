"""A capture: it contains the answers and no other data, and reading it gives what the original read gave."""

import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import Mockup, ResourceFault
from mockup_server import WatchedRack as Rack
from trees import DELL, DMTF, LENOVO, bmc_probes
from trees import tree as recorded_tree

from rackcheck import inventory
from rackcheck.anonymise.captures import Anonymous
from rackcheck.anonymise.identities import ALIKE, named, of_capture, of_facts, together
from rackcheck.base.user_error import UserError
from rackcheck.inventory import BmcAccess, Node
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.documents import HANDSHAKE
from rackcheck.model.fact import Class, Plane, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan
from rackcheck.run import captured
from rackcheck.run.asking import ask_plane
from rackcheck.run.captured import places
from rackcheck.run.captured.writing import CaptureHead
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, FactsRead, facts_json
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.session import captures
from rackcheck.session.secrets import secrets_of
from rackcheck.sim import scenario
from rackcheck.transport import redfish
from rackcheck.transport.redfish.trace import Trace

TWO = """rackcheck: 1
scenario: two
nodes: { "dgx[01-02]": { machine: dgx-h100, rack: a01, height: 8 } }
faults: [{ nodes: dgx02, fault: refused-bmc-login }]
"""
HEAD = CaptureHead("20261121T080000Z-0001", "2026-11-21T08:00:00Z", "0.1.0", ("bmc", "os"))
TIME = "2026-11-21T08:00:01Z"
NODE = Node("n1", host="n1.invalid", bmc=BmcAccess("https://n1.invalid"))


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Two nodes, over real SSH and HTTPS; the second one's BMC refuses the login."""
    # A folder named rack1 would be taken for the rack of the same name in an anonymised capture.
    folder = tmp_path_factory.mktemp("two-nodes")
    (folder / "two.yaml").write_text(TWO)
    with Rack(scenario.load(folder / "two.yaml"), folder) as up:
        yield up


@pytest.fixture(scope="module")
def taken(rack: Rack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both nodes, as they are."""
    folder = tmp_path_factory.mktemp("taken") / "plain"
    done = rackcheck("capture", "-i", rack.inventory, "-o", folder)
    assert done.status == 3, done.err
    return folder


@pytest.fixture(scope="module")
def anonymised(rack: Rack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both nodes, without what identifies their owner."""
    folder = tmp_path_factory.mktemp("anonymised") / "for-others"
    assert rackcheck("capture", "-i", rack.inventory, "-o", folder, "--anonymise", "-q").status == 3
    return folder


@pytest.fixture(scope="module")
def hosts(rack: Rack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One node's operating system, without its owner's identity, in another capture; the command printed the head."""
    folder = tmp_path_factory.mktemp("hosts") / "c"
    words = ("dgx01", "-i", rack.inventory, "--planes", "os", "-o", folder, "--anonymise", "-q", "--json")
    done = rackcheck("capture", *words)
    assert done.status == 0, done.err
    assert document(done.out) == document((folder / "capture.json").read_text())
    return folder


def document(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    return found


@cache
def read(folder: Path, name: str) -> Tree:
    found = captured.load(folder)
    return tree_of(captures.job(found, captures.everything()), found.node(name), list(found.answers(name)))


def written(folder: Path, capture: BmcCapture | NodeCapture, **more: Any) -> Path:
    """A capture of one node with this answer of one plane."""
    folder.mkdir(parents=True)
    writer = captured.CaptureWriter(folder, [NODE])
    plane = Plane.BMC if isinstance(capture, BmcCapture) else Plane.OS
    writer.write(Answered("n1", plane, TIME, capture=capture), **more)
    writer.finish(HEAD)
    return folder


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


# ---- what is in it ---------------------------------------------------------------------------------------------------


def test_a_capture_records_the_nodes_read_when_and_the_result(taken: Path) -> None:
    doc = document((taken / "capture.json").read_text())
    assert doc["rackcheck"] == 1
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{5}", doc["capture"])
    assert (doc["planes"], doc["anonymised"]) == (["bmc", "os"], False)
    assert [*doc["nodes"]] == ["dgx01", "dgx02"]
    one, two = doc["nodes"].values()
    assert (one["role"], one["rack"], one["u"], one["height"], two["u"]) == ("compute", "a01", 1, 8, 9)
    assert [*one["planes"]] == ["bmc", "os"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value["time"]) for value in one["planes"].values())
    assert "trouble" not in one["planes"]["bmc"]
    assert two["planes"]["bmc"]["trouble"]["unknown"] == "denied"


def test_the_bmc_is_a_mockup_of_the_dmtf(taken: Path) -> None:
    node = taken / "dgx01"
    assert sorted(path.name for path in node.iterdir()) == ["bmc.json", "host.json", "redfish"]
    bodies = list(node.rglob("index.json"))
    assert len(bodies) > 200
    for file in bodies:
        uri = "/" + file.parent.relative_to(node).as_posix()
        body, headers, time = (
            document((file.parent / n).read_text()) for n in ("index.json", "headers.json", "time.json")
        )
        assert body["@odata.id"].rstrip("/") == uri.replace("%3F", "?")
        assert [*headers] == ["GET"]
        assert headers["GET"]["Content-Type"] == "application/json"
        assert [*time] == ["GET_Time"]
        assert re.fullmatch(r"\d+\.\d\d", time["GET_Time"])


def test_the_host_is_its_answers_and_nothing_of_a_run(taken: Path) -> None:
    text = (taken / "dgx01" / "host.json").read_text()
    doc = document(text)
    assert [*doc] == ["commands", "files", "globs", "refused"]
    assert text == json.dumps(doc, indent=1, sort_keys=True) + "\n"
    assert doc["files"]["/proc/sys/kernel/hostname"] == "dgx01\n"


def test_a_secret_of_the_inventory_is_in_no_file(rack: Rack, taken: Path) -> None:
    password = (rack.folder / "bmc-password").read_text().strip()
    key = (rack.folder / "id_ed25519").read_text().splitlines()[1]
    for file in files(taken):
        text = file.read_text()
        assert password not in text
        assert key not in text
        assert str(rack.folder) not in text


def test_only_the_requested_plane_is_kept(hosts: Path) -> None:
    assert not list(hosts.rglob("index.json"))
    found = captured.load(hosts)
    assert found.planes == ("os",)
    assert all(node.bmc is not None for node in found.nodes), "the inventory has one, and it was not read"
    judged = rackcheck("audit", "--from", hosts, "-p", "h100-dgx", "-q")
    assert judged.out.rstrip().endswith("(os plane only)")


@pytest.mark.parametrize("planes", ["bmc", "os,bmc"])
def test_a_named_plane_that_no_node_has_is_an_error_and_keeps_nothing(tmp_path: Path, planes: str) -> None:
    done = rackcheck("capture", "localhost", "--planes", planes, "-o", tmp_path / "c")
    output = "rackcheck: localhost has no BMC in an inventory (-i FILE): nothing would be captured\n"
    assert (done.status, done.out, done.err) == (2, "", output)
    assert list(tmp_path.iterdir()) == []


def test_a_node_without_the_requested_plane_is_reported_and_is_no_success(tmp_path: Path) -> None:
    nodes = 'n1: { host: localhost }, "n[2-3]": { bmc: { url: "https://{node}.invalid" } }'
    (tmp_path / "i.yaml").write_text(f"rackcheck: 1\nnodes: {{ {nodes} }}\n")
    done = rackcheck("capture", "-i", tmp_path / "i.yaml", "-o", tmp_path / "c", "--planes", "os")
    assert done.status == 3, done.err
    assert "rackcheck: n[2-3] not read: the inventory has no address for os\n" in done.err
    alone = rackcheck("capture", "n2", "-i", tmp_path / "i.yaml", "-o", tmp_path / "d", "--planes", "os")
    assert (alone.status, "n2 has no host in the inventory" in alone.err) == (2, True)
    assert not (tmp_path / "d").exists()


def test_a_plane_without_a_probe_is_not_captured() -> None:
    with pytest.raises(UserError, match="no probe reads the os plane"):
        captures.asking([Node("n1", host="x.invalid")], Plan(()), frozenset({Plane.OS, Plane.BMC}), named=False)


def test_the_lines_for_what_is_next_can_be_typed_whatever_the_folder_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "of pod 7; it's"
    done = rackcheck("capture", "localhost", "--planes", "os", "-o", folder)
    lines = re.findall(r"^(?:Next:)? +(rackcheck .*)$", done.err, re.MULTILINE)
    assert [shlex.split(line)[-1] for line in lines] == [str(folder)] * 2
    assert rackcheck(*shlex.split(lines[0])[1:], "--json").status in {0, 3}


@pytest.mark.parametrize("how", [(), ("--anonymise",)])
def test_only_its_owner_may_read_a_capture(tmp_path: Path, how: tuple[str, ...]) -> None:
    before = os.umask(0o022)
    try:
        assert rackcheck("capture", "localhost", "--planes", "os", "-q", "-o", tmp_path / "c", *how).status in {0, 3}
        bodies = written(tmp_path / "b", BmcCapture({"/redfish/v1/Systems/A": {"Id": "A"}}))
    finally:
        os.umask(before)
    for folder in (tmp_path / "c", bodies):
        inside = [*folder.rglob("*")]
        assert {path.stat().st_mode & 0o777 for path in inside if path.is_file()} == {0o600}
        assert {path.stat().st_mode & 0o777 for path in inside if path.is_dir()} == {0o700}
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o700


def test_the_file_hostname_has_the_nodes_pseudonym(tmp_path: Path) -> None:
    rackcheck("capture", "localhost", "--planes", "os", "-q", "-o", tmp_path / "c", "--anonymise")
    (folder,) = (path for path in (tmp_path / "c").iterdir() if path.is_dir())
    assert document((folder / "host.json").read_text())["files"]["/proc/sys/kernel/hostname"] == "node1\n"


def test_a_folder_of_the_wrong_kind_is_reported_with_what_it_is(taken: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for words in (("facts", "localhost", "--from"), ("audit", "-p", "linux-server", "--from"), ("report",)):
        done = rackcheck(*words, tmp_path / "d")
        output = f"rackcheck: {tmp_path / 'd'} is neither a run nor a capture: it contains neither run.json nor capture.json\n"
        assert (done.status, done.out, done.err) == (2, "", output), words
    for command in ("report", "tui"):
        done = rackcheck(command, taken)
        assert (done.status, done.out) == (2, ""), command
        assert done.err.startswith(f"rackcheck: {taken} is a capture, not a run: ")
        assert "audit --from, facts --from" in done.err


def test_this_machine_can_be_captured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rackcheck("capture", "localhost", "-q").status in {0, 3}
    (folder,) = tmp_path.iterdir()
    assert re.fullmatch(r"capture-\d{8}T\d{6}Z-[0-9a-f]{5}", folder.name)
    shown = rackcheck("facts", "localhost", "kernel", "--from", folder.name)
    assert (shown.status, "kernel.release" in shown.out) == (0, True)


# ---- read again ------------------------------------------------------------------------------------------------------


def test_the_facts_of_a_capture_are_those_of_the_asking_byte_for_byte(rack: Rack, tmp_path: Path) -> None:
    nodes, _ = inventory.choose(["dgx01"], rack.inventory)
    job = Job(captures.everything(), nodes, secrets=secrets_of(nodes, frozenset({Plane.OS, Plane.BMC})))
    (tmp_path / "c").mkdir()
    writer = captured.CaptureWriter(tmp_path / "c", nodes)
    values: dict[str, Tree] = {}
    for event in audit(job, ask_plane, threading.Event()):
        if isinstance(event, Answered):
            writer.write(event)
        if isinstance(event, FactsRead):
            values[event.node] = event.tree
    writer.finish(CaptureHead(job.id, job.time, job.version, ("bmc", "os")))
    for name, tree in values.items():
        again = read(tmp_path / "c", name)
        assert json.dumps(facts_json(again)) == json.dumps(facts_json(tree))
        assert again.silent == tree.silent
    assert len(values["dgx01"].leaves) > 10_000


def test_a_plane_that_was_silent_is_silent_again(taken: Path) -> None:
    assert read(taken, "dgx02").silent[Plane.BMC].reason is Reason.DENIED


def test_a_capture_is_judged_by_the_profile_that_is_named(rack: Rack, taken: Path, tmp_path: Path) -> None:
    done = rackcheck("audit", "--from", taken, "-p", "h100-dgx", "--json")
    fresh = rackcheck("audit", "-i", rack.inventory, "-p", "h100-dgx", "--json", "-q", "-o", tmp_path / "run")
    assert (done.status, fresh.status) == (3, 3)
    verdicts = [
        {n: {v["rule"]: v["status"] for v in d["verdicts"]} for n, d in document(r.out)["nodes"].items()}
        for r in (done, fresh)
    ]
    assert verdicts[0] == verdicts[1]
    assert document(done.out)["run"] == document((taken / "capture.json").read_text())["capture"]
    assert rackcheck("audit", "--from", taken, "-p", "h100-dgx", "--json").out == done.out


def test_a_capture_has_no_profile_and_reports_it(taken: Path) -> None:
    done = rackcheck("audit", "--from", taken)
    assert done.status == 2
    assert "is a capture, which has no profile: set -p NAME\n" in done.err
    assert "h100-dgx" in done.err


def test_a_node_missing_in_it_is_reported_with_the_nearest(taken: Path) -> None:
    done = rackcheck("facts", "dgx011", "--from", taken)
    assert (done.status, done.out) == (2, "")
    assert "did you mean dgx01?" in done.err


def test_a_capture_is_a_rack_of_its_nodes(taken: Path, tmp_path: Path) -> None:
    found = scenario.find(str(taken))
    assert [(s.name, s.role, s.rack, s.u) for s in found.stations] == [
        ("dgx01", "compute", "a01", 1), ("dgx02", "compute", "a01", 9)
    ]  # fmt: skip
    words = ("audit", "dgx01", "-p", "h100-dgx", "--json", "-q")
    done = rackcheck(*words, "--rack", f"sim:{taken}", "-o", tmp_path / "run")
    assert done.status == 0, done.err
    kept = rackcheck("audit", "--from", taken, "-p", "h100-dgx", "--json")
    assert document(done.out)["nodes"]["dgx01"]["verdicts"] != []
    status = [{v["rule"]: v["status"] for v in document(r.out)["nodes"]["dgx01"]["verdicts"]} for r in (done, kept)]
    alone = {"identity.parts"}  # of several nodes, the fleet's rule judges the parts
    both = [{rule: value for rule, value in each.items() if rule not in alone} for each in status]
    assert both[0] == both[1]
    many = rackcheck("facts", "dgx01", "--rack", f"sim:{taken}:3")
    assert (many.status, "has a fixed number of nodes" in many.err) == (2, True)


# ---- anonymised ------------------------------------------------------------------------------------------------------


def identities(tree: Tree) -> set[str]:
    """Every value of a fact that distinguishes one machine from another of its kind."""
    found: set[str] = set()
    for path, leaf in tree.leaves.items():
        if leaf.kind.cls is Class.IDENTITY and path.rpartition(".")[2] not in ALIKE:
            found |= {
                v for v in (leaf.reading if isinstance(leaf.reading, tuple) else (leaf.reading,)) if isinstance(v, str)
            }
    # Private networks are the same everywhere, also inside a RoCE GID, so a stand-in may be the address of another node;
    # another test checks that each address is replaced.
    address = r"[0-9.]+(/[0-9]+)?|(0000:){5}ffff:[0-9a-f]{4}:[0-9a-f]{4}"
    found = {value for value in found if not re.fullmatch(address, value) or value.isdecimal()}
    place = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"  # on a bus: every machine of the kind has it
    return {value for value in found if not re.fullmatch(rf"[0:.-]*|{place}", value)}


def test_an_anonymised_capture_holds_no_identity_of_any_node(taken: Path, anonymised: Path) -> None:
    names = identities(read(taken, "dgx01")) | identities(read(taken, "dgx02"))
    assert len(names) > 200
    bare = {value.casefold().replace(":", "") for value in names} | {value.casefold() for value in names}
    bare |= {"dgx01", "dgx02", "a01"}
    short = {value for value in bare if len(value) < 4}
    assert short == {"a01"}, "what is too short to be looked for would stay"
    every = "\n".join(f"{path.relative_to(anonymised)}\n{path.read_text()}" for path in files(anonymised)).casefold()
    left = [v for v in sorted(bare) if v in every and re.search(rf"(?<![0-9a-z]){re.escape(v)}(?![0-9a-z])", every)]
    assert left == [], "is it an identity? if other machines have it too, add its fact to ALIKE"


def test_every_address_became_another_one(taken: Path, anonymised: Path) -> None:
    plain, made = read(taken, "dgx01").leaves, read(anonymised, "node1").leaves
    tellers = [path for path in plain if path.endswith(".ipv4")]
    rows = [(plain[path].reading, made[path].reading) for path in tellers]
    pairs = {pair for one, two in rows if isinstance(one, tuple) and isinstance(two, tuple)
             for pair in zip(one, two, strict=True)}  # fmt: skip
    assert len(pairs) > 5
    assert not [pair for pair in pairs if pair[0] == pair[1]]
    assert len({two for _, two in pairs}) == len(pairs)


def test_nothing_of_the_inventory_is_in_an_anonymised_capture(rack: Rack, anonymised: Path) -> None:
    nodes, _ = inventory.choose([], rack.inventory)
    names = {node.name for node in nodes} | {node.ssh.user for node in nodes} | {n.bmc.user for n in nodes if n.bmc}
    names |= {"".join(f.read_text().split()) for f in (rack.folder / "bmc-password",)} | {
        str(rack.folder),
        rack.folder.name,
    }
    names -= {"root", ""}
    assert len(names) > 4
    every = "\n".join(f"{path.relative_to(anonymised)}\n{path.read_text()}" for path in files(anonymised))
    assert [word for word in names if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", every)] == []


def hidden(path: str, hiding: Anonymous) -> str:
    """A fact's path with stand-ins in its keys; all other words are rackcheck's."""
    return re.sub(r'(?<=/)(?:"[^"]*"|[^."/]+)', lambda key: hiding.text(key[0]), path)


@pytest.mark.parametrize("name", [DELL, LENOVO, DMTF])
def test_a_recorded_bmc_shows_its_make_and_not_its_owner(name: str) -> None:
    top = recorded_tree(name)
    uris = {"/" + file.parent.relative_to(top).as_posix(): file for file in (top / "redfish").rglob("index.json")}
    asked = re.compile(
        r"/redfish/v1(?:/(?:Systems|Chassis|Managers|AccountService|Fabrics)\b(?!.*/(?:Entries|Sensors)/).*)?"
    )
    bodies = {uri: json.loads(file.read_text("utf-8")) for uri, file in sorted(uris.items()) if asked.fullmatch(uri)}
    plain = BmcCapture(bodies)
    facts = facts_of(plain)
    hiding = Anonymous(["n1"], together([of_capture(plain), of_facts(Tree(facts, {})), named(["n1"])]), b"salt")
    made = hiding.capture(plain)
    assert isinstance(made, BmcCapture)
    again = facts_of(made)
    assert {hidden(path, hiding) for path in facts} == again.keys()
    for path, leaf in facts.items():
        reading = again[hidden(path, hiding)].reading
        if leaf.kind.cls is Class.VERSION:
            assert reading == leaf.reading, path
        elif leaf.kind.cls is not Class.IDENTITY:
            mine = leaf.reading if isinstance(leaf.reading, tuple) else (leaf.reading,)
            put = tuple(
                hiding.text(v) if isinstance(v, str) else hiding.unknown(v) if isinstance(v, Unknown) else v
                for v in mine
            )
            if isinstance(reading, tuple):  # a collection is sorted by its keys, and stand-ins sort differently
                assert sorted(reading) == sorted(map(str, put)), path
            else:
                assert reading in put, path
    own = {value for body in bodies.values() for value in personal(body)}
    assert len(own) > 5
    every = json.dumps([made.bodies, [*made.bodies]]).casefold()
    spelt = {json.dumps(value)[1:-1].casefold() for value in own}
    left = {v for v in spelt if v in every and re.search(rf"(?<![0-9a-z]){re.escape(v)}(?![0-9a-z])", every)}
    assert left == set()


OWN = re.compile(
    r"SerialNumber|UUID|(?:Permanent)?MACAddress|HostName|FQDN|AssetTag|UserName|DellServiceTag|EmailAddress"
)


def personal(value: object, name: str = "") -> Iterator[str]:
    """Every text of a body under a name that identifies the owner, if it is long enough to be searched for."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from personal(inner, key)
        case list():
            for inner in value:
                yield from personal(inner, name)
        case str() if OWN.fullmatch(name) and len(value.strip()) > 5 and len({*value} - {*"0:-xF "}) > 1:
            if value.casefold() not in {"default string", "administrator", "not available", "to be filled by o.e.m."}:
                yield value


def facts_of(bmc: BmcCapture) -> dict[str, Leaf]:
    """What every probe of the BMC's plane reads."""
    found: dict[str, Leaf] = {}
    for probe in bmc_probes().values():
        found |= collect([probe], bmc)
    return found


def test_an_anonymised_capture_gives_the_same_facts_of_the_machine(taken: Path, anonymised: Path) -> None:
    plain, made = read(taken, "dgx01"), read(anonymised, "node1")
    assert plain.leaves.keys() == made.leaves.keys()
    steady = {Class.CONFIG, Class.VERSION, Class.COUNTER}
    for path, leaf in plain.leaves.items():
        if leaf.kind.cls in steady or (
            leaf.kind.cls is Class.IDENTITY and path.rpartition(".")[2] in ALIKE - {"node_description"}
        ):
            assert made.leaves[path].reading == leaf.reading or path in {
                "bmc.manager/BMC.ntp.servers",
                "nic.default_route.router",
            }, path
        elif leaf.kind.cls is Class.IDENTITY:
            assert type(made.leaves[path].reading) is type(leaf.reading), path


def test_the_planes_of_an_anonymised_node_still_agree(taken: Path, anonymised: Path) -> None:
    """Every two facts with equal values stay equal, and every two that differed still differ."""
    plain, made = read(taken, "dgx01").leaves, read(anonymised, "node1").leaves
    tellers = [
        p for p in plain if p.rpartition(".")[2] in {"serial", "mac", "mac_permanent", "uuid", "switch_id", "guid"}
    ]
    assert len(tellers) > 50
    stand_ins: dict[object, object] = {}
    for path in tellers:
        value, other = plain[path].reading, made[path].reading
        if isinstance(value, str):
            assert stand_ins.setdefault(value, other) == other, path
    assert len({*stand_ins.values()}) == len(stand_ins)
    assert made["node.serial"].reading == made["bmc.system/DGX.serial"].reading


def test_an_anonymised_capture_is_judged_as_the_plain_one(taken: Path, anonymised: Path) -> None:
    plain, made = (
        document(rackcheck("audit", "--from", f, "-p", "h100-dgx", "--json").out) for f in (taken, anonymised)
    )
    assert [*made["nodes"]] == ["node1", "node2"]
    status = [[{v["rule"]: v["status"] for v in n["verdicts"]} for n in d["nodes"].values()] for d in (plain, made)]
    assert status[0] == status[1]


def test_its_capture_json_is_anonymised_too(anonymised: Path) -> None:
    doc = document((anonymised / "capture.json").read_text())
    assert doc["anonymised"] is True
    assert [(n, d["rack"], d["u"]) for n, d in doc["nodes"].items()] == [("node1", "rack1", 1), ("node2", "rack1", 9)]
    assert doc["nodes"]["node2"]["planes"]["bmc"]["trouble"]["unknown"] == "denied"


def test_two_captures_of_one_machine_have_other_stand_ins(anonymised: Path, hosts: Path) -> None:
    one, two = read(anonymised, "node1").leaves, read(hosts, "node1").leaves
    assert one["node.serial"].reading != two["node.serial"].reading


# ---- headers ---------------------------------------------------------------------------------------------------------

SENT = {
    "ETag": '"abc-hunter22"', "Allow": "GET, HEAD", "Link": "</redfish/v1/schema>; rel=describedby", "OData-Version": "4.0",
    "Set-Cookie": "sid=1", "X-Auth-Token": "deadbeef", "Location": "/elsewhere", "WWW-Authenticate": "Basic",
    "X-Own": "own", "Server": "token=0123456789abcdef " + "x" * 2000, "Cache-Control": "no\x0bcache",
}  # fmt: skip


def test_harmless_headers_are_kept_and_no_others() -> None:
    root = {"@odata.id": "/redfish/v1", "Id": "RootService", "Systems": {"@odata.id": "/redfish/v1/Systems"}}
    bodies = {"/redfish/v1": root, "/redfish/v1/Systems": {"Members": []}}
    faults = {"/redfish/v1/Systems": ResourceFault(headers=SENT, body=b'{"Members": [], "Name": "Systems"}')}
    trace = Trace()
    with Mockup(bodies=bodies, faults=faults, password="hunter22") as bmc:
        at = redfish.Bmc(bmc.url, "root", "hunter22", bmc.fingerprint)
        capture, trouble = redfish.read(at, ("Systems/*",), trace=trace)
        again, _ = redfish.read(at, ("Systems/*",))
    assert trouble is None
    # The handshake contains the second of its time.
    one, two = ({uri: body for uri, body in each.bodies.items() if uri != HANDSHAKE} for each in (capture, again))
    assert (one, capture.bodies.keys()) == (two, again.bodies.keys())
    kept = trace.headers["/redfish/v1/Systems"]
    assert {*kept} == {"Allow", "Cache-Control", "Content-Type", "Date", "ETag", "Link", "OData-Version", "Server"}
    assert kept["ETag"] == '"abc-(dropped)"'
    assert kept["Cache-Control"] == r"no\x0bcache"
    assert "0123456789abcdef" not in kept["Server"]
    assert max(map(len, kept.values())) <= 1000
    assert trace.seconds.keys() == trace.headers.keys() == {"/redfish/v1", "/redfish/v1/Systems"}
    assert all(0 <= each < 60 for each in trace.seconds.values())


# ---- places ----------------------------------------------------------------------------------------------------------

URIS = [
    "/redfish/v1", "/redfish/v1/Systems", "/redfish/v1/systems", "/redfish/v1/Systems/A", "/redfish/v1/systems/B",
    "/redfish/v1/Chassis/DGX/Sensors?$skip=75", "/redfish/v1/../../../../etc/passwd", "/redfish/v1/./x", "/redfish/v1/..",
    "/redfish/v1/%2e%2e/x", "/redfish/v1/a%2Fb", "/redfish/v1//double", "/redfish/v1/index.json", "/redfish/v1/headers.json/x",
    "/redfish/v1/CON", "/redfish/v1/nul.txt", "/redfish/v1/dot.", "/redfish/v1/space ", "/redfish/v1/a:b*c<d>|e\"",
    "/redfish/v1/" + "long" * 100, "/redfish/v1/" + "/".join(["deep"] * 100), "/redfish/v1/" + "/".join(["x" * 100] * 10),
    "/etc/passwd", "/", "/redfish", "/redfish/v1/back\\slash", "/redfish/v1/-rf", "/redfish/v1/~", "/redfish/v1/%",
]  # fmt: skip


def test_whatever_a_bmc_calls_its_resources_they_lie_inside_and_come_back(tmp_path: Path) -> None:
    bodies = {uri: {"@odata.id": uri, "Id": str(n)} for n, uri in enumerate(URIS)}
    folder = written(tmp_path / "c", BmcCapture(bodies, {URIS[0]: "2026-11-21T08:00:00.123+00:00"}))
    (answer,) = captured.load(folder).answers()
    assert isinstance(answer.capture, BmcCapture)
    assert answer.capture.bodies == bodies
    assert answer.capture.times == {URIS[0]: "2026-11-21T08:00:00.123+00:00"}
    lie = [path.relative_to(folder) for path in folder.rglob("*")]
    assert len({str(path).casefold() for path in lie}) == len(lie), "a filesystem may ignore letter case"
    assert all(re.fullmatch(r"[A-Za-z0-9._~$=,+@()&!%/-]+", str(path)) for path in lie)
    assert all(len(name) <= 120 for path in lie for name in path.parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]
    assert (folder / "n1/redfish/v1/Chassis/DGX/Sensors%3F$skip=75/index.json").is_file()
    apart = document((folder / "n1" / "bmc.json").read_text())["apart"]
    assert {"/redfish/v1/systems", "/redfish/v1/systems/B", "/etc/passwd", "/", "/redfish/v1//double"} <= {*apart}
    assert len(apart) == 8


@given(st.sets(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=40).map("/redfish/{}".format)))
def test_the_way_back_from_a_place_is_one(uris: set[str]) -> None:
    ways = places.ways(uris)
    assert {places.uri(way) for way in ways.values()} == {*ways}
    folded = [way.casefold() for way in ways.values()]
    assert len({*folded}) == len(folded)
    for way in ways.values():
        assert not {"", ".", "..", "index.json"} & {*way.split("/")}
        assert all(name[-1] not in ". " for name in way.split("/"))


def test_nodes_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    names = ["n1", "N1", "capture.json", "a:b", "x" * 200, "con"]
    rooms = places.rooms(names)
    assert [*rooms.values()] == ["n1", "%node2", "%63apture.json", "a%3Ab", "%node5", "%63on"]
    folder = tmp_path / "c"
    folder.mkdir()
    nodes = [Node(name, host="x.invalid") for name in names]
    writer = captured.CaptureWriter(folder, nodes)
    for name in names:
        writer.write(Answered(name, Plane.OS, TIME, capture=NodeCapture(files={"/name": name})))
    writer.finish(HEAD)
    values = {
        a.node: a.capture.files["/name"] for a in captured.load(folder).answers() if isinstance(a.capture, NodeCapture)
    }
    assert values == {name: name for name in names}


def test_what_no_text_can_hold_comes_back(tmp_path: Path) -> None:
    host = NodeCapture(
        {"x": Output(0, "\udcff\x00\r\n€", "")}, {"/a": None}, {"/a": "\r"}, {"/b": Unknown(Reason.DENIED, "é")}
    )
    (answer,) = captured.load(written(tmp_path / "c", host)).answers()
    assert answer.capture == host


# ---- damage ----------------------------------------------------------------------------------------------------------


def head(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        doc = document((folder / "capture.json").read_text())
        change(doc)
        (folder / "capture.json").write_text(json.dumps(doc))

    return damage


def write_text(folder: Path, text: str) -> None:
    (folder / "n1" / "redfish" / "v1" / "index.json").write_text(text)


def linked(folder: Path) -> None:
    file = folder / "n1" / "redfish" / "v1" / "index.json"
    file.unlink()
    file.symlink_to("/etc/passwd")


def twice(folder: Path) -> None:
    shutil.copytree(folder / "n1/redfish/v1", folder / "n1/redfish/%76%31")


def pipe(folder: Path) -> None:
    (folder / "n1/bmc.json").unlink()
    os.mkfifo(folder / "n1/bmc.json")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda f: (f / "capture.json").write_text(""),
    "torn": lambda f: (f / "capture.json").write_text((f / "capture.json").read_text()[:100]),
    "list": lambda f: (f / "capture.json").write_text("[]"),
    "deep": lambda f: (f / "capture.json").write_text("[" * 100_000),
    "format": head(lambda d: d.update(rackcheck=2)),
    "no nodes": head(lambda d: d.update(nodes={})),
    "nodes are a list": head(lambda d: d.update(nodes=["n1"])),
    "id": head(lambda d: d.update(capture="../x")),
    "time": head(lambda d: d.update(time="yesterday")),
    "planes": head(lambda d: d.update(planes=["moon"])),
    "role": head(lambda d: d["nodes"]["n1"].update(role="x }\n  evil: {")),
    "unit": head(lambda d: d["nodes"]["n1"].update(u=10**9)),
    "rack": head(lambda d: d["nodes"]["n1"].update(rack="a\x1b[2J")),
    "name": head(lambda d: d["nodes"].update({"../n1": d["nodes"]["n1"]})),
    "folder": head(lambda d: d["nodes"]["n1"].update(folder="../n1")),
    "folder above": head(lambda d: d["nodes"]["n1"].update(folder="..")),
    "folder of another": head(lambda d: d["nodes"].update(n2={**d["nodes"]["n1"], "folder": "n1"})),
    "plane": head(lambda d: d["nodes"]["n1"]["planes"].update(fabric={"time": TIME})),
    "plane's time": head(lambda d: d["nodes"]["n1"]["planes"]["bmc"].update(time=5)),
    "reason": head(lambda d: d["nodes"]["n1"]["planes"]["bmc"].update(trouble={"unknown": "tired"})),
    "no trouble": head(lambda d: d["nodes"]["n1"]["planes"]["bmc"].update(trouble="none")),
    "missing": lambda f: (f / "n1" / "bmc.json").unlink(),
    "missing host": head(lambda d: d["nodes"]["n1"]["planes"].update(os={"time": TIME})),
    "unread": lambda f: (f / "n1" / "bmc.json").write_text(
        '{"apart": {}, "times": {}, "unread": {"/x": {"unknown": 5}}}'
    ),
    "read and unread": lambda f: (f / "n1" / "bmc.json").write_text(
        '{"apart": {}, "times": {}, "unread": {"/redfish/v1": {"unknown": "denied"}}}'
    ),
    "times": lambda f: (f / "n1" / "bmc.json").write_text('{"apart": {}, "times": {"/x": 5}, "unread": {}}'),
    "body is a list": lambda f: write_text(f, "[]"),
    "body is no JSON": lambda f: write_text(f, "{"),
    "body is no UTF-8": lambda f: (f / "n1/redfish/v1/index.json").write_bytes(b'{"a": "\xff"}'),
    "body is not a number": lambda f: write_text(f, '{"a": NaN}'),
    "link": linked,
    "folder is a link": lambda f: (f / "n1/redfish/v1/up").symlink_to("/"),
    "twice": twice,
    "pipe": pipe,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_capture_is_one_clear_line(damage: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "c", BmcCapture({"/redfish/v1": {"Id": "x"}}))
    assert list(captured.load(folder).answers())
    DAMAGES[damage](folder)
    with pytest.raises(UserError) as error:
        list(captured.load(folder).answers())
    assert str(folder) in str(error.value)
    assert str(error.value).isprintable()
    with pytest.raises(UserError):
        scenario.find(str(folder))


def test_no_command_shows_more_of_a_damage_than_its_line(tmp_path: Path) -> None:
    folder = written(tmp_path / "c", BmcCapture({"/redfish/v1": {"Id": "x"}}))
    DAMAGES["body is no JSON"](folder)
    for words in (
        ("facts", "n1", "--from", folder),
        ("sim", "show", folder),
        ("audit", "--from", folder, "-p", "h100-dgx"),
    ):
        done = rackcheck(*words)
        assert (done.status, done.out) == (2, ""), words
        (line,) = done.err.strip().splitlines()
        assert str(folder) in line


def test_a_capture_of_more_files_than_any_bmc_has_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "c", BmcCapture({"/redfish/v1": {"Id": "x"}}))
    monkeypatch.setattr("rackcheck.run.captured.reading.RESOURCES", 20)
    for number in range(20):
        (folder / "n1/redfish/v1" / str(number)).mkdir()
    with pytest.raises(UserError, match="more than 20 files"):
        list(captured.load(folder).answers())


def test_a_file_larger_than_any_of_ours_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(
        tmp_path / "c", BmcCapture({"/redfish/v1": {"Id": "x" * 3000}, "/redfish/v1/a": {"Id": "y" * 3000}})
    )
    monkeypatch.setattr("rackcheck.run.captured.reading.LARGEST", 4000)
    with pytest.raises(UserError, match="MiB of one BMC"):
        list(captured.load(folder).answers())


# ---- writing ---------------------------------------------------------------------------------------------------------


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("keep me")
    (tmp_path / "file").write_text("keep me, too")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    old = written(tmp_path / "old", NodeCapture())
    before = (old / "capture.json").read_text()
    for name, output in (
        ("mine", "contains other files"),
        ("file", "is not a folder"),
        ("link", "is not a folder"),
        ("old", "never"),
    ):
        done = rackcheck("capture", "localhost", "--planes", "os", "-q", "-o", tmp_path / name)
        assert (done.status, done.out) == (2, ""), name
        assert output in done.err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    assert (old / "capture.json").read_text() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link", "mine", "old"]


def limited(*words: object, room: int) -> "subprocess.CompletedProcess[str]":
    """Capture in a separate process with a limit on file size: the effect of a full disk, also for root."""

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    command = [sys.executable, "-m", "rackcheck", "capture", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=small)


@pytest.mark.parametrize(("room", "how"), [(1500, ("--planes", "bmc")), (100_000, ("--planes", "os", "--anonymise"))])
def test_a_full_disk_leaves_nothing_that_is_called_a_capture(
    rack: Rack, tmp_path: Path, room: int, how: tuple[str, ...]
) -> None:
    target = tmp_path / "kept" / "c"
    done = limited("dgx01", "-i", rack.inventory, "-o", target, "-q", *how, room=room)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"rackcheck: cannot write a capture to {target}: File too large; no part of it was kept\n"
    assert list((tmp_path / "kept").iterdir()) == []
    assert not [up.bmc.sessions for up in rack.stations if up.bmc is not None and up.bmc.sessions]


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("NO MOUNTING HERE")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT MAY MOUNT A SMALL DISK")
def test_a_disk_without_room_for_all_of_it_keeps_nothing(rack: Rack, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as small:
        done = rackcheck("capture", "dgx01", "-i", rack.inventory, "-o", small / "c", "-q", "--planes", "os")
        assert done.status == 2
        assert "No space left on device; no part of it was kept" in done.err
        assert list(small.iterdir()) == []


def test_a_capture_that_is_stopped_keeps_what_arrived_and_states_it(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "one.yaml").write_text(
        "rackcheck: 1\nscenario: one\nnodes: { n1: { machine: dgx-h100 } }\nfaults: [{ nodes: n1, fault: hanging-bmc }]\n"
    )
    with Rack(scenario.load(tmp_path / "one.yaml"), tmp_path / "r") as up:
        process = subprocess.Popen(
            [sys.executable, "-m", "rackcheck", "capture", "-i", str(up.inventory), "-o", str(tmp_path / "c")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for _ in range(600):
            if list(tmp_path.glob(".c-*/made/n1/host.json")):
                break
            threading.Event().wait(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Interrupted: 0 of 1 node complete; capture.json shows which" in err
    doc = document((tmp_path / "c" / "capture.json").read_text())
    assert doc["interrupted"] is True
    assert doc["nodes"]["n1"]["planes"]["bmc"]["trouble"]["detail"] in {"interrupted", "the run was interrupted"}
    judged = rackcheck("audit", "--from", tmp_path / "c", "-p", "linux-server", "--json")
    assert (judged.status, document(judged.out)["interrupted"]) == (130, True)
