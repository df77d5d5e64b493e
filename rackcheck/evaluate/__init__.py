"""Verdicts: rules on facts, selections, consensus, the effect of waivers."""
