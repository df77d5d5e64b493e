"""Evaluates a burn-in: parses its records and compares the measured values of peers. Pure."""
