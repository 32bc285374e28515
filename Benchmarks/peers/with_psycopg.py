"""A plain script: http.client and psycopg, page after page on one connection each.

Each page is one transaction: COPY into a temporary table, and one statement that writes what is new
or has changed. The table has the same indexes as aggregator's.
"""

import http.client
import sys

import psycopg
from records import Work

SCHEMA = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """CREATE TABLE IF NOT EXISTS records (
      position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source bigint NOT NULL,
      id text COLLATE "C" NOT NULL, folded text COLLATE "C" NOT NULL, json text COLLATE "C" NOT NULL,
      UNIQUE (source, id)
    )""",
    "CREATE INDEX IF NOT EXISTS records_folded ON records USING gin (folded gin_trgm_ops)",
    "CREATE TEMPORARY TABLE batch (id text, folded text, json text) ON COMMIT DELETE ROWS",
)
SAVE = """
INSERT INTO records (source, id, folded, json) SELECT 1, id, folded, json FROM batch
ON CONFLICT (source, id) DO UPDATE SET folded = excluded.folded, json = excluded.json
WHERE records.json <> excluded.json
"""

work = Work(sys.argv[1:])
connection = http.client.HTTPConnection(work.url.removeprefix("http://"))
with psycopg.connect(work.path, autocommit=True) as database:
    database.execute("SET client_min_messages = warning")
    for statement in SCHEMA:
        database.execute(statement)
    for page in range(1, work.pages + 1):
        connection.request("GET", work.address(page))
        response = connection.getresponse()
        if response.status != 200:
            sys.exit(f"page {page}: {response.status}")
        rows = {row[0]: row for row in work.rows(response.read())}
        with database.transaction(), database.cursor() as cursor:
            with cursor.copy("COPY batch FROM STDIN") as copy:
                for row in rows.values():
                    copy.write_row(row)
            cursor.execute(SAVE)
