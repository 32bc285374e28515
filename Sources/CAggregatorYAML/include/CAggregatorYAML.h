#ifndef C_AGGREGATOR_YAML_H
#define C_AGGREGATOR_YAML_H

#include <stdbool.h>
#include <stddef.h>

// libyaml (https://pyyaml.org/wiki/LibYAML), loaded at run time.
bool cyaml_load(const char *name);

typedef enum {
  CYAML_SCALAR,
  CYAML_ALIAS,
  CYAML_SEQUENCE,
  CYAML_MAPPING,
  // The end of a sequence or a mapping.
  CYAML_END,
} cyaml_kind;

typedef struct {
  cyaml_kind kind;
  // The name of the anchor, or of what an alias stands for; NULL if there is none.
  const char *anchor;
  // A scalar in UTF-8.
  const char *text;
  size_t count;
  // True for a scalar without quotes and tag, which may be a number, a truth value or null.
  bool is_plain;
} cyaml_event;

// Takes an event; false stops the reading.
typedef bool cyaml_handler(void *context, const cyaml_event *event);

typedef enum {
  CYAML_WHOLE,
  CYAML_STOPPED,
  CYAML_INVALID,
  CYAML_NO_MEMORY,
} cyaml_result;

// Reads the first document of a text. Sets the line, from 1, at which reading ended, and the reason why the text is
// invalid, a constant.
cyaml_result cyaml_read(
  const void *bytes, size_t count, cyaml_handler *handler, void *context, size_t *line,
  const char **reason);

#endif
