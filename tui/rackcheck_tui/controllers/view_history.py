"""Where the reader is, and the way there: places, back and forward, as in a browser. Pure."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ViewState:
    """A view and what it is about; `where` filters it, `row` is the name of the row under the cursor.

    `key` is what it is known by while a run goes on, where its name may come to mean another: a group's number.
    """

    view: str
    about: tuple[str, ...] = ()
    where: str = ""
    row: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """The place as it is typed behind a colon."""
        return " ".join((self.view, *self.about))


@dataclass
class Trail:
    """Places that were visited; the one that is shown is at `at`."""

    places: list[ViewState] = field(default_factory=lambda: [ViewState("groups")])
    at: int = 0

    @property
    def here(self) -> ViewState:
        """The place that is shown."""
        return self.places[self.at]

    def shows(self, place: ViewState) -> bool:
        """Whether this is the place that is shown, however it is filtered."""
        return (self.here.view, self.here.about) == (place.view, place.about)

    def settle(self, *, where: str | None = None, row: str | None = None) -> None:
        """Remember how the place is looked at now."""
        here = self.here
        here = here if where is None else replace(here, where=where)
        self.places[self.at] = here if row is None else replace(here, row=row)

    def go(self, place: ViewState) -> None:
        """Go on to a place; what lay ahead is forgotten. The same place again is no step."""
        if self.shows(place):
            self.places[self.at] = replace(self.here, where=place.where, key=place.key)
            return
        del self.places[self.at + 1 :]
        self.places.append(place)
        self.at += 1

    def step(self, by: int) -> bool:
        """Step back or forward; whether there was anywhere to go."""
        if not 0 <= self.at + by < len(self.places):
            return False
        self.at += by
        return True

    @property
    def crumbs(self) -> str:
        """The way to here, before what is here: `groups > group 7 > `."""
        return "".join(f"{place.words} > " for place in self.places[max(self.at - 3, 0) : self.at])
