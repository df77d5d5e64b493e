"""How NVIDIA's container runtime brings GPUs into containers."""

from rackcheck import Absent, Facts, Files, Read, Sourced, flag, probe, text
from rackcheck.model import text as read
from rackcheck.parse.host.os import toml_lines

PLACE = "/etc/nvidia-container-runtime/config.toml"
TEXTS = {"nvidia-container-runtime.mode": "mode"}
FLAGS = {
    "nvidia-container-cli.no-cgroups": "no_cgroups",
    "accept-nvidia-visible-devices-envvar-when-unprivileged": "visible_devices_unprivileged",
    "accept-nvidia-visible-devices-as-volume-mounts": "visible_devices_as_mounts",
}


@probe(
    Read(PLACE),
    gives={
        "container.nvidia.mode": text("How GPUs come in: auto, legacy (a hook), cdi, csv."),
        "container.nvidia.no_cgroups": flag(
            "Whether the hook leaves device cgroups alone, as rootless containers need."
        ),
        "container.nvidia.visible_devices_unprivileged": flag(
            "Whether any container gets GPUs by the variable NVIDIA_VISIBLE_DEVICES: then none is out of reach."
        ),
        "container.nvidia.visible_devices_as_mounts": flag("Whether GPUs are asked for by mounts instead."),
    },
)
def nvidia_container(files: Files) -> Facts:
    """Read the runtime's file; a key that it does not set, and a file that is not there, is absent."""
    given = toml_lines.values(files.text(PLACE)) if files.has(PLACE) else {}
    why = Absent(f"not in {PLACE}" if files.has(PLACE) else f"no {PLACE}")
    for name, leaf in TEXTS.items():
        yield f"container.nvidia.{leaf}", Sourced(given.get(name) or why, PLACE)
    for name, leaf in FLAGS.items():
        told = read.flag(given[name], yes="true", no="false") if name in given else why
        yield f"container.nvidia.{leaf}", Sourced(told, PLACE)
