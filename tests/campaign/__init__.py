"""Random plans and releases, each checked by code that shares nothing with betalike.

`python -m tests.campaign --hours 1` runs on and keeps each failing seed; a small share of it is in `make test`.
What judges (`bounds`, `promises`, `people`, `figures`, `risks`, `statement`, `value_ranges`, `matching`, `reading`,
`exact_rows`, `checker`) imports nothing of betalike; only `publishing` and `plans` call it.
"""
