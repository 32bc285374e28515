#include "CAggregatorLibrary.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static bool resolve(const clibrary_symbol *symbol, void *handle) {
  for (; symbol->name; symbol++)
    if (!(*(void **)symbol->pointer = dlsym(handle, symbol->name))) return false;
  return true;
}

bool clibrary_load(clibrary *library, const char *name) {
  static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  pthread_mutex_lock(&loading);
  if (!library->is_loaded)
    library->is_loaded =
      resolve(library->symbols, handle) && (!library->prepare || library->prepare());
  bool result = library->is_loaded;
  pthread_mutex_unlock(&loading);
  return result;
}

uintptr_t clibrary_none(void) { return 0; }

struct clibrary_text clibrary_no_text(void) {
  return (struct clibrary_text){{0, 0xE000000000000000}};
}

struct clibrary_cxx_text clibrary_no_cxx_text(void) {
  // GNU's operator delete frees what malloc allocated.
  return (struct clibrary_cxx_text){.start = calloc(1, 1)};
}
