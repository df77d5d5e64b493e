"""Which profile of tuned is set."""

from rackcheck import Absent, Facts, Files, Read, Sourced, probe, text

FOLDER = "/etc/tuned"


@probe(
    Read(f"{FOLDER}/active_profile", f"{FOLDER}/profile_mode"),
    gives={
        "os.tuned.profile": text(
            "The profile that tuned is set to; absent without tuned. Whether it runs: `service/tuned.active`."
        ),
        "os.tuned.mode": text("Who chose the profile: auto (tuned itself) or manual."),
    },
)
def tuned(files: Files) -> Facts:
    """Read the two files that tuned keeps; it needs no tool and no running daemon."""
    for leaf, name in (("profile", "active_profile"), ("mode", "profile_mode")):
        place = f"{FOLDER}/{name}"
        # tuned empties the file where it is told to keep its hands off.
        empty = place in files.contents and not files.contents[place].strip()
        yield f"os.tuned.{leaf}", Sourced(Absent("tuned has none"), place) if empty else files.read(place)
