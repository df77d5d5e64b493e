"""A root with busybox alone, as on switch trays and in boot images: what the kernel reports is known."""

import os
import re
import secrets
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from recordings import os_probes

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import VOLATILE, Absent, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.question import Read
from rackcheck.model.tree import Leaf
from rackcheck.probe.answers import split
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan
from rackcheck.probe.script import compose
from rackcheck.transport.wire import stamped

PROBES = tuple(os_probes().values())
QUESTIONS = Plan(PROBES).questions
TIME = "2026-01-01T00:00:00Z"


def cannot(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"CI cannot make a bare root: {why}")
    pytest.skip(f"NO BARE ROOT HERE: {why}")


def furnished(root: Path) -> None:
    """Put busybox with its libraries and applets into a folder."""
    busybox = shutil.which("busybox")
    if busybox is None:
        cannot("busybox is needed")
    assert busybox is not None
    for name in ("bin", "proc", "sys", "dev"):
        (root / name).mkdir()
    libraries = re.findall(
        r"(/\S+) \(0x", subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False).stdout
    )
    for file in (busybox, *libraries):
        place = root / ("bin/busybox" if file == busybox else file.lstrip("/"))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")
    (root / "dev" / "null").touch()


def collected(root: str) -> NodeCapture:
    """The answers to all questions within a root, in a separate mount namespace."""
    mark = secrets.token_hex(16)
    mounts = (
        "set -e; for d in proc sys; do mount --rbind /$d $0/$d; done; mount --bind /dev/null $0/dev/null; "
        "exec chroot $0 /bin/sh -c 'exec env -i PATH=/bin HOME=/ /bin/sh -s'"
    )
    command = ["unshare", "-m", "sh", "-c", mounts, root] if root != "/" else ["sh", "-s"]
    script = stamped(compose(QUESTIONS, mark, sudo=False)).encode()
    done = subprocess.run(command, input=script, capture_output=True, check=False)
    answer = split(done.stdout, QUESTIONS, mark, Unknown(Reason.UNREACHABLE, "the script ended early"))
    if not answer.whole and b"unshare" in done.stderr + done.stdout[:200]:
        cannot(done.stderr.decode(errors="replace")[:200])
    assert answer.whole, done.stderr[-500:]
    return answer.capture


@cache
def leaves(kind: str) -> dict[str, Leaf]:
    with TemporaryDirectory() as place:
        root = Path(place)
        if kind == "bare":
            furnished(root)
        return collect(PROBES, collected(place if kind == "bare" else "/"))


def of_kernel() -> set[str]:
    """Facts of probes that read files below /proc and /sys alone."""
    reads = [
        p for p in PROBES if isinstance(p.ask, Read) and all(g.startswith(("/proc/", "/sys/")) for g in p.ask.globs)
    ]
    assert len(reads) > 60
    own = "/proc/mounts", "/proc/self", "/proc/net"  # of the process that reads them, not of the kernel
    plain = [p for p in reads if not any(glob.startswith(own) for glob in p.ask.globs)]
    sources = {glob for probe in plain for glob in probe.ask.globs}
    assert sources
    names = {pattern for probe in plain for pattern in probe.gives}
    found = set()
    for path in leaves("whole"):
        if str(parse(path).pattern) in names:
            found.add(path)
    return found


def test_kernel_facts_are_known_without_any_tool() -> None:
    bare, whole = leaves("bare"), leaves("whole")
    stable = [path for path in of_kernel() if whole[path].kind.cls not in VOLATILE]
    assert len(stable) > 300
    differing = {path for path in stable if bare[path].reading != whole[path].reading}
    assert differing == set()


def test_a_question_without_its_tool_states_it_and_nothing_is_taken_for_absent() -> None:
    bare = leaves("bare")
    missing = [bare[path].reading for path in ("cpu.model", "service", "dimm")]
    assert [m.reason for m in missing if isinstance(m, Unknown)] == [Reason.TOOL_MISSING] * len(missing)
    unknown = {path: leaf.reading for path, leaf in bare.items() if isinstance(leaf.reading, Unknown)}
    assert Counter(why.reason for why in unknown.values())[Reason.TOOL_MISSING] > 100
    # Not even the root itself is a filesystem that df could name here.
    odd = {path for path, why in unknown.items() if why.reason not in {Reason.TOOL_MISSING, Reason.NOT_COLLECTED}}
    assert {path.partition("/")[0] for path in odd} <= {"mount"}


def test_what_is_absent_in_the_bare_root_is_not_there_in_the_whole_one_for_want_of_a_program() -> None:
    """A fact that this machine has may be unknown without its tool, never absent; there is no /etc here."""
    bare, whole = leaves("bare"), leaves("whole")
    lost = {
        path
        for path, leaf in bare.items()
        if isinstance(leaf.reading, Absent)
        and path in whole
        and not isinstance(whole[path].reading, Absent | Unknown)
        and whole[path].source.startswith(("/proc", "/sys"))
        and "/proc/mounts" not in whole[path].source
    }
    assert lost == set()
