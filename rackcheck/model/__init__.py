"""Values that all rooms share: facts, paths, units, versions, captures, profiles. Pure: nothing here opens a file."""
