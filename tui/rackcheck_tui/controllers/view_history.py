"""The current place and the way to it: places, back and forward, as in a browser. Pure."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ViewState:
    """A view and its subject; `where` filters it, `row` is the name of the row under the cursor.

    `key` identifies it while a run goes on, where its name may change its meaning: a group's number.
    """

    view: str
    about: tuple[str, ...] = ()
    where: str = ""
    row: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """The place as typed behind a colon."""
        return " ".join((self.view, *self.about))


@dataclass
class Trail:
    """Visited places; the shown one has index `at`."""

    places: list[ViewState] = field(default_factory=lambda: [ViewState("groups")])
    at: int = 0

    @property
    def here(self) -> ViewState:
        """The shown place."""
        return self.places[self.at]

    def shows(self, place: ViewState) -> bool:
        """Whether this is the shown place, regardless of filters."""
        return (self.here.view, self.here.about) == (place.view, place.about)

    def settle(self, *, where: str | None = None, row: str | None = None) -> None:
        """Remember the current state of the place."""
        here = self.here
        here = here if where is None else replace(here, where=where)
        self.places[self.at] = here if row is None else replace(here, row=row)

    def go(self, place: ViewState) -> None:
        """Go to a new place and drop all places ahead; the same place again is no step."""
        if self.shows(place):
            self.places[self.at] = replace(self.here, where=place.where, key=place.key)
            return
        del self.places[self.at + 1 :]
        self.places.append(place)
        self.at += 1

    def step(self, by: int) -> bool:
        """Step back or forward; return whether there was a place to go to."""
        if not 0 <= self.at + by < len(self.places):
            return False
        self.at += by
        return True

    @property
    def crumbs(self) -> str:
        """The path of places before the current one: `groups > group 7 > `."""
        return "".join(f"{place.words} > " for place in self.places[max(self.at - 3, 0) : self.at])
