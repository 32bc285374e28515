#include "CAggregatorSQLiteMemory.h"

#include <sqlite3.h>
#include <stddef.h>

// https://sqlite.org/c3ref/mem_methods.html
static sqlite3_mem_methods standard;
static _Thread_local csqlite_memory *current;

static void *allocate(int size) {
  if (!current) return standard.xMalloc(size);
  if (size > current->left) return NULL;
  void *memory = standard.xMalloc(size);
  if (memory) current->left -= standard.xSize(memory);
  return memory;
}

static void release(void *memory) {
  if (current && memory) current->left += standard.xSize(memory);
  standard.xFree(memory);
}

static void *reallocate(void *memory, int size) {
  if (!current) return standard.xRealloc(memory, size);
  int before = standard.xSize(memory);
  if (size - before > current->left) return NULL;
  void *moved = standard.xRealloc(memory, size);
  if (moved) current->left -= standard.xSize(moved) - before;
  return moved;
}

// SQLite takes other methods only before it is used first.
__attribute__((constructor)) static void prepare(void) {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &standard) != SQLITE_OK) return;
  sqlite3_mem_methods methods = standard;
  methods.xMalloc = allocate;
  methods.xFree = release;
  methods.xRealloc = reallocate;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  // Nobody asks for its statistics, for which each call would take a lock that all connections share.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  // No memory for 20 pages at once, most of which a small command would touch for nothing.
  sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

void csqlite_memory_use(csqlite_memory *memory) { current = memory; }
