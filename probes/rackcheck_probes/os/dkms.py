"""Modules built by DKMS for each kernel, and whether they are installed."""

from rackcheck import Facts, Shell, Unreadable, collection, flag, probe, read, spell_key, text
from rackcheck.model.regex import regex

ROW = regex(
    r"(?P<module>[\w.+-]{1,80})(?:/|, )(?P<version>[^\s,:]{1,80})"
    r"(?:, (?P<kernel>[^\s,:]{1,80}), (?P<arch>\w{1,20}))?: (?P<state>[a-z-]{1,20})(?P<more>.{0,200})"
)


@probe(
    Shell("dkms status && echo '-- end --'", seconds=20),
    gives={
        "kernel.dkms": collection("Modules of DKMS, by module/version/kernel; module/version before a build."),
        "kernel.dkms/*.state": text("The state of the module's build: added, built, installed, broken."),
        "kernel.dkms/*.differs": flag("Whether DKMS warns that the installed module differs from the built module."),
    },
)
def dkms(answer: str) -> Facts:
    """Read one line for each module and kernel; DKMS 2 separates name and version by a comma, DKMS 3 by a slash."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "-- end --":
        raise Unreadable("the output was truncated")
    for row in rows[:-1]:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a module of DKMS: {row[:80]!r}")
        key = "/".join(part for part in match.group("module", "version", "kernel") if part)
        yield f"kernel.dkms/{spell_key(key)}.state", match["state"]
        yield f"kernel.dkms/{spell_key(key)}.differs", "WARNING" in match["more"]
