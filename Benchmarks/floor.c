// What the work of the benchmarks costs at least:
//
//   floor insert ROWS DATABASE BATCH  inserts rows that are in memory into the tables and the search index of a store,
//                                     in batches of one transaction, by SQLite alone
//   floor show DATABASE ID            prints a record of the first source of a store
//   floor serve REPLY                 answers each request of wrk by the bytes of a file
//
// ROWS has for each row the lengths of its ID, its searchable text and its JSON, as 32-bit numbers of this machine, and
// then the three texts.

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
  const char *start;
  size_t count;
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct bytes mapped(const char *path) {
  int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) < 0) fail(path);
  const char *start = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (start == MAP_FAILED) fail(path);
  return (struct bytes){start, status.st_size};
}

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

static int insert_rows(const char *rows, const char *path, int batch) {
  const struct bytes file = mapped(rows);
  const char *next = file.start, *end = next + file.count;

  check(sqlite3_open(path, &database), "open");
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

static int show(const char *path, const char *id) {
  char name[4096];
  snprintf(name, sizeof name, "file:%s?immutable=1", path);
  check(sqlite3_open_v2(name, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), "open");
  sqlite3_stmt *select = prepared("SELECT json FROM records WHERE source = 1 AND id = ?1");
  sqlite3_bind_text(select, 1, id, -1, SQLITE_STATIC);
  if (sqlite3_step(select) != SQLITE_ROW) return 1;
  puts((const char *)sqlite3_column_text(select, 0));
  return 0;
}

static int serve(const char *path) {
  const struct bytes reply = mapped(path);
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 128) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) < 0)
    fail("listen");
  printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);

  enum { most_sockets = 256 };
  struct pollfd sockets[most_sockets] = {{.fd = listener, .events = POLLIN}};
  int count = 1;
  while (poll(sockets, count, -1) > 0) {
    for (int i = count - 1; i > 0; i--) {
      if (!sockets[i].revents) continue;
      // wrk sends a request as a whole, and the next one after the reply.
      char request[4096];
      if (recv(sockets[i].fd, request, sizeof request, 0) > 0 &&
          send(sockets[i].fd, reply.start, reply.count, 0) == (ssize_t)reply.count)
        continue;
      close(sockets[i].fd);
      sockets[i] = sockets[--count];
    }
    if (sockets[0].revents && count < most_sockets)
      sockets[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
  }
  return 1;
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "";
  if (count == 5 && !strcmp(mode, "insert")) return insert_rows(arguments[2], arguments[3], atoi(arguments[4]));
  if (count == 4 && !strcmp(mode, "show")) return show(arguments[2], arguments[3]);
  if (count == 3 && !strcmp(mode, "serve")) return serve(arguments[2]);
  return 64;
}
