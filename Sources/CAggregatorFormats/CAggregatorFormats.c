#include "CAggregatorFormats.h"

#include <CAggregatorLibrary.h>
#include <limits.h>

// The types of expat.h.
typedef void *parser;
typedef void start_handler(void *, const char *, const char **);
typedef void end_handler(void *, const char *);
typedef void text_handler(void *, const char *, int);
typedef void entity_handler(
  void *, const char *, int, const char *, int, const char *, const char *, const char *,
  const char *);

static struct {
  parser (*create)(const char *);
  void (*release)(parser);
  void (*set_data)(parser, void *);
  void (*set_elements)(parser, start_handler *, end_handler *);
  void (*set_text)(parser, text_handler *);
  void (*set_entities)(parser, entity_handler *);
  int (*parse)(parser, const char *, int, int);
  int (*stop)(parser, unsigned char);
  int (*code)(parser);
  const char *(*words)(int);
  unsigned long (*line)(parser);
} expat;

static const clibrary_symbol expat_symbols[] = {
  {"XML_ParserCreate", &expat.create},
  {"XML_ParserFree", &expat.release},
  {"XML_SetUserData", &expat.set_data},
  {"XML_SetElementHandler", &expat.set_elements},
  {"XML_SetCharacterDataHandler", &expat.set_text},
  {"XML_SetEntityDeclHandler", &expat.set_entities},
  {"XML_Parse", &expat.parse},
  {"XML_StopParser", &expat.stop},
  {"XML_GetErrorCode", &expat.code},
  {"XML_ErrorString", &expat.words},
  {"XML_GetCurrentLineNumber", &expat.line},
  {NULL, NULL},
};

bool cformats_load_expat(const char *name) {
  static clibrary library = {.symbols = expat_symbols};
  return clibrary_load(&library, name);
}

struct reading {
  parser parser;
  const cformats_handlers *handlers;
  void *context;
  bool has_entities;
};

static void read_start(void *data, const char *name, const char **attributes) {
  struct reading *reading = data;
  reading->handlers->start(reading->context, name, attributes);
  if (reading->handlers->is_done(reading->context)) expat.stop(reading->parser, 0);
}

static void read_end(void *data, const char *name) {
  struct reading *reading = data;
  reading->handlers->end(reading->context, name);
}

static void read_text(void *data, const char *bytes, int count) {
  struct reading *reading = data;
  reading->handlers->text(reading->context, bytes, count);
}

static void read_entity(
  void *data, const char *name, int is_parameter, const char *value, int length, const char *base,
  const char *system, const char *public, const char *notation) {
  struct reading *reading = data;
  reading->has_entities = true;
  expat.stop(reading->parser, 0);
}

cformats_xml_result cformats_read_xml(
  const void *bytes, size_t count, const char *encoding, const cformats_handlers *handlers,
  void *context, unsigned long *line, const char **reason) {
  enum { NO_MEMORY = 1, NO_ELEMENTS = 3, UNCLOSED_TOKEN = 5, PARTIAL_CHARACTER = 6, ABORTED = 35 };
  enum { UNCLOSED_CDATA = 20, OK = 1 };
  if (count > INT_MAX) return CFORMATS_XML_NO_MEMORY;
  struct reading reading = {.handlers = handlers, .context = context};
  reading.parser = expat.create(encoding);
  if (!reading.parser) return CFORMATS_XML_NO_MEMORY;
  expat.set_data(reading.parser, &reading);
  expat.set_elements(reading.parser, read_start, read_end);
  expat.set_text(reading.parser, read_text);
  expat.set_entities(reading.parser, read_entity);
  cformats_xml_result result = CFORMATS_XML_WHOLE;
  if (expat.parse(reading.parser, bytes, (int)count, 1) != OK) {
    int code = expat.code(reading.parser);
    *line = expat.line(reading.parser);
    *reason = expat.words(code);
    switch (code) {
    case NO_MEMORY: result = CFORMATS_XML_NO_MEMORY; break;
    case NO_ELEMENTS:
    case UNCLOSED_TOKEN:
    case PARTIAL_CHARACTER:
    case UNCLOSED_CDATA: result = CFORMATS_XML_CUT; break;
    case ABORTED:
      result = reading.has_entities ? CFORMATS_XML_ENTITIES : CFORMATS_XML_STOPPED;
      break;
    default: result = CFORMATS_XML_INVALID;
    }
  }
  expat.release(reading.parser);
  return result;
}
