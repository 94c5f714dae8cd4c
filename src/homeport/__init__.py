"""Homeport: which MCP servers an agent may use here, pinned, granted, behind one endpoint."""

__version__ = "0.1.0"
