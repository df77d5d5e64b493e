"""The current view and the views before and after it, with back and forward as in a browser. Pure."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ViewState:
    """A view and its subject; `where` is the view's filter, `row` is the name of the row under the cursor.

    `key` is set if the name in `about`, such as a group's number, may belong to another subject later in the run; `key`
    still identifies the same subject then.
    """

    view: str
    about: tuple[str, ...] = ()
    where: str = ""
    row: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """Return the view as it is typed after a colon."""
        return " ".join((self.view, *self.about))


@dataclass
class Trail:
    """The views shown so far; the current view has index `at`."""

    places: list[ViewState] = field(default_factory=lambda: [ViewState("groups")])
    at: int = 0

    @property
    def here(self) -> ViewState:
        """Return the current view."""
        return self.places[self.at]

    def shows(self, place: ViewState) -> bool:
        """Return whether this is the current view, regardless of filters."""
        return (self.here.view, self.here.about) == (place.view, place.about)

    def settle(self, *, where: str | None = None, row: str | None = None) -> None:
        """Store the current filter and row with the view."""
        here = self.here
        here = here if where is None else replace(here, where=where)
        self.places[self.at] = here if row is None else replace(here, row=row)

    def go(self, place: ViewState) -> None:
        """Go to a view and drop all views after the current one; going to the current view adds no step."""
        if self.shows(place):
            self.places[self.at] = replace(self.here, where=place.where, key=place.key)
            return
        del self.places[self.at + 1 :]
        self.places.append(place)
        self.at += 1

    def step(self, by: int) -> bool:
        """Step back or forward; return whether there was a view to step to."""
        if not 0 <= self.at + by < len(self.places):
            return False
        self.at += by
        return True

    @property
    def crumbs(self) -> str:
        """Return the last views before the current one, at most three: `groups > group 7 > `."""
        return "".join(f"{place.words} > " for place in self.places[max(self.at - 3, 0) : self.at])
