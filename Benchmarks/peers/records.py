"""What the scripts keep: the same fields, the same folded text and the same index as aggregator."""

import json
import sqlite3
import unicodedata


PLAIN = str.maketrans(
    {**dict.fromkeys("'´`‘’‛ʹʻʼ′-‐‑‒–—―−\u00AD.·,"),
     "ø": "o", "ł": "l", "ı": "i", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h", "ŧ": "t",
     "ŋ": "n", "ĳ": "ij", "ŀ": "l", "ĸ": "k"})


def folded(text):
    """Without case, diacritics and the punctuation that search ignores."""
    if text.isascii():
        return text.lower().translate(PLAIN)
    parts = unicodedata.normalize("NFD", text.casefold())
    plain = "".join(c for c in parts if not unicodedata.combining(c)).translate(PLAIN)
    return unicodedata.normalize("NFC", plain)


def encoded(fields):
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def lines(*texts):
    """Each text on a line of its own: the name first, and the ID last."""
    return "".join(f"{text}\n" for text in texts)


def person(sent):
    """The key, the text that is searched, and the JSON of a person."""
    name, location, login = sent["name"], sent["location"], sent["login"]
    email = sent["email"].lower()
    fields = {
        "birthDate": sent["dob"]["date"][:10],
        "city": location["city"],
        "country": location["country"],
        "email": email,
        "firstName": name["first"],
        "gender": sent["gender"],
        "lastName": name["last"],
        "nationality": sent["nat"],
        "phone": sent["phone"],
        "picture": sent["picture"]["large"],
        "postcode": str(location["postcode"]),
        "registeredAt": sent["registered"]["date"][:10],
        "state": location["state"],
        "title": name["title"],
        "username": login["username"],
        "uuid": login["uuid"],
    }
    return email, folded(lines(name["first"], name["last"], email)), encoded(fields)


def product(sent):
    """The key, the text that is searched, and the JSON of a product."""
    return sent["id"], folded(lines(sent["title"], sent["merchant"])), encoded(sent)


TABLE = """
CREATE TABLE IF NOT EXISTS records (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, json TEXT NOT NULL
);
"""
INDEX = """
CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5 (
  folded, content='records', content_rowid='position', tokenize='trigram case_sensitive 1'
);
"""


class Records:
    """A table of records in a file, and its search index unless it is to have none."""

    def __init__(self, path, is_indexed=True):
        self.is_indexed = is_indexed
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = NORMAL")
        self.database.executescript(TABLE + INDEX if is_indexed else TABLE)

    def save(self, rows):
        """Writes what is new or has changed of one page, in one transaction."""
        rows = {row[0]: row for row in rows}
        run = self.database.execute
        run("BEGIN IMMEDIATE")
        marks = ",".join("?" * len(rows))
        known = run(
            f"SELECT id, position, folded, json FROM records WHERE id IN ({marks})", list(rows))
        for key, position, text, old_json in known.fetchall():
            _, new_text, new_json = rows.pop(key)
            if new_json == old_json:
                continue
            if new_text != text and self.is_indexed:
                run("INSERT INTO search (search, rowid, folded) VALUES ('delete', ?, ?)",
                    (position, text))
                run("INSERT INTO search (rowid, folded) VALUES (?, ?)", (position, new_text))
            run("UPDATE records SET folded = ?, json = ? WHERE position = ?",
                (new_text, new_json, position))
        last = run("SELECT coalesce(max(position), 0) FROM records").fetchone()[0]
        self.database.executemany(
            "INSERT INTO records (id, folded, json) VALUES (?, ?, ?)", rows.values())
        if self.is_indexed:
            run("INSERT INTO search (rowid, folded) SELECT position, folded FROM records"
                " WHERE position > ?", (last,))
        run("COMMIT")


class Work:
    """What a script is asked to do: PEER people|products URL PAGE-SIZE PAGES DATABASE [--no-index]."""

    def __init__(self, arguments):
        self.kind, self.url, size, pages, self.path, *options = arguments
        self.is_indexed = "--no-index" not in options
        self.size, self.pages = int(size), int(pages)
        self.list, self.make = (
            ("results", person) if self.kind == "people" else ("products", product))

    def address(self, page):
        """The path and query of a page, counted from 1."""
        if self.kind == "people":
            return f"/api/?seed=bench&page={page}&results={self.size}"
        return f"/products/offset?skip={(page - 1) * self.size}&take={self.size}"

    def rows(self, body):
        return [self.make(sent) for sent in json.loads(body)[self.list]]
