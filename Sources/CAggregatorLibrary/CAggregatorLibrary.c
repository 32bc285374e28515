#include "CAggregatorLibrary.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

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

ptrdiff_t clibrary_no_name(uint32_t scalar, uint8_t *buffer, ptrdiff_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}
