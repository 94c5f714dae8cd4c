"""The web console: one page about the running gateway, and the API it reads. All it knows comes through `desk.Desk`."""
