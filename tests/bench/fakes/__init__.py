"""Fake kernels for worker processes: no torch, no GPU. The table of a fake run is this module."""

MODULES = {"steady": "kernels", "faulty": "kernels", "probed": "kernels"}
