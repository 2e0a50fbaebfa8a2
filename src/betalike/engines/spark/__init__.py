"""The engine on Spark: counts come to the driver, rows never do."""
