"""Liger-Kernel benchmark results as linked, content-addressed KernelIndex documents."""

__version__ = "0.1.0"
