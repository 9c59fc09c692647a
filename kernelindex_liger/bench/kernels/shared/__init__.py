"""What several kernel modules have in common: sizes, inputs, sweeps and caveats, each written once."""
