"""Reads one BMC: fetches the needed resources with few GETs at a time, and always closes the session."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from rackcheck.model.documents import Documents, LinkPattern
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Body
from rackcheck.transport.memory import ENTRY_POLL
from rackcheck.transport.redfish import expand
from rackcheck.transport.redfish.session import Session
from rackcheck.transport.redfish.target import INTERRUPTED, POLL

ONE_BY_ONE = Unknown(
    Reason.NOT_READ_FURTHER, "read only if the BMC returns whole collections: otherwise, hundreds of GETs may be needed"
)
"""The reason why links in `whole` were not followed; only rules whose unknown verdict is minor need these links."""


class BmcVisit:
    """The state while one BMC is read.

    `query` is the $expand query; it is set to None when a check finds missing data.
    """

    def __init__(self, session: Session, stop: threading.Event) -> None:
        self.session, self.stop = session, stop
        self.bodies: dict[str, Body | Unknown] = {}
        self.query: str | None = None
        self.pages: set[str] = set()
        self.complete = False
        self.pool = ThreadPoolExecutor(session.limits.width, thread_name_prefix="bmc")

    def make(self, links: tuple[LinkPattern, ...], whole: tuple[LinkPattern, ...] = ()) -> Unknown | None:
        """Log in, fetch all needed resources, and log out; if the login fails, return the reason.

        The links in `whole` are followed only while the BMC returns whole collections with $expand.
        """
        pending: set[Future[Any]] = set()
        try:
            entering = self.pool.submit(self.session.enter)
            pending.add(entering)
            self._watch(pending)
            root = entering.result()
            if isinstance(root, Unknown):
                return root
            self.bodies[ROOT] = root
            # With a trace, each resource is fetched alone: a recording keeps each resource's own reply.
            if self.session.limits.expand and self.session.trace is None:
                self.query = expand.query(root)
            docs = Documents(self.bodies)
            while self.query is not None and (todo := docs.wanted((*links, *whole))):
                self._round(todo, pending)
            while todo := docs.wanted(links):
                self._round(todo, pending)
            while todo := docs.wanted(whole):
                self.bodies |= dict.fromkeys(todo, self.session.over or ONE_BY_ONE)
            return None
        finally:
            self.session.end(cut=bool(pending))
            self.pool.shutdown(cancel_futures=True)
            self.session.leave()

    def _round(self, todo: Mapping[str, bool], pending: set[Future[Any]]) -> None:
        """Fetch the needed resources, and check one member of each expanded reply.

        A member in an expanded reply must have all properties of the same resource fetched alone. If one check fails,
        all expanded replies of this round are discarded, and the resources are fetched without $expand.
        """
        brought = self._batch(sorted(todo), pending, {uri for uri in todo if self._whole(uri, wanted=todo[uri])})
        if self.query is not None:
            proofs = {uri: expand.proof(found.members, self.bodies) for uri, found in brought.items()}
            self._batch(sorted({proof for proof in proofs.values() if proof is not None}), pending)
            proven = all(p is None or self._proven(brought[uri].members[p], p) for uri, p in proofs.items())
            if proven and self._complete(brought):
                for uri, found in brought.items():
                    self._keep(uri, found)
                return
        for uri in brought:
            self._doubt(uri)

    def _complete(self, brought: Mapping[str, expand.Brought]) -> bool:
        """Compare one expanded collection of at least LARGE members with the same collection fetched plain.

        Returns false if the plain collection cannot be read, or lists other members than the expanded one.
        """
        uri = max(brought, key=lambda each: len(brought[each].members), default="")
        if self.complete or not uri or len(brought[uri].members) < expand.LARGE:
            return True
        plain = self.session.fetch(uri)
        self.complete = isinstance(plain, Mapping) and expand.lists(uri, plain, brought[uri].members)
        return self.complete

    def _whole(self, uri: str, *, wanted: bool) -> bool:
        return (wanted and "?" not in uri and expand.allowed(uri)) or uri in self.pages

    def _proven(self, member: Body, uri: str) -> bool:
        alone = self.bodies[uri]
        return isinstance(alone, Mapping) and expand.whole(member, alone)

    def _keep(self, uri: str, found: expand.Brought) -> None:
        """Store the collection and the members from an expanded reply.

        Members with a `DateTime` are not stored but fetched alone later, because the time in a slow reply is outdated.
        """
        self.bodies[uri] = found.collection
        if found.following is not None and expand.allowed(found.following):
            self.pages.add(found.following)
        for place, member in found.members.items():
            if "DateTime" not in member:
                self.bodies.setdefault(place, member)
            self.session.spelt.setdefault(place.casefold(), place)

    def _doubt(self, uri: str) -> None:
        """Stop using $expand on this BMC; the expanded reply for this URI is discarded, and its size is not counted."""
        self.query = None
        self.session.load.forget(uri)

    def _batch(
        self, uris: Iterable[str], pending: set[Future[Any]], whole: Iterable[str] = ()
    ) -> dict[str, expand.Brought]:
        """Fetch the resources in `uris`; those that are also in `whole` are fetched with $expand.

        Returns the expanded replies, which the caller must check and store; all other replies are already stored.
        """
        queue = deque(uris)
        asked: dict[Future[Any], str] = {}
        tried: dict[Future[Any], str] = {}
        brought: dict[str, expand.Brought] = {}
        while queue or pending:
            while queue and len(pending) < self.session.width:
                uri = queue.popleft()
                if self.session.over is not None:
                    self.bodies[uri] = self.session.over
                    continue
                if self.query is not None and uri in whole:
                    future = self.pool.submit(self.session.attempt, uri, expand.expanded_uri(uri, self.query))
                    tried[future] = uri
                else:
                    future = self.pool.submit(self.session.fetch, uri)
                    asked[future] = uri
                pending.add(future)
            for future in self._watch(pending):
                if future in asked:
                    self.bodies[asked[future]] = future.result()
                elif future in tried:
                    body = future.result()
                    found = None if isinstance(body, Unknown) else expand.brought(tried[future], body)
                    if found is None:
                        self._doubt(tried[future])
                    else:
                        brought[tried[future]] = found
        return brought

    def _watch(self, pending: set[Future[Any]]) -> set[Future[Any]]:
        """Wait until a request is done, and abort slow requests.

        Finished requests are removed from `pending` and returned.
        """
        done: set[Future[Any]] = set()
        while pending and not done:
            left = self.session.until - time.monotonic()
            poll = POLL if left < math.inf else ENTRY_POLL  # without a deadline, the visit waits for memory
            done, _ = wait(pending, max(0.01, min(poll, left)), FIRST_COMPLETED)
            self.session.wire.tend()
            if self.session.over is None and self.stop.is_set():
                self.session.end(INTERRUPTED)
            elif self.session.over is None and left <= 0:
                seconds = self.session.limits.deadline
                self.session.end(Unknown(Reason.TIMEOUT, f"the deadline of {seconds:g} s for this BMC has passed"))
        pending -= done
        return done
