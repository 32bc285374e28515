#ifndef C_AGGREGATOR_ZLIB_H
#define C_AGGREGATOR_ZLIB_H

#include <stdbool.h>
#include <stddef.h>

// zlib (https://zlib.net), loaded at run time.
bool czlib_load(const char *name);

typedef struct czlib_inflation czlib_inflation;

// Begins to decompress a file in the format of gzip (RFC 1952); NULL if memory ran out.
czlib_inflation *czlib_inflation_new(void);
void czlib_inflation_free(czlib_inflation *inflation);

typedef enum {
  CZLIB_MORE,
  // A member of the file has ended; another one may follow.
  CZLIB_END,
  CZLIB_INVALID,
} czlib_result;

// Decompresses bytes; sets how many of them were used, and how many were written.
czlib_result czlib_inflate(
  czlib_inflation *inflation, const void *input, size_t count, size_t *used, void *output,
  size_t capacity, size_t *written);

typedef struct czlib_deflation czlib_deflation;

// Begins to compress a file in the format of gzip; NULL if memory ran out.
czlib_deflation *czlib_deflation_new(void);
void czlib_deflation_free(czlib_deflation *deflation);

// Compresses bytes, the last ones of the file if `is_last`; sets how many of them were used, and how many were written.
// CZLIB_END after all of the last ones.
czlib_result czlib_deflate(
  czlib_deflation *deflation, const void *input, size_t count, bool is_last, size_t *used,
  void *output, size_t capacity, size_t *written);

// Compresses bytes in the format of gzip. Returns the count of compressed bytes; 0 if there are more of them than the
// capacity.
size_t czlib_gzip(const void *bytes, size_t count, void *output, size_t capacity);

#endif
