"""Pictures and pages of a release, for people."""
