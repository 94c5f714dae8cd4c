"""Editors of other programs' config files. Each changes the bytes of our entry and no other byte."""
