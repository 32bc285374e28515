#ifndef C_AGGREGATOR_PIXBUF_H
#define C_AGGREGATOR_PIXBUF_H

#include <stdbool.h>
#include <stddef.h>

// GdkPixbuf (https://docs.gtk.org/gdk-pixbuf/), loaded at run time.
bool cpixbuf_load(const char *name);

typedef enum {
  CPIXBUF_DECODED,
  // The pixels are damaged, or there are none.
  CPIXBUF_INVALID,
  // No decoder of this type is installed.
  CPIXBUF_UNSUPPORTED,
  CPIXBUF_STOPPED,
  CPIXBUF_NO_MEMORY,
} cpixbuf_result;

typedef struct {
  // Replaces the size of an image by the one to decode it to, no larger; false to stop. An image that may be turned by a
  // quarter as the last step must be large enough then, too.
  bool (*fit)(void *context, int *width, int *height, bool may_be_turned);
  // True to stop; asked between pieces of the file.
  bool (*is_stopped)(void *context);
  // Takes rows of `width` pixels of 3 bytes (red, green, blue) or 4 (and alpha, not premultiplied), `stride` bytes apart.
  void (*take)(
    void *context, const unsigned char *pixels, int width, int height, int stride, int channels);
} cpixbuf_handlers;

// Decodes an image file of a type such as "image/jpeg", the right way up. `reason` gets why it is not possible.
cpixbuf_result cpixbuf_decode(
  const void *bytes, size_t count, const char *type, const cpixbuf_handlers *handlers,
  void *context, char reason[256]);

#endif
