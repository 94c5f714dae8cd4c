"""How a program that runs inside an agent's session shows: the variables agents set for their children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MARKERS: Final = {
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "GEMINI_CLI": "Gemini CLI",
    "QWEN_CODE": "Qwen Code",
    "CURSOR_AGENT": "Cursor",
    "OPENCODE": "opencode",
    "GOOSE_TERMINAL": "goose",
    "COPILOT_CLI": "Copilot CLI",
    "AMP_CURRENT_THREAD_ID": "Amp",
    "AI_AGENT": "an agent",
}
"""Variable to the agent that sets it. A person's own shell has none of them."""


def running_agent(environment: Mapping[str, str]) -> str:
    """The agent whose session this process is in, or an empty string."""
    return next((agent for variable, agent in MARKERS.items() if environment.get(variable)), "")
