#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The part of libcurl's stable ABI (version 4, libcurl 7.68 and later) that AggregatorHTTP uses. The
// library is loaded at first use: linking it would cost every command 6 ms of start-up, and a -dev
// package to build.

/// Loads the library `name`, once for the process; false if it is not installed or lacks a symbol.
///
/// No other function may be called before it succeeded.
bool ccurl_load(const char *name);

/// Surround the use of libcurl by a thread. While the process exits, entering blocks forever, because
/// TLS libraries free their state in exit handlers.
void ccurl_enter(void);
void ccurl_leave(void);

// Options: the numbers are part of the ABI (curl/curl.h, CURLOPTTYPE_* plus index).
enum ccurl_option {
  CCURL_URL = 10002,
  CCURL_PROXY = 10004,
  CCURL_ERRORBUFFER = 10010,
  CCURL_HTTPHEADER = 10023,
  CCURL_NOPROGRESS = 43,
  CCURL_NOBODY = 44,
  CCURL_POST = 47,
  CCURL_CUSTOMREQUEST = 10036,
  CCURL_HTTPGET = 80,
  CCURL_NOSIGNAL = 99,
  CCURL_ACCEPT_ENCODING = 10102,
  CCURL_PRIVATE = 10103,
  CCURL_POSTFIELDSIZE_LARGE = 30120,
  CCURL_TIMEOUT_MS = 155,
  CCURL_CONNECTTIMEOUT_MS = 156,
  CCURL_COPYPOSTFIELDS = 10165,
  CCURL_PROTOCOLS = 181,
  CCURL_SUPPRESS_CONNECT_HEADERS = 265,
  CCURL_HTTP09_ALLOWED = 285,
  CCURL_QUICK_EXIT = 322,
};

enum ccurl_multi_option {
  CCURL_MULTI_MAXCONNECTS = 6,
  CCURL_MULTI_MAX_HOST_CONNECTIONS = 7,
};

enum { CCURL_ERROR_SIZE = 256 };

/// Returned by the receiver of a body, takes none of the bytes and pauses the transfer.
enum { CCURL_PAUSE = 0x10000001 };

/// Receives `count` bytes; returning any other number ends the transfer.
typedef size_t (*ccurl_receive)(char *bytes, size_t size, size_t count, void *context);

/// Receives the bytes transferred so far; returning anything but 0 ends the transfer.
typedef int (*ccurl_progress)(
  void *context, int64_t toReceive, int64_t received, int64_t toSend, int64_t sent);

void *ccurl_easy_new(void);
void ccurl_easy_free(void *easy);
/// Continues a paused transfer, and hands over the bytes that were not taken before it returns.
int ccurl_easy_resume(void *easy);
int ccurl_easy_set_long(void *easy, int option, long value);
int ccurl_easy_set_offset(void *easy, int option, int64_t value);
int ccurl_easy_set_pointer(void *easy, int option, const void *value);
/// Sets the callbacks for header, body and progress, and their context.
void ccurl_easy_set_callbacks(
  void *easy, ccurl_receive head, ccurl_receive body, ccurl_progress progress, void *context);

/// Receives addresses and ports before a request is sent; returning anything but 0 closes the connection
/// and ends the transfer with code 42.
typedef int (*ccurl_prerequest)(
  void *context, char *address, char *local_address, int port, int local_port);

/// Does nothing before libcurl 7.80.
void ccurl_easy_set_prerequest(void *easy, ccurl_prerequest prerequest, void *context);

/// True if the transfer uses a connection of an earlier one.
bool ccurl_easy_reuses_connection(void *easy);
/// The socket and its local port after a transfer over HTTP/1; false for others.
bool ccurl_easy_kept_socket(void *easy, int *socket, int *local_port);
/// True if a socket still has this local port, and has bytes to read or was closed by the other side.
bool ccurl_socket_has_input(int socket, int local_port);

/// The status of the last reply; 0 if there was none.
long ccurl_easy_status(void *easy);
/// The system's error number of the last failed connect.
long ccurl_easy_os_error(void *easy);
/// Microseconds from the start until the request could be sent; 0 while connecting.
int64_t ccurl_easy_connected_after(void *easy);
void *ccurl_easy_private(void *easy);

/// Appends a copy of `text` to a list; NULL if there is not enough memory.
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
/// The next transfer that ended, and its code; NULL if there is none.
void *ccurl_multi_next_done(void *multi, int *code);
