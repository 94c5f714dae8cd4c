"""`homeport token`: the profile tokens of a project."""

from __future__ import annotations

from homeport.gateway.auth import Tokens
from homeport.ground.errors import InvalidInput
from homeport.ground.paths import project_key
from homeport.ground.secrets import Secret
from homeport.ops.context import Context, Question
from homeport.project import parse


def token(context: Context, profile: str, *, rotate: bool = False) -> Secret:
    """A profile's token. Raises `InvalidInput` for an unknown profile, `Refused` when a new one was declined."""
    root = context.root().resolve()
    project = parse.load(root)
    if profile not in project.profiles and profile != "default":
        known = ", ".join(project.profiles) or "default"
        raise InvalidInput(f"there is no profile {profile!r}", code="profile.unknown", remedy=f"known here: {known}")
    tokens = Tokens(context.paths.state / "tokens" / f"{project_key(root)}.json")
    if not rotate:
        return tokens.token(profile)
    details = ("every agent that has the old one is shut out until it gets the new one",)
    context.consent.agree(Question(f"a new token for the profile {profile}", details, "homeport token --rotate"))
    return tokens.rotate(profile)
