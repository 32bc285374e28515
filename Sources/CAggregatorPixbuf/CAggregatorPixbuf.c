#include "CAggregatorPixbuf.h"

#include <CAggregatorLibrary.h>
#include <stdint.h>
#include <stdio.h>

// The types of glib.h and gdk-pixbuf.h.
typedef void loader;
typedef void pixbuf;

typedef struct {
  uint32_t domain;
  int code;
  char *message;
} failure;

typedef void size_handler(loader *, int, int, void *);

static struct {
  uint32_t (*error_domain)(void);
  void (*free_error)(failure *);
  void (*release)(void *);
  unsigned long (*connect)(void *, const char *, size_handler *, void *, void *, int);
  loader *(*create)(const char *, failure **);
  int (*write)(loader *, const unsigned char *, size_t, failure **);
  int (*close)(loader *, failure **);
  void (*set_size)(loader *, int, int);
  pixbuf *(*pixels_of)(loader *);
  pixbuf *(*turned)(pixbuf *);
  pixbuf *(*scaled)(pixbuf *, int, int, int);
  int (*width)(pixbuf *);
  int (*height)(pixbuf *);
  int (*stride)(pixbuf *);
  int (*channels)(pixbuf *);
  const unsigned char *(*bytes)(pixbuf *);
} gdk;

// Those of GLib are found in the libraries that GdkPixbuf needs.
static const clibrary_symbol symbols[] = {
  {"gdk_pixbuf_error_quark", &gdk.error_domain},
  {"g_error_free", &gdk.free_error},
  {"g_object_unref", &gdk.release},
  {"g_signal_connect_data", &gdk.connect},
  {"gdk_pixbuf_loader_new_with_mime_type", &gdk.create},
  {"gdk_pixbuf_loader_write", &gdk.write},
  {"gdk_pixbuf_loader_close", &gdk.close},
  {"gdk_pixbuf_loader_set_size", &gdk.set_size},
  {"gdk_pixbuf_loader_get_pixbuf", &gdk.pixels_of},
  {"gdk_pixbuf_apply_embedded_orientation", &gdk.turned},
  {"gdk_pixbuf_scale_simple", &gdk.scaled},
  {"gdk_pixbuf_get_width", &gdk.width},
  {"gdk_pixbuf_get_height", &gdk.height},
  {"gdk_pixbuf_get_rowstride", &gdk.stride},
  {"gdk_pixbuf_get_n_channels", &gdk.channels},
  {"gdk_pixbuf_read_pixels", &gdk.bytes},
  {NULL, NULL},
};

bool cpixbuf_load(const char *name) {
  static clibrary library = {.symbols = symbols};
  return clibrary_load(&library, name);
}

struct decoding {
  const cpixbuf_handlers *handlers;
  void *context;
  bool is_stopped;
};

static void prepare(loader *loader, int width, int height, void *data) {
  struct decoding *decoding = data;
  if (!decoding->handlers->fit(decoding->context, &width, &height, true)) {
    decoding->is_stopped = true;
    // Decoders fail for this size.
    width = height = 0;
  }
  gdk.set_size(loader, width, height);
}

static cpixbuf_result failed(failure *failure, char reason[256]) {
  enum { NO_MEMORY = 1, UNKNOWN_TYPE = 3 };
  if (!failure) return CPIXBUF_INVALID;
  snprintf(reason, 256, "%s", failure->message);
  cpixbuf_result result = CPIXBUF_INVALID;
  if (failure->domain == gdk.error_domain()) {
    if (failure->code == NO_MEMORY) result = CPIXBUF_NO_MEMORY;
    if (failure->code == UNKNOWN_TYPE) result = CPIXBUF_UNSUPPORTED;
  }
  gdk.free_error(failure);
  return result;
}

static bool write(
  loader *loader, struct decoding *decoding, const unsigned char *bytes, size_t count,
  failure **failure) {
  enum { PIECE = 1 << 16 };
  while (count > 0) {
    if (decoding->handlers->is_stopped(decoding->context)) decoding->is_stopped = true;
    if (decoding->is_stopped) return false;
    const size_t piece = count < PIECE ? count : PIECE;
    if (!gdk.write(loader, bytes, piece, failure)) return false;
    bytes += piece;
    count -= piece;
  }
  return true;
}

// The pixels the right way up, and no larger than what is wanted.
static pixbuf *finished(pixbuf *decoded, struct decoding *decoding) {
  enum { BILINEAR = 2 };
  pixbuf *turned = gdk.turned(decoded);
  if (!turned) return NULL;
  int width = gdk.width(turned);
  int height = gdk.height(turned);
  if (!decoding->handlers->fit(decoding->context, &width, &height, false)) {
    decoding->is_stopped = true;
    gdk.release(turned);
    return NULL;
  }
  if (width == gdk.width(turned) && height == gdk.height(turned)) return turned;
  pixbuf *scaled = gdk.scaled(turned, width, height, BILINEAR);
  gdk.release(turned);
  return scaled;
}

cpixbuf_result cpixbuf_decode(
  const void *bytes, size_t count, const char *type, const cpixbuf_handlers *handlers,
  void *context, char reason[256]) {
  struct decoding decoding = {.handlers = handlers, .context = context};
  failure *failure = NULL;
  reason[0] = 0;
  loader *loader = gdk.create(type, &failure);
  if (!loader) return failed(failure, reason);
  gdk.connect(loader, "size-prepared", prepare, &decoding, NULL, 0);
  const bool is_written = write(loader, &decoding, bytes, count, &failure);
  // A loader must be closed before it is released, also after a failure, which is then the first one.
  const bool is_closed = gdk.close(loader, is_written ? &failure : NULL);
  cpixbuf_result result = CPIXBUF_DECODED;
  if (decoding.is_stopped) {
    if (failure) gdk.free_error(failure);
    result = CPIXBUF_STOPPED;
  } else if (!is_written || !is_closed) {
    result = failed(failure, reason);
  } else {
    // It belongs to the loader.
    pixbuf *decoded = gdk.pixels_of(loader);
    pixbuf *pixels = decoded ? finished(decoded, &decoding) : NULL;
    if (pixels) {
      handlers->take(
        context, gdk.bytes(pixels), gdk.width(pixels), gdk.height(pixels), gdk.stride(pixels),
        gdk.channels(pixels));
      gdk.release(pixels);
    } else {
      result = decoding.is_stopped ? CPIXBUF_STOPPED : decoded ? CPIXBUF_NO_MEMORY : CPIXBUF_INVALID;
    }
  }
  gdk.release(loader);
  return result;
}
