#include "CAggregatorZlib.h"

#include <CAggregatorLibrary.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { GZIP_WINDOW = 15 + 16 };

// z_stream of zlib.h.
typedef struct stream {
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
} stream;

struct czlib_inflation {
  stream stream;
};

static struct {
  const char *(*version)(void);
  int (*begin_inflating)(stream *, int, const char *, int);
  int (*inflate)(stream *, int);
  int (*reset)(stream *);
  int (*end_inflating)(stream *);
  int (*begin_deflating)(stream *, int, int, int, int, int, const char *, int);
  int (*deflate)(stream *, int);
  int (*end_deflating)(stream *);
} zlib;

static const clibrary_symbol symbols[] = {
  {"zlibVersion", &zlib.version},
  {"inflateInit2_", &zlib.begin_inflating},
  {"inflate", &zlib.inflate},
  {"inflateReset", &zlib.reset},
  {"inflateEnd", &zlib.end_inflating},
  {"deflateInit2_", &zlib.begin_deflating},
  {"deflate", &zlib.deflate},
  {"deflateEnd", &zlib.end_deflating},
  {NULL, NULL},
};

bool czlib_load(const char *name) {
  static clibrary library = {.symbols = symbols};
  return clibrary_load(&library, name);
}

czlib_inflation *czlib_inflation_new(void) {
  czlib_inflation *inflation = calloc(1, sizeof *inflation);
  if (!inflation) return NULL;
  if (zlib.begin_inflating(
        &inflation->stream, GZIP_WINDOW, zlib.version(), (int)sizeof inflation->stream)
      != 0) {
    free(inflation);
    return NULL;
  }
  return inflation;
}

void czlib_inflation_free(czlib_inflation *inflation) {
  if (!inflation) return;
  zlib.end_inflating(&inflation->stream);
  free(inflation);
}

czlib_result czlib_inflate(
  czlib_inflation *inflation, const void *input, size_t count, size_t *used, void *output,
  size_t capacity, size_t *written) {
  enum { NO_FLUSH = 0, OK = 0, STREAM_END = 1, BUFFER_ERROR = -5 };
  unsigned in = count < UINT_MAX ? (unsigned)count : UINT_MAX;
  unsigned out = capacity < UINT_MAX ? (unsigned)capacity : UINT_MAX;
  inflation->stream.next_in = input;
  inflation->stream.avail_in = in;
  inflation->stream.next_out = output;
  inflation->stream.avail_out = out;
  int code = zlib.inflate(&inflation->stream, NO_FLUSH);
  *used = in - inflation->stream.avail_in;
  *written = out - inflation->stream.avail_out;
  if (code == STREAM_END) return zlib.reset(&inflation->stream) == OK ? CZLIB_END : CZLIB_INVALID;
  return code == OK || code == BUFFER_ERROR ? CZLIB_MORE : CZLIB_INVALID;
}

enum { LEVEL = 5, DEFLATED = 8, MEMORY = 8 };

struct czlib_deflation {
  stream stream;
};

czlib_deflation *czlib_deflation_new(void) {
  czlib_deflation *deflation = calloc(1, sizeof *deflation);
  if (!deflation) return NULL;
  if (
    zlib.begin_deflating(
      &deflation->stream, LEVEL, DEFLATED, GZIP_WINDOW, MEMORY, 0, zlib.version(),
      (int)sizeof deflation->stream)
    != 0) {
    free(deflation);
    return NULL;
  }
  return deflation;
}

void czlib_deflation_free(czlib_deflation *deflation) {
  if (!deflation) return;
  zlib.end_deflating(&deflation->stream);
  free(deflation);
}

czlib_result czlib_deflate(
  czlib_deflation *deflation, const void *input, size_t count, bool is_last, size_t *used,
  void *output, size_t capacity, size_t *written) {
  enum { NO_FLUSH = 0, FINISH = 4, OK = 0, STREAM_END = 1, BUFFER_ERROR = -5 };
  unsigned in = count < UINT_MAX ? (unsigned)count : UINT_MAX;
  unsigned out = capacity < UINT_MAX ? (unsigned)capacity : UINT_MAX;
  deflation->stream.next_in = input;
  deflation->stream.avail_in = in;
  deflation->stream.next_out = output;
  deflation->stream.avail_out = out;
  int code = zlib.deflate(&deflation->stream, is_last && in == count ? FINISH : NO_FLUSH);
  *used = in - deflation->stream.avail_in;
  *written = out - deflation->stream.avail_out;
  if (code == STREAM_END) return CZLIB_END;
  return code == OK || code == BUFFER_ERROR ? CZLIB_MORE : CZLIB_INVALID;
}

size_t czlib_gzip(const void *bytes, size_t count, void *output, size_t capacity) {
  enum { FINISH = 4, STREAM_END = 1 };
  if (count > UINT_MAX || capacity > UINT_MAX) return 0;
  stream stream;
  memset(&stream, 0, sizeof stream);
  if (
    zlib.begin_deflating(
      &stream, LEVEL, DEFLATED, GZIP_WINDOW, MEMORY, 0, zlib.version(), (int)sizeof stream)
    != 0)
    return 0;
  stream.next_in = bytes;
  stream.avail_in = (unsigned)count;
  stream.next_out = output;
  stream.avail_out = (unsigned)capacity;
  size_t result = zlib.deflate(&stream, FINISH) == STREAM_END ? stream.total_out : 0;
  zlib.end_deflating(&stream);
  return result;
}
