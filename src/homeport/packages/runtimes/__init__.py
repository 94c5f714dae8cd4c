"""Programs from PyPI and npm: resolved once for every platform, installed isolated and hash-checked, not built."""
