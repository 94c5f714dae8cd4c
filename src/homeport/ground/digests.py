"""Digests as this product writes them: `sha256:<64 hex>`."""

from __future__ import annotations

import hashlib
import hmac

from homeport.ground.exact import Json, canonical


def of_bytes(data: bytes) -> str:
    """`sha256:…` over the bytes as they are."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def of_json(value: Json) -> str:
    """`sha256:…` over the canonical form: independent of member order, blanks and number spelling."""
    return of_bytes(canonical(value))


def keyed(key: bytes, data: bytes) -> str:
    """`hmac:…`, for values whose digest must not be guessable from outside (arguments in the audit trail)."""
    return f"hmac:{hmac.digest(key, data, 'sha256').hex()[:32]}"
