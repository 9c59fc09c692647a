"""The runner: what to run, how it is measured, on which device, and the CSV that it merges into.

Nothing here imports torch, triton or liger-kernel at import: planning and listing work without them, and only
a worker process that measures or rehearses loads them.
"""
