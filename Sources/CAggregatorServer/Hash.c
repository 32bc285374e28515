#include "CAggregatorServer.h"

#include <string.h>

// Eight bytes at a time: a hash of single bytes would take longer than the rest of a response of 10 KB.
uint64_t cserver_hash(const void *bytes, size_t count) {
  const uint64_t prime = 0x9E3779B97F4A7C15;
  uint64_t hash = count * prime;
  for (const char *rest = bytes; count > 0;) {
    uint64_t word = 0;
    size_t step = count < sizeof word ? count : sizeof word;
    memcpy(&word, rest, step);
    rest += step;
    count -= step;
    // Each step is a bijection, so bodies that differ in one word never have the same hash.
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;
  }
  return hash;
}
