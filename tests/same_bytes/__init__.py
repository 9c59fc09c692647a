"""The same input gives the same bytes, whatever the order, the blocks, the machine and the interpreter."""
