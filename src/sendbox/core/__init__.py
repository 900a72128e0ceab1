"""The pure core: worlds, lifecycles, timeline, clock and identity. No I/O, no wall clock, no unseeded randomness."""
