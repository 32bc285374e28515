#pragma once

#include <stdbool.h>

// A terminal that one program has for itself, in raw mode and on its alternate screen, and that is as it was after every
// end which a process can notice. What restores it runs in signal handlers, so it calls nothing but write(2), tcsetattr(3)
// and the like. The state is that of the process: there is one terminal.

/// The bytes that `cterminal_begin` writes to `wake` when a signal arrives: the size has changed, the program is to
/// stop, or it goes on.
enum { CTERMINAL_RESIZED = 'w', CTERMINAL_STOPPED = 't', CTERMINAL_CONTINUED = 'c' };

/// Chooses the descriptors of the terminal, before `cterminal_begin`; standard input and output otherwise.
///
/// With `keeps`, Ctrl-C and Ctrl-Z are keys: a signal would also end or stop the other programs of a pipe, or the shell that
/// reads what this one prints.
void cterminal_use(int read_from, int write_to, bool keeps);

/// Takes the terminal, writes `enter`, and from then on restores it before any signal
/// ends the process; false if it is none. The texts must stay in memory.
///
/// `held` is a file for what the program writes to standard error meanwhile, if that is a terminal; it follows at the end.
bool cterminal_begin(int wake, int held, const char *enter, const char *leave);

/// Takes the terminal again, after `cterminal_leave` or if the process was stopped by SIGSTOP; false in the background.
bool cterminal_enter(void);

/// Makes Ctrl-C a key for a while, or a signal again, between `cterminal_begin` and `cterminal_end`.
void cterminal_take_interrupt(bool is_key);

/// False while the terminal is not taken.
bool cterminal_is_entered(void);

/// Restores the terminal for a while. It may be called by any thread, and at any time.
void cterminal_leave(void);

/// Stops the process as Ctrl-Z does, after `cterminal_leave`; returns when it goes on.
void cterminal_stop(void);

/// Restores the terminal for good.
void cterminal_end(void);
