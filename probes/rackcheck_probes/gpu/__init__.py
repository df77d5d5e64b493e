"""Probes of NVIDIA GPUs, their driver and their fabric."""
