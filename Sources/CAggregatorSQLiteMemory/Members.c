#include "CAggregatorSQLiteMemory.h"

#include <string.h>

// Stops at the member: `json_extract` builds a tree of all of a document first. The scan trusts that what it skips is
// valid, as all JSON of a store is. It leaves to `json_extract` what is not plain: other whitespace, comments and
// quotes (JSON5), escapes in names, `\u`, numbers of many digits.
enum answer { missing, found, unknown };

struct value {
  const char *start, *end;
  int hasSpace;  // outside its texts
};

static int isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
static int isDigit(char c) { return c >= '0' && c <= '9'; }
static int isPlain(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static const char *skipSpace(const char *p) {
  while (isSpace(*p)) p++;
  return p;
}

// From after a quote to the closing one; NULL without one.
static const char *skipText(const char *p) {
  for (; *p != '"'; p++) {
    if (*p == '\\') p++;
    if (!*p) return NULL;
  }
  return p;
}

// From the start of a value to its end.
static enum answer skipValue(struct value *value) {
  const char *p = value->start;
  int depth = 0;
  value->hasSpace = 0;
  do {
    char c = *p++;
    if (c == '"') {
      if (!(p = skipText(p))) return unknown;
      p++;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      depth--;
    } else if (isSpace(c)) {
      value->hasSpace = 1;
    } else if (isPlain(c)) {
      while (isPlain(*p)) p++;
    } else if (c != ',' && c != ':') {
      return unknown;
    }
  } while (depth > 0);
  value->end = p;
  return found;
}

// From an object to the value of its first member of this name.
static enum answer findMember(struct value *value, const char *name, size_t size) {
  const char *p = skipSpace(value->start);
  if (*p != '{') return unknown;
  p = skipSpace(p + 1);
  if (*p == '}') return missing;
  for (;; p = skipSpace(p + 1)) {
    if (*p++ != '"') return unknown;
    const char *end = p;
    for (; *end != '"'; end++) {
      if (!*end || *end == '\\') return unknown;
    }
    int isIt = (size_t)(end - p) == size && memcmp(p, name, size) == 0;
    p = skipSpace(end + 1);
    if (*p != ':') return unknown;
    value->start = skipSpace(p + 1);
    if (skipValue(value) != found) return unknown;
    if (isIt) return found;
    p = skipSpace(value->end);
    if (*p == '}') return missing;
    if (*p != ',') return unknown;
  }
}

// From a document to the value at a path, such as `$."owner"."name"`.
static enum answer findValue(struct value *value, const char *path) {
  if (*path++ != '$') return unknown;
  for (int depth = 0; depth == 0 || *path; depth++) {
    if (path[0] != '.' || path[1] != '"') return unknown;
    const char *name = path + 2, *end = strchr(name, '"');
    if (!end || end == name || memchr(name, '\\', end - name)) return unknown;
    if (depth > 0 && *value->start != '{') return missing;
    enum answer answer = findMember(value, name, end - name);
    if (answer != found) return answer;
    path = end + 1;
  }
  return found;
}

static enum answer setText(sqlite3_context *context, const struct value *value) {
  const char *p = value->start + 1, *end = value->end - 1;
  if (!memchr(p, '\\', end - p)) {
    sqlite3_result_text(context, p, (int)(end - p), SQLITE_TRANSIENT);
    return found;
  }
  char *text = sqlite3_malloc64(end - p), *to = text;
  if (!text) return unknown;
  while (p < end) {
    if (*p != '\\') {
      *to++ = *p++;
      continue;
    }
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *escape = strchr(escapes, p[1]);
    if (!escape) {
      sqlite3_free(text);
      return unknown;
    }
    *to++ = meanings[escape - escapes];
    p += 2;
  }
  sqlite3_result_text(context, text, (int)(to - text), sqlite3_free);
  return found;
}

// An integer, or a decimal that one division of two exact numbers gives, as exactly as can be.
static enum answer setNumber(sqlite3_context *context, const struct value *value) {
  int isNegative = *value->start == '-', decimals = 0;
  const char *first = value->start + isNegative, *p = first;
  sqlite3_int64 digits = 0;
  for (; isDigit(*p) && p - first < 18; p++) digits = 10 * digits + (*p - '0');
  if (p == first || (*first == '0' && p - first > 1)) return unknown;
  if (p == value->end && (digits || !isNegative)) {
    sqlite3_result_int64(context, isNegative ? -digits : digits);
    return found;
  }
  if (*p++ != '.') return unknown;
  double scale = 1;
  for (; isDigit(*p) && decimals < 18 && digits < 1LL << 49; p++, decimals++, scale *= 10)
    digits = 10 * digits + (*p - '0');
  if (p != value->end || decimals == 0 || digits >= 1LL << 53) return unknown;
  double real = (double)digits / scale;
  sqlite3_result_double(context, isNegative ? -real : real);
  return found;
}

static int isWord(const struct value *value, const char *word) {
  size_t size = value->end - value->start;
  return size == strlen(word) && memcmp(value->start, word, size) == 0;
}

static enum answer setResult(sqlite3_context *context, const struct value *value) {
  switch (*value->start) {
  case '"': return setText(context, value);
  case '{':
  case '[':
    if (value->hasSpace) return unknown;
    sqlite3_result_text(context, value->start, (int)(value->end - value->start), SQLITE_TRANSIENT);
    sqlite3_result_subtype(context, 'J');
    return found;
  case 't':
  case 'f':
    if (!isWord(value, "true") && !isWord(value, "false")) return unknown;
    sqlite3_result_int(context, *value->start == 't');
    return found;
  case 'n': return isWord(value, "null") ? missing : unknown;
  default: return setNumber(context, value);
  }
}

static void finalize(void *statement) { sqlite3_finalize(statement); }

// The value at `path` in a text of `size` bytes.
static void extract(sqlite3_context *context, const char *text, int size, const char *path) {
  sqlite3 *database = sqlite3_context_db_handle(context);
  sqlite3_stmt *statement = sqlite3_get_auxdata(context, 1);
  int code = SQLITE_OK;
  if (!statement) {
    code = sqlite3_prepare_v2(database, "SELECT json_extract(?1, ?2)", -1, &statement, NULL);
    if (code == SQLITE_OK) {
      // Kept until the query ends. Without memory, SQLite finalizes it at once.
      sqlite3_set_auxdata(context, 1, statement, finalize);
      statement = sqlite3_get_auxdata(context, 1);
      if (!statement) code = SQLITE_NOMEM;
    }
  }
  if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, text, size, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 2, path, -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    sqlite3_value *value = sqlite3_column_value(statement, 0);
    sqlite3_result_value(context, value);
    sqlite3_result_subtype(context, sqlite3_value_subtype(value));
  } else {
    sqlite3_result_error(context, sqlite3_errmsg(database), -1);
    sqlite3_result_error_code(context, code);
  }
  if (!statement) return;
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

static void member(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  const char *text = (const char *)sqlite3_value_text(arguments[0]);
  const char *path = (const char *)sqlite3_value_text(arguments[1]);
  if (!text || !path) return;
  struct value value = {.start = text};
  enum answer answer = findValue(&value, path);
  if (answer == unknown) {
    extract(context, text, sqlite3_value_bytes(arguments[0]), path);
  } else if (answer == found && setResult(context, &value) == unknown) {
    extract(context, value.start, (int)(value.end - value.start), "$");
  }
}

int csqlite_define_member(sqlite3 *database, const char *name) {
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
#ifdef SQLITE_RESULT_SUBTYPE
  flags |= SQLITE_RESULT_SUBTYPE;
#endif
  return sqlite3_create_function_v2(database, name, 2, flags, NULL, member, NULL, NULL, NULL);
}
