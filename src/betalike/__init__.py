"""Publish microdata so that nobody's secret becomes more than beta times likelier, and prove it."""
