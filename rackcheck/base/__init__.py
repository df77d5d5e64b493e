"""What every room may use: errors, state folders, bounded reading of files, names."""
