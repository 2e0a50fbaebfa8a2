"""The paper's evaluation, repeated: one file for each figure or table. `make experiments` runs them all."""
