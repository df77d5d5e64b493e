"""Whether cloud-init has finished."""

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, flag, integer, probe
from rackcheck.model.text import json_text

BEGUN, ENDED = "/run/cloud-init/status.json", "/run/cloud-init/result.json"


def errors(content: str) -> int:
    """Count the errors of all stages in cloud-init's result."""
    try:
        document = json_text.loaded(content)
        found = document["v1"]["errors"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreadable(f"not a result of cloud-init: {content[:80]!r}") from None
    if not isinstance(found, list):
        raise Unreadable("`errors` in cloud-init's result is not a list")
    return len(found)


@probe(
    Read(BEGUN, ENDED),
    gives={
        "os.cloud_init.finished": flag("Whether cloud-init finished in this boot; absent if it did not start."),
        "os.cloud_init.errors": integer("Errors that cloud-init reports."),
    },
)
def cloud_init(files: Files) -> Facts:
    """Read the result file of cloud-init, which cloud-init writes when it ends."""
    if files.has(BEGUN) or files.has(ENDED):
        yield "os.cloud_init.finished", Sourced(files.has(ENDED), ENDED)
    else:
        yield "os.cloud_init.finished", Sourced(Absent("cloud-init has not run in this boot"), BEGUN)
    yield "os.cloud_init.errors", files.read(ENDED, errors)
