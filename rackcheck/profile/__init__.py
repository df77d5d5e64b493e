"""Reads, checks, merges, compiles and explains profiles of rules."""
