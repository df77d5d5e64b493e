"""NICs, RDMA devices and network interfaces from public recordings, value for value; and odd cases of their tools."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from recordings import answering, facts, holding, leaves, os_probes, shared_text, tree

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable
from rackcheck.model.question import Shell
from rackcheck.parse.host.nic import ethtool, mlxlink, module_eeprom

PROBES = os_probes()
RDMA = "/sys/class/infiniband"
NET = "/sys/class/net"


@dataclass(frozen=True)
class Case:
    """A recorded machine, how to present it to a probe, and the facts that the probe must return."""

    probe: str
    recording: str
    capture: Callable[[], NodeCapture]
    expected: Mapping[str, Reading | type[Absent] | type[Unknown]]


def each(values: Mapping[str, tuple[str, int]]) -> str:
    """The answer of a command that runs once for each device."""
    return "".join(f"==> {name} <==\n{text}\n<== {status}\n" for name, (text, status) in values.items())


def of_eth0(probe: str, recording: str, expected: Mapping[str, Reading | type[Absent]]) -> Case:
    """The text of a recording as the answer for eth0."""
    return Case(
        probe,
        recording,
        lambda: answering(PROBES[probe], each({"eth0": (shared_text(recording), 0)})),
        {path if path.startswith("nic") else f"nic.interface/eth0.{path}": value for path, value in expected.items()},
    )


def hardware() -> NodeCapture:
    """The recorded interface as hardware of a node."""
    files = {
        path.replace(f"{NET}/eth0/", f"{NET}/eth0/device/net/eth0/"): text
        for path, text in tree("ethernet/sysfs-net-procfs", NET).items()
    }
    return holding(PROBES["interfaces"], files)


def ionic() -> NodeCapture:
    """The counters of `rdma statistic`, in the kernel's files."""
    files = {}
    for link in json.loads(shared_text("infiniband/rdma-statistic.json")):
        port = f"{RDMA}/{link['ifname']}/ports/{link['port']}"
        files[f"{port}/state"] = "4: ACTIVE\n"
        counters = {name: value for name, value in link.items() if name not in {"ifname", "port"}}
        files |= {f"{port}/hw_counters/{name}": f"{value}\n" for name, value in counters.items()}
    return holding(PROBES["rdma_hw_counters"], files)


def azure() -> NodeCapture:
    """The output of `ibstatus`, in the files that it reads."""
    names = {"base lid": "lid", "sm lid": "sm_lid", "default gid": "gids/0", "link_layer": "link_layer"}
    files, device = {}, ""
    for row in shared_text("infiniband/ibstatus-azure.txt").splitlines():
        head = re.match(r"Infiniband device '(\w+)'", row)
        device = head[1] if head else device
        key, _, value = row.strip().partition(":")
        if key in names:
            files[f"{RDMA}/{device}/ports/1/{names[key]}"] = f"{value.strip()}\n"
    return holding(PROBES["rdma_ports"], files)


def flashes(recording: str) -> NodeCapture:
    """The devices of one `mlxup --query`, each as a separate answer."""
    head, *devices = re.split(r"^(?=Device #)", shared_text(recording), flags=re.MULTILINE)
    value = {}
    for device in devices:
        address = re.search(r"PCI Device Name: +(\S+)", device)
        assert address is not None
        value[address[1]] = (head + device, 0)
    return answering(PROBES["mlxfwmanager"], each(value))


CASES = [
    Case(
        "rdma_counters",
        "infiniband/sysfs-infiniband-procfs",
        lambda: holding(PROBES["rdma_counters"], tree("infiniband/sysfs-infiniband-procfs", RDMA)),
        {
            "nic/mlx4_0.port/1.counter.port_rcv_data": 2221223609,
            "nic/mlx4_0.port/2.counter.port_xmit_wait": 3846,
            "nic/mlx4_0.port/2.counter.symbol_error": 0,
            "nic/mlx4_0.port/2.counter.full": (),
            "nic/mlx5_0.port/1.counter.port_xmit_packets": 10907922116,
            "nic/mlx5_0.port/1.counter.vl15_dropped": 0,
            "nic/hfi1_0.port/1.counter.port_xmit_data": 273558326543,
        },
    ),
    Case(
        "rdma_hw_counters",
        "infiniband/sysfs-infiniband-procfs",
        lambda: holding(PROBES["rdma_hw_counters"], tree("infiniband/sysfs-infiniband-procfs", RDMA)),
        {
            "nic/mlx5_0.port/1.hw_counter/local_ack_timeout_err.value": 131,
            "nic/mlx5_0.port/1.hw_counter/resp_cqe_error.value": 8109,
            "nic/mlx5_0.port/1.hw_counter/rx_read_requests.value": 175528982,
            "nic/mlx5_0.port/1.hw_counter/rnr_nak_retry_err.value": 0,
            "nic/mlx4_0.port/1.hw_counter": (),
            "nic/hfi1_0.port/1.hw_counter": (),
        },
    ),
    Case(
        "rdma_hw_counters",
        "infiniband/rdma-statistic.json",
        ionic,
        {
            "nic/ionic_0.port/1.hw_counter/req_rx_rnr_retry_err.value": 0,
            "nic/ionic_3.port/1.hw_counter/tx_rdma_ack_timeout.value": 0,
        },
    ),
    Case(
        "rdma_links",
        "infiniband/rdma-link.json",
        lambda: answering(PROBES["rdma_links"], shared_text("infiniband/rdma-link.json")),
        {"nic/ionic_0.port/1.interface": "benic8p1", "nic/ionic_3.port/1.interface": "benic6p1"},
    ),
    Case(
        "rdma_ports",
        "infiniband/ibstatus-azure.txt",
        azure,
        {
            "nic/mlx5_ib0.port/1.lid": 0x96,
            "nic/mlx5_ib0.port/1.sm_lid": 0x11C,
            "nic/mlx5_ib0.port/1.port_guid": "0015:5dff:fd33:ff0b",
            "nic/mlx5_an0.port/1.lid": 0,
            "nic/mlx5_an0.port/1.port_guid": Absent,
        },
    ),
    Case(
        "interfaces",
        "ethernet/sysfs-net-procfs",
        hardware,
        {
            "nic.interface": ("eth0",),
            "nic.interface/eth0.state": "up",
            "nic.interface/eth0.carrier": True,
            "nic.interface/eth0.up": True,
            "nic.interface/eth0.promiscuous": True,
            "nic.interface/eth0.speed": 1.0,
            "nic.interface/eth0.duplex": "full",
            "nic.interface/eth0.mtu": 1500,
            "nic.interface/eth0.mac": "01:01:01:01:01:01",
            "nic.interface/eth0.mac_origin": "set",
            "nic.interface/eth0.type": "Ethernet",
            "nic.interface/eth0.queue_length": 1000,
            "nic.interface/eth0.carrier_changes": 2,
            "nic.interface/eth0.carrier_losses": 1,
            "nic.interface/eth0.device_port": Absent,
        },
    ),
    Case(
        "roce_ecn",
        "ethernet/sysfs-net-procfs",
        lambda: holding(PROBES["roce_ecn"], tree("ethernet/sysfs-net-procfs", NET)),
        {
            "nic.interface/eth0.ecn.notification": ("0", "1", "3", "4", "6", "7"),
            "nic.interface/eth0.ecn.reaction": ("0", "1", "3", "4", "6"),
            "nic.interface/eth0.ecn.cnp_dscp": 48,
            "nic.interface/eth0.ecn.cnp_priority": 6,
        },
    ),
    Case(
        "bonding",
        "ethernet/bonding-mode4-1.txt",
        lambda: holding(PROBES["bonding"], {"/proc/net/bonding/bond0": shared_text("ethernet/bonding-mode4-1.txt")}),
        {
            "nic.bond": ("bond0",),
            "nic.bond/bond0.mode": "IEEE 802.3ad Dynamic link aggregation",
            "nic.bond/bond0.hash": "layer2 (0)",
            "nic.bond/bond0.state": "up",
            "nic.bond/bond0.poll": 500,
            "nic.bond/bond0.lacp_rate": "slow",
            # No switch runs LACP: one member in the aggregator, and a partner of zeros.
            "nic.bond/bond0.aggregated": 1,
            "nic.bond/bond0.partner": "00:00:00:00:00:00",
            "nic.bond/bond0.active": Absent,
            "nic.bond/bond0.member": ("eth1", "eth2"),
            "nic.bond/bond0.member/eth1.aggregator": 3,
            "nic.bond/bond0.member/eth2.aggregator": 2,
            "nic.bond/bond0.member/eth2.speed": 1.0,
            "nic.bond/bond0.member/eth2.failures": 0,
            "nic.bond/bond0.member/eth1.mac": "00:16:35:5e:42:fc",
        },
    ),
    of_eth0(
        "ethtool_link",
        "ethernet/ethtool-link-partner.txt",
        {
            "autoneg": True,
            "connector": "Twisted Pair",
            "link_detected": True,
            "link_modes": (
                *("10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full"),
                *("1000baseT/Half", "1000baseT/Full"),
            ),
            "partner_modes": ("10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full"),
        },
    ),
    of_eth0(
        "ethtool_link",
        "ethernet/ethtool-1.txt",
        {
            "link_modes": ("10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full", "1000baseT/Full"),
            "partner_modes": Absent,
        },
    ),
    of_eth0(
        "ethtool_statistics",
        "ethernet/ethtool-S-rhel.txt",
        {
            "statistic/rx_crc_errors.value": 0,
            "statistic/tx_carrier_errors.value": 0,
            # Four queues, added up.
            "statistic/rx_queue_n_drops.value": 0,
            "statistic/rx_queue_n_csum_err.value": 0,
        },
    ),
    of_eth0(
        "ethtool_statistics",
        "ethernet/ainic-ethtool_S_enp132s0.txt",
        {
            "statistic/frames_rx_bad_fcs.value": 0,
            "statistic/rx_csum_error.value": 0,
            "statistic/tx_pripause_3_1us_count.value": 0,
            "statistic/rx_n_dropped.value": 0,
        },
    ),
    of_eth0(
        "ethtool_module",
        "ethernet/ethtool-m-ddm.txt",
        {
            "module.type": "0x03 (SFP)",
            "module.connector": "0x01 (SC)",
            "module.vendor": "FS",
            "module.temperature": 38.0,
            "module.voltage": 3.4844,
            "module.temperature_high_alarm": 100.0,
            "module.temperature_low_warning": -30.0,
            "module.tx_power_low_alarm": 1.9953,
            "module.raised": (),
            "module.lane": ("1",),
            "module.lane/1.tx_power": 3.6119,
            "module.lane/1.rx_power": 0.0044,
            "module.lane/1.bias": 13.088e-3,
        },
    ),
    of_eth0(
        "ethtool_module",
        "ethernet/ethtool-m-no-ddm.txt",
        {
            "module.vendor": "Intel Corp",
            "module.revision": "A",
            "module.temperature": Absent,
            "module.raised": Absent,
            "module.lane": (),
        },
    ),
    # A copper cable: indented, without a serial number.
    of_eth0(
        "ethtool_module",
        "ethernet/ethtool-m-sfp.txt",
        {
            "module.connector": "0x21 (Copper pigtail)",
            "module.vendor": "UbiquitiNetworks",
            "module.part": "UDC-2",
            "module.revision": Absent,
            "module.serial": Absent,
            "module.lane": (),
        },
    ),
    Case(
        "lldp",
        "ethernet/lldpctl-clnet36.json",
        lambda: answering(PROBES["lldp"], shared_text("ethernet/lldpctl-clnet36.json")),
        {
            "nic.lldp": ("ens14f0np0", "eth0"),
            "nic.lldp/eth0.neighbors": 1,
            "nic.lldp/eth0.switch": "CL-RLF233",
            "nic.lldp/eth0.switch_id": "90:74:2e:ed:72:c0",
            "nic.lldp/eth0.switch_description": "H3C S9827-128DH",
            "nic.lldp/eth0.port": "FourHundredGigE1/0/98",
            "nic.lldp/eth0.port_description": "To-changliu-g86-114-eth0",
            "nic.lldp/eth0.port_mtu": 9216,
            "nic.lldp/ens14f0np0.vlan": "2069",
        },
    ),
    Case(
        "lldp",
        "ethernet/lldpctl-bjg45.json",
        lambda: answering(PROBES["lldp"], shared_text("ethernet/lldpctl-bjg45.json")),
        {
            "nic.lldp": ("ens11f0",),
            "nic.lldp/ens11f0.switch": "bj08-m1-a10-40-swl017",
            "nic.lldp/ens11f0.port": "25GE1/0/39",
            "nic.lldp/ens11f0.port_description": Absent,
            "nic.lldp/ens11f0.vlan": "1",
        },
    ),
    Case(
        "mlxfwmanager",
        "infiniband/mlxup-query.txt",
        lambda: flashes("infiniband/mlxup-query.txt"),
        {
            'nic.adapter/"0000:d8:00.0".flash.firmware': "14.27.1016",
            'nic.adapter/"0000:d8:00.0".flash.running': "14.27.1016",
            'nic.adapter/"0000:d8:00.0".flash.psid': "MT_2420110034",
            'nic.adapter/"0000:d8:00.0".flash.part': "MCX4121A-ACA_Ax",
            'nic.adapter/"0000:d8:00.0".flash.mac': "b8599fde86fd",
            'nic.adapter/"0000:d8:00.0".flash.uefi': "14.20.0019",
            'nic.adapter/"0000:d8:00.1".flash.running': Absent,
        },
    ),
    Case(
        "mlxfwmanager",
        "infiniband/mlxup-x11dph.txt",
        lambda: flashes("infiniband/mlxup-x11dph.txt"),
        {
            'nic.adapter/"0000:d8:00.0".flash.firmware': "14.29.2002",
            'nic.adapter/"0000:d8:00.0".flash.pxe': "3.6.0204",
        },
    ),
    # The dialogue of `mlxconfig set`: it prints the next values, and no current one.
    Case(
        "mlxconfig",
        "infiniband/mlxconfig-set-cx7-igx.txt",
        lambda: answering(
            PROBES["mlxconfig"],
            each({"0005:03:00.0": (shared_text("infiniband/mlxconfig-set-cx7-igx.txt"), 0)}),
        ),
        {'nic.adapter/"0005:03:00.0".config': Unknown, 'nic.adapter/"0005:03:00.0".config_waiting': Unknown},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{case.recording.rpartition('/')[2]}")
def test_a_recorded_machine_is_read_value_for_value(case: Case) -> None:
    given = facts(PROBES[case.probe], case.capture())
    for path, expected in case.expected.items():
        if isinstance(expected, type):
            assert isinstance(given[path], expected), (path, given[path])
        else:
            assert given[path] == expected, path


def test_what_is_counted_is_not_what_is_set() -> None:
    given = facts(
        PROBES["rdma_hw_counters"],
        holding(PROBES["rdma_hw_counters"], tree("infiniband/sysfs-infiniband-procfs", RDMA)),
    )
    names = given["nic/mlx5_0.port/1.hw_counter"]
    assert isinstance(names, tuple)
    assert len(names) == 24
    assert "lifespan" not in names


def test_all_counters_of_another_vendor_are_read() -> None:
    given = facts(PROBES["rdma_hw_counters"], ionic())
    recorded = json.loads(shared_text("infiniband/rdma-statistic.json"))
    for link in recorded:
        names = given[f"nic/{link['ifname']}.port/1.hw_counter"]
        assert isinstance(names, tuple)
        assert set(names) == set(link) - {"ifname", "port"}


# Unknown is never pass


def test_a_counter_at_its_end_is_named() -> None:
    place = f"{RDMA}/mlx5_0/ports/1"
    files = {f"{place}/state": "4: ACTIVE\n", f"{place}/counters/symbol_error": "65535\n"}
    given = facts(PROBES["rdma_counters"], holding(PROBES["rdma_counters"], files))
    assert given["nic/mlx5_0.port/1.counter.symbol_error"] == 65535
    assert given["nic/mlx5_0.port/1.counter.full"] == ("symbol_error",)


def test_an_unreadable_counter_leaves_the_full_ones_unknown() -> None:
    place = f"{RDMA}/mlx5_0/ports/1"
    denied = {f"{place}/counters/link_downed": Unknown(Reason.DENIED, "Permission denied")}
    files = {f"{place}/state": "4: ACTIVE\n", f"{place}/counters/symbol_error": "0\n"}
    given = facts(PROBES["rdma_counters"], holding(PROBES["rdma_counters"], files, denied))
    assert isinstance(given["nic/mlx5_0.port/1.counter.full"], Unknown)


def test_without_an_agent_there_are_no_counters_and_no_zeros() -> None:
    place = f"{RDMA}/rxe0/ports/1"
    files = {f"{place}/state": "4: ACTIVE\n", f"{place}/counters/symbol_error": "N/A (no PMA)\n"}
    given = facts(PROBES["rdma_counters"], holding(PROBES["rdma_counters"], files))
    assert isinstance(given["nic/rxe0.port/1.counter.symbol_error"], Absent)
    assert isinstance(given["nic/rxe0.port/1.counter.full"], Absent)


@pytest.mark.parametrize(
    ("speed", "value"), [("-1", None), ("4294967295", None), ("400000", 400.0), ("0", 0.0)], ids=str
)
def test_a_speed_that_the_kernel_does_not_know_is_none(speed: str, value: float | None) -> None:
    place = f"{NET}/eth0/device/net/eth0"
    given = facts(PROBES["interfaces"], holding(PROBES["interfaces"], {f"{place}/mtu": "1\n", f"{place}/speed": speed}))
    reading = given["nic.interface/eth0.speed"]
    assert isinstance(reading, Absent) if value is None else reading == value


def test_the_kernels_invalid_argument_means_that_there_is_no_link_and_no_other_refusal_does() -> None:
    place = f"{NET}/eth0/device/net/eth0"
    refused = {
        f"{place}/carrier": Unknown(Reason.NOT_COLLECTED, "Invalid argument"),
        f"{place}/speed": Unknown(Reason.DENIED, "Permission denied"),
    }
    given = facts(PROBES["interfaces"], holding(PROBES["interfaces"], {f"{place}/mtu": "1\n"}, refused))
    assert isinstance(given["nic.interface/eth0.carrier"], Absent)
    assert given["nic.interface/eth0.speed"] == Unknown(Reason.DENIED, "Permission denied")


def test_two_interfaces_of_one_function_are_two_and_not_four() -> None:
    files = {f"{NET}/eth{a}/device/net/eth{b}/mtu": "1500\n" for a in (0, 1) for b in (0, 1)}
    assert facts(PROBES["interfaces"], holding(PROBES["interfaces"], files))["nic.interface"] == ("eth0", "eth1")


def test_interfaces_without_hardware_are_not_looked_at() -> None:
    ask = PROBES["interfaces"].ask
    assert all("/device/" in glob for glob in ask.globs)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "status", "why"),
    [
        ("netlink error: Operation not supported\n", 1, Absent),
        ("Cannot get device ring settings: Operation not supported\n", 76, Absent),
        ("no stats available\n", 94, Absent),
        ("sh: 5: ethtool: not found\n", 127, Reason.TOOL_MISSING),
        ("netlink error: Operation not permitted\n", 1, Reason.DENIED),
        ("netlink error: Input/output error\n", 1, Reason.NOT_COLLECTED),
        ("something else\n", 0, Reason.UNPARSABLE),
        ("", 0, Reason.UNPARSABLE),
    ],
)
@pytest.mark.parametrize("name", sorted(name for name in PROBES if name.startswith("ethtool_")))
def test_a_value_missing_in_ethtool_is_absent_or_unknown_and_never_a_value(
    name: str, text: str, status: int, why: object
) -> None:
    given = facts(PROBES[name], answering(PROBES[name], each({"eth0": (text, status)})))
    values = {path: reading for path, reading in given.items() if path.startswith("nic.interface/eth0.")}
    assert values
    for path, reading in values.items():
        if isinstance(why, Reason):
            assert isinstance(reading, Unknown), path
            assert reading.reason is why, path
        else:
            assert isinstance(reading, Absent), (path, reading)


LINK = "Settings for eth0:\n\tSupported link modes:   25000baseCR/Full\n\tAuto-negotiation: on\n\tPort: Direct Attach Copper\n"


# ethtool prints its answer when it ends and complains at once, so what it complains of comes first; RedHatInsights/
# insights-core issue 3268 quotes the complaint of ethtool 5.14 without root.
@pytest.mark.parametrize(
    "complaint",
    ["netlink error: Operation not permitted\n" * 2, "Cannot get wake-on-lan settings: Operation not permitted\n", ""],
)
def test_a_value_ethtool_withholds_without_root_costs_nothing_else(complaint: str) -> None:
    output = each({"eth0": (f"{complaint}{LINK}\tLink detected: yes\n", 0)})
    given = facts(PROBES["ethtool_link"], answering(PROBES["ethtool_link"], output))
    assert given["nic.interface/eth0.autoneg"] is True
    assert given["nic.interface/eth0.connector"] == "Direct Attach Copper"
    assert given["nic.interface/eth0.link_detected"] is True
    assert given["nic.interface/eth0.link_modes"] == ("25000baseCR/Full",)


@pytest.mark.parametrize("name", ["ethtool_link", "ethtool_statistics", "ethtool_permanent"])
def test_a_complaint_without_an_answer_is_denied_whatever_the_status(name: str) -> None:
    output = each({"eth0": ("netlink error: Operation not permitted\n", 0)})
    given = facts(PROBES[name], answering(PROBES[name], output))
    rows = [reading for path, reading in given.items() if path.startswith("nic.interface/eth0.")]
    assert rows
    assert all(isinstance(reading, Unknown) and reading.reason is Reason.DENIED for reading in rows)


def test_one_interface_that_cannot_be_read_costs_the_others_nothing() -> None:
    values = {
        "eth0": ("nonsense\n", 0),
        "eth1": ("Ring parameters for eth1:\nCurrent hardware settings:\nRX:\t512\n", 0),
    }
    given = facts(PROBES["ethtool_rings"], answering(PROBES["ethtool_rings"], each(values)))
    assert isinstance(given["nic.interface/eth0.ring.rx"], Unknown)
    assert given["nic.interface/eth1.ring.rx"] == 512


# ethtool's statistics


def test_statistics_of_queues_are_added_up_and_those_of_priorities_are_not() -> None:
    found = ethtool.statistics(
        "NIC statistics:\n     rx0_drops: 1\n     rx13_drops: 2\n     rx_queue_0_drops: 4\n     rx_queue_1_drops: 8\n"
        "     [0]: rx_discards: 16\n     [1]: rx_discards: 32\n     rx_prio0_discards: 5\n     rx_prio1_discards: 6\n"
        "     rx-0.errors: 1\n     rx-1.errors: 1\n     rx_packets: 99\n     rx_err_lane_0_phy: 7\n"
    )
    assert found == {
        "rxn_drops": 3,
        "rx_queue_n_drops": 12,
        "[n]: rx_discards": 48,
        "rx_prio0_discards": 5,
        "rx_prio1_discards": 6,
        "rx-n.errors": 2,
        "rx_err_lane_0_phy": 7,
    }


def test_traffic_is_no_trouble() -> None:
    values = ethtool.statistics(shared_text("ethernet/ainic-ethtool_S_enp132s0.txt"))
    assert not [name for name in values if re.search("octets|bytes|_pkts|unicast|tso|cache", name)]
    assert len(values) < 60


def test_an_interface_with_statistics_without_end_is_not_read_to_the_end() -> None:
    text = "NIC statistics:\n" + "".join(f"     err_{chr(97 + n % 26)}{'x' * (n // 26)}: 1\n" for n in range(1000))
    with pytest.raises(Unreadable) as caught:
        ethtool.statistics(text)
    assert caught.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "", "9" * 40])
def test_a_statistic_that_is_no_number_is_unreadable(value: str) -> None:
    with pytest.raises(Unreadable):
        ethtool.statistics(f"NIC statistics:\n     rx_errors: {value}\n")


# Modules


def test_a_module_reports_which_of_its_alarms_are_on() -> None:
    found = module_eeprom.module(
        "Identifier : 0x11 (QSFP28)\nLaser rx power low alarm    (Chan 2)      : On\n"
        "Module temperature high warning           : On\nModule voltage high alarm : Off\n"
        "Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm\n"
    )
    assert found.raised == ("Laser rx power low alarm (Chan 2)", "Module temperature high warning")
    assert found.lanes == {2: {"rx_power": 0.0}}


def test_a_measurement_that_is_none_is_unknown_and_not_zero() -> None:
    found = module_eeprom.module("Identifier : x\nModule temperature : hot\n")
    assert isinstance(found.temperature(), Unknown)


def test_every_interface_that_may_be_read_as_root_is_named_with_a_fixed_length() -> None:
    ask = PROBES["ethtool_module"].ask
    assert isinstance(ask, Shell)
    assert ask.root
    assert len(ask.named) == 14
    assert not [command for command in ask.named if "*" in command or "?" in command]


# mlxlink


@pytest.mark.parametrize(
    ("value", "low", "high", "reading"),
    [
        ("1.886,1.989 [-10.41..6]", -10.41, 6.0, [1.886, 1.989]),
        ("54 [-5..75]", -5.0, 75.0, [54.0]),
        ("54", Absent, Absent, [54.0]),
        ("N/A", Absent, Absent, Absent),
        ("1,x", Unknown, Unknown, Unknown),
        (",".join(["1"] * 17), Unknown, Unknown, Unknown),
    ],
)
def test_lanes_of_a_module_and_their_alarms(value: str, low: object, high: object, reading: object) -> None:
    port = mlxlink.port(f"State : Active\nPhysical state : LinkUp\nX : {value}\n")
    for found, expected in zip(port.lanes("X"), (reading, low, high), strict=True):
        assert isinstance(found, expected) if isinstance(expected, type) else found == expected


def test_light_in_dbm_is_light_in_milliwatts() -> None:
    assert [mlxlink.milliwatts(dbm) for dbm in (0, 10, -10, 3)] == [1.0, 10.0, 0.1, 1.99526]


def test_a_ratio_of_errors_is_a_share() -> None:
    port = mlxlink.port("State : Active\nPhysical state : LinkUp\nRaw Physical BER : 2E-9\nOdd : -1\nNo : N/A\n")
    assert port.share("Raw Physical BER") == pytest.approx(2e-7)
    assert isinstance(port.share("Odd"), Unknown)
    assert isinstance(port.share("No"), Absent)


def test_a_port_without_a_link_has_absent_measurements() -> None:
    output = each({"0000:18:00.0": ("State : Polling\nPhysical state : Polling\nSpeed : N/A\n", 0)})
    given = facts(PROBES["mlxlink"], answering(PROBES["mlxlink"], output))
    assert given['nic.adapter/"0000:18:00.0".link.state'] == "Polling"
    assert isinstance(given['nic.adapter/"0000:18:00.0".link.raw_ber'], Absent)
    assert given['nic.adapter/"0000:18:00.0".module.lane'] == ()


@pytest.mark.parametrize(
    ("state", "errors", "lanes"),
    [
        ("Active", "3183333,242074", ("0", "1")),
        ("Active", "N/A", Unknown),
        ("Active", "1,-2", Unknown),
        ("Active", ",".join(["1"] * 17), Unknown),
        ("Polling", "N/A", ()),
    ],
)
def test_errors_of_each_lane_are_reported_or_their_lanes_are_unknown(state: str, errors: str, lanes: object) -> None:
    text = f"State : {state}\nPhysical state : LinkUp\nRaw Physical Errors Per Lane : {errors}\n"
    given = facts(PROBES["mlxlink"], answering(PROBES["mlxlink"], each({"0000:18:00.0": (text, 0)})))
    reading = given['nic.adapter/"0000:18:00.0".link.lane']
    assert isinstance(reading, lanes) if isinstance(lanes, type) else reading == lanes
    counted = [value for path, value in given.items() if path.endswith(".raw_errors")]
    assert counted == ([3183333, 242074] if lanes == ("0", "1") else [])


SHARED = {"prio_tc": [0] * 8, "tc_tsa": ["ets"] * 8, "tc_bw": [50, 50] + [0] * 6, "willing": False}


@pytest.mark.parametrize(
    "odd",
    [{"prio_tc": [0] * 7}, {"prio_tc": None}, {"tc_bw": [101] + [0] * 7}, {"tc_bw": [True] * 8}, {"tc_tsa": [3] * 8},
     {"tc_tsa": ["???"] * 8}, {"willing": "off"}, {"tc_tsa": [[]] * 8}],
)  # fmt: skip
def test_shares_of_bandwidth_are_read_whole_or_not_at_all(odd: dict[str, object]) -> None:
    def values(table: dict[str, object]) -> dict[str, Reading]:
        return facts(PROBES["dcb_ets"], answering(PROBES["dcb_ets"], each({"eth0": (json.dumps(table) + "\n", 0)})))

    assert values(SHARED)["nic.interface/eth0.ets.shares"] == ("0:50", "1:50", *(f"{n}:0" for n in range(2, 8)))
    assert all(isinstance(reading, Unknown) for reading in values(SHARED | odd).values())


def test_firmware_whose_next_boot_changes_a_value_names_it() -> None:
    output = (
        "Configurations:                    Default         Current         Next Boot\n"
        "         LINK_TYPE_P1               IB(1)           ETH(2)          ETH(2)\n"
        "*        SRIOV_EN                   False(0)        True(1)         False(0)\n"
    )
    given = facts(PROBES["mlxconfig"], answering(PROBES["mlxconfig"], each({"0000:18:00.0": (output, 0)})))
    assert given['nic.adapter/"0000:18:00.0".config_waiting'] == ("SRIOV_EN=False(0)",)
    assert given['nic.adapter/"0000:18:00.0".config/LINK_TYPE_P1.value'] == "ETH(2)"
    assert given['nic.adapter/"0000:18:00.0".config/LINK_TYPE_P1.default'] == "IB(1)"


# Tables of the kernel


def test_the_lowest_roce_v2_entry_of_an_ipv4_address_is_the_one_for_nccl() -> None:
    mapped = "0000:0000:0000:0000:0000:ffff:0a00:0001"
    local = "fe80:0000:0000:0000:a288:c2ff:fe00:0041"
    table = f"port mlx5_1/ports/1\n1|{local}|RoCE v2|eth0\n2|{mapped}|IB/RoCE v1|eth0\n11|{mapped}|RoCE v2|eth0\nend\n"
    given = facts(PROBES["rdma_gids"], answering(PROBES["rdma_gids"], table))
    assert given["nic/mlx5_1.port/1.roce_v2"] == ("1", "11")
    assert given["nic/mlx5_1.port/1.roce_v2_ipv4"] == 11


def test_an_entry_of_unreported_type_leaves_open_what_carries_roce() -> None:
    table = "port rxe0/ports/1\n0|fe80:0000:0000:0000:a288:c2ff:fe00:0041||eth0\nend\n"
    given = facts(PROBES["rdma_gids"], answering(PROBES["rdma_gids"], table))
    assert isinstance(given["nic/rxe0.port/1.roce_v2"], Unknown)
    assert isinstance(given["nic/rxe0.port/1.roce_v2_ipv4"], Unknown)


def test_a_gid_table_without_its_end_was_cut() -> None:
    with pytest.raises(Unreadable, match="the end of a GID table is missing"):
        dict(PROBES["rdma_gids"].parse("port mlx5_1/ports/1\n"))  # type: ignore[arg-type]  # a Shell's reader


def test_the_default_route_is_that_of_the_lowest_metric_and_no_reject_route() -> None:
    head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    row = "{0}\t00000000\t00000000\t{1}\t0\t0\t{2}\t00000000\t0\t0\t0\n"
    table = head + row.format("a", "0003", 100) + row.format("b", "0003", 20) + row.format("c", "0203", 1)
    given = facts(PROBES["default_route"], holding(PROBES["default_route"], {"/proc/net/route": table}))
    assert given["nic.default_route.ipv4"] == "b"


def test_a_table_without_a_default_route_has_none() -> None:
    head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    given = facts(PROBES["default_route"], holding(PROBES["default_route"], {"/proc/net/route": head}))
    assert isinstance(given["nic.default_route.ipv4"], Absent)


ROUTE = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n{}"
VIA = "bond0\t00000000\t{}\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
ARP = "IP address       HW type     Flags       HW address            Mask     Device\n{}"


def router(route: str, neighbours: str) -> tuple[Reading, Reading]:
    """The router of a node with this route and these neighbours, and whether it answered."""
    files = {"/proc/net/route": ROUTE.format(route), "/proc/net/arp": ARP.format(neighbours)}
    given = facts(PROBES["default_router"], holding(PROBES["default_router"], files))
    return given["nic.default_route.router"], given["nic.default_route.router_answered"]


@pytest.mark.parametrize(
    ("row", "answered"),
    [
        ("10.0.0.254       0x1         0x2         44:38:39:ff:00:10     *        bond0\n", True),
        ("10.0.0.254       0x1         0x6         44:38:39:ff:00:10     *        bond0\n", True),
        ("10.0.0.254       0x1         0x0         00:00:00:00:00:00     *        bond0\n", False),
    ],
)
def test_a_router_answered_if_its_entry_has_a_hardware_address(row: str, answered: bool) -> None:
    assert router(VIA.format("FE00000A"), row) == ("10.0.0.254", answered)


@pytest.mark.parametrize("row", ["", "10.0.0.254 0x1 0x2 44:38:39:ff:00:10 * eth0\n", "10.0.0.25 0x1 0x0 0 * bond0\n"])
def test_a_router_without_recent_traffic_is_absent_not_unanswered(row: str) -> None:
    assert router(VIA.format("FE00000A"), row) == ("10.0.0.254", Absent("no recent ARP request"))


@pytest.mark.parametrize("route", ["", VIA.format("00000000")])
def test_a_route_without_a_router_has_none_to_ask(route: str) -> None:
    assert all(isinstance(reading, Absent) for reading in router(route, ""))


@pytest.mark.parametrize("rows", ["10.0.0.254 0x1 none 44 * bond0\n", "10.0.0.254\n", "10.0.0.254 0x1 0x2 44:3"])
def test_neighbours_that_cannot_be_read_leave_the_routers_answer_unknown(rows: str) -> None:
    reading, answered = router(VIA.format("FE00000A"), rows)
    assert reading == "10.0.0.254"
    assert isinstance(answered, Unknown)


def test_of_two_neighbours_on_one_cable_neither_is_the_switch() -> None:
    two: list[object] = [{"eth0": {"chassis": {name: {}}, "port": {}}} for name in ("a", "b")]
    given = facts(PROBES["lldp"], answering(PROBES["lldp"], json.dumps({"lldp": {"interface": two}}) + "\n"))
    assert given["nic.lldp/eth0.neighbors"] == 2
    assert isinstance(given["nic.lldp/eth0.switch"], Unknown)


def test_lldpd_without_neighbours_gives_an_empty_list() -> None:
    given = facts(PROBES["lldp"], answering(PROBES["lldp"], '{"lldp": {}}\n'))
    assert given["nic.lldp"] == ()


def test_a_missing_lldpd_leaves_open_who_is_there() -> None:
    missing = answering(PROBES["lldp"], "", 127, "sh: 1: lldpctl: not found\n")
    reading = facts(PROBES["lldp"], missing)["nic.lldp"]
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.TOOL_MISSING


@pytest.mark.parametrize("name", ["rdma_counters", "interface_counters", "ethtool_statistics", "rdma_hw_counters"])
def test_counters_are_counters(name: str) -> None:
    kinds = [kind for pattern, kind in PROBES[name].gives.items() if kind.type.value != "collection"]
    assert {kind.cls for kind in kinds} == {Class.COUNTER}


def test_no_two_commands_for_devices_are_the_same_text() -> None:
    asked: dict[str, set[str]] = {}
    for probe in PROBES.values():
        if isinstance(probe.ask, Shell) and probe.ask.each:
            asked.setdefault(probe.ask.command, set()).add(probe.ask.each)
    assert {command: globs for command, globs in asked.items() if len(globs) > 1} == {}


def test_no_command_here_has_a_word_that_changes_a_device() -> None:
    acting = re.compile(r"\b(set|reset|add|del|flush|burn|toggle)\b| -[A-Z] ")
    reading = {"ethtool -P {}", "ethtool -S {}", "dcb -j -N app show dev {}"}
    commands = {
        probe.ask.command
        for probe in PROBES.values()
        if isinstance(probe.ask, Shell) and re.match(r"ethtool|mlx|dcb|rdma|ip |lldpctl|ibv", probe.ask.command)
    }
    assert len(commands) > 15
    assert {command for command in commands if acting.search(command)} - reading == set()


def test_an_answer_of_four_megabytes_gives_few_facts() -> None:
    long = each({f"eth{n}": ("NIC statistics:\n" + "     rx_errors: 1\n" * 90, 0) for n in range(2500)})
    assert len(long) > 4_000_000
    given = leaves(PROBES["ethtool_statistics"], answering(PROBES["ethtool_statistics"], long))
    assert given["nic.interface/eth0.statistic/rx_errors.value"].reading == 90
    assert len(given) <= 10_000
