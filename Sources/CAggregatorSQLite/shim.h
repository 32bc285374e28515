// SQLite (https://sqlite.org/c3ref/intro.html), and wrappers for the parts that Swift cannot call.
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, no address would bind null instead of an empty text, and sqlite3_db_config has variable arguments.

static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text ? text : "", count, SQLITE_TRANSIENT);
}

static inline void csqlite_result_text(sqlite3_context *context, const char *text, int count) {
  sqlite3_result_text(context, text ? text : "", count, SQLITE_TRANSIENT);
}

static inline int csqlite_switch(sqlite3 *database, int option, int isOn) {
  return sqlite3_db_config(database, option, isOn, (int *)0);
}
