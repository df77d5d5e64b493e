"""Properties run on the same cases every time, so that red means a change; `make explore` looks for fresh ones."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if os.environ.get("RACKCHECK_EXPLORE") else "same")
