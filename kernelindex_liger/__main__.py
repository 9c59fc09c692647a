"""`python -m kernelindex_liger` is `ligerimport`."""

from kernelindex_liger.cli import main

main()
