#ifndef C_AGGREGATOR_LIBRARY_H
#define C_AGGREGATOR_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Libraries that are loaded at run time: a program starts without them, and builds without their headers.

// A symbol, and the address of the pointer that is set to it.
typedef struct {
  const char *name;
  void *pointer;
} clibrary_symbol;

// A library, of which one is loaded in a process; initialised with its symbols.
typedef struct {
  // The last one has no name.
  const clibrary_symbol *symbols;
  // Called once, after all symbols were found; false if the library cannot be used. May be NULL.
  bool (*prepare)(void);
  bool is_loaded;
} clibrary;

// Loads the library `name`, a file or what the system finds by that name, unless one is loaded already. Returns false
// if it is not installed, lacks a symbol, or cannot be used. Threads may call it at once.
bool clibrary_load(clibrary *library, const char *name);

// Returns 0, whatever its arguments: no length of a name, no bitmap of a plane, no member of a set, and of an SQLite module
// that is registered no failure. Scripts/build links it in the place of functions of static libraries that the program does
// not use, and that hold a thirtieth of it.
uintptr_t clibrary_none(void);

/// The two words of a `String`.
struct clibrary_text { uint64_t words[2]; };

/// The empty `String`; takes the place of functions of Swift that describe what nothing here prints.
struct clibrary_text clibrary_no_text(void);

/// A `std::string` of GNU's library, whose text is allocated.
struct clibrary_cxx_text {
  char *start;
  size_t count, capacity, unused;
};

/// The empty `std::string`; takes the place of the function of Swift's runtime that writes the name of a type.
struct clibrary_cxx_text clibrary_no_cxx_text(void);

#endif
