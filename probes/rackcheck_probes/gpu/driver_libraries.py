"""Libraries of NVIDIA's driver that are of another version than the loaded driver."""

from pathlib import PurePosixPath

from rackcheck import Absent, Facts, Inputs, join, listing
from rackcheck.model.fact import Unknown
from rackcheck.probe.join import settled

LOADED = ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1")
"""Names by which programs load the libraries; a file of another name may be left over from an older driver."""


@join(
    needs=("driver.version", "os.library", "os.library/*.version"),
    gives={
        "driver.libraries_differ": listing(
            "Libraries of NVIDIA's driver that programs load and that have another version than the loaded driver: "
            "the file and its version; absent without the driver."
        )
    },
)
def driver_libraries(inputs: Inputs) -> Facts:
    """Compare the version in the name of each library's target with the version of the driver."""
    driver = inputs.reading("driver.version")
    versions = inputs.table("os.library", "version")
    ours = {path: found for path, found in versions.items() if PurePosixPath(path).name in LOADED}
    lost = settled((driver, *ours.values())) or inputs.items("os.library")[1]
    if isinstance(driver, Absent):
        yield "driver.libraries_differ", driver
    elif isinstance(driver, Unknown) or lost is not None:
        yield "driver.libraries_differ", lost or driver
    else:
        differ = {path: found for path, found in ours.items() if not isinstance(found, Absent) and found != driver}
        yield "driver.libraries_differ", tuple(f"{path} {found}" for path, found in sorted(differ.items()))
