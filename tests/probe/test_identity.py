"""Which machine a verdict is about: identities that host and BMC share, and identities on two nodes or two parts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nvl72 import rack
from recordings import shared_text
from sim_replies import leaves_of as simulated
from trees import DELL, DGX, GB200, HPE_AMD, HPE_INTEL, LENOVO, SUPERMICRO, X10
from trees import tree_leaves as recorded

from rackcheck.model import identity
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import FLEET, Aggregate, NodeGroup, Seat, gathered
from rackcheck.probe.join import Join, derive
from rackcheck.probe.registry import registry

ROW = "2026-01-01T00:00:00Z"
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
DENIED = Unknown(Reason.DENIED, "needs root: a password is required")
GONE = Unknown(Reason.UNREACHABLE, "connection refused")
NULL = Unknown(Reason.NOT_COLLECTED, "SerialNumber is null or missing")
BLANK = Unknown(Reason.NOT_COLLECTED, "the manufacturer left the placeholder 'To be filled by O.E.M.'")
NO_BMC = Unknown(Reason.NOT_COLLECTED, "no BMC in inventory")

Facts = Mapping[str, Reading]


def join() -> Join:
    (found,) = (each for each in registry().joins if each.name == "identity_host")
    return found


def gathering() -> Aggregate:
    (found,) = (each for each in registry().gatherings if each.name == "identity_fleet")
    return found


def leaf(path: str, reading: Reading) -> Leaf:
    entry = registry().catalogue.find(parse(path))
    assert entry is not None, path
    return Leaf(reading, entry.kind, entry.plane, "test")


def tree(facts: Facts, silent: Mapping[Plane, Unknown] | None = None) -> Tree:
    leaves = {path: leaf(path, reading) for path, reading in facts.items()}
    return Tree(leaves, silent or {}, times=dict.fromkeys(Plane, ROW))


def host(facts: Facts, silent: Mapping[Plane, Unknown] | None = None) -> tuple[Reading, Reading]:
    """What host and BMC have in common, and what differs."""
    found = derive([join()], tree(facts, silent))
    return found["node.identity.common"].reading, found["node.identity.differs"].reading


def fleet(nodes: Mapping[str, Facts | Tree]) -> Reading:
    """What is repeated among these nodes."""
    group = NodeGroup(FLEET, Scope.FLEET, tuple(Seat(name) for name in nodes))
    trees = {name: facts if isinstance(facts, Tree) else tree(facts) for name, facts in nodes.items()}
    return gathered(group, [gathering()], trees, ROW).leaves["fleet.identity.repeated"].reading


def dgx(number: int, **changes: Reading) -> dict[str, Reading]:
    """A machine of eight GPUs with unique identities; `_` in a change's name is the path's full stop."""
    n = f"{number:03}"
    found: dict[str, Reading] = {
        "node.serial": f"1663124000{n}",
        "node.uuid": f"d6c10{n}-bfde-1000-02bc-5cff35000{n}",
        "node.chassis_serial": f"1663124500{n}",
        "node.board_serial": f"1663124200{n}",
        "bmc.host.serial": f"1663124000{n}",
        "bmc.host.sku": "920-24387-2540-000",
        "bmc.host.uuid": f"D6C10{n}-BFDE-1000-02BC-5CFF35000{n}",
        "bmc.manager": ("BMC",),
        "bmc.manager/BMC.interface": ("eth0", "usb0"),
        "bmc.manager/BMC.interface/eth0.mac": f"5c:ff:35:00:{n[0]:0>2}:{n[1:]}",
        "bmc.manager/BMC.interface/usb0.mac": "5c:ff:35:ff:ff:01",
        "gpu": tuple("01234567"),
        "bmc.gpu": tuple(f"GPU_SXM_{g}" for g in range(1, 9)),
        "nic.interface": ("enp41s0f0np0", "usb0"),
        "nic.interface/enp41s0f0np0.mac_permanent": f"a0:88:c2:00:{n[0]:0>2}:{n[1:]}",
        "nic.interface/enp41s0f0np0.pci": "0000:29:00.0",
        "nic.interface/enp41s0f0np0.virtual": False,
        "nic.interface/usb0.mac_permanent": "5c:ff:35:ff:ff:02",
        "nic.interface/usb0.pci": Absent("not on PCI"),
        "nic.interface/usb0.virtual": False,
        "psu": ("PSU0", "PSU1"),
        "psu/PSU0.serial": f"DTHTCT2307{n}0",
        "psu/PSU1.serial": f"DTHTCT2307{n}1",
        "dimm": ("A1", "B1"),
        "bmc.dimm": ("D0", "D1"),
    }
    for g in range(8):
        for place, mark in ((f"gpu/{g}", "GPU-"), (f"bmc.gpu/GPU_SXM_{g + 1}", "")):
            found[f"{place}.serial"] = f"1650{n}00000{g}"
            found[f"{place}.uuid"] = f"{mark}5a1c0{n}-00a{g}-4d00-8000-000000000{n}"
    for at, (ours, theirs) in enumerate((("A1", "D0"), ("B1", "D1"))):
        for place in (f"dimm/{ours}", f"bmc.dimm/{theirs}"):
            found |= {f"{place}.serial": f"4A0{n}F{at}", f"{place}.part_number": "M321R8GA0BB0"}
    return {**found, **{path.replace("__", "/").replace("_in_", "."): r for path, r in changes.items()}}


def of_plane(facts: Facts, plane: Plane) -> dict[str, Reading]:
    return {path: reading for path, reading in facts.items() if leaf(path, reading).plane is plane}


def married(os: int, bmc: int) -> dict[str, Reading]:
    """An inventory node whose host is one machine and whose BMC belongs to another."""
    return {**of_plane(dgx(os), Plane.OS), **of_plane(dgx(bmc), Plane.BMC)}


def clean(count: int) -> dict[str, Facts | Tree]:
    return {f"dgx{n:02}": dgx(n) for n in range(1, count + 1)}


# ---- how identities are spelled, and what is no identity -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "To be filled by O.E.M.", "TO BE FILLED BY O.E.M.", "Default string", "null", "None", "N/A", "0",
        "0000000000000", "00-00-00", "XXXXXXX", "123456789", "0123456789", "01234567890123456789AB", "12345",
        "System Serial Number", "REDACTED", "...........",
    ],
)  # fmt: skip
def test_a_placeholder_is_no_serial_number(text: str) -> None:
    assert identity.serial(text) == ""


@pytest.mark.parametrize("text", ["1663124000001", "CNIVC0014M0388", "S889914X3710910", "F54P1G3", "12345678X", "10"])
def test_a_serial_number_is_one(text: str) -> None:
    assert identity.serial(f" {text.lower()} ") == identity.serial(text) != ""


@pytest.mark.parametrize(
    "text",
    [
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009",
        "FEFEFEFE-FEFE-FEFE-FEFE-FEFEFEFEFEFE", "56F49712-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "12345678-1234-5678-1234-567812345678", "GPU-00000000-0000-0000-0000-000000000000", "Not Settable",
    ],
)  # fmt: skip
def test_a_uuid_of_a_whole_series_is_none(text: str) -> None:
    assert text == "Not Settable" or identity.uuid(text) == ""


def test_a_uuid_is_one_in_every_order_of_its_bytes() -> None:
    """The Dell's own, the same with the byte order of its first fields swapped, and the iDRAC's own form."""
    spelt = {
        identity.uuid(output)
        for output in (
            "4c4c4544-0035-3410-8050-c6c04f314733",
            "44454C4C-3500-1034-8050-C6C04F314733",
            "3347314f-c0c6-5080-3410-00354c4c4544",
            "{4C4C454400353410 8050C6C04F314733}",
        )
    }
    assert len(spelt) == 1
    assert identity.uuid("4c4c4544-0035-3410-8050-c6c04f314734") not in spelt


def test_the_uuid_of_a_gpu_is_one_with_and_without_the_drivers_mark() -> None:
    bare = "9dad5bfd-a732-23fe-40ad-465d0cbe5f95"
    assert identity.uuid(f"GPU-{bare}") == identity.uuid(bare.upper()) != ""


@pytest.mark.parametrize(
    "text",
    [
        "0A:CA:FE:F0:0D:04", "be:3a:f2:b6:05:9f", "01:00:5e:00:00:01", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff",
        "00:1a:ca:ff:ff:02", "00:00:11:07:fe:80:00:00:00:00:00:00:a0:88:c2:03:00:00:40:00", "a088:c203:0001:4000", "",
    ],
)  # fmt: skip
def test_an_address_that_software_made_up_is_none(text: str) -> None:
    """The first is on every iLO's host interface, the last one with six pairs on every BlueField."""
    assert identity.mac(text) == ""


def test_an_address_is_one_however_it_is_parted() -> None:
    assert {identity.mac(output) for output in ("7C:C2:55:50:A8:FF", "7cc25550a8ff", "7c-c2-55-50-a8-ff")} == {
        "7c:c2:55:50:a8:ff"
    }


@pytest.mark.parametrize(
    ("reason", "detail", "none"),
    [
        (Reason.NOT_COLLECTED, "SerialNumber is null or missing", True),
        (Reason.NOT_COLLECTED, "UUID is the placeholder 'null'", True),
        (Reason.NOT_COLLECTED, "SerialNumber says nothing", True),
        (Reason.NOT_COLLECTED, "UUID says 'null'", True),
        (Reason.NOT_COLLECTED, "UUID is 'null'", True),
        (
            Reason.NOT_COLLECTED,
            "dmidecode 0x0001: Serial Number: the manufacturer left the placeholder 'Default string'",
            True,
        ),
        (Reason.NOT_COLLECTED, "this BMC lists no GPU", True),
        (Reason.NOT_COLLECTED, "this BMC has no Fabrics", True),
        (Reason.NOT_COLLECTED, "no system of this BMC has EthernetInterfaces", True),
        (Reason.NOT_COLLECTED, "/redfish/v1/Systems/1 has no Memory", True),
        (Reason.NOT_COLLECTED, "/redfish/v1/Systems/1 is an empty resource", False),
        (Reason.NOT_COLLECTED, "not fetched: /redfish/v1/Systems/1", False),
        (Reason.NOT_COLLECTED, "the answer does not contain it", False),
        (Reason.NOT_COLLECTED, "no BMC in inventory", False),
        (Reason.UNPARSABLE, "SerialNumber is null or missing", False),
        (Reason.DENIED, "HTTP 403: says nothing", False),
    ],
)
def test_only_a_machine_that_answered_gives_no_identity(reason: Reason, detail: str, none: bool) -> None:
    assert identity.gives_none(Unknown(reason, detail)) is none


@pytest.mark.parametrize("name", ["ToHost", "ToManager", "usb0", "hostusb0", "hmcusb0", "tmfifo_net0", "rndis0"])
def test_the_network_inside_a_machine_is_known_by_name(name: str) -> None:
    """Lenovo's BMC gives its end of it an address that looks like a maker's."""
    assert identity.between(name)
    assert not any(map(identity.between, ("eth0", "NIC", "enp41s0f0np0", "NIC.Slot.5-1", "1")))


# ---- host and BMC ----------------------------------------------------------------------------------------------------


def test_a_machine_whose_planes_agree_has_all_kinds_in_common() -> None:
    facts = {**dgx(1), "bmc.interface": ("1",), "bmc.interface/1.mac": "A0:88:C2:00:00:01"}
    assert host(facts) == (("serial", "uuid", "macs", "dimms", "gpus"), ())


def test_the_bmc_of_another_machine_differs_in_every_kind_that_decides() -> None:
    assert host(married(1, 2))[1] == (
        "serial: the host has 1663124000001 or 1663124500001 or 1663124200001, the BMC reports 1663124000002",
        "uuid: the host has d6c10001-bfde-1000-02bc-5cff35000001, the BMC reports D6C10002-BFDE-1000-02BC-5CFF35000002",
        "gpus: the host has 8, 1650001000000 first, the BMC reports 8, 1650002000000 first, no match",
    )


NEEDED = ("node.serial", "bmc.host.serial", "bmc.host.sku", "bmc.host.uuid")


def needed(**changes: Reading) -> dict[str, Reading]:
    """The facts that every run needs."""
    return {**{path: dgx(1)[path] for path in NEEDED}, **{p.replace("_in_", "."): r for p, r in changes.items()}}


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({}, ()),
        ({"bmc_in_host.serial": "F00"}, 1),
        # Dell: the DMI table has the service tag, which is the BMC's SKU, and the BMC's number is the board's.
        ({"node_in_serial": "F54P1G3", "bmc_in_host.serial": "CNIVC0014M0388", "bmc_in_host.sku": "F54P1G3"}, ()),
        ({"node_in_serial": "F54P1G3", "bmc_in_host.serial": "CNIVC0014M0388", "bmc_in_host.sku": "G54P1G3"}, 1),
        ({"node_in_serial": "F54P1G3", "bmc_in_host.serial": "CNIVC0014M0388", "bmc_in_host.sku": LOST}, LOST),
        ({"bmc_in_host.sku": LOST}, ()),
        ({"bmc_in_host.serial": "F00", "bmc_in_host.sku": NULL}, 1),
        ({"node_in_serial": DENIED}, DENIED),
        ({"bmc_in_host.serial": LOST}, LOST),
        ({"node_in_serial": " 1663124000001 "}, ()),
    ],
)
def test_facts_that_every_run_reads_settle_it(changes: Facts, differs: Reading | int) -> None:
    found = host(needed(**{k.replace(".", "_in_"): v for k, v in changes.items()}))[1]
    assert (len(found) if isinstance(found, tuple) and isinstance(differs, int) else found) == differs


@pytest.mark.parametrize("blank", ["To be filled by O.E.M.", "0000000000", BLANK, Absent("no such file")])
def test_a_placeholder_is_nothing_in_common_and_no_difference(blank: Reading) -> None:
    common, differs = host({**needed(), "node.serial": blank})
    assert common == ()
    assert differs == Unknown(Reason.NOT_COLLECTED, "the host and the BMC share no identity")
    facts = {**dgx(1), "node.serial": blank, "node.chassis_serial": blank, "node.board_serial": blank}
    assert host(facts) == (("uuid", "dimms", "gpus"), ())


def test_a_uuid_whose_bytes_are_turned_is_the_same() -> None:
    turned = {**dgx(1), "bmc.host.uuid": "0100c1d6-debf-0010-02bc-5cff35000001"}
    assert host(turned)[1] == ()
    assert isinstance(host({**turned, "bmc.host.uuid": "0100c1d6-debf-0010-02bc-5cff35000002"})[1], tuple)


def test_the_uuid_of_supermicro_that_ends_in_an_address_is_one() -> None:
    uuid = "00000000-0000-0000-0000-7CC25550A8FF"
    facts = {**needed(), "node.serial": BLANK, "node.uuid": uuid.lower(), "bmc.host.uuid": uuid}
    assert host(facts) == (("uuid",), ())


def test_the_board_of_a_dell_gives_its_service_tag_and_its_own_number() -> None:
    facts = {**needed(), "node.serial": BLANK, "bmc.host.serial": "CNIVC0014M0388", "bmc.host.sku": NULL}
    assert host({**facts, "node.board_serial": ".F54P1G3.CNIVC0014M0388."}) == (("serial",), ())


def test_without_root_it_is_unknown_and_names_why_though_addresses_are_shared() -> None:
    facts = {
        **dict.fromkeys(("node.serial", "node.uuid", "node.chassis_serial", "node.board_serial"), DENIED),
        **{path: reading for path, reading in dgx(1).items() if path.startswith(("bmc.host", "nic."))},
        "bmc.interface": ("1",),
        "bmc.interface/1.mac": "A0:88:C2:00:00:01",
    }
    assert host(facts) == (DENIED, DENIED)


def test_one_kind_that_differs_is_a_difference_whatever_the_others_are() -> None:
    facts = {**dgx(1), "bmc.host.uuid": dgx(2)["bmc.host.uuid"]}
    for path in ("node.serial", "bmc.host.serial", "gpu", "gpu/3.serial"):
        found = host({**facts, path: LOST})[1]
        assert isinstance(found, tuple)
        assert found[0].startswith("uuid: ")


def test_addresses_that_differ_are_no_difference_and_alone_they_are_nothing_in_common() -> None:
    other: Facts = {"bmc.interface": ("1",), "bmc.interface/1.mac": "b0:88:c2:00:00:99"}
    assert host({**dgx(1), **other})[1] == ()
    few = {"nic.interface": ("a",), "nic.interface/a.mac": "a0:88:c2:00:00:01", **other}
    blank = dict.fromkeys(NEEDED, NULL)
    assert isinstance(host({**blank, **few})[1], Unknown)
    assert host({**blank, **few, "bmc.interface/1.mac": "A0-88-C2-00-00-01"}) == (("macs",), ())


def test_one_gpu_in_common_is_one_machine_and_a_gpu_that_is_not_known_only_matters_without() -> None:
    alone = {**dict.fromkeys(NEEDED, NULL), **{p: r for p, r in dgx(1).items() if "gpu" in p}}
    changed = {**alone, "gpu/3.serial": LOST, "gpu/3.uuid": LOST}
    assert host(changed) == (("gpus",), ())
    apart = {**alone, **{p: r for p, r in of_plane(dgx(2), Plane.BMC).items() if "gpu" in p}}
    assert host(apart)[1] == (
        "gpus: the host has 8, 1650001000000 first, the BMC reports 8, 1650002000000 first, no match",
    )
    assert host({**apart, "bmc.gpu/GPU_SXM_1.serial": LOST, "bmc.gpu/GPU_SXM_1.uuid": LOST})[1] == LOST


def test_a_bmc_that_lists_no_gpu_is_no_doubt() -> None:
    lists_none = Unknown(Reason.NOT_COLLECTED, "this BMC lists no GPU")
    facts = {p: r for p, r in dgx(1).items() if not p.startswith("bmc.gpu")}
    assert host({**facts, "bmc.gpu": lists_none})[1] == ()
    assert host({**facts, "bmc.gpu": LOST})[1] == LOST


@pytest.mark.parametrize("plane", [Plane.OS, Plane.BMC])
def test_where_a_plane_is_silent_it_is_unknown_for_that_reason(plane: Plane) -> None:
    other = Plane.BMC if plane is Plane.OS else Plane.OS
    why = NO_BMC if plane is Plane.BMC else GONE
    assert host({}, {plane: why, other: LOST})[1] == (why if plane is Plane.BMC else LOST)
    assert host(of_plane(dgx(1), other), {plane: why})[1] == why


@pytest.mark.parametrize("name", [DELL, DGX, GB200, HPE_AMD, HPE_INTEL, LENOVO, SUPERMICRO])
def test_every_recorded_bmc_gives_its_host_an_identity(name: str) -> None:
    """A host with its BMC's values matches it; one with another machine's values does not."""
    values = {path: each.reading for path, each in recorded(name).items()}
    facts = {path: values[path] for path in NEEDED if path in values}
    own = {"node.serial": facts["bmc.host.serial"], "node.uuid": facts["bmc.host.uuid"]}
    own = {path: BLANK if isinstance(reading, Unknown) else reading for path, reading in own.items()}
    assert host({**facts, **own})[1] == ()
    other = {"node.serial": "F00D", "node.uuid": "4c4c4544-0035-3410-8050-c6c04f314799"}
    assert isinstance(host({**facts, **other})[1], tuple)


def test_the_recorded_board_whose_maker_filled_in_nothing_is_known_by_its_uuid() -> None:
    facts = {path: recorded(X10)[path].reading for path in NEEDED if path in recorded(X10)}
    assert host({**facts, "node.serial": BLANK, "node.uuid": "00000000-0000-0000-0000-ac1f6b18a45a"}) == (("uuid",), ())


# ---- what comes twice ------------------------------------------------------------------------------------------------


def test_machines_of_their_own_have_nothing_twice() -> None:
    assert fleet(clean(8)) == ()


def test_one_machine_under_two_names_is_named_kind_by_kind() -> None:
    nodes = {**clean(4), "dgx02": dgx(1)}
    assert fleet(nodes) == (
        "serial 1663124000001: dgx01 and dgx02",
        "UUID d6c10001-bfde-1000-02bc-5cff35000001: dgx01 and dgx02",
        "BMC 5c:ff:35:00:00:01: dgx01 bmc.manager/BMC.interface/eth0 and dgx02 bmc.manager/BMC.interface/eth0",
        "MAC a0:88:c2:00:00:01: dgx01 nic.interface/enp41s0f0np0 and dgx02 nic.interface/enp41s0f0np0",
        "8 GPU serials, 1650001000000 first: dgx01 and dgx02",
        "8 GPU UUIDs, GPU-5a1c0001-00a0-4d00-8000-000000000001 first: dgx01 and dgx02",
        "2 memory modules, M321R8GA0BB0 4A0001F0 first: dgx01 and dgx02",
    )


def test_one_machine_under_eight_names_names_them_all() -> None:
    found = fleet({f"dgx{n:02}": dgx(1) for n in range(1, 9)})
    assert isinstance(found, tuple)
    assert found[0] == "serial 1663124000001: dgx01, dgx02, dgx03, dgx04, dgx05, dgx06, dgx07 and dgx08"
    more = fleet({f"dgx{n:02}": dgx(1) for n in range(1, 12)})
    assert isinstance(more, tuple)
    assert more[0].endswith("dgx08 and 3 more")
    assert len(more) == len(found)


def test_two_bmcs_that_are_exchanged_are_found_on_both_nodes_and_named_together() -> None:
    exchanged = {"dgx01": married(1, 2), "dgx02": married(2, 1), "dgx03": dgx(3)}
    assert all(isinstance(host(facts)[1], tuple) and host(facts)[1] for facts in list(exchanged.values())[:2])
    assert host(exchanged["dgx03"])[1] == ()
    found = fleet(exchanged)
    assert isinstance(found, tuple)
    assert found[0] == "2 serials, 1663124000001 first: dgx01 and dgx02"


def test_a_bmc_that_stands_at_two_nodes_is_named_by_its_address() -> None:
    found = fleet({"dgx01": dgx(1), "dgx02": married(2, 1)})
    assert isinstance(found, tuple)
    assert found[0] == "serial 1663124000001: dgx01 and dgx02 by its BMC"
    assert any(each.startswith("BMC 5c:ff:35:00:00:01: dgx01 ") for each in found)


def test_two_gpus_of_one_serial_number_are_named_in_one_node_and_in_two() -> None:
    one = {**dgx(1), "gpu/3.serial": dgx(1)["gpu/0.serial"]}
    sentence = "GPU serial 1650001000000: gpu/0 and gpu/3 of dgx01"
    assert fleet({"dgx01": one}) == (sentence,)
    assert fleet({"dgx01": one, "dgx02": dgx(2)}) == (sentence,)
    two = {"dgx01": dgx(1), "dgx04": {**dgx(4), "gpu/0.serial": dgx(1)["gpu/3.serial"]}}
    assert fleet(two) == ("GPU serial 1650001000003: dgx01 gpu/3 and dgx04 gpu/0",)


def test_two_gpus_of_one_uuid_are_never_one_board() -> None:
    pair: dict[str, Reading] = {
        "gpu": ("0", "1"),
        **{f"gpu/{n}.uuid": "GPU-5a1c0001-00a0-4d00-8000-000000000001" for n in (0, 1)},
    }
    assert fleet({"n1": pair}) == ("GPU UUID GPU-5a1c0001-00a0-4d00-8000-000000000001: gpu/0 and gpu/1 of n1",)


def boards(*serials: Reading, cut: Reading | None = None) -> dict[str, Reading]:
    names = tuple(map(str, range(len(serials))))
    return {"gpu": names if cut is None else cut, **{f"gpu/{n}.serial": r for n, r in zip(names, serials, strict=True)}}


@pytest.mark.parametrize(
    ("serials", "found"),
    [
        (("A1", "A1", "B1", "B1"), ()),
        (("A1", "A1", "B1", "C1"), ("GPU serial A1: gpu/0 and gpu/1 of n1",)),
        (("A1", "A1", "B1", LOST), Unknown(Reason.TIMEOUT, f"n1: {LOST.detail}")),
        (("A1", "A1", "B1", "C1", LOST), ("GPU serial A1: gpu/0 and gpu/1 of n1",)),
        (("A1", "B1", LOST), Unknown(Reason.TIMEOUT, f"n1: {LOST.detail}")),
        ((LOST,), ()),
        (("N/A", "N/A"), ()),
        ((Absent("none to read"), Absent("none to read")), ()),
    ],
)
def test_a_number_that_every_gpu_shares_with_as_many_others_is_that_of_a_board(
    serials: Sequence[Reading], found: Reading
) -> None:
    assert fleet({"n1": boards(*serials)}) == found


def test_a_list_that_was_not_read_to_its_end_settles_no_board() -> None:
    assert isinstance(fleet({"n1": boards("A1", "A1", "B1", cut=LOST)}), Unknown)


def test_the_recorded_gb200_has_two_gpus_a_board_and_a_rack_of_copies_is_found() -> None:
    assert shared_text("nvidia/nvidia-smi-qx-gb200.xml").count("<serial>1650000000001<") == 2
    trays = rack()
    one = {node.name: Tree(leaves) for node, leaves in list(trays.items())[:1]}
    assert fleet(one) == ()
    assert isinstance(fleet({node.name: Tree(leaves) for node, leaves in trays.items()}), tuple)


@pytest.mark.parametrize("blank", ["0000000000000", "To be filled by O.E.M.", BLANK, NULL, Absent("none")])
def test_placeholders_that_all_nodes_share_are_no_identity(blank: Reading) -> None:
    paths = ("node.serial", "bmc.host.serial", "gpu/0.serial", "bmc.gpu/GPU_SXM_1.serial", "psu/PSU0.serial")
    assert fleet({name: {**dgx(n), **dict.fromkeys(paths, blank)} for n, name in enumerate(("a", "b"), 1)}) == ()


def test_a_uuid_of_a_whole_series_and_addresses_inside_machines_come_twice_by_right() -> None:
    series = "03000200-0400-0500-0006-000700080009"
    assert fleet({f"n{n}": {**dgx(n), "node.uuid": series, "bmc.host.uuid": series} for n in (1, 2, 3)}) == ()


def test_supplies_of_an_enclosure_are_those_of_all_its_nodes_and_one_supply_is_not() -> None:
    shared = {path: reading for path, reading in dgx(1).items() if path.startswith("psu")}
    twins: dict[str, Facts | Tree] = {f"n{n}": {**dgx(n), **shared} for n in (1, 2, 3, 4)}
    assert fleet(twins) == ()
    one = {**dgx(2), "psu/PSU0.serial": shared["psu/PSU0.serial"]}
    found = "supply serial DTHTCT23070010: n1 psu/PSU0 and n2 psu/PSU0"
    assert fleet({"n1": dgx(1), "n2": one}) == (found,)
    assert fleet({"n1": dgx(1), "n2": {**one, "psu/PSU1.serial": LOST}}) == Unknown(
        Reason.TIMEOUT, f"n2: {LOST.detail}"
    )


def test_one_module_of_memory_that_two_nodes_give_is_the_makers_and_two_are_copies() -> None:
    one = {**dgx(2), "dimm/A1.serial": dgx(1)["dimm/A1.serial"]}
    assert fleet({"n1": dgx(1), "n2": one}) == ()
    two = {**one, "dimm/B1.serial": dgx(1)["dimm/B1.serial"]}
    assert fleet({"n1": dgx(1), "n2": two}) == ("2 memory modules, M321R8GA0BB0 4A0001F0 first: n1 and n2",)
    three = {"n1": dgx(1), "n2": one, "n3": {**dgx(3), "dimm/A1.serial": dgx(1)["dimm/A1.serial"]}}
    assert fleet(three) == ("memory module M321R8GA0BB0 4A0001F0: n1 dimm/A1, n2 dimm/A1 and n3 dimm/A1",)


NIC = "nic.interface/enp41s0f0np0"


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ({"pci": "0000:aa:00.0", "virtual": False}, ("MAC a0:88:c2:00:00:01: {0} and {1} of n1",)),
        ({"pci": "0000:29:00.1", "virtual": False}, ()),
        ({"pci": "0000:aa:00.0", "virtual": True}, ()),
        ({"pci": Absent("not on PCI"), "virtual": False}, ()),
        ({"pci": LOST, "virtual": False}, Unknown(Reason.TIMEOUT, f"n1: {LOST.detail}")),
    ],
)
def test_one_address_of_two_devices_on_pci_is_named(other: Facts, found: Reading) -> None:
    place = "nic.interface/enp170s0f0np0"
    facts = {**dgx(1), "nic.interface": ("enp41s0f0np0", "enp170s0f0np0", "usb0"),
             f"{place}.mac_permanent": "a0:88:c2:00:00:01", **{f"{place}.{k}": r for k, r in other.items()}}  # fmt: skip
    wanted = tuple(each.format(NIC, place) for each in found) if isinstance(found, tuple) else found
    assert fleet({"n1": facts}) == wanted


def test_an_address_in_use_counts_where_it_is_the_devices_own() -> None:
    facts: Facts = {"nic.interface": ("a",), "nic.interface/a.mac": "a0:88:c2:00:00:01"}
    own, made = ({**facts, "nic.interface/a.mac_origin": origin} for origin in ("permanent", "set"))
    assert fleet({"n1": own, "n2": own}) == ("MAC a0:88:c2:00:00:01: n1 nic.interface/a and n2 nic.interface/a",)
    assert fleet({"n1": own, "n2": made}) == ()


@pytest.mark.parametrize(("transport", "found"), [("pcie", 1), ("tcp", 0), ("rdma", 0), (LOST, -1)])
def test_a_drive_over_a_network_may_be_that_of_several_nodes(transport: Reading, found: int) -> None:
    drive: Facts = {"nvme": ("nvme0",), "nvme/nvme0.serial": "S666NE0W0001", "nvme/nvme0.transport": transport}
    value = fleet({"n1": drive, "n2": drive})
    assert isinstance(value, Unknown) if found < 0 else len(value) == found if isinstance(value, tuple) else False


# ---- a fleet with unknown facts --------------------------------------------------------------------------------------


def small(number: int, **changes: Reading) -> dict[str, Reading]:
    return {"node.serial": f"S{number:06}X", "bmc.host.serial": f"S{number:06}X", **changes}


def test_of_a_thousand_nodes_one_that_is_silent_makes_it_unknown_and_is_named() -> None:
    nodes: dict[str, Facts | Tree] = {f"n{n}": small(n) for n in range(1000)}
    assert fleet(nodes) == ()
    nodes["n417"] = Tree({}, {Plane.OS: GONE, Plane.BMC: GONE})
    assert fleet(nodes) == Unknown(Reason.UNREACHABLE, "n417: connection refused")
    nodes["n900"] = small(17)
    assert fleet(nodes) == ("serial S000017X: n17 and n900",)


def test_a_plane_read_on_no_node_is_no_doubt() -> None:
    hosts = {f"n{n}": {"node.serial": f"S{n}00X"} for n in range(4)}
    assert fleet(hosts) == ()
    assert fleet({**hosts, "n4": {"node.serial": "S000X"}}) == ("serial S000X: n0 and n4",)


def test_a_node_without_a_bmc_is_no_doubt_and_one_whose_bmc_is_silent_is() -> None:
    own = small(1)
    del own["bmc.host.serial"]
    assert fleet({"n0": small(0), "n1": tree(own, {Plane.BMC: NO_BMC})}) == ()
    assert fleet({"n0": small(0), "n1": tree(own, {Plane.BMC: GONE})}) == Unknown(
        Reason.UNREACHABLE, "n1: " + GONE.detail
    )


def test_what_only_one_node_can_give_cannot_come_twice() -> None:
    nodes: dict[str, Facts | Tree] = {"n0": small(0, **{"node.uuid": LOST}), "n1": small(1)}
    assert fleet(nodes) == ()
    assert isinstance(fleet({**nodes, "n1": small(1, **{"node.uuid": str(dgx(1)["node.uuid"])})}), Unknown)


def test_the_rules_add_no_plane_of_their_own() -> None:
    inputs = {entry.pattern: entry.inputs for entry in (*join().entries(), *gathering().entries())}
    assert inputs["fleet.identity.repeated"] == frozenset()
    assert inputs["node.identity.differs"] == {Plane.OS, Plane.BMC}
    asked = {probe.name for probe in registry().plan([parse("fleet.identity.repeated")]).probes}
    assert not {"serial", "bmc_host"} & asked  # no other root question, and no BMC request
    rooted = {p.name for p in registry().plan(map(parse, ("fleet.identity.repeated", "node.chassis_serial"))).probes}
    assert "serial" in rooted
    both = {probe.name for probe in registry().plan(map(parse, ("fleet.identity.repeated", "firmware.bmc"))).probes}
    assert "bmc_host" in both


def test_what_is_held_of_nodes_finds_what_their_facts_do() -> None:
    nodes = {"dgx01": married(1, 2), "dgx02": dgx(1, **{"gpu/3.serial": "1650001000000"}), "dgx03": dgx(3)}
    group = NodeGroup(FLEET, Scope.FLEET, tuple(Seat(name) for name in nodes))
    held = {name: gathering().distilled(tree(facts)) for name, facts in nodes.items()}
    assert {each.newest for each in held.values()} == {ROW}
    found = gathered(group, [gathering()], held, ROW).leaves["fleet.identity.repeated"]
    assert found.reading == fleet(nodes) != ()


def test_what_fails_while_a_node_is_held_is_unknown_and_costs_no_other_fact() -> None:
    def broken(_: object) -> object:
        raise ValueError("no such thing")

    odd = replace(gathering(), distil=broken)
    held = {name: odd.distilled(tree(small(n))) for n, name in enumerate(("a", "b"))}
    found = gathered(NodeGroup(FLEET, Scope.FLEET, (Seat("a"), Seat("b"))), [odd], held, ROW)
    reading = found.leaves["fleet.identity.repeated"].reading
    assert isinstance(reading, Unknown)
    assert (reading.reason, "no such thing" in reading.detail) == (Reason.UNPARSABLE, True)


# ---- nonsense --------------------------------------------------------------------------------------------------------

ODD = st.text(max_size=60)


@given(ODD)
def test_any_text_is_an_identity_or_none(text: str) -> None:
    for spell in (identity.serial, identity.uuid, identity.mac, identity.guid):
        assert isinstance(spell(text), str)
        assert spell(spell(text)) in {spell(text), ""}
    assert all(identity.serials(text))


@pytest.mark.parametrize("text", ["A" * 5000 + "1", "\x00\x1b[31m", "x: y and z", "ß", "\uff11\uff12\uff13", "-" * 300])
def test_an_odd_number_breaks_nothing_and_its_sentence_is_bounded(text: str) -> None:
    facts = {**small(1), "node.serial": text}
    found = fleet({"n1": facts, "n2": facts})
    assert isinstance(found, tuple)
    assert all(len(each) < 300 and each.isprintable() for each in found)
    assert not isinstance(host({**needed(), "node.serial": text})[1], Absent)


def test_many_findings_are_cut_and_counted() -> None:
    nodes: dict[str, Facts | Tree] = {f"n{n}": {"node.serial": f"S{n // 2:04}X"} for n in range(400)}
    found = fleet(nodes)
    assert isinstance(found, tuple)
    assert len(found) == 65
    assert found[-1] == "and 136 more of this sort"


# ---- the law of information ------------------------------------------------------------------------------------------

WORDS = ["1663124000001", "F00", "D6C10001-BFDE-1000-02BC-5CFF35000001", "a0:88:c2:00:00:01", "To be filled by O.E.M."]
READINGS: st.SearchStrategy[Reading] = st.one_of(
    st.sampled_from(WORDS), st.sampled_from([LOST, NULL, Absent("none")]).map(lambda each: each)
)
LEAVES = tuple(path for path, reading in dgx(1).items() if isinstance(reading, str))
LISTS = tuple(path for path, reading in dgx(1).items() if isinstance(reading, tuple))


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Reading]:
    """A consistent machine, or one with another's identity, with some facts changed or unknown."""
    facts = {**married(draw(st.integers(1, 3)), draw(st.integers(1, 3)))}
    for path in draw(st.lists(st.sampled_from(LEAVES), max_size=4)):
        facts[path] = draw(READINGS)
    left = draw(st.sampled_from([(), ("gpu", "bmc.gpu"), ("nic", "dimm", "bmc.dimm"), ("bmc.",), ("node.uuid", "psu")]))
    return {path: reading for path, reading in facts.items() if not (left and path.startswith(left))}


def less(facts: dict[str, Reading], path: str) -> dict[str, Reading]:
    return {**facts, path: LOST} if path in facts else facts


@settings(max_examples=200, deadline=None)
@given(machines(), st.lists(st.sampled_from([*LEAVES, *LISTS]), min_size=1, max_size=4))
def test_of_less_host_and_bmc_are_not_another_thing(facts: dict[str, Reading], lost: list[str]) -> None:
    fewer = facts
    for path in lost:
        fewer = less(fewer, path)
    for before, after in zip(host(facts), host(fewer), strict=True):
        assert isinstance(after, Unknown) or (isinstance(before, tuple) and bool(before) == bool(after)), (
            before,
            after,
        )


@settings(max_examples=200, deadline=None)
@given(st.lists(machines(), min_size=1, max_size=4), st.data())
def test_of_less_a_fleet_is_not_another_thing(values: list[dict[str, Reading]], data: st.DataObject) -> None:
    nodes = {f"n{n}": facts for n, facts in enumerate(values)}
    name = data.draw(st.sampled_from(sorted(nodes)))
    before = fleet(nodes)
    fewer = nodes[name]
    for path in data.draw(st.lists(st.sampled_from([*LEAVES, *LISTS]), min_size=1, max_size=4)):
        fewer = less(fewer, path)
    after = fleet({**nodes, name: fewer})
    assert isinstance(after, Unknown) or (isinstance(before, tuple) and bool(before) == bool(after)), (before, after)
    silent = fleet({**nodes, name: replace(tree({}), silent={Plane.OS: GONE, Plane.BMC: GONE})})
    assert isinstance(silent, Unknown) or (isinstance(before, tuple) and bool(before) == bool(silent)), (before, silent)


# ---- the simulator ---------------------------------------------------------------------------------------------------


def test_simulated_machines_are_each_one_and_have_nothing_in_common_with_others() -> None:
    """Also for numbers with more digits than those in a rack."""
    nodes = {f"n{number}": Tree(simulated(f"n{number}", number)) for number in (1, 2, 11, 100, 101, 1001)}
    assert fleet(nodes) == ()
    for each in nodes.values():
        found = derive([join()], each)
        assert found["node.identity.differs"].reading == ()
        assert found["node.identity.common"].reading == ("serial", "uuid", "dimms", "gpus")
    one, other = (nodes[name].leaves for name in ("n1", "n2"))
    named = re.compile(r"serial|uuid|guid|mac(_permanent)?$|gid/.*address")
    same = {p for p in one.keys() & other.keys() if named.search(p) and one[p].reading == other[p].reading}
    assert {p for p in same if isinstance(one[p].reading, str) and one[p].kind.cls is Class.IDENTITY} == set()


def test_a_simulated_machine_under_another_name_is_found() -> None:
    found = fleet({name: Tree(simulated(name, 1)) for name in ("n1", "n2")})
    assert isinstance(found, tuple)
    assert [each.split(" n1")[0].split(":")[0].split(",")[0] for each in found] == [
        "serial 1663124000001",
        "UUID d6c10001-bfde-1000-02bc-000000000001",
        "4 MACs",
        "12 GUIDs",
        "8 GPU serials",
        "8 GPU UUIDs",
        "10 drive serials",
        "32 memory modules",
    ]


@pytest.mark.parametrize("serials", [("A1", "A1", "B1"), ("A1", "A1", "B1", "B1"), ("A1", "B1", LOST), (LOST,)])
def test_a_node_by_itself_has_twice_what_a_fleet_of_it_has(serials: tuple[Reading, ...]) -> None:
    (parts,) = (each for each in registry().joins if each.name == "identity_parts")
    facts = {**boards(*serials), "node.serial": LOST}
    found = derive([parts], tree(facts))["node.identity.repeated"].reading
    alone = fleet({"this node": facts})
    assert found == alone


@pytest.mark.parametrize("text", [
    "To be filled", "To be filled by O.E.M", "0x00000000", "N/A N/A", "No Asset Tag", "Unspecified", "TBD",
    "INVALID SERIAL", "Default  String", "Type2 - Board Serial Number", "SN00000000",
])  # fmt: skip
def test_what_makers_leave_in_other_spellings_is_no_identity_either(text: str) -> None:
    assert identity.serial(text) == ""


def test_an_order_number_shows_one_machine_and_never_two() -> None:
    facts = dgx(1)
    for blank in (Absent("null"), Unknown(Reason.NOT_COLLECTED, "SerialNumber is null or missing")):
        assert host({**facts, "bmc.host.serial": blank})[1] == ()
    tagged = {**facts, "node.serial": "F54P1G3", "bmc.host.serial": "CNIVC0014M0388", "bmc.host.sku": "F54P1G3"}
    common, _ = host(tagged)
    assert isinstance(common, tuple)
    assert "serial" in common
