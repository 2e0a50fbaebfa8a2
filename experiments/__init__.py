"""The paper's evaluation, made anew: one file for each figure or table. `make experiments` runs them all."""
