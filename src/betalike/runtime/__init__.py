"""What every room may use and that knows nothing of tables: randomness, compilation, progress."""
