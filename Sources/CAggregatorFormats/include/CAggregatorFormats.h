#ifndef C_AGGREGATOR_FORMATS_H
#define C_AGGREGATOR_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Expat (https://libexpat.github.io), loaded at run time.
bool cformats_load_expat(const char *name);

// The parts of a document; `context` is that of the call.
typedef struct {
  // The attributes are names and values in turn, and end with NULL.
  void (*start)(void *context, const char *name, const char **attributes);
  void (*end)(void *context, const char *name);
  void (*text)(void *context, const char *bytes, int count);
  // True to stop.
  bool (*is_done)(void *context);
} cformats_handlers;

typedef enum {
  CFORMATS_XML_WHOLE,
  // The text ends before the document does.
  CFORMATS_XML_CUT,
  CFORMATS_XML_INVALID,
  // It declares entities.
  CFORMATS_XML_ENTITIES,
  CFORMATS_XML_STOPPED,
  CFORMATS_XML_NO_MEMORY,
} cformats_xml_result;

// Reads a whole document. An encoding overrides that of the document; NULL for none. Sets the line, and the reason if it
// is invalid, which is a constant text.
cformats_xml_result cformats_read_xml(
  const void *bytes, size_t count, const char *encoding, const cformats_handlers *handlers,
  void *context, unsigned long *line, const char **reason);

#endif
