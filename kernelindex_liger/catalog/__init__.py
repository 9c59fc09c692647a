"""What is known: curated facts as TOML, and the models that load and check them."""

from kernelindex_liger.catalog.catalog import EDITIONS, Catalog, Kernel
from kernelindex_liger.catalog.load import CatalogError, load

__all__ = ["EDITIONS", "Catalog", "CatalogError", "Kernel", "load"]
