"""CPUs and NUMA nodes that system.conf allows services to use."""

from rackcheck import Absent, Facts, Files, Read, probe, text

MAIN = "/etc/systemd/system.conf"
MORE = tuple(f"{place}/systemd/system.conf.d/*.conf" for place in ("/usr/lib", "/run", "/etc"))
"""Globs of drop-ins, applied in the order of file names; a later folder's file replaces one of the same name."""
KEYS = {"NUMAPolicy": "numa_policy", "NUMAMask": "numa_mask", "CPUAffinity": "cpu_affinity"}


@probe(
    Read(MAIN, *MORE),
    gives={
        "os.systemd.numa_policy": text(
            "The NUMA policy of services' memory: default, bind, preferred, interleave, local."
        ),
        "os.systemd.numa_mask": text(
            "The NUMA nodes of services' memory policy; on Grace, 0-1 keeps services off GPU memory."
        ),
        "os.systemd.cpu_affinity": text("The CPUs that services may run on."),
    },
)
def systemd_conf(files: Files) -> Facts:
    """Read system.conf and its drop-ins; a setting that is not set, or whose last value is empty, is absent."""
    drops = {name: glob.replace("*", name) for glob in MORE for (name,) in files.found(glob)}
    given: dict[str, str] = {}
    for place in ((MAIN,) if files.has(MAIN) else ()) + tuple(drops[name] for name in sorted(drops)):
        for row in files.text(place).splitlines():
            key, mark, value = row.partition("=")
            if mark and key.strip() in KEYS:
                given[key.strip()] = " ".join(value.split())
    for key, leaf in KEYS.items():
        yield f"os.systemd.{leaf}", given.get(key) or Absent(f"no {key} in {MAIN} and its drop-ins")
