"""Runs: parameters, events, judging, storage, and the index of runs."""
