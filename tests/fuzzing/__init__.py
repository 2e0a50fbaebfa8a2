"""Fuzzing of every parser: seeded mutations, a judge of what each input led to, and a campaign over many inputs."""
