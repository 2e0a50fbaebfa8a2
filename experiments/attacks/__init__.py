"""Section 7's attacks on releases of CENSUS and Adult: the figures of docs/explanation/attacks.md."""
