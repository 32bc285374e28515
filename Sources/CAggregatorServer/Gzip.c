#include "CAggregatorServer.h"

#include <CAggregatorLibrary.h>
#include <limits.h>
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

static const clibrary_symbol symbols[] = {
  {"zlibVersion", &zlib.version},
  {"deflateInit2_", &zlib.init},
  {"deflate", &zlib.deflate},
  {"deflateEnd", &zlib.end},
  {NULL, NULL},
};

bool cserver_load_zlib(const char *name) {
  static clibrary library = {.symbols = symbols};
  return clibrary_load(&library, name);
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
