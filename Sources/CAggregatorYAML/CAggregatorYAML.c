#include "CAggregatorYAML.h"

#include <CAggregatorLibrary.h>
#include <stdlib.h>

// The types of yaml.h.
typedef struct {
  size_t index;
  size_t line;
  size_t column;
} mark;

typedef struct {
  int error;
  const char *problem;
  size_t problem_offset;
  int problem_value;
  mark problem_mark;
  // The rest is the library's own: 480 bytes in all, of which later versions may need more.
  char rest[4096];
} parser;

typedef struct {
  int type;
  union {
    struct {
      char *anchor;
    } alias;
    struct {
      char *anchor;
      char *tag;
      char *value;
      size_t length;
      int plain_implicit;
      int quoted_implicit;
      int style;
    } scalar;
    struct {
      char *anchor;
      char *tag;
      int implicit;
      int style;
    } collection;
  } data;
  mark start;
  mark end;
} event;

enum {
  STREAM_END = 2,
  DOCUMENT_END = 4,
  ALIAS = 5,
  SCALAR = 6,
  SEQUENCE_START = 7,
  SEQUENCE_END = 8,
  MAPPING_START = 9,
  MAPPING_END = 10,
};

static struct {
  int (*initialize)(parser *);
  void (*release)(parser *);
  void (*set_input)(parser *, const unsigned char *, size_t);
  int (*parse)(parser *, event *);
  void (*release_event)(event *);
} yaml;

static const clibrary_symbol symbols[] = {
  {"yaml_parser_initialize", &yaml.initialize},
  {"yaml_parser_delete", &yaml.release},
  {"yaml_parser_set_input_string", &yaml.set_input},
  {"yaml_parser_parse", &yaml.parse},
  {"yaml_event_delete", &yaml.release_event},
  {NULL, NULL},
};

bool cyaml_load(const char *name) {
  static clibrary library = {.symbols = symbols};
  return clibrary_load(&library, name);
}

// Hands on an event that is a part of the tree.
static bool hand_on(const event *from, cyaml_handler *handler, void *context) {
  cyaml_event to = {0};
  switch (from->type) {
    case ALIAS:
      to.kind = CYAML_ALIAS;
      to.anchor = from->data.alias.anchor;
      break;
    case SCALAR:
      to.kind = CYAML_SCALAR;
      to.anchor = from->data.scalar.anchor;
      to.text = from->data.scalar.value;
      to.count = from->data.scalar.length;
      to.is_plain = from->data.scalar.plain_implicit != 0 && !from->data.scalar.tag;
      break;
    case SEQUENCE_START:
      to.kind = CYAML_SEQUENCE;
      to.anchor = from->data.collection.anchor;
      break;
    case MAPPING_START:
      to.kind = CYAML_MAPPING;
      to.anchor = from->data.collection.anchor;
      break;
    case SEQUENCE_END:
    case MAPPING_END: to.kind = CYAML_END; break;
    default: return true;
  }
  return handler(context, &to);
}

cyaml_result cyaml_read(
  const void *bytes, size_t count, cyaml_handler *handler, void *context, size_t *line,
  const char **reason) {
  enum { MEMORY_ERROR = 1 };
  parser *parser = calloc(1, sizeof *parser);
  if (!parser || !yaml.initialize(parser)) {
    free(parser);
    return CYAML_NO_MEMORY;
  }
  yaml.set_input(parser, bytes, count);
  cyaml_result result = CYAML_WHOLE;
  bool is_done = false;
  while (!is_done) {
    event event;
    if (!yaml.parse(parser, &event)) {
      result = parser->error == MEMORY_ERROR ? CYAML_NO_MEMORY : CYAML_INVALID;
      *line = parser->problem_mark.line + 1;
      *reason = parser->problem;
      break;
    }
    *line = event.start.line + 1;
    is_done = event.type == DOCUMENT_END || event.type == STREAM_END;
    if (!hand_on(&event, handler, context)) {
      result = CYAML_STOPPED;
      is_done = true;
    }
    yaml.release_event(&event);
  }
  yaml.release(parser);
  free(parser);
  return result;
}
