"""Whether permission bits mean anything to this process."""

from __future__ import annotations

import os
from pathlib import Path


def bits_count() -> bool:
    """False for root with its powers. `scripts/as-user.sh` takes them away, and then they count for root too."""
    if os.name != "posix" or os.geteuid() != 0:
        return os.name == "posix"
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return False
    effective = next(
        (line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "ffffffffffffffff"
    )
    return not int(effective, 16) & 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


NEEDS_BITS = "run by scripts/as-user.sh: permission bits do not exist for root"
