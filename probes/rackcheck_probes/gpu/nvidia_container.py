"""How NVIDIA's container runtime provides GPUs to containers."""

from rackcheck import Absent, Facts, Files, Read, Sourced, flag, probe, read, text
from rackcheck.model.regex import regex

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
        "container.nvidia.mode": text("How GPUs are provided: auto, legacy (a hook), cdi, csv."),
        "container.nvidia.no_cgroups": flag(
            "Whether the hook leaves device cgroups unchanged, as rootless containers require."
        ),
        "container.nvidia.visible_devices_unprivileged": flag(
            "Whether any container can get every GPU with the variable NVIDIA_VISIBLE_DEVICES."
        ),
        "container.nvidia.visible_devices_as_mounts": flag(
            "Whether containers may request GPUs by volume mounts instead of a variable."
        ),
    },
)
def nvidia_container(files: Files) -> Facts:
    """Read the runtime's configuration file; the fact of a key that is not set, or of a missing file, is absent."""
    given = values(files.text(PLACE)) if files.has(PLACE) else {}
    why = Absent(f"not in {PLACE}" if files.has(PLACE) else f"no {PLACE}")
    for name, leaf in TEXTS.items():
        yield f"container.nvidia.{leaf}", Sourced(given.get(name) or why, PLACE)
    for name, leaf in FLAGS.items():
        reading = read.flag(given[name], yes="true", no="false") if name in given else why
        yield f"container.nvidia.{leaf}", Sourced(reading, PLACE)


# TOML with one value per line, as most tools write their settings.


_HEAD = regex(r"\s{0,20}\[([\w.-]{1,100})\]\s{0,20}(?:#.*)?")
_PAIR = regex(r"\s{0,20}([\w-]{1,100})\s{0,20}=\s{0,20}([\"']?)([\w.-]{0,100})\2\s{0,20}(?:#.*)?")


def values(content: str) -> dict[str, str]:
    """Return the values of a TOML file by `table.key`, without quotes; the last value of a repeated key counts.

    Only single words and numbers are read: lists, values over several lines, and texts of several words are left out.
    """
    found: dict[str, str] = {}
    table = ""
    for row in content.splitlines():
        head, pair = _HEAD.fullmatch(row), _PAIR.fullmatch(row)
        if head is not None:
            table = f"{head[1]}."
        elif pair is not None:
            found[f"{table}{pair[1]}"] = pair[3]
    return found
