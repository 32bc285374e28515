#ifndef C_AGGREGATOR_SQLITE_MEMORY_H
#define C_AGGREGATOR_SQLITE_MEMORY_H

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

#endif
