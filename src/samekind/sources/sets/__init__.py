"""Named sets whose kinds are known, for simulation and benchmarks."""
