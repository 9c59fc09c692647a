"""Plain PyTorch implementations that Liger's kernels are compared with; written for this project."""
