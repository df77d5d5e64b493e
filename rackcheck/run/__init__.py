"""Runs: jobs, events, judging, stored forms, the index of runs."""
