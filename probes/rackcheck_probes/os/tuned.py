"""The profile of tuned."""

from rackcheck import Absent, Facts, Files, Read, Sourced, probe, text

FOLDER = "/etc/tuned"


@probe(
    Read(f"{FOLDER}/active_profile", f"{FOLDER}/profile_mode"),
    gives={
        "os.tuned.profile": text(
            "The configured profile of tuned; absent without tuned. `service/tuned.active` shows whether tuned runs."
        ),
        "os.tuned.mode": text("How the profile was selected: auto (by tuned) or manual."),
    },
)
def tuned(files: Files) -> Facts:
    """Read the two files that tuned writes, without any tool or running daemon."""
    for leaf, name in (("profile", "active_profile"), ("mode", "profile_mode")):
        place = f"{FOLDER}/{name}"
        # tuned empties the file when it is set to change nothing.
        empty = place in files.contents and not files.contents[place].strip()
        yield f"os.tuned.{leaf}", Sourced(Absent("the file is empty"), place) if empty else files.read(place)
