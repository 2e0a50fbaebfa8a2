"""COUNT queries over a release, from its published files alone: predicates, estimators, workloads."""
