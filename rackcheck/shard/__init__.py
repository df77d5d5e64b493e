"""Audits in parts: a plan is divided into shards, each is asked elsewhere, and the results are merged and judged."""
