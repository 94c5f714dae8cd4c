"""Errors, digests, secrets, names, paths, limits. Imports the standard library only."""
