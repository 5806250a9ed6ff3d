"""The database as it stands: plain SQL, in one transaction, on SQLite and on PostgreSQL."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import psycopg
from psycopg.rows import dict_row

Row = dict[str, Any]
SQLITE = "sqlite:///"
TABLES = {
    "projects": "SELECT id, slug FROM eagle3web_project",
    "runs": "SELECT id, project_id, stage, status, tokens, loss, devices FROM eagle3web_run",
    "attempts": (
        "SELECT id, run_id, number, status, reason, host, boot_id, folder, supervisor_pid, supervisor_started, pid,"
        " pid_started, config, counters, last_seq, log_bytes, summary FROM eagle3web_attempt"
    ),
    "transitions": "SELECT run_id, attempt_id, old, new FROM eagle3web_transition ORDER BY id",
    "datasets": "SELECT attempt_id, dataset, state, done, errors, tokens, in_flight FROM eagle3web_datasetprogress",
    "leases": "SELECT device, attempt_id FROM eagle3web_lease",
    "answers": 'SELECT project_id, dataset, "key", scope, error, part, "offset", size FROM eagle3web_answer',
    "checkpoints": "SELECT run_id, path, best, removed_at FROM eagle3web_checkpoint",
    "points": (
        "SELECT attempt_id, name, series, COUNT(*) AS points, COUNT(DISTINCT t) AS moments FROM eagle3web_metricpoint"
        " GROUP BY attempt_id, name, series"
    ),
    "charted": (
        "SELECT attempt_id, series, value FROM eagle3web_metricpoint WHERE name = 'tokens' AND id IN"
        " (SELECT MAX(id) FROM eagle3web_metricpoint GROUP BY attempt_id, name, series)"
    ),
}
EVENTS = "SELECT attempt_id, seq, kind, payload FROM eagle3web_event WHERE attempt_id IN ({}) ORDER BY attempt_id, seq"
LOGS = 'SELECT attempt_id, "offset", data FROM eagle3web_logchunk WHERE attempt_id IN ({}) ORDER BY attempt_id, "offset"'
JSON_COLUMNS = ("config", "counters", "summary", "payload", "devices")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Every table that the checker looks at, as of one moment."""

    projects: list[Row]
    runs: list[Row]
    attempts: list[Row]
    transitions: list[Row]
    datasets: list[Row]
    leases: list[Row]
    answers: list[Row]
    checkpoints: list[Row]
    points: list[Row]
    charted: list[Row]
    """The last point of each dataset's line of tokens."""
    events: list[Row]
    """Of the attempts that were asked for, by number."""
    logs: list[Row]
    """Pieces of the logs of those attempts, by place."""

    def of(self, attempt: Row, table: Sequence[Row]) -> list[Row]:
        """The rows of a table that belong to one attempt."""
        return [row for row in table if row["attempt_id"] == attempt["id"]]


def read_rows(url: str, *, sealed: Sequence[int] = ()) -> Rows:
    """Read everything but the events and logs of the attempts in `sealed`. `url` is a DATABASE_URL."""
    if url.startswith(SQLITE):
        with closing(sqlite3.connect(f"file:{url.removeprefix(SQLITE)}?mode=ro", uri=True, timeout=30)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("BEGIN")
            return _read(connection, sealed)
    with psycopg.connect(unquote(url), row_factory=dict_row) as server:
        server.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return _read(server, sealed)


def _read(connection: Any, sealed: Sequence[int]) -> Rows:  # noqa: ANN401  (of sqlite3 or of psycopg)
    tables = {name: _rows(connection, sql) for name, sql in TABLES.items()}
    wanted = ",".join(str(row["id"]) for row in tables["attempts"] if row["id"] not in sealed) or "0"
    return Rows(**tables, events=_rows(connection, EVENTS.format(wanted)), logs=_rows(connection, LOGS.format(wanted)))


def _rows(connection: Any, sql: str) -> list[Row]:  # noqa: ANN401
    return [_plain(dict(row)) for row in connection.execute(sql).fetchall()]


def _plain(row: Row) -> Row:
    for name in JSON_COLUMNS:
        if isinstance(row.get(name), str):
            row[name] = json.loads(row[name])
    return row
