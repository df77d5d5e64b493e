"""Facts in a folder that the login may not enter are denied: neither absent nor false nor an empty list.

The questions run as an ordinary user in a separate tree, with every path that they name moved into it.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from recordings import answering, facts, os_probes

from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck_probes.os.hidden import THERE

PROBES = os_probes()
UNPRIVILEGED = "65534"
SHELLS = ["dash", "bash --posix", "busybox sh"]
MOVED = re.compile(r"(?<![\w/}])/(etc|var|opt|run|lib/modules|dev/infiniband|usr)(?=[/ ;)]|$)", re.MULTILINE)
"""The places that move: whole words of a question, except programs and files of the kernel."""


@pytest.fixture
def tree() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    place = Path(tempfile.mkdtemp(prefix="hidden-"))
    place.chmod(0o755)
    yield place
    for folder in (path for path in place.rglob("*") if path.is_dir() and not path.is_symlink()):
        folder.chmod(0o755)
    shutil.rmtree(place)


def ordinary(shell: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a user other than root."""
    if shutil.which(shell.partition(" ")[0]) is None:
        pytest.skip(f"no {shell} here")
    drop = (
        ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"] if os.getuid() == 0 else []
    )
    environment = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run(
        [*drop, *shell.split(), "-c", script],
        capture_output=True, text=True, check=False, timeout=30, env=environment, cwd="/",
    )  # fmt: skip


def closable(tree: Path, folder: str, file: str, mode: int = 0) -> None:
    """Create a file and make a folder above it inaccessible."""
    place = tree / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x = 1\n")
    (tree / folder).chmod(mode)


def collected(tree: Path, name: str, shell: str) -> dict[str, Reading]:
    """The facts of a probe from its question's answer in the tree."""
    ask = PROBES[name].ask
    assert isinstance(ask, Shell)
    moved = MOVED.sub(lambda match: f"{tree}{match[0]}", ask.command)
    assert moved != ask.command
    moved = moved.replace("PATH=$PATH:", "PATH=/usr/bin:/bin:")  # this machine may have a slurmd in /usr/sbin
    done = ordinary(shell, moved)
    out, err = (text.replace(str(tree), "") for text in (done.stdout, done.stderr))
    return facts(PROBES[name], answering(PROBES[name], out, done.returncode, err))


def denied(found: dict[str, Reading]) -> set[str]:
    return {path for path, reading in found.items() if isinstance(reading, Unknown) and reading.reason is Reason.DENIED}


@dataclass(frozen=True)
class Case:
    """A probe, the inaccessible folder and a file below it; `named` are the facts that it hides, all if empty."""

    probe: str
    folder: str
    file: str
    named: tuple[str, ...] = ()


SLURM = ("scheduler.slurm.file.slurm", "scheduler.slurm.proctrack_type", "scheduler.slurm.constrain_devices")
CASES = [
    Case("containerd_config", "etc/containerd", "etc/containerd/config.toml"),
    Case("docker_config", "etc/docker", "etc/docker/daemon.json"),
    Case("slurm", "etc/slurm", "etc/slurm/slurm.conf", SLURM),
    Case("slurm", "opt/slurm", "opt/slurm/etc/slurm.conf", (*SLURM, "scheduler.slurm.version")),
    Case("crash_dumps", "var/lib/systemd", "var/lib/systemd/pstore/7440"),
    Case("crash_dumps", "var/lib/systemd/pstore", "var/lib/systemd/pstore/7440"),
    Case("crash_dumps", "var/crash", "var/crash/202411211030"),
    Case("gpfs", "usr/lpp/mmfs", "usr/lpp/mmfs/bin/mmgetstate"),
    Case("gpfs", "usr/lpp", "usr/lpp/mmfs/bin/mmgetstate"),
    Case("kernels", "lib/modules", "lib/modules/6.8.0/modules.dep"),
    Case("kernels", "lib/modules/6.8.0", "lib/modules/6.8.0/modules.dep"),
    Case("packages", "var/lib/dpkg", "var/lib/dpkg/status"),
    Case("rdma_nodes", "dev/infiniband", "dev/infiniband/uverbs0", ("nic.rdma_cm_node",)),
    Case("libraries", "opt/rocm", "opt/rocm/lib/librccl.so.1", ("os.library",)),
    Case("libraries", "usr/lib64", "usr/lib64/libcuda.so.1", ("os.library",)),
    Case(
        "nvidia_daemons",
        "run/nvidia-persistenced",
        "run/nvidia-persistenced/socket",
        ("driver.persistence_socket",),
    ),
]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{case.folder}")
def test_a_closed_folder_denies_what_lies_in_it(case: Case, shell: str, tree: Path) -> None:
    closable(tree, case.folder, case.file)
    found = collected(tree, case.probe, shell)
    assert found
    assert denied(found) >= set(case.named or found)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{case.folder}")
def test_a_folder_that_is_open_or_missing_denies_nothing(case: Case, shell: str, tree: Path) -> None:
    assert denied(collected(tree, case.probe, shell)) == set()
    closable(tree, case.folder, case.file, 0o755)
    (tree / case.file).chmod(0o755)  # of GPFS it is a program
    assert denied(collected(tree, case.probe, shell)) == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_link_into_a_closed_folder_is_denied_and_one_that_leads_nowhere_is_absent(shell: str, tree: Path) -> None:
    (tree / "etc").mkdir()
    (tree / "etc" / "nccl.conf").symlink_to("../closed/nccl.conf")
    assert denied(collected(tree, "environment", shell)) == set()
    closable(tree, "closed", "closed/nccl.conf")
    assert denied(collected(tree, "environment", shell)) >= {"os.environment", "os.nccl_conf"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_library_behind_a_closed_folder_is_not_called_broken(shell: str, tree: Path) -> None:
    (tree / "usr" / "lib64").mkdir(parents=True)
    (tree / "usr" / "lib64" / "libcuda.so.1").symlink_to("../../closed/libcuda.so.570.86.15")
    usable = 'os.library/"/usr/lib64/libcuda.so.1".usable'
    assert collected(tree, "libraries", shell)[usable] is False
    closable(tree, "closed", "closed/libcuda.so.570.86.15")
    found = collected(tree, "libraries", shell)
    assert denied(found) == {usable, usable.replace("usable", "size")}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_channel_folder_with_search_but_no_list_permission_gives_no_number(shell: str, tree: Path) -> None:
    closable(tree, "channels", "channels/channel0", 0o711)
    ask = PROBES["imex_channels"].ask
    assert isinstance(ask, Shell)
    done = ordinary(shell, ask.command.replace("/dev/nvidia-caps-imex-channels", f"{tree}/channels"))
    found = facts(
        PROBES["imex_channels"], answering(PROBES["imex_channels"], done.stdout, done.returncode, done.stderr)
    )
    assert denied(found) == {"driver.imex.channels"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("open/file", 0), ("open/none", 1), ("none/at/all", 1), ("open/file/below", 1), ("open/dangling", 1),
        ("open/inward", 2), ("closed/file", 2), ("closed/none", 2), ("closed/.", 2), ("closed", 0),
        ("link/file", 2), ("link", 0), ("unlisted/file", 0), ("unlisted/none", 1),
    ],
)  # fmt: skip
def test_what_is_there_what_is_not_and_what_is_hidden_are_three_things(
    place: str, status: int, shell: str, tree: Path
) -> None:
    closable(tree, "open", "open/file", 0o755)
    closable(tree, "unlisted", "unlisted/file", 0o711)
    (tree / "open" / "dangling").symlink_to("nowhere")
    (tree / "open" / "inward").symlink_to("../closed/file")
    (tree / "link").symlink_to("closed")
    closable(tree, "closed", "closed/file")
    done = ordinary(shell, f"{THERE}there {tree}/{place}")
    assert done.returncode == status
    assert done.stderr == (f"{tree}/{place}: Permission denied\n" if status == 2 else "")
