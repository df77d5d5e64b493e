"""Queries the node's GPUs with NVML, one query at a time.

NVML is only read: nothing is set, cleared or written. Values that a GPU does not report are omitted, and a query that
NVML refused is not sent again.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_files import node_text
    from rackcheck.burnin.node.nvml_about import nvml_about
    from rackcheck.burnin.node.nvml_driver import nvml_on_bus, nvml_unasked, nvml_why

GPUS_MOST = 64
"""Maximum number of GPUs that are queried."""
LATE_AFTER = 1.0
"""Seconds after which an answer from NVML counts as late."""
UNKNOWN_MOST = 3
"""A GPU that answered before counts as lost after this many `unknown error` answers in a row."""

NVML_KINDS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


class Gpus:
    """The node's NVIDIA GPUs, by NVML index.

    `nvml` is pynvml, or None; `root` is prepended to the paths /proc, /sys and /dev. `troubles` lists the reasons why
    values of the node or of a GPU are missing. `asking` is the query in progress, as (index, name of the function,
    start). `progress(doing, index)` is called before a GPU is opened or described.
    """

    def __init__(self, nvml: "Any", emit: "Any", clock: "Any", root: "str" = "", progress: "Any" = None) -> "None":
        self.nvml, self.root = nvml, root
        self._progress = progress or (lambda _doing, _index: None)
        self._emit, self._clock = emit, clock
        self.handles: Any = {}
        self.lost: Any = {}
        self.places: Any = {}
        self.slowdown: Any = {}
        self.memory_slowdown: Any = {}
        self.slowdown_margin: Any = {}
        self.memory_margin: Any = {}
        self.margin_read: Any = set()
        self.links_counted: Any = {}
        self.troubles: Any = []
        self.asking: Any = None
        self._aloud = False
        self._answered: Any = set()
        self._refused: Any = {}
        self._unknown: Any = {}
        self._reported: Any = {}
        self._open()

    def _open(self) -> "None":
        """Initialise NVML and open the GPUs, unless initialising NVML could load a driver."""
        on_bus, why = nvml_on_bus(self.root), nvml_unasked(self.nvml, self.root)
        if why:
            if on_bus != 0:
                self.troubles.append({"of": "node", "why": why})
            return
        nvml = self.nvml
        try:
            nvml.nvmlInit()
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as error:
            self.troubles.append({"of": "node", "why": nvml_why(nvml, error)})
            return
        if on_bus is not None and on_bus > count:
            why = f"no driver: {on_bus} NVIDIA GPUs on the PCI bus, NVML reports {count}"
            self.troubles.append({"of": "node", "why": why})
        for index in range(min(count, GPUS_MOST)):
            self._progress("open", index)
            try:
                self.handles[index] = nvml.nvmlDeviceGetHandleByIndex(index)
            except nvml.NVMLError as error:
                if error.value == nvml.NVML_ERROR_GPU_IS_LOST:
                    self.lost[index] = f"NVML: {error}"
                self.troubles.append({"of": f"gpu/{index}", "why": nvml_why(nvml, error)})

    def begin(self) -> "None":
        """Report errors as records from now on, because `troubles` has been sent; report GPUs that are already lost."""
        self._aloud = True
        for index in sorted(self.lost):
            self.error(index, "lost", said=self.lost[index])

    def error(self, index: "int", name: "str", **more: "Any") -> "None":
        """Report a finding of one GPU."""
        self._emit("error", of=f"gpu/{index}", stage="", name=name, **more)

    def alive(self) -> "Any":
        """Return the indices of the GPUs that can be queried."""
        return [index for index in sorted(self.handles) if index not in self.lost]

    def ask(self, index: "int", question: "Any", *given: "Any") -> "Any":
        """Query one value of a GPU; None if the GPU does not report it."""
        name = question.__name__
        if index in self.lost or (index, name, given) in self._refused:
            return None
        began = self._clock()
        self.asking = (index, name, began)
        try:
            value = question(self.handles[index], *given)
        except self.nvml.NVMLError as error:
            if self._refuses(index, name, error):
                self._refused[index, name, given] = error.value
            return None
        except Exception:  # noqa: BLE001  a bug in pynvml affects only this value
            self._refused[index, name, given] = None
            return None
        finally:
            self.asking = None
            took = self._clock() - began
            if self._aloud and took > max(LATE_AFTER, 2 * self._reported.get((index, name), 0)):
                self._reported[index, name] = took
                self.error(index, "late", said=f"{name} took {took:.1f} s")
        self._answered.add(index)
        self._unknown[index] = 0
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def _refuses(self, index: "int", name: "str", error: "Any") -> "bool":
        """Handle an NVML error; return whether NVML refuses this query, so that it is not sent again."""
        nvml, code = self.nvml, error.value
        if code in (
            nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND, nvml.NVML_ERROR_INVALID_ARGUMENT,
            nvml.NVML_ERROR_NO_PERMISSION, nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvml.NVML_ERROR_DEPRECATED,
            nvml.NVML_ERROR_VGPU_ECC_NOT_SUPPORTED,
        ):  # fmt: skip
            return True
        if code == nvml.NVML_ERROR_UNKNOWN:
            self._unknown[index] = self._unknown.get(index, 0) + 1
        known = index in self._answered
        if code == nvml.NVML_ERROR_GPU_IS_LOST or (known and self._unknown.get(index, 0) >= UNKNOWN_MOST):
            self._lose(index, f"NVML: {error}")
        elif self._aloud and (index, code) not in self._reported:
            self._reported[index, code] = 0
            self.error(index, "nvml", code=code, said=f"{name}: {error}")
        return False

    def _lose(self, index: "int", message: "str") -> "None":
        """Mark a GPU as lost: no more queries are sent to it."""
        if index not in self.lost:
            self.lost[index] = message
            if self._aloud:
                self.error(index, "lost", said=message)
            else:
                self.troubles.append({"of": f"gpu/{index}", "why": f"lost: {message}"})

    def fields(self, index: "int", asked: "Any") -> "Any":
        """Query several numbered fields in one call; return the values by field, without fields that have no value.

        `asked` lists the fields as pairs (field number of NVML, scope).
        """
        left = tuple(each for each in asked if (index, "field", each) not in self._refused)
        found = {}
        for each, field in zip(left, (self.ask(index, self.nvml.nvmlDeviceGetFieldValues, left) or ()) if left else ()):  # noqa: B905
            if not field.nvmlReturn:
                found[each] = getattr(field.value, NVML_KINDS[field.valueType])
            elif self._refuses(index, f"field {each[0]}", self.nvml.NVMLError(field.nvmlReturn)):
                self._refused[index, "field", each] = field.nvmlReturn
        return found

    def unsupported(self, index: "int", question: "Any", *given: "Any") -> "bool":
        """Return whether NVML reported that this GPU does not support a query."""
        refused = self._refused.get((index, question.__name__, given))
        return self.nvml is not None and refused == self.nvml.NVML_ERROR_NOT_SUPPORTED

    def hello(self) -> "Any":
        """Return a description of each GPU, by its NVML index as text; lost GPUs are only listed in `troubles`."""
        found = {}
        for index in self.alive():
            self._progress("describe", index)
            found[str(index)] = nvml_about(self, index)
        self._progress("", 0)
        return {str(index): found[str(index)] for index in self.alive()}

    def foreign(self, mine: "Any") -> "Any":
        """Return the other processes on each GPU in use: {0: "pid 123 (python3)"}; processes in `mine` are left out.

        Query the processes only before the load, because the query takes milliseconds and holds a lock of the whole
        driver. A GPU that does not report its processes is added to `troubles`.
        """
        nvml, found = self.nvml, {}
        for index in self.alive():
            self._progress("describe", index)
            running = self.ask(index, nvml.nvmlDeviceGetComputeRunningProcesses_v3)
            if running is None:
                running = self.ask(index, nvml.nvmlDeviceGetComputeRunningProcesses_v2)
            if running is None:
                why = "unsupported: NVML does not report whether other processes use the GPU"
                self.troubles.append({"of": f"gpu/{index}", "why": why})
            else:
                who = [self._process(pid) for pid in sorted({each.pid for each in running} - set(mine))]
                if who:
                    found[index] = ", ".join(who[:4]) + (f" and {len(who) - 4} more" if len(who) > 4 else "")
        self._progress("", 0)
        return found

    def _process(self, pid: "int") -> "str":
        name = node_text(f"{self.root}/proc/{pid}/comm")
        return f"pid {pid} ({name})" if name else f"pid {pid}"
