"""The CUDA toolkits and ROCm installed on the node itself."""

from collections.abc import Callable

from rackcheck import Facts, Files, Read, collection, probe, spell_key, version
from rackcheck.parse.host.gpu.toolkit_versions import cuda, old_cuda, rocm

CUDA, OLD_CUDA = "/usr/local/{}/version.json", "/usr/local/{}/version.txt"
ROCM = "/opt/{}/.info/version"

PLACES: tuple[tuple[str, str, str, Callable[[str], str]], ...] = (
    ("os.cuda", OLD_CUDA, "cuda*", old_cuda),
    ("os.cuda", CUDA, "cuda*", cuda),
    ("os.rocm", ROCM, "rocm*", rocm),
)


# CUDA's file as quoted from other machines; ROCm's is unverified on hardware.
@probe(
    Read(*(place.format(folder) for _, place, folder, _ in PLACES)),
    gives={
        "os.cuda": collection("CUDA toolkits by their folder in /usr/local; `cuda` is what programs find by default."),
        "os.cuda/*.version": version("dotted", "The toolkit's version."),
        "os.rocm": collection("ROCm by its folder in /opt; `rocm` is what programs find by default."),
        "os.rocm/*.version": version("dotted", "ROCm's version, without the build number."),
    },
)
def toolkits(files: Files) -> Facts:
    """Read the version file in the folder of each CUDA toolkit and of each ROCm."""
    for item, place, folder, reader in PLACES:
        for (rest,) in files.found(place.format(folder)):
            name = folder.replace("*", rest)
            yield f"{item}/{spell_key(name)}.version", files.read(place.format(name), reader)
