#include "CAggregatorLineEditor.h"

#include <CAggregatorLibrary.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

typedef char *generator(const char *word, int index);

static struct {
  char *(*readline)(const char *);
  int (*rl_initialize)(void);
  int (*rl_add_defun)(const char *, int (*)(int, int), int);
  char **(*rl_completion_matches)(const char *, generator *);
  void (*add_history)(const char *);
  void (*stifle_history)(int);
  char ***rl_attempted_completion_function;
  const char **rl_basic_word_break_characters;
  const char **rl_readline_name;
  const char **rl_library_version;
  int *rl_attempted_completion_over;
  int *rl_catch_signals;
  int *rl_completion_append_character;
  int *rl_done;
  int *rl_end;
  char *(*rl_copy_text)(int, int);
} line;

static cline_completion completion;
static bool isInterrupted;
static char *typed;
static int wordStart;

static char *next(const char *word, int index) {
  static int count;
  if (index == 0) count = 0;
  return completion(word, count++, typed, wordStart);
}

static char **complete(const char *word, int start, int end) {
  (void)end;
  // Not names of files.
  *line.rl_attempted_completion_over = 1;
  free(typed);
  wordStart = start;
  if (strcmp(*line.rl_library_version, "EditLine wrapper") == 0) {
    // libedit counts characters, but copies bytes, of which there are no more than these.
    typed = line.rl_copy_text(0, 4 * *line.rl_end);
  } else {
    typed = line.rl_copy_text(0, *line.rl_end);
    for (int index = 0; index < start; index++)
      if ((typed[index] & 0xC0) == 0x80) wordStart--;
  }
  return line.rl_completion_matches(word, next);
}

static int interrupt(int count, int key) {
  (void)count, (void)key;
  isInterrupted = true;
  *line.rl_done = 1;
  return 0;
}

#define SYMBOL(name) {#name, &line.name}
static const clibrary_symbol symbols[] = {
  SYMBOL(readline),
  SYMBOL(rl_initialize),
  SYMBOL(rl_add_defun),
  SYMBOL(rl_completion_matches),
  SYMBOL(add_history),
  SYMBOL(stifle_history),
  SYMBOL(rl_attempted_completion_function),
  SYMBOL(rl_basic_word_break_characters),
  SYMBOL(rl_readline_name),
  SYMBOL(rl_library_version),
  SYMBOL(rl_attempted_completion_over),
  SYMBOL(rl_catch_signals),
  SYMBOL(rl_completion_append_character),
  SYMBOL(rl_done),
  SYMBOL(rl_end),
  SYMBOL(rl_copy_text),
  {NULL, NULL},
};
#undef SYMBOL

static bool prepare(void) {
  // Without the locale every byte would be a character.
  if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
  const int maxHistory = 1000;
  const int controlC = 3;
  // The program has its own thread for signals.
  *line.rl_catch_signals = 0;
  *line.rl_readline_name = "aggregator";
  // Not those of the completer, which libedit does not read and GNU Readline takes from these. A double quote is part
  // of its word.
  *line.rl_basic_word_break_characters = " \t\n'`();,=<>+*/%|";
  line.rl_initialize();
  *line.rl_completion_append_character = ' ';
  *line.rl_attempted_completion_function = (char **)complete;
  line.rl_add_defun("clear-statement", interrupt, controlC);
  line.stifle_history(maxHistory);
  return true;
}

bool cline_load(const char *name, cline_completion words) {
  static clibrary library = {.symbols = symbols, .prepare = prepare};
  completion = words;
  return clibrary_load(&library, name);
}

char *cline_read(const char *prompt, bool *isCleared) {
  isInterrupted = false;
  char *text = line.readline(prompt);
  *isCleared = isInterrupted;
  if (!isInterrupted) return text;
  free(text);
  return NULL;
}

void cline_remember(const char *text) { line.add_history(text); }
