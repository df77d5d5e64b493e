"""A Slurm cluster on loopback from Debian's packages: one controller, and several nodes on this machine."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import until

TOOLS = ("slurmctld", "slurmd", "munged", "sbatch", "setpriv")


def needed() -> None:
    """Skip with a message if Slurm is not here, or fail in CI."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [tool for tool in TOOLS if shutil.which(tool, path=path) is None]
    if os.geteuid() or missing:
        why = f"NO SLURM HERE: it needs root, and {', '.join(missing) or 'all tools are there'}"
        if os.environ.get("CI"):
            pytest.fail(f"{why}; .ci/run must install slurm-wlm and munge")
        pytest.skip(why)


def _ports(count: int) -> list[int]:
    socks = [socket.socket() for _ in range(count)]
    try:
        for sock in socks:
            sock.bind(("127.0.0.1", 0))
        return [int(sock.getsockname()[1]) for sock in socks]
    finally:
        for sock in socks:
            sock.close()


@contextmanager
def lab(folder: Path, features: Sequence[str]) -> Iterator[dict[str, str]]:
    """Run a cluster with a node for each feature until the block ends; yield the environment of its commands."""
    needed()
    for name in ("state", "log", "pid", "spool", "munge"):
        (folder / name).mkdir(parents=True)
    for place in (folder, *list(folder.parents)[:4]):
        place.chmod(place.stat().st_mode | 0o011)  # the daemon of munge runs as another user
    key, place = folder / "munge" / "key", folder / "munge"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    (folder / "munge" / "log").touch()
    for path in (key, place, folder / "munge" / "log"):
        shutil.chown(path, "munge", "munge")
    place.chmod(0o711)
    host, (control, *nodes) = socket.gethostname().partition(".")[0], _ports(1 + len(features))
    lines = [
        "ClusterName=lab", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={control}", "AuthType=auth/munge",
        f"AuthInfo=socket={place}/socket", "SlurmUser=root", "SlurmdUser=root", f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool/%n", f"SlurmctldPidFile={folder}/pid/slurmctld.pid",
        f"SlurmdPidFile={folder}/pid/slurmd.%n.pid", f"SlurmctldLogFile={folder}/log/slurmctld.log",
        f"SlurmdLogFile={folder}/log/slurmd.%n.log", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none",
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "ReturnToService=2", "MpiDefault=none",
        "SwitchType=switch/none", "SlurmdTimeout=10",
        *(
            f"NodeName=n{n} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 Features={feature} State=UNKNOWN"
            for n, (port, feature) in enumerate(zip(nodes, features, strict=True), start=1)
        ),
        f"PartitionName=all Nodes=n[1-{len(features)}] Default=YES MaxTime=10 State=UP OverSubscribe=NO",
    ]  # fmt: skip
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    try:
        subprocess.run(
            ["setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged", f"--key-file={key}",
             f"--socket={place}/socket", f"--pid-file={place}/pid", f"--seed-file={place}/seed",
             f"--log-file={place}/log"], env=env, check=True,
        )  # fmt: skip
        subprocess.run(["slurmctld"], env=env, check=True)
        for n in range(1, len(features) + 1):
            subprocess.run(["slurmd", "-N", f"n{n}"], env=env, check=True)

        def idle() -> bool:
            done = subprocess.run(
                ["sinfo", "-h", "-t", "idle", "-o", "%D"], env=env, capture_output=True, text=True, check=False
            )
            return done.stdout.strip() == str(len(features))

        until(idle, "the nodes of the cluster are not idle")
        yield env
    finally:
        for file in (*(folder / "pid").glob("*.pid"), place / "pid"):
            if file.exists():
                subprocess.run(["kill", file.read_text().strip()], check=False)
