"""`make conformance`: run both requirement sets through the gateway and print the table."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.conformance import suite
from tests.conformance.through import everything, gateway


def row(target: str, revision: str, found: tuple[suite.Scenario, ...]) -> str:
    """One line of the table."""
    scored = [one for one in found if one.scored]
    others = [one for one in found if not one.scored]
    passing = [one for one in scored if one.passes]
    checks = sum(one.passed for one in scored), sum(one.passed + one.failed for one in scored)
    rest = f"{sum(one.passes for one in others)}/{len(others)}"
    return f"| {target} | {revision} | {len(passing)}/{len(scored)} | {checks[0]}/{checks[1]} | {rest} |"


async def main(results: Path) -> int:
    """Print the table and what fails; 1 when a scored scenario fails through the gateway."""
    suite.install()
    print(
        "| target | revision | scored scenarios | their checks | unscored scenarios |\n| --- | --- | --- | --- | --- |"
    )
    failing: list[suite.Scenario] = []
    with everything() as url:
        for revision in suite.REVISIONS:
            print(row("direct", revision, await suite.run(url, revision, results / f"direct-{revision}")), flush=True)
    async with gateway() as url:
        for revision in suite.REVISIONS:
            found = await suite.run(url, revision, results / revision)
            print(row("through the gateway", revision, found), flush=True)
            failing += [one for one in found if not one.passes]
    for one in failing:
        print(f"\n{one.name}{'' if one.scored else ' (not scored)'}: {one.passed} passed, {one.failed} failed")
        print("\n".join(f"  {message[:300]}" for message in one.messages))
    return int(any(one.scored for one in failing))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder))))
