"""The kernel's log: real lines in every form of dmesg, what a wrapped ring still contains, and what it lost."""

import pytest
from recordings import answering, facts, leaves, os_probes, shared_text

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck.model.tree import Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

LOG = os_probes()["kernel_log"]
READERS = tuple(probe for probe in os_probes().values() if probe.ask == LOG.ask)
"""Every probe that reads the kernel's log."""

BOOT = "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@lcy02) (gcc 11.4.0) #54-Ubuntu SMP\n"
FALLEN = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def readings_of(text: str) -> dict[str, Reading]:
    """The facts of a node whose dmesg prints this."""
    return facts(LOG, answering(LOG, text))


def log(name: str) -> str:
    """A recorded log with the end of its last line, which some recorders left out."""
    return shared_text(f"logs/{name}").rstrip("\n") + "\n"


def recorded(name: str) -> dict[str, Reading]:
    """The facts of a recorded log."""
    return readings_of(log(name))


def verdict(text: str) -> Status:
    """The verdict of the rule about fatal Xids on a node whose dmesg prints this."""
    rules = library.load("linux-gpu-node", registry().catalogue, {}).own
    tree = Tree({path: leaf for probe in READERS for path, leaf in leaves(probe, answering(probe, text)).items()})
    return judge([rule for rule in rules if rule.id == "log.no_fatal_xid"], tree)[0].status


def test_the_question_is_one_word_that_a_list_of_sudoers_can_name() -> None:
    assert isinstance(LOG.ask, Shell)
    assert (LOG.ask.command, LOG.ask.root) == ("dmesg", True)


def test_a_gsp_timeout_in_a_log_with_dates_is_found() -> None:
    given = recorded("dmesg-xid-119-gsp.log")
    assert given["log.xid"] == ("0000:9b:00.0",)
    assert given['log.xid/"0000:9b:00.0".codes'] == ("119",)
    assert str(given['log.xid/"0000:9b:00.0".last']).startswith("NVRM: Xid (PCI:0000:9b:00): 119, pid=1240590")


def test_a_decoded_log_with_iso_times_is_counted_line_by_line() -> None:
    text = log("dmesg-decode-iso-0.log")
    given = readings_of(text)
    keys = given["log.xid"]
    assert isinstance(keys, tuple)
    assert "0000:38:00.0" in keys
    counts = [given[f'log.xid/"{key}".count'] for key in keys]
    assert sum(c for c in counts if isinstance(c, int)) == text.count("NVRM: Xid (")


def test_a_log_with_iso_times_and_no_levels_is_read_too() -> None:
    given = recorded("dmesg-tail-0.log")
    assert {"48", "63"} <= set(given['log.xid/"0000:19:00.0".codes'])  # type: ignore[arg-type]  # a tuple here


def test_every_single_line_of_the_collection_is_an_xid() -> None:
    rows = [row for row in shared_text("logs/xid-lines-gpud-shared.txt").splitlines() if row.strip()]
    for row in rows:
        keys = readings_of(row + "\n")["log.xid"]
        assert isinstance(keys, tuple)
        assert len(keys) == 1, row


def test_an_nvswitchs_fatal_errors_are_counted_apart_from_the_others() -> None:
    given = recorded("sxid-lines-gpud.txt")
    assert given["log.xid"] == ()
    assert given['log.sxid/"0000:06:00.0".fatal'] == 1
    assert given['log.sxid/"0000:05:00.0".codes'] == ("12028", "20034")
    assert given['log.sxid/"0000:05:00.0".count'] == 5
    assert given['log.sxid/"0000:05:00.0".fatal'] == 2
    assert given['log.sxid/"0000:0a:00.0".fatal'] == 0  # "Non-fatal" is not Fatal


def test_processes_killed_for_lack_of_memory_are_counted_once_each() -> None:
    assert recorded("dmesg-oom-iso.log")["log.kernel.oom_kills"] == 3
    assert (
        readings_of(BOOT + "[ 9.1] Memory cgroup out of memory: Killed process 7 (python)\n")["log.kernel.oom_kills"]
        == 1
    )


def test_an_xids_key_is_the_address_that_the_driver_reports_for_its_gpu() -> None:
    gpu = os_probes()["gpu"]
    answer = '{"driver": {"value": "550.1"}, "gpus": [{"pci": {"value": "00000000:1B:00.0"}}]}'
    address = facts(gpu, answering(gpu, f"bus 0000:1b:00.0\nbus read\ndriver loaded\n{answer}\n"))[
        'gpu/"0000:1b:00.0".pci'
    ]
    assert readings_of(f"{BOOT}[ 12.5] {FALLEN}\n")["log.xid"] == (address,)


@pytest.mark.parametrize(
    "before",
    ["", "[  171.630899] ", "[  171.630899][ T1234] ", "<4>[  171.630899] ", "[Sun Feb 23 16:24:18 2025] ", "[...] ",
     "2024-11-15T12:02:03,470068+00:00 ", "kern  :warn  : 2025-01-21T02:21:33,498559+00:00 ",
     "kern  :warn  : [  171.630899] "],
)  # fmt: skip
def test_an_xid_is_found_behind_whatever_dmesg_puts_before_it(before: str) -> None:
    assert readings_of(f"{before}{FALLEN}\n")['log.xid/"0000:1b:00.0".codes'] == ("79",)


FORGED = [
    "usb 1-2: Product: NVRM: Xid (PCI:0000:1b:00): 79, forged",
    "[ 3.1] usb 1-2: SerialNumber: NVRM: Xid (PCI:0000:1b:00): 79",
    "[ 3.1] NVRM: Xid ([77]: segfault at 0 ip 0 sp 0 error 4 in a.out[0+1]",
]
ODD = [
    "[ 3.1] NVRM: Xid (PCI:zzzz:1b:00): 79",
    "[ 3.1] NVRM: Xid (PCI:0000:1b:00): seventy",
    "[ 3.1] NVRM: Xid (PCI:0000:1b:00 GPU-J:05): 79, pid=7, name=secret, of a later driver",
    "[ 3.1] NVRM: Xid (0003:00): 13, 0001 00000000 00008397 00001b0c 1000f010 00000080",
    "[ 3.1] NVRM: Xid: 13, 0000 02005600 00000056 00000c28 01400000 00000080",
    "[ 3.1] NVRM: NVRM: Xid (PCI:0001:00:00.0): 79, GPU has fallen off the bus",
    "[ 3.1][T1@CPU0] NVRM: Xid (PCI:0000:1b:00): 79, behind what no dmesg that we know puts before it",
]


@pytest.mark.parametrize("row", FORGED + ODD)
def test_a_line_with_an_xid_that_cannot_be_taken_apart_names_no_gpu_and_is_not_lost(row: str) -> None:
    given = readings_of(f"{BOOT}{row}\n")
    unread = given["log.xid"]
    assert isinstance(unread, Unknown)
    assert unread.reason is Reason.UNPARSABLE
    assert "secret" not in str(unread)
    assert not [path for path in given if path.startswith("log.xid/")]
    assert given["log.sxid"] == ()
    assert given["log.kernel.oom_kills"] == 0


@pytest.mark.parametrize(
    "row",
    [
        "[ 3.1] nvidia-nvswitch0: SXid (PCI:0000:05:00.0 PORT:1): 20034, Fatal, Link 1",
        "[ 3.1] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): twenty, Fatal, Link 1",
        '[ 3.1] audit: comm="x" nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 1',
    ],
)
def test_a_line_with_an_sxid_that_cannot_be_taken_apart_names_no_switch_and_is_not_lost(row: str) -> None:
    given = readings_of(f"{BOOT}{row}\n")
    unread = given["log.sxid"]
    assert isinstance(unread, Unknown)
    assert unread.reason is Reason.UNPARSABLE
    assert not [path for path in given if path.startswith("log.sxid/")]
    assert given["log.xid"] == ()


def test_an_xid_that_was_found_stays_found_beside_one_that_cannot_be_taken_apart() -> None:
    given = readings_of(f"{BOOT}[ 2.1] {FALLEN}\n{ODD[0]}\n")
    assert isinstance(given["log.xid"], Unknown)
    assert given['log.xid/"0000:1b:00.0".codes'] == ("79",)


# The driver's own format strings (src/nvidia/src/kernel/gpu/rc/kernel_rc.c of the open kernel modules), the examples of
# NVIDIA's guides to Xids and to memory errors of the A100, and lines of forums for what drivers before 300 printed.
@pytest.mark.parametrize(
    ("row", "place", "code"),
    [
        ("NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 95, pid=7194, name=python3, Uncontained: FBHUB. RST: Yes, D-RST: No",
         "0000:3b:00.0", "95"),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No",
         "0000:01:00.0", "94"),
        ("NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen",
         "0000:3b:00.0", "79"),
        ("NVRM: Xid (PCI:0000:3b:00 GPU-I:13 GPU-CI:02): 43, channel 0x0b00000a", "0000:3b:00.0", "43"),
        ("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.", "0000:01:00.0", "79"),
        ("NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149",
         "0000:dc:00.0", "45"),
        ("NVRM: Xid (PCI:00010000:3B:00): 48, pid=7, name=x, Ch 1", "10000:3b:00.0", "48"),
        ("NVRM: Xid (PCI:0000:10:1c): 63, pid=1850, Row Remapper: New row marked for remapping", "0000:10:1c.0", "63"),
        ("NVRM: Xid (PCI:0000:b9:00): 94", "0000:b9:00.0", "94"),
        ("NVRM: Xid (PCI:0001:00:00.0): 79, GPU has fallen off the bus", "0001:00:00.0", "79"),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", "0000:03:00.0", "14"),
        ("NVRM: Xid (0000:01:00): 16, Head 00000000 Count 00006e2e", "0000:01:00.0", "16"),
    ],
)  # fmt: skip
def test_an_xid_is_read_in_every_spelling_of_the_driver(row: str, place: str, code: str) -> None:
    given = readings_of(f"{BOOT}[ 12.5] {row}\n")
    assert given["log.xid"] == (place,)
    assert given[f'log.xid/"{place}".codes'] == (code,)
    assert given[f'log.xid/"{place}".count'] == 1


def test_the_last_line_of_a_gpu_in_mig_mode_names_the_instance_and_not_the_process() -> None:
    row = "NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 94, pid=7, name=secret, Contained: SM (0x1). RST: No"
    assert readings_of(f"{BOOT}[ 12.5] {row}\n")['log.xid/"0000:3b:00.0".last'] == (
        "NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 94, pid=7, Contained: SM (0x1). RST: No"
    )


@pytest.mark.parametrize("code", ["79", "95"])
@pytest.mark.parametrize("place", ["PCI:0000:3b:00 GPU-I:05", "PCI:0000:3b:00 GPU-I:05 GPU-CI:00"])
def test_a_fatal_xid_of_a_gpu_in_mig_mode_fails_the_node(place: str, code: str) -> None:
    assert verdict(f"{BOOT}[ 12.5] NVRM: Xid ({place}): {code}, pid=7194, name=python3, x\n") is Status.FAIL


@pytest.mark.parametrize("row", FORGED + ODD)
def test_an_xid_that_cannot_be_taken_apart_lets_no_node_pass_and_hides_no_fatal_one(row: str) -> None:
    assert verdict(f"{BOOT}{row}\n") is Status.UNKNOWN
    assert verdict(f"{BOOT}{row}\n[ 12.5] {FALLEN}\n") is Status.FAIL
    assert verdict(BOOT) is Status.PASS


@pytest.mark.parametrize(
    "name", ["dmesg-xid-119-gsp.log", "dmesg-decode-iso-0.log", "dmesg-tail-0.log", "sxid-lines-gpud.txt",
             "dmesg-oom-iso.log", "dmesg-peermem.log", "pstore-erst-dmesg.txt"],
)  # fmt: skip
def test_every_error_of_the_recorded_logs_is_taken_apart(name: str) -> None:
    given = recorded(name)
    assert not isinstance(given["log.xid"], Unknown)
    assert not isinstance(given["log.sxid"], Unknown)


def test_a_log_that_begins_with_the_boot_is_from_boot_and_a_wrapped_one_is_not() -> None:
    assert readings_of(BOOT)["log.kernel.from_boot"] is True
    arm = "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x413fd0c1]\n"
    assert readings_of(arm + BOOT)["log.kernel.from_boot"] is True
    assert readings_of("[ 9000.1] eth0: link becomes ready\n" * 30 + BOOT)["log.kernel.from_boot"] is False
    assert recorded("dmesg-xid-119-gsp.log")["log.kernel.from_boot"] is False


def test_a_wrapped_log_still_gives_its_lines_and_that_it_has_wrapped() -> None:
    given = readings_of(f"[ 9000.1] {FALLEN}\n")
    assert given["log.xid"] == ("0000:1b:00.0",)
    assert given["log.kernel.from_boot"] is False


def test_an_empty_log_is_unknown_not_free_of_xids() -> None:
    for text in ("", "\n", " \n \n"):
        assert isinstance(readings_of(text)["log.xid"], Unknown)


def test_a_log_that_was_cut_in_a_line_is_unknown() -> None:
    assert isinstance(readings_of(f"{BOOT}[ 12.5] {FALLEN}")["log.xid"], Unknown)


@pytest.mark.parametrize(
    ("status", "text"),
    [(1, "sudo: a password is required"), (1, "dmesg: read kernel buffer failed: Operation not permitted")],
)
def test_without_permission_for_the_log_every_fact_is_denied(status: int, text: str) -> None:
    given = facts(LOG, answering(LOG, "", status=status, err=text))
    reasons = {r.reason if isinstance(r, Unknown) else None for r in given.values()}
    assert reasons == {Reason.DENIED}
    assert {"log.xid", "log.sxid", "log.kernel.from_boot"} <= set(given)


def test_the_last_line_is_shown_without_control_characters_and_not_endlessly() -> None:
    last = readings_of(f"[ 1.0] NVRM: Xid (PCI:0000:1b:00): 31, pid=7, name=\x1b[31mred, {'x' * 5000}\n")
    shown = last['log.xid/"0000:1b:00.0".last']
    assert isinstance(shown, str)
    assert "\x1b" not in shown
    assert len(shown) <= 200


def test_a_secret_on_the_boots_command_line_is_not_kept() -> None:
    text = f"{BOOT}[    0.000000] Command line: ro luks_password=s3cret api_token=s3cret quiet\n"
    assert "s3cret" not in str(answering(LOG, text).scrubbed().to_json())
    assert facts(LOG, answering(LOG, text).scrubbed())["log.kernel.from_boot"] is True


def test_a_machine_without_a_serial_number_file_has_an_unknown_one() -> None:
    probe = os_probes()["serial"]
    gone = "cat: /sys/class/dmi/id/product_serial: No such file or directory"
    assert facts(probe, answering(probe, "", 1, gone))["node.serial"] == Unknown(Reason.NOT_COLLECTED, gone)
    assert facts(probe, answering(probe, "1662923610124\n"))["node.serial"] == "1662923610124"
    blank = facts(probe, answering(probe, "To Be Filled By O.E.M.\n"))["node.serial"]
    assert isinstance(blank, Unknown)
    denied = facts(probe, answering(probe, "", 1, "sudo: a password is required"))["node.serial"]
    assert denied == Unknown(Reason.DENIED, "needs root: sudo: a password is required")


def test_the_fabric_managers_version_is_that_of_its_last_start() -> None:
    probe = os_probes()["fabric_manager"]
    rows = [r for r in shared_text("logs/fabric-manager-0.log").splitlines() if "is running" in r]
    assert len(rows) > 1
    assert facts(probe, answering(probe, "\n".join(rows) + "\n"))["driver.fabric_manager"] == "535.161.08"
    later = rows[-1].replace("535.161.08", "580.105.08")
    assert facts(probe, answering(probe, f"{rows[0]}\n{later}\n"))["driver.fabric_manager"] == "580.105.08"


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        (2, "grep: /var/log/fabricmanager.log: No such file or directory", Reason.NOT_COLLECTED),
        (2, "grep: /var/log/fabricmanager.log: Permission denied", Reason.DENIED),
        (1, "", Reason.NOT_COLLECTED),
    ],
)
def test_without_a_readable_log_the_fabric_managers_version_is_unknown(status: int, text: str, reason: Reason) -> None:
    probe = os_probes()["fabric_manager"]
    given = facts(probe, answering(probe, "", status, text))["driver.fabric_manager"]
    assert isinstance(given, Unknown)
    assert given.reason is reason
