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

// Waits until the disk has all that was written to the file.
static inline int csqlite_sync(sqlite3 *database) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || !file || !file->pMethods) return code;
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}
