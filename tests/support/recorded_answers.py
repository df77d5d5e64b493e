"""Recorded answers of every probe."""

from places import SHARED


def recorded() -> list[str]:
    """Every recording of the shared collection, by name; empty without it."""
    home = SHARED / "host-recordings"
    return sorted(
        side.with_name(side.name.removesuffix(".source.yaml")).relative_to(home).as_posix()
        for side in home.rglob("*.source.yaml")
    )
