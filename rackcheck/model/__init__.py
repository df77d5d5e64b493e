"""Values shared by all folders: facts, paths, units, versions, captures, profiles. Pure: nothing here opens a file."""
