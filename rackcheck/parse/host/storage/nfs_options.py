"""The options that the kernel shows of an NFS mount (nfs(5)): what client and server agreed on."""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable
from rackcheck.model.text.values import whole


@dataclass(frozen=True)
class Options:
    """Each option's value by its name; one without a value is empty."""

    told: dict[str, str]

    def text(self, *names: str, lacking: str) -> Reading:
        """Return the first of these options that has a value; absent, for the reason `lacking`, if none has."""
        return next((value for name in names if (value := self.told.get(name))), None) or Absent(lacking)

    def number(self, name: str, unit: float) -> Reading:
        """Read a number in units of `unit`; the kernel always shows those that are read here."""
        if name not in self.told:
            return Absent(f"the mount shows no {name}")
        try:
            return whole(self.told[name]) / unit
        except Unreadable as error:
            return Unknown(error.reason, str(error))

    def connections(self) -> Reading:
        """Read nconnect, which the kernel shows only if more than one was requested."""
        many = self.number("nconnect", 1)
        return 1 if isinstance(many, Absent) else int(many) if isinstance(many, float) else many


def options(shown: str) -> Options:
    """Part `rw,vers=4.2,rsize=1048576`; of an option shown twice the last counts."""
    return Options(dict(option.partition("=")[::2] for option in shown.split(",")))
