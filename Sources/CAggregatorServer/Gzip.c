#include "CAggregatorServer.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

// z_stream of zlib.h.
struct stream {
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *allocate;
  void *release;
  void *opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
};

static struct {
  const char *(*version)(void);
  int (*init)(struct stream *, int, int, int, int, int, const char *, int);
  int (*deflate)(struct stream *, int);
  int (*end)(struct stream *);
} zlib;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static bool resolve(void *library) {
  return (*(void **)&zlib.version = dlsym(library, "zlibVersion"))
         && (*(void **)&zlib.init = dlsym(library, "deflateInit2_"))
         && (*(void **)&zlib.deflate = dlsym(library, "deflate"))
         && (*(void **)&zlib.end = dlsym(library, "deflateEnd"));
}

bool cserver_load_zlib(const char *name) {
  static bool isLoaded = false;
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  pthread_mutex_lock(&loading);
  if (!isLoaded) isLoaded = resolve(library);
  bool result = isLoaded;
  pthread_mutex_unlock(&loading);
  return result;
}

size_t cserver_gzip(const void *bytes, size_t count, void *output, size_t capacity) {
  enum { LEVEL = 5, DEFLATED = 8, GZIP_WINDOW = 15 + 16, MEMORY = 8, FINISH = 4, STREAM_END = 1 };
  if (count > UINT_MAX || capacity > UINT_MAX) return 0;
  struct stream stream;
  memset(&stream, 0, sizeof stream);
  if (
    zlib.init(
      &stream, LEVEL, DEFLATED, GZIP_WINDOW, MEMORY, 0, zlib.version(), (int)sizeof stream)
    != 0)
    return 0;
  stream.next_in = bytes;
  stream.avail_in = (unsigned)count;
  stream.next_out = output;
  stream.avail_out = (unsigned)capacity;
  size_t result = zlib.deflate(&stream, FINISH) == STREAM_END ? stream.total_out : 0;
  zlib.end(&stream);
  return result;
}
