"""Sign-off: acceptances, waiver files, bills of materials, signing."""
