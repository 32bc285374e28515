#define _GNU_SOURCE
#include "CAggregatorServer.h"

#include <CAggregatorLibrary.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Declarations of microhttpd.h.
struct option {
  int name;
  intptr_t value;
  void *pointer;
};
typedef int (*visit_field)(void *, int, const char *, size_t, const char *, size_t);

enum {
  OPTION_END = 0,
  OPTION_MEMORY_LIMIT = 1,
  OPTION_CONNECTION_LIMIT = 2,
  OPTION_NOTIFY_COMPLETED = 4,
  OPTION_URI_LOG = 7,
  OPTION_LISTEN_SOCKET = 12,
  OPTION_ARRAY = 15,
  OPTION_UNESCAPE = 16,
  OPTION_NOTIFY_CONNECTION = 27,
  OPTION_STRICT = 29,
  FLAG_INTERNAL_THREAD = 8,
  FLAG_POLL = 64,
  FLAG_ITC = 1024,
  FLAG_SUSPEND_RESUME = 8192 | FLAG_ITC,
  INFO_CLIENT_ADDRESS = 2,
  INFO_SOCKET = 6,
  INFO_SOCKET_CONTEXT = 7,
  INFO_HEAD_SIZE = 10,
  HEADER_KIND = 1,
  MUST_COPY = 2,
};

static struct {
  const char *(*get_version)(void);
  void *(*start_daemon)(
    unsigned, uint16_t, void *, void *,
    int (*)(
      void *, void *, const char *, const char *, const char *, const char *, size_t *, void **),
    void *, ...);
  int (*quiesce_daemon)(void *);
  void (*stop_daemon)(void *);
  void (*suspend_connection)(void *);
  void (*resume_connection)(void *);
  const void *(*get_connection_info)(void *, int, ...);
  int (*get_connection_values_n)(void *, int, visit_field, void *);
  int (*set_connection_value_n)(void *, int, const char *, size_t, const char *, size_t);
  void *(*create_response_from_buffer)(size_t, const void *, int);
  void *(*create_response_from_callback)(
    uint64_t, size_t, cserver_reader, void *, void (*)(void *));
  int (*add_response_header)(void *, const char *, const char *);
  int (*queue_response)(void *, unsigned, void *);
  void (*destroy_response)(void *);
} mhd;

struct server {
  cserver_callbacks callbacks;
  void *daemon;
  int listener;
};

#define SYMBOL(name) {"MHD_" #name, &mhd.name}
static const clibrary_symbol symbols[] = {
  SYMBOL(get_version),
  SYMBOL(start_daemon),
  SYMBOL(quiesce_daemon),
  SYMBOL(stop_daemon),
  SYMBOL(suspend_connection),
  SYMBOL(resume_connection),
  SYMBOL(get_connection_info),
  SYMBOL(get_connection_values_n),
  SYMBOL(set_connection_value_n),
  SYMBOL(create_response_from_buffer),
  SYMBOL(create_response_from_callback),
  SYMBOL(add_response_header),
  SYMBOL(queue_response),
  SYMBOL(destroy_response),
  {NULL, NULL},
};
#undef SYMBOL

// 0.9.70 or later.
static bool prepare(void) {
  int major = 0, minor = 0, patch = 0;
  sscanf(mhd.get_version(), "%d.%d.%d", &major, &minor, &patch);
  return major > 0 || minor > 9 || (minor == 9 && patch >= 70);
}

bool cserver_load(const char *name) {
  static clibrary library = {.symbols = symbols, .prepare = prepare};
  return clibrary_load(&library, name);
}

// Callbacks of the library

static void *context_of(void *connection) {
  void *const *info = mhd.get_connection_info(connection, INFO_SOCKET_CONTEXT);
  return info ? *info : NULL;
}

static void notify_connection(void *closure, void *connection, void **context, int event) {
  struct server *server = closure;
  if (event == 0) {
    struct sockaddr *const *address =
      mhd.get_connection_info(connection, INFO_CLIENT_ADDRESS);
    const int *socket = mhd.get_connection_info(connection, INFO_SOCKET);
    char text[INET6_ADDRSTRLEN] = "";
    if (address && *address) {
      const void *number = (*address)->sa_family == AF_INET6
                             ? (void *)&((struct sockaddr_in6 *)*address)->sin6_addr
                             : (void *)&((struct sockaddr_in *)*address)->sin_addr;
      inet_ntop((*address)->sa_family, number, text, sizeof text);
    }
    // An IPv4 client of a socket for both.
    const char *mapped = "::ffff:";
    bool isMapped = strncmp(text, mapped, strlen(mapped)) == 0 && strchr(text, '.');
    *context = server->callbacks.opened(
      server->callbacks.owner, (cserver_connection)connection, socket ? *socket : -1,
      isMapped ? text + strlen(mapped) : text);
  } else if (*context) {
    server->callbacks.closed(*context);
    *context = NULL;
  }
}

// The value of the cookie that `log_target` adds.
static const char no_cookie[] = "";

static void *log_target(void *closure, const char *target, void *connection) {
  struct server *server = closure;
  void *context = context_of(connection);
  if (context) server->callbacks.began(context, target);
  // 0.9.75 would make a record of each parameter next, and of each cookie later, which nobody reads; and if they do not
  // fit into its memory, it overwrites the state in which it sends the error, and closes the connection without a
  // reply (`parse_initial_message_line` and `parse_connection_headers` in connection.c). So the query ends here, in the
  // library's buffer, and the first cookies that it will find are none.
  char *query = strchr(target, '?');
  if (query) query[1] = '\0';
  mhd.set_connection_value_n(connection, HEADER_KIND, "Cookie", 6, no_cookie, 0);
  return NULL;
}

// Leaves the text as it is.
static size_t unescape(void *closure, void *connection, char *text) {
  (void)closure;
  (void)connection;
  return strlen(text);
}

struct visit {
  const struct server *server;
  void *context;
};

static int visit(
  void *closure, int kind, const char *name, size_t name_count, const char *value,
  size_t value_count) {
  (void)kind;
  if (value == no_cookie) return 1;
  const struct visit *visit = closure;
  visit->server->callbacks.field(
    visit->context, name, name_count, value ? value : "", value ? value_count : 0);
  return 1;
}

static int handle(
  void *closure, void *connection, const char *url, const char *method, const char *version,
  const char *bytes, size_t *count, void **request) {
  (void)url;
  (void)version;
  struct server *server = closure;
  void *context = context_of(connection);
  if (!context) return 0;
  if (!*request) {
    *request = connection;
    struct visit closure = {server, context};
    mhd.get_connection_values_n(connection, HEADER_KIND, visit, &closure);
    const size_t *size = mhd.get_connection_info(connection, INFO_HEAD_SIZE);
    return server->callbacks.head(context, method, size ? *size : 0);
  }
  if (*count > 0) {
    size_t received = *count;
    *count = 0;
    return server->callbacks.body(context, bytes, received);
  }
  return server->callbacks.complete(context);
}

static void notify_completed(void *closure, void *connection, void **request, int reason) {
  (void)reason;
  (void)request;
  struct server *server = closure;
  void *context = context_of(connection);
  if (context) server->callbacks.finished(context);
}

// Daemons

cserver_daemon cserver_start(
  int listener, size_t memory, unsigned connections, const cserver_callbacks *callbacks) {
  struct server *server = calloc(1, sizeof *server);
  if (!server) return 0;
  server->callbacks = *callbacks;
  server->listener = listener;
  struct option options[] = {
    {OPTION_LISTEN_SOCKET, listener, NULL},
    {OPTION_MEMORY_LIMIT, (intptr_t)memory, NULL},
    {OPTION_CONNECTION_LIMIT, (intptr_t)connections, NULL},
    // Else it answers a request without Host itself, with a page of its own, and one with a space in its target not at all.
    {OPTION_STRICT, 0, NULL},
    {OPTION_NOTIFY_CONNECTION, (intptr_t)notify_connection, server},
    {OPTION_NOTIFY_COMPLETED, (intptr_t)notify_completed, server},
    {OPTION_URI_LOG, (intptr_t)log_target, server},
    {OPTION_UNESCAPE, (intptr_t)unescape, server},
    {OPTION_END, 0, NULL},
  };
  // Not epoll: after 128 events at once, 0.9.75 waits for another one before it handles them.
  unsigned flags = FLAG_INTERNAL_THREAD | FLAG_SUSPEND_RESUME | FLAG_POLL;
  // Other threads handle signals: the new one inherits this mask.
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &former);
  server->daemon =
    mhd.start_daemon(flags, 0, NULL, NULL, handle, server, OPTION_ARRAY, options, OPTION_END);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  if (server->daemon) return (cserver_daemon)server;
  free(server);
  return 0;
}

void cserver_quiesce(cserver_daemon daemon) {
  mhd.quiesce_daemon(((struct server *)daemon)->daemon);
}

void cserver_stop(cserver_daemon daemon) {
  struct server *server = (struct server *)daemon;
  mhd.stop_daemon(server->daemon);
  cserver_close(server->listener);
  free(server);
}

void cserver_suspend(cserver_connection connection) { mhd.suspend_connection((void *)connection); }
void cserver_resume(cserver_connection connection) { mhd.resume_connection((void *)connection); }

// Responses

cserver_response cserver_response_of_bytes(const void *bytes, size_t count) {
  return (cserver_response)mhd.create_response_from_buffer(count, bytes, MUST_COPY);
}

cserver_response cserver_response_of_reader(
  cserver_reader reader, void *context, void (*release)(void *)) {
  const uint64_t unknown = UINT64_MAX;
  const size_t block = 8192;
  return (cserver_response)mhd.create_response_from_callback(
    unknown, block, reader, context, release);
}

void cserver_add_field(cserver_response response, const char *name, const char *value) {
  mhd.add_response_header((void *)response, name, value);
}

bool cserver_send(cserver_connection connection, int status, cserver_response response) {
  bool isQueued =
    mhd.queue_response((void *)connection, (unsigned)status, (void *)response) != 0;
  mhd.destroy_response((void *)response);
  return isQueued;
}
