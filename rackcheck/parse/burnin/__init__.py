"""Evaluation of a burn-in: its records are read, its figures compared among peers. Pure."""
