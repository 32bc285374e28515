// What physics demands of storing rows: rows that are in memory are inserted into the tables and the search index of a store, in
// batches of one transaction, by SQLite alone.
//
//   floor ROWS DATABASE BATCH
//
// ROWS has for each row the lengths of its ID, its searchable text and its JSON, as 32-bit numbers of this machine, and
// then the three texts.

#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static sqlite3 *database;

static void check(int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql); }

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), sql);
  return statement;
}

static void step(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), "insert");
  check(sqlite3_reset(statement), "insert");
}

int main(int count, char **arguments) {
  if (count != 4) return 64;
  int file = open(arguments[1], O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) < 0) return 1;
  const char *next = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (next == MAP_FAILED) return 1;
  const char *end = next + status.st_size;
  const int batch = atoi(arguments[3]);

  check(sqlite3_open(arguments[2], &database), "open");
  run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;"
      "PRAGMA cache_spill = -8192;"
      "CREATE TABLE records (position INTEGER PRIMARY KEY, source INTEGER NOT NULL, id TEXT NOT NULL,"
      "  saved INTEGER NOT NULL, first_seen INTEGER NOT NULL, folded TEXT NOT NULL, json TEXT NOT NULL,"
      "  removed_upstream INTEGER, UNIQUE (source, id)) STRICT;"
      "CREATE VIRTUAL TABLE search USING fts5 (folded, content='records', content_rowid='position',"
      "  tokenize='trigram case_sensitive 1');"
      "INSERT INTO search (search, rank) VALUES ('automerge', 8)");
  sqlite3_stmt *insert = prepared("INSERT INTO records VALUES (?1, 1, ?2, 1, 1, ?3, ?4, NULL)");
  sqlite3_stmt *index = prepared(
      "INSERT INTO search (rowid, folded) SELECT position, folded FROM records WHERE position BETWEEN ?1 AND ?2");

  int64_t position = 0;
  while (next < end) {
    run("BEGIN IMMEDIATE");
    const int64_t first = position + 1;
    for (int row = 0; row < batch && next < end; row++) {
      uint32_t lengths[3];
      memcpy(lengths, next, sizeof lengths);
      next += sizeof lengths;
      sqlite3_bind_int64(insert, 1, ++position);
      for (int text = 0; text < 3; text++) {
        sqlite3_bind_text(insert, text + 2, next, (int)lengths[text], SQLITE_STATIC);
        next += lengths[text];
      }
      step(insert);
    }
    sqlite3_bind_int64(index, 1, first);
    sqlite3_bind_int64(index, 2, position);
    step(index);
    run("COMMIT");
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(index);
  return sqlite3_close(database) == SQLITE_OK ? 0 : 1;
}
