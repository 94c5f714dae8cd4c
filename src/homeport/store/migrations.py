"""The tables of the embedded store, in the order they came to be. A migration that was released is never changed."""

from __future__ import annotations

import sqlite3
from typing import Final

from homeport.ground.errors import Conflict, Place

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE calls (
        id TEXT PRIMARY KEY,
        ts_ms INTEGER NOT NULL,
        stage TEXT NOT NULL,
        profile TEXT NOT NULL,
        client TEXT NOT NULL,
        edge TEXT NOT NULL,
        session TEXT NOT NULL,
        kind TEXT NOT NULL,
        server TEXT NOT NULL,
        name TEXT NOT NULL,
        decision TEXT NOT NULL,
        project TEXT NOT NULL,
        row TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX calls_by_project ON calls (project, id);
    CREATE INDEX calls_by_server ON calls (server, id);
    CREATE INDEX calls_by_decision ON calls (decision, id);
    CREATE TABLE journal_files (
        name TEXT PRIMARY KEY,
        bytes INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE approvals (
        profile TEXT NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        digest TEXT NOT NULL,
        project TEXT NOT NULL,
        given_by TEXT NOT NULL,
        since_ms INTEGER NOT NULL,
        PRIMARY KEY (profile, server, tool, digest, project)
    ) WITHOUT ROWID;
    """,
)


def migrate(connection: sqlite3.Connection, file: str) -> None:
    """Bring the tables to this version, each step whole or not at all.

    Raises `Conflict` (`store.newer`) for a file of a later Homeport, which is left as it is.
    """
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise Conflict(
            f"this store was written by a newer Homeport (version {version}; this one knows {len(MIGRATIONS)})",
            code="store.newer",
            place=Place(file),
            remedy="use the newer Homeport, or move the file away: it is built anew from the journal",
        )
    for number in range(version, len(MIGRATIONS)):
        _apply(connection, number)


def _apply(connection: sqlite3.Connection, number: int) -> None:
    # IMMEDIATE takes the write lock first: of two processes that start at once one migrates and the other then sees it.
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) == number:
            for statement in MIGRATIONS[number].split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
