"""Runs kept night after night, and the judgement of what got slower.

`store` keeps runs as append-only Parquet parts, `judge` compares the newest run of each machine with the runs
before it, `pair` compares two inputs without a history. Nothing here prints.
"""
