"""Named sets whose true kinds are known, for simulation and benchmarks."""
