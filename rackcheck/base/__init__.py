"""What every folder may use: errors, state folders, bounded reading of files, names."""
