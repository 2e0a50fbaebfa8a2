"""A local web page: from a table to a verified release without a terminal. It parses, calls and shows."""
