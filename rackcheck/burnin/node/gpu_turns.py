# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Decides, on the node, when the GPUs' own processes wait, and which pairs of GPUs are copied between meanwhile.

Each GPU's process waits after its copies to the host. When all wait, one process copies between the GPUs, in rounds in
which no GPU is in two pairs. If this process ends because of one pair, another process goes on with the other pairs.
"""

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Set, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.gpu_bench import GPU_WARM
    from rackcheck.burnin.node.gpu_truth import gpu_pairs, gpu_slots

GPU_WAIT = 10.0
"""Seconds for which the first GPU waits for the others, at most; the GPUs that are later are in no pair. A choice."""

GPU_PEERS = 15.0
"""Seconds that copies between GPUs may take longer than planned: to start the process, or after a hang. A choice."""

GPU_BAD_PAIRS = 2
"""Number of pairs with faults, with different GPUs, after which no further pair of a GPU is tested."""

GpuPair = Tuple[int, int]


class GpuTurns:
    """The turns of one node's GPUs; `gpus` are those that may be tested, and `stages` is the number of stages `links`.

    `emit` writes a record. Every pair gets a record in each stage `links`: from the process that copied, or from here.
    """

    def __init__(
        self, plan: Dict[str, Any], gpus: Iterable[int], stages: int, emit: Callable[..., None],
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._gpus, self._stages, self._emit, self._clock = sorted(gpus), stages, emit, clock
        self._warm = float(plan.get("warm", GPU_WARM))
        self._wait, self._more = float(plan.get("wait", GPU_WAIT)), float(plan.get("peers", GPU_PEERS))
        self._waiting: Dict[int, float] = {}
        self.out: Dict[int, str] = {}
        self._skipped: Dict[int, str] = {}
        self._unable: Set[int] = set()
        self._late: Set[int] = set()
        self._free: List[int] = []
        self._todo: List[GpuPair] = []
        self._users: List[int] = []
        self._round: List[GpuPair] = []
        self._bad: Dict[int, Set[int]] = {}
        self._copying = self._ordered = self._alone = self._named = self._over = False
        self._since = self._until = self._limit = 0.0
        self._dead = self._crash = self._last_error = ""
        self._last_name = self._crash_name = "crash"
        self._deaths = 0

    @property
    def needed(self) -> bool:
        """Whether a process that copies between GPUs is needed."""
        return self._stages > 0 and len(self._gpus) > 1 and not self._dead

    def received(self, word: Dict[str, Any]) -> None:
        """Handle a message of a GPU's process (`turn`), or of the process that copies."""
        self._named = self._named or "ends" in word
        if word.get("turn") == "links" and word["index"] in self._late:
            self._late.remove(word["index"])
            self._skipped.pop(word["index"], None)
            self._free.append(word["index"])
        elif word.get("turn") == "links":
            self._since = self._since if self._waiting else self._clock()
            self._waiting[word["index"]] = word["until"]
        elif word.get("turn") == "unable":
            self._unable.add(word["index"])
        elif "round" in word:
            self._round = [(pair[0], pair[1]) for pair in word["round"]]
        elif "pair" in word:
            self._pair_ended((word["pair"][0], word["pair"][1]), word.get("why", ""))
        elif "out" in word:
            self.leave_out(word["out"], word["why"])
        elif "skip" in word:  # only in this stage `links`
            self._skipped[word["skip"]] = word["why"]
        elif "dead" in word:
            self._dead = word["dead"]
        elif "crash" in word:
            self._last_error = word["crash"]
        elif "hung" in word:
            self._last_error, self._last_name = word["hung"], "hang"

    def _pair_ended(self, pair: GpuPair, why: str) -> None:
        self._round = [each for each in self._round if each != pair]
        if not why:
            self._todo = [each for each in self._todo if each != pair]
            return
        if self._alone:  # this pair ended the process before, when several were under way
            self._crash = ""
        self._drop([pair], why)
        for index, other in (pair, pair[::-1]):
            self._bad.setdefault(index, set()).add(other)
            if len(self._bad[index]) == GPU_BAD_PAIRS:
                self.leave_out(index, "lost: copies between gpu/%d and %d other GPUs failed" % (index, GPU_BAD_PAIRS))

    def leave_out(self, index: int, why: str) -> bool:
        """Copy no more to or from a GPU; return whether the process that copies must be stopped for this.

        A process that has its order would also copy in the rounds that are left.
        """
        self.out.setdefault(index, why)
        copies = self._ordered and any(index in pair for pair in (*self._round, *self._todo))
        self._drop([pair for pair in self._todo if index in pair], why)
        return copies

    def stopped(self) -> None:
        """Note that the process that copies was stopped, so that its end is no fault."""
        self._named = True

    def _drop(self, pairs: Iterable[GpuPair], why: str) -> None:
        for pair in list(pairs):
            self._todo = [each for each in self._todo if each != pair]
            for way in (pair, pair[::-1]):
                self._emit("stage", of="peer/%d-%d" % way, stage="links", test="", status="not tested", why=why)

    def killed(self, why: str) -> None:
        """Note that another process ended the process that copies, which is no fault; no further pair is tested."""
        self._dead = self._dead or why
        self.stopped()

    def ended(self, error: str) -> None:
        """Note that the process that copies has ended; `error` is how, if it did not report why.

        If several pairs were under way, none is named: the next process copies between one pair at a time.
        """
        error, self._last_error, self._ordered = self._last_error or error, "", False
        name, self._last_name = self._last_name, "crash"
        if not self._named and self._copying and self._todo:
            suspects = [pair for pair in self._round if pair in self._todo]
            if len(suspects) == 1:
                pair, self._crash = suspects[0], ""
                self._emit("error", of="peer/%d-%d" % pair, stage="links", test="copy", name=name, said=error)
                self._pair_ended(pair, "lost: %s" % error)
            else:  # one pair at a time shows which one it was
                self._crash_name = self._crash_name if self._crash else name
                self._alone, self._crash, self._deaths = True, self._crash or error, self._deaths + 1
                self._limit = max(self._limit, self._clock() + self._more + 2 * self._warm * len(self._todo))
                if self._deaths > 1 and not suspects:
                    self._dead = "lost: %s" % error
        self._round, self._named = [], False

    def step(self, alive: Set[int], running: bool) -> List[Tuple[str, Any]]:
        """Return what must be done now, each with its argument, in order.

        `start`, `stop` the process that copies; `copy`, `end`: send it an order; `go`: let these GPUs' own processes go
        on.
        `alive` are the GPUs whose own process runs, `running` is whether the process that copies runs.
        """
        does: List[Tuple[str, Any]] = [("go", self._free)] if self._free else []
        self._free = []
        ready = alive <= set(self._waiting) or self._clock() - self._since > self._wait
        if not self._copying and self._waiting and ready:
            self._begin(alive)
        if self._copying:
            late = self._clock() > self._limit
            if late and self._todo and running and self._ordered:
                self.stopped()
                does.append(("stop", None))
            if self._dead or late:
                self._drop(self._todo, self._dead or "under-loaded: the time limit of the copies was reached")
            if not self._todo:
                self._copying = False
                self._stages -= 1
                does.append(("go", sorted(self._waiting)))
                self._waiting, self._skipped = {}, {}
                if self._crash:
                    self._emit("error", of="node", stage="links", test="copy", name=self._crash_name, said=self._crash)
                    self._crash = ""
            elif not running:
                does.append(("start", sorted(self.out)))
            elif not self._ordered:
                self._ordered = True
                does.append(("copy", {"rounds": self._rounds(), "until": self._until}))
        if running and not self._copying and not self._over and (not alive or self._stages < 1):
            self._over = True
            does.append(("end", None))
        return does

    def _begin(self, alive: Set[int]) -> None:
        """Begin the copies; a pair with a GPU that does not wait is not tested."""
        self._copying, self._ordered, self._alone = True, False, False
        self._late = alive - set(self._waiting)
        out = {**self._skipped, **self.out}
        self._users = [index for index in sorted(self._waiting) if index in alive and index not in out]
        known = [index for index in self._gpus if index not in self._unable]
        pairs = [(a, b) for a in known for b in known if a < b]
        for pair in pairs:
            missing = [index for index in pair if index not in self._users]
            if missing:
                late = "under-loaded: gpu/%d was not ready for copies in time" % missing[0]
                gone = "lost: gpu/%d was not tested any further" % missing[0]
                self._drop([pair], out.get(missing[0], late if missing[0] in alive else gone))
        self._todo = [pair for pair in pairs if set(pair) <= set(self._users)]
        failed = [pair for pair in self._todo if pair[1] in self._bad.get(pair[0], ())]
        self._drop(failed, "lost: a copy between these GPUs failed before")
        self._until = min(self._waiting.values())
        now, count = self._clock(), gpu_slots(len(self._users))
        self._limit = max(now, self._until) + self._more + 2 * self._warm * count

    def _rounds(self) -> List[List[GpuPair]]:
        """Return the pairs that are left, in rounds; one pair in a round if it must be found out which one fails."""
        users = self._users
        places = [gpu_pairs(len(users), slot) for slot in range(gpu_slots(len(users)))]
        rounds = [[(users[a], users[b]) for a, b in pairs if (users[a], users[b]) in self._todo] for pairs in places]
        if self._alone:
            return [[pair] for pairs in rounds for pair in pairs]
        return [pairs for pairs in rounds if pairs]

    def close(self, why: str) -> None:
        """Report the pairs that are left at the end of the burn-in as not tested."""
        self._drop(self._todo, why)
