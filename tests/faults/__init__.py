"""What is left when a write fails, the process is killed, the disk is full: never half a file, and a rerun mends it."""
