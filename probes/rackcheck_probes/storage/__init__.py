"""Probes of disks, filesystems and mounts."""
