"""Measure, print, write `bench/results/<date>.json`."""

from __future__ import annotations

import datetime as dt
import json
import platform
from dataclasses import asdict
from pathlib import Path

import homeport
from bench import calling, declarations, starting
from bench.measure import Result, workplace
from bench.place import prepared


def main() -> None:
    """Every row, as it is measured."""
    rows: list[Result] = []
    print(f"{'':52} {'value':>12}  {'ratio':>8}  goal")
    with workplace() as folder, prepared(folder) as place:
        for module in (starting, declarations, calling):
            for row in module.results(place):
                rows.append(row)
                ratio = f"{row.ratio:8.2f}" if row.ratio is not None else " " * 8
                against = f"  (against {row.against})" if row.against else ""
                print(f"{row.name:52} {row.value:9.1f} {row.unit:3} {ratio}  {row.goal}{against}", flush=True)
    target = Path(__file__).parent / "results" / f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H%M%S}.json"
    target.parent.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "system": platform.platform(), "homeport": homeport.__version__}
    target.write_text(json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}, indent=2) + "\n")
    print(f"\nwritten: {target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}")


if __name__ == "__main__":
    main()
