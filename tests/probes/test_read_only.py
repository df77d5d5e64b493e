"""An audit changes nothing: every program that a question calls is on this list, with arguments that only read.

A new program, or a new argument, fails here until it was verified to be read-only and added to the list.
"""

import ast
import re
from pathlib import Path

import pytest
from recordings import os_probes

import rackcheck_probes
from rackcheck.doctor.tools import BUILTINS, Call, calls
from rackcheck.model.capture import PAYLOAD
from rackcheck.model.question import Read, Shell

FILTERS = ["awk", "cat", "grep", "head", "od", "readlink", "sed", "sort", "tail", "tr", "uniq", "wc"]
"""Programs that print what they read; `_acts` has the arguments with which some of them write."""

READS = {
    **dict.fromkeys(FILTERS, r".*"),
    "/usr/lpp/mmfs/bin/mmgetstate": r"-Y",
    "amd-smi": r"static --json",
    "apt-config": r"dump APT::Periodic",
    "chronyc": r"-n tracking",
    "date": r"\+%s",  # -s would set the clock
    "dcb": r"-j (-N app|ets|pfc) show dev \{\}",
    "dcgmi": r"--version",
    "df": r"-P[ik]l( -t \w+)+",
    "dkms": r"status",
    "find": r"/sys/fs /proc/version -maxdepth 2 -path /sys/fs/cgroup -prune -o -printf %F -print",
    "dmesg": r"",  # -c and -C would clear the ring
    "dmidecode": r"-t [0-9,]+",
    "docker": r"info",
    "dpkg": r"--print-architecture",
    "dpkg-query": r"-W -f .*",
    "ethtool": r"(-[Sacgiklm] |-P |--show-fec )?\{\}",  # capital letters but S and P would set
    "getconf": r"PAGESIZE",
    "ibv_devinfo": r"",
    "ip": r"(-d )?-o (link show type vlan|addr(ess)? show dev \{\})",
    "journalctl": r"-k -b (-1 )?-p 4 -n [0-9]+ -o short-monotonic --no-hostname --no-pager"
    r"|-b (PRIORITY=[0-3] )+\+ MESSAGE_ID=\w+ -r -n [0-9]+ -o json --output-fields=PRIORITY,MESSAGE_ID --no-pager",
    "last": r"-F -x reboot shutdown",
    "lldpctl": r"-f json",
    "ls": r"-(A|l|lnLd --|lnd --) .*",
    "lsblk": r"-P -o KNAME,TYPE,SERIAL",
    "lscpu": r"",
    "lspci": r"-Dnnvvv",
    "mlxconfig": r"-d \{\} -e query",
    "mlxfwmanager": r"-d \{\} --query",
    "mlxlink": r"-d \{\} -m -c",
    "ntpq": r"-n -c rv",
    "nv-fabricmanager": r"--version",
    "nvidia-imex": r"--version",
    "nvidia-imex-ctl": r"-q|-N -j",
    "nvidia-smi": r"(-q -x)?",
    "nvme": r"(smart-log|fw-log) -o json /dev/\{\}",
    "ofed_info": r"-s",
    "rdma": r"-j link show",
    "rpm": r"-qa --qf .*",
    "sleep": r"\$t",
    "scontrol": r"ping|show node .*",
    "set": r".*",
    "slurmd": r"-V",
    "smartctl": r"-a -j /dev/\{\}",
    "stat": r"-f -c .*",
    "systemctl": r"(--no-(pager|legend) |--all |--plain |--state=\w+ |--type=\w+ )*"
    r"(show -p [A-Za-z,]+( \*\.service)?|list-units|list-unit-files( --type=service)?|get-default|is-active --quiet \S+)",
    "timedatectl": r"(timesync-status)?",
    "uname": r"-[rmv]",
    "zpool": r"status -p",
}
"""Each program, and the full pattern of its arguments."""

VERSIONS = ["docker", "containerd", "runc", "crio", "kubelet", "nvidia-ctk", "nvidia-container-cli"]
"""Programs that one question runs in a loop, with `--version` alone."""

SHELLS = {name: probe.ask for name, probe in os_probes().items() if isinstance(probe.ask, Shell)}


def unfolded(call: Call) -> list[Call]:
    """The nested call: what `timeout`, `xargs` and `sh -c` run."""
    words = list(call.words)
    if call.program == "timeout":
        while words and (words[0].startswith("-") or words[0] == "KILL" or words[0].isdecimal()):
            words.pop(0)
        return unfolded(Call(words[0], tuple(words[1:]), call.writes))
    if call.program == "xargs":
        return unfolded(Call(words[0], tuple(words[1:]), call.writes))
    if call.program == "sh" and words[0] == "-c":
        return [inner for found in calls(words[1], builtins=True) for inner in unfolded(found)]
    return [call]


def acts(call: Call) -> str:
    """Why a call may change something; empty where it only reads."""
    words = " ".join(call.words)
    if set(call.writes) - {"/dev/null"}:
        return f"writes {call.writes}"
    if call.program == "$t" and words == "--version":
        return ""
    if call.program in BUILTINS:
        return ""
    if call.program not in READS:
        return f"{call.program} is not on the list"
    if not re.fullmatch(READS[call.program], words, re.DOTALL):
        return f"{call.program} {words}: not the words of the list"
    if call.program == "sed" and (re.search(r"(^| )-[a-zA-Z]*[is]|--in-place|(^|[ ;/])w /|/e\b", words)):
        return f"sed may write: {words}"
    if call.program == "awk" and re.search(r"system *\(|>|\| *getline|print[^;}]*\|", words.replace("k++ < 20", "")):
        return f"awk may write: {words}"
    return ""


def test_a_question_calls_only_programs_that_read_with_words_that_read() -> None:
    for name, ask in SHELLS.items():
        found = [inner for call in calls(ask.command.partition(PAYLOAD)[0]) for inner in unfolded(call)]
        assert [why for call in found if (why := acts(call))] == [], name


def test_no_question_sends_output_anywhere_but_to_us() -> None:
    for name, ask in SHELLS.items():
        every = calls(ask.command.partition(PAYLOAD)[0], builtins=True)
        assert {target for call in every for target in call.writes} <= {"/dev/null"}, name
        loops = re.findall(r"for t in ([^;]*);", ask.command)
        if any(call.program == "timeout" and "$t" in call.words for call in every):
            assert loops == [" ".join(VERSIONS)], name


@pytest.mark.parametrize(
    "script",
    [
        "dmesg -C", "dmesg -c", "ethtool -G {} rx 8192", "nvidia-smi -pm 1", "nvidia-smi -r", "systemctl restart chronyd",
        "echo 1 >/proc/sys/vm/drop_caches", "sed -i s/a/b/ /etc/fstab", "sed -n 'w /etc/x' /etc/fstab", "ip link set eth0 up",
        "nvme format /dev/{}", "zpool scrub tank", "zpool status -t tank; zpool clear tank", "mlxconfig -d {} reset", "docker ps", "timeout 4 sh -c 'rm -rf /x'", "rm x", "modprobe mst",
        "journalctl --vacuum-size=1", "date -s 12:00", "ls -l / | xargs rm", "x=$(ipmitool sel clear)", "awk '{ print > \"/etc/x\" }' /y",
        "mst start", "perfquery -R", "tee /etc/x", "chronyc makestep", "ethtool -p {}", "scontrol update node=a",
    ],
)  # fmt: skip
def test_what_changes_something_is_refused(script: str) -> None:
    assert any(acts(inner) for call in calls(script, builtins=True) for inner in unfolded(call))


def test_files_are_read_by_head_alone_and_none_is_of_the_kind_that_acts_when_it_is_read() -> None:
    """Reading these has side effects: it consumes messages, or starts a reset or a rescan."""
    acting = ("/proc/kmsg", "/dev/", "/sys/kernel/debug/tracing/trace_pipe", "/sys/bus/pci/rescan", "/reset")
    globs = {glob for probe in os_probes().values() if isinstance(probe.ask, Read) for glob in probe.ask.globs}
    assert len(globs) > 300
    assert [glob for glob in globs if any(word in glob for word in acting)] == []


def test_the_program_that_queries_nvml_calls_only_reads() -> None:
    source = (Path(rackcheck_probes.__file__).parent / "payload" / "nvml.py").read_text()
    called = {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr.startswith("nvml")
    }
    assert len(called) > 80
    reads = r"nvml(Init|Shutdown|(System|Device|Unit|GpuInstance)(Get|Validate)\w+|ErrorString|Memory_v2|Return)"
    assert [name for name in sorted(called) if not re.fullmatch(reads, name)] == []
    named = set(re.findall(r"\bnvml\w+", source)) - called
    assert [
        name for name in sorted(named) if re.search(r"Set|Clear|Reset|Create|Destroy|Modify|Freeze|Register", name)
    ] == []
    assert not re.search(r"\bopen\(|\bos\.(remove|unlink|system|popen|kill)|subprocess|shutil|socket\b", source)
