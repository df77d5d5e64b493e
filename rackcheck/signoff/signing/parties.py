"""Finds the parties that have signed a bundle: the pairs of files in `signatures/`; other files are faults."""

from pathlib import Path

from rackcheck.signoff.signing import files
from rackcheck.signoff.signing.manifest import SIGNATURES
from rackcheck.signoff.signing.shape import BundleFault
from rackcheck.signoff.signing.statement import PARTY

MOST = 64
"""Maximum number of parties whose signatures are checked."""

_ENDS = (".json", ".json.sig")


def paths(party: str) -> tuple[str, str]:
    """Return the paths of a party's statement and its signature in a bundle."""
    return f"{SIGNATURES}/{party}.json", f"{SIGNATURES}/{party}.json.sig"


def parties(folder: Path) -> tuple[tuple[str, ...], tuple[BundleFault, ...]]:
    """Return the parties with a statement and a signature, sorted, and the faults of all other files in the folder."""
    place = folder / SIGNATURES
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        return (), (BundleFault(SIGNATURES, "is not a plain folder"),)
    found: dict[str, set[str]] = {}
    faults = []
    for path, wrong in files.walk(place, frozenset()) if place.exists() else ():
        party, dot, end = path.partition(".")
        if wrong:
            faults.append(BundleFault(f"{SIGNATURES}/{path}", wrong))
        elif not PARTY.fullmatch(party) or dot + end not in _ENDS:
            faults.append(BundleFault(f"{SIGNATURES}/{path}", "is neither a party's statement nor its signature"))
        else:
            found.setdefault(party, set()).add(dot + end)
        if len(found) + len(faults) > MOST:
            return (), (BundleFault(SIGNATURES, f"contains more than {MOST} signatures"),)
    names = {fault.path for fault in faults}
    for party, ends in sorted(found.items()):
        lost = [f"{SIGNATURES}/{party}{end}" for end in _ENDS if end not in ends]
        faults += [BundleFault(path, "is missing") for path in lost if path not in names]
    return tuple(sorted(party for party, ends in found.items() if len(ends) == len(_ENDS))), tuple(faults)
