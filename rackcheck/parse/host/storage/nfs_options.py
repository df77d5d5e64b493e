"""The options that the kernel shows for an NFS mount (nfs(5)): the values agreed by client and server."""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable
from rackcheck.model.text.values import whole


@dataclass(frozen=True)
class Options:
    """The value of each option by its name; empty for an option without a value."""

    values: dict[str, str]

    def text(self, *names: str, lacking: str) -> Reading:
        """Return the first of these options that has a value; absent, with the detail `lacking`, if none has."""
        return next((value for name in names if (value := self.values.get(name))), None) or Absent(lacking)

    def number(self, name: str, unit: float) -> Reading:
        """Return a number divided by `unit`; absent if the mount does not show the option."""
        if name not in self.values:
            return Absent(f"the mount shows no {name}")
        try:
            return whole(self.values[name]) / unit
        except Unreadable as error:
            return Unknown(error.reason, str(error))

    def connections(self) -> Reading:
        """Return the number of connections (nconnect); 1 if the kernel does not show it.

        The kernel shows nconnect only if more than one connection was requested.
        """
        many = self.number("nconnect", 1)
        return 1 if isinstance(many, Absent) else int(many) if isinstance(many, float) else many


def options(shown: str) -> Options:
    """Split `rw,vers=4.2,rsize=1048576`; if an option is repeated, the last counts."""
    return Options(dict(option.partition("=")[::2] for option in shown.split(",")))
