#ifndef C_AGGREGATOR_SQLITE_MEMORY_H
#define C_AGGREGATOR_SQLITE_MEMORY_H

#include <sqlite3.h>

// The memory that SQLite may take for one query. SQLite's own bound is that of a process: what else the process does
// with databases would fail with the query.

// The bytes that are left. What another thread frees does not come back.
typedef struct {
  long long left;
} csqlite_memory;

// From here on, what SQLite allocates on this thread is taken from `memory`, and allocations beyond it fail;
// NULL for the end. SQLite answers with SQLITE_NOMEM. If the process had used SQLite before this library was
// loaded, nothing is counted.
void csqlite_memory_use(csqlite_memory *memory);

// Defines an SQL function of a JSON text and a path of names in quotes: what `json_extract` answers, found without
// parsing all of the text. What follows the member is not read, so it need not be valid.
int csqlite_define_member(sqlite3 *database, const char *name);

#endif
