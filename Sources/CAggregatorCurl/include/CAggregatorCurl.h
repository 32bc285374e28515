#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What Core needs of libcurl's stable ABI (version 4, libcurl 7.68 and later). The library is opened
// at first use: linking it would cost every command 6 ms of start-up and a -dev package to build.

/// Opens the library called `name`, once for the process.
///
/// Returns false if it is not installed or lacks a symbol. All other functions need one success.
bool ccurl_load(const char *name);

/// Between the two, libcurl may be at work on this thread. Once the process has begun to exit, entering
/// blocks for ever, because TLS libraries free their state in exit handlers.
void ccurl_enter(void);
void ccurl_leave(void);

// Options: the numbers are part of the ABI (curl/curl.h, CURLOPTTYPE_* plus index).
enum ccurl_option {
  CCURL_URL = 10002,
  CCURL_PROXY = 10004,
  CCURL_ERRORBUFFER = 10010,
  CCURL_HTTPHEADER = 10023,
  CCURL_NOPROGRESS = 43,
  CCURL_POST = 47,
  CCURL_HTTPGET = 80,
  CCURL_NOSIGNAL = 99,
  CCURL_ACCEPT_ENCODING = 10102,
  CCURL_PRIVATE = 10103,
  CCURL_POSTFIELDSIZE_LARGE = 30120,
  CCURL_TIMEOUT_MS = 155,
  CCURL_CONNECTTIMEOUT_MS = 156,
  CCURL_COPYPOSTFIELDS = 10165,
  CCURL_PROTOCOLS = 181,
  CCURL_HTTP09_ALLOWED = 285,
  CCURL_QUICK_EXIT = 322,
};

enum ccurl_multi_option {
  CCURL_MULTI_MAXCONNECTS = 6,
  CCURL_MULTI_MAX_HOST_CONNECTIONS = 7,
};

enum { CCURL_ERROR_SIZE = 256 };

/// Gets `count` bytes; anything but `count` in return ends the transfer.
typedef size_t (*ccurl_receive)(char *bytes, size_t size, size_t count, void *context);

/// Gets the bytes moved so far; anything but 0 in return ends the transfer.
typedef int (*ccurl_progress)(
  void *context, int64_t toReceive, int64_t received, int64_t toSend, int64_t sent);

void *ccurl_easy_new(void);
void ccurl_easy_free(void *easy);
int ccurl_easy_set_long(void *easy, int option, long value);
int ccurl_easy_set_offset(void *easy, int option, int64_t value);
int ccurl_easy_set_pointer(void *easy, int option, const void *value);
/// Sets who gets head and body, who is told of progress, and what context they get.
void ccurl_easy_set_callbacks(
  void *easy, ccurl_receive head, ccurl_receive body, ccurl_progress progress, void *context);

/// The status of the last reply; 0 if there was none.
long ccurl_easy_status(void *easy);
/// The system's error number of the last failed connect.
long ccurl_easy_os_error(void *easy);
/// Microseconds from the start until the request could be sent; 0 while connecting.
int64_t ccurl_easy_connected_after(void *easy);
void *ccurl_easy_private(void *easy);

/// A list with `text` at its end, which is copied; NULL if memory ran out.
void *ccurl_list_append(void *list, const char *text);
void ccurl_list_free(void *list);

void *ccurl_multi_new(void);
void ccurl_multi_free(void *multi);
int ccurl_multi_set_long(void *multi, int option, long value);
int ccurl_multi_add(void *multi, void *easy);
int ccurl_multi_remove(void *multi, void *easy);
int ccurl_multi_perform(void *multi);
/// Waits for sockets, timers or a wake-up.
int ccurl_multi_poll(void *multi, int milliseconds);
/// May be called from any thread.
int ccurl_multi_wakeup(void *multi);
/// The next transfer that ended, with its code; NULL if there is none.
void *ccurl_multi_next_done(void *multi, int *code);
