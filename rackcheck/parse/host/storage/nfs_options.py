"""The options that the kernel shows for an NFS mount (nfs(5)): the values agreed by client and server."""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable
from rackcheck.model.text.values import whole


@dataclass(frozen=True)
class Options:
    """The value of each NFS mount option by its name; empty for an option without a value."""

    values: dict[str, str]

    def text(self, *names: str, lacking: str) -> Reading:
        """Return the value of the first option in `names` that has one; absent (detail `lacking`) if none has one."""
        return next((value for name in names if (value := self.values.get(name))), None) or Absent(lacking)

    def number(self, name: str, unit: float) -> Reading:
        """Return an NFS option's number divided by `unit`; absent if the kernel does not show the option."""
        if name not in self.values:
            return Absent(f"the mount shows no {name}")
        try:
            return whole(self.values[name]) / unit
        except Unreadable as error:
            return Unknown(error.reason, str(error))

    def connections(self) -> Reading:
        """Return the number of connections to the server (nconnect); 1 if the kernel does not show nconnect.

        The kernel shows nconnect only if more than one connection was requested.
        """
        many = self.number("nconnect", 1)
        return 1 if isinstance(many, Absent) else int(many) if isinstance(many, float) else many


def options(shown: str) -> Options:
    """Split mount options such as `rw,vers=4.2,rsize=1048576`; if an option is repeated, the last one counts."""
    return Options(dict(option.partition("=")[::2] for option in shown.split(",")))
