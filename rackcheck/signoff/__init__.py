"""Sign-off: acceptances, files of waivers, bills of materials, signing."""
