"""Parameters of selected kernel modules: in use, and set in modprobe.d for the next load.

Only parameters that affect GPUs and their networks are read; a module that is not loaded has no parameters.
"""

from rackcheck import Facts, Files, Read, collection, probe, setting, spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.host.os import drop_ins, modprobe
from rackcheck_probes.os.module_files import PROBE

NAMED = {
    "amdgpu": ("gpu_recovery", "noretry", "ras_enable", "runpm", "vm_fragment_size", "pcie_p2p", "use_xgmi_p2p"),
    "gdrdrv": ("use_persistent_mapping",),
    "mlx5_core": ("num_of_groups", "prof_sel"),
    "nvidia_drm": ("fbdev", "modeset"),
    "nvidia_peermem": ("peerdirect_support", "persistent_api_support"),
    "nvidia_uvm": ("uvm_ats_mode", "uvm_disable_hmm", "uvm_perf_prefetch_enable"),
}
PLACE = "/sys/module/{}/parameters/{}"
ITEM = "kernel.modules.parameter/"
OPTIONS = regex(r"^(nvidia|nvidia_\w{1,40}|mlx\w{1,40}|ib_\w{1,40}|amdgpu|gdrdrv|lustre|lnet|ko2iblnd|nvme\w{0,40})$")


@probe(
    Read(*(PLACE.format(module, name) for module, names in NAMED.items() for name in names), *PROBE),
    gives={
        "kernel.modules.parameter": collection(
            "Selected parameters of loaded modules, as module.parameter: nvidia_peermem.peerdirect_support."
        ),
        "kernel.modules.parameter/*.value": setting("The value that the loaded module uses."),
        "kernel.modules.option": collection("Parameters of GPU and network modules that modprobe.d sets."),
        "kernel.modules.option/*.value": setting("The value that modprobe.d sets at the module's next load."),
    },
)
def module_parameters(files: Files) -> Facts:
    """Read parameters of loaded modules, and options in modprobe.d; the last value of a repeated option counts."""
    for module, names in NAMED.items():
        for name in names:
            place = PLACE.format(module, name)
            if files.has(place):
                yield f"{ITEM}{spell_key(f'{module}.{name}')}.value", files.read(place)
    for name, value in modprobe.options(drop_ins.lines(files, PROBE), OPTIONS).items():
        yield f"kernel.modules.option/{spell_key(name)}.value", value
