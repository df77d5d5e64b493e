"""Probes of a site, as the guide for authors shows them."""
