#pragma once

#include <stdbool.h>

// The interface that libedit and GNU Readline have in common, loaded at first use: most runs edit no line, and
// either library may be missing. Its state is that of the process, so only one thread may use it.

/// Returns a completion of `word`, allocated; NULL after the last. `index` counts from 0.
///
/// `line` may be NULL, and lacks its last byte with libedit, whose `rl_line_buffer` may be freed memory. The word begins at
/// `start`, in characters.
typedef char *(*cline_completion)(const char *word, int index, const char *line, int start);

/// Loads the library `name`; false if it is not installed or lacks a symbol.
///
/// No other function may be called before it succeeded.
bool cline_load(const char *name, cline_completion completion);

/// Reads a line, which the caller frees; NULL at the end of the input, and for Ctrl-C, which sets `isCleared`.
char *cline_read(const char *prompt, bool *isCleared);

/// Adds a line to those that the arrow keys bring back.
void cline_remember(const char *line);
