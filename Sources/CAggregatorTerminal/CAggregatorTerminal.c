#include "CAggregatorTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int wake = -1, held = -1, errors = -1;
static int input = STDIN_FILENO, output = STDOUT_FILENO;
static bool keeps_keys;
static const char *enter_text, *leave_text;
static size_t enter_size, leave_size;
static struct termios shown, raw;
static atomic_int is_entered, is_begun;

static struct sigaction earlier[NSIG];
static bool is_handled[NSIG];
// A stack that has overflowed cannot run a handler.
static char handler_stack[64 << 10];

static void put(int descriptor, const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = write(descriptor, text, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text += count;
    size -= (size_t)count;
  }
}

bool cterminal_enter(void) {
  // In the background, tcsetattr would stop the process. A terminal that does not control it has no foreground.
  pid_t foreground = tcgetpgrp(input);
  if (foreground >= 0 && foreground != getpgrp()) return false;
  if (tcsetattr(input, TCSANOW, &raw) != 0) return false;
  atomic_store(&is_entered, 1);
  put(output, enter_text, enter_size);
  return true;
}

void cterminal_take_interrupt(bool is_key) {
  cc_t character = is_key || keeps_keys ? _POSIX_VDISABLE : shown.c_cc[VINTR];
  if (raw.c_cc[VINTR] == character) return;
  raw.c_cc[VINTR] = character;
  if (!atomic_load(&is_entered)) return;
  tcsetattr(input, TCSANOW, &raw);
  // A signal handler may have restored it meanwhile.
  if (!atomic_load(&is_entered)) tcsetattr(input, TCSANOW, &shown);
}

bool cterminal_is_entered(void) { return atomic_load(&is_entered); }

void cterminal_leave(void) {
  if (!atomic_exchange(&is_entered, 0)) return;
  put(output, leave_text, leave_size);
  tcsetattr(input, TCSANOW, &shown);
}

/// Writes what standard error has said meanwhile.
static void release(void) {
  if (errors < 0) return;
  dup2(errors, STDERR_FILENO);
  errors = -1;
  char bytes[4096];
  ssize_t count;
  lseek(held, 0, SEEK_SET);
  while ((count = read(held, bytes, sizeof bytes)) > 0) put(STDERR_FILENO, bytes, (size_t)count);
}

void cterminal_end(void) {
  cterminal_leave();
  if (!atomic_exchange(&is_begun, 0)) return;
  for (int number = 1; number < NSIG; number++) {
    if (is_handled[number]) sigaction(number, &earlier[number], NULL);
    is_handled[number] = false;
  }
  release();
}

static void tell(int number) {
  int error = errno;
  char byte = number == SIGWINCH ? CTERMINAL_RESIZED : number == SIGTSTP ? CTERMINAL_STOPPED : CTERMINAL_CONTINUED;
  (void)!write(wake, &byte, 1);
  errno = error;
}

/// Ends the process by the signal that was about to.
static void die(int number) {
  cterminal_leave();
  release();
  sigaction(number, &earlier[number], NULL);
  // It arrives when this handler returns, or the fault is met again.
  raise(number);
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = handler;
  is_handled[number] = sigaction(number, &action, &earlier[number]) == 0;
}

static bool is_crash(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT ||
         number == SIGTRAP || number == SIGSYS;
}

/// True if the signal ends a process that does not care, and no other part of this one does.
static bool is_end(int number) {
  switch (number) {
    case SIGKILL: case SIGSTOP: case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH: case SIGTSTP: case SIGTTIN:
    case SIGTTOU:
    // The program waits for these, and cleans up.
    case SIGINT: case SIGTERM: case SIGHUP: case SIGQUIT:
      return false;
  }
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) return false;
  return is_crash(number) ? action.sa_handler != SIG_IGN : action.sa_handler == SIG_DFL;
}

void cterminal_use(int read_from, int write_to, bool keeps) {
  input = read_from;
  output = write_to;
  keeps_keys = keeps;
}

bool cterminal_begin(int pipe, int file, const char *enter, const char *leave) {
  if (tcgetattr(input, &shown) != 0) return false;
  wake = pipe;
  enter_text = enter;
  enter_size = strlen(enter);
  leave_text = leave;
  leave_size = strlen(leave);
  raw = shown;
  // Ctrl-C, Ctrl-\ and Ctrl-Z stay signals: they work even if the program does not.
  raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
  raw.c_cflag |= CS8;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (keeps_keys) {
    raw.c_cc[VINTR] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  }

  held = file;
  if (isatty(STDERR_FILENO)) errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (errors >= 0) dup2(held, STDERR_FILENO);

  stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
  sigaltstack(&stack, NULL);
  atomic_store(&is_begun, 1);
  for (int number = 1; number < NSIG; number++) {
    if (is_end(number)) handle(number, die);
  }
  handle(SIGWINCH, tell);
  handle(SIGTSTP, tell);
  handle(SIGCONT, tell);
  if (cterminal_enter()) return true;
  cterminal_end();
  return false;
}

void cterminal_stop(void) {
  struct sigaction action, own;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigset_t stopping, blocked;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTSTP);
  // A signal to this thread stops the process before `raise` returns; one to the process would do so at some time. Nothing
  // happens if no shell could continue it.
  sigaction(SIGTSTP, &action, &own);
  pthread_sigmask(SIG_UNBLOCK, &stopping, &blocked);
  raise(SIGTSTP);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  sigaction(SIGTSTP, &own, NULL);
}
