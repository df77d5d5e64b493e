"""Parsers for disks, filesystems and mounts."""
