"""The index of runs: an SQLite file built from the folders of runs, for queries over many runs.

The folders of the runs are authoritative. No verdict depends on the index, and `rackcheck runs rebuild` builds it again
from scratch.
"""
