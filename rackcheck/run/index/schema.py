"""The tables of the index as a list of migration steps; a file of an older release is migrated to the last step.

Row ids are stored instead of names, so that a node in a run takes about twenty bytes. Rows with a digest are immutable
and shared:

- `part`: facts of one class, shared by any number of nodes and runs. If `base` is set, only the difference from the
part `base` is stored. `unknowns` is the number of unknown facts, and `silent` are the planes without a reply.
- `vector`: all verdicts of a node. `verdict` contains all verdicts except pass, and `listed` the judged rules.
- `snap`: one node in one run.
"""

import sqlite3

from rackcheck.base.user_error import UserError

MARK = 0x7261636B
"""SQLite's `application_id` of index files: "rack"."""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE run(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, time TEXT NOT NULL, profile TEXT NOT NULL,
            digest TEXT NOT NULL, targets TEXT NOT NULL, nodes INTEGER NOT NULL, outcome TEXT NOT NULL,
            interrupted INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL)""",
        "CREATE TABLE node(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """CREATE TABLE part(
            id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, class TEXT NOT NULL, base INTEGER,
            unknowns INTEGER NOT NULL, silent TEXT NOT NULL, data BLOB NOT NULL)""",
        "CREATE INDEX part_whole ON part(class, id) WHERE base IS NULL",
        """CREATE TABLE snap(
            run INTEGER NOT NULL, node INTEGER NOT NULL, outcome INTEGER, identity INTEGER, version INTEGER,
            config INTEGER, PRIMARY KEY(run, node)) WITHOUT ROWID""",
    ),
    (
        "CREATE TABLE rule(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "CREATE TABLE reason(id INTEGER PRIMARY KEY, words TEXT NOT NULL UNIQUE)",
        "CREATE TABLE listing(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE)",
        """CREATE TABLE listed(
            listing INTEGER NOT NULL, rule INTEGER NOT NULL, PRIMARY KEY(listing, rule)) WITHOUT ROWID""",
        "CREATE TABLE vector(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, listing INTEGER NOT NULL)",
        """CREATE TABLE verdict(
            vector INTEGER NOT NULL, rule INTEGER NOT NULL, status INTEGER NOT NULL, reason INTEGER NOT NULL,
            PRIMARY KEY(vector, rule)) WITHOUT ROWID""",
        """CREATE TABLE damaged(
            name TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, why TEXT NOT NULL) WITHOUT ROWID""",
        "ALTER TABLE snap ADD COLUMN vector INTEGER",
        "ALTER TABLE run ADD COLUMN fails INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE run ADD COLUMN unknowns INTEGER NOT NULL DEFAULT 0",
        # Runs added by step 1 have no verdicts. They get a size that no file has, so that they are read again.
        "UPDATE run SET size = -1",
    ),
    (
        # A run in which the verdicts follow all facts was added without these facts: such runs are read again, too.
        "UPDATE run SET size = -1",
    ),
    (
        "ALTER TABLE run ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0",
        "UPDATE run SET size = -1",
    ),
)


def migrate(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...] = STEPS) -> None:
    """Migrate an index file in one transaction; raises UserError if another program or newer release created it."""
    # In one transaction: another rackcheck may migrate the file between two queries.
    connection.execute("BEGIN")
    try:
        done = _step(connection, steps) == len(steps)
    finally:
        connection.execute("ROLLBACK")
    if done:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Checked again with the lock: another rackcheck may have migrated the file meanwhile.
        for step in steps[_step(connection, steps) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _step(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...]) -> int:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (step,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if mark != MARK and tables:
        raise UserError("is another program's database; set another path in RACKCHECK_INDEX")
    if step > len(steps):
        raise UserError(
            f"was made by a newer rackcheck (step {step}; this one supports up to {len(steps)}); "
            "use the newer rackcheck, or set another path in RACKCHECK_INDEX"
        )
    return int(step)
