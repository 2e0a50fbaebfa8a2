"""The commands: those about a release in one file, the others in one each."""
