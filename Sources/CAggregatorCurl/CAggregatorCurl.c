#if defined(__linux__)
#define _GNU_SOURCE
#include "CAggregatorCurl.h"

#include <CAggregatorLibrary.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

// CURLMsg of curl/multi.h.
struct message {
  int kind;
  void *easy;
  union {
    void *whatever;
    int code;
  } data;
};

static struct {
  int (*global_init)(long);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  int (*easy_pause)(void *, int);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  void *(*slist_append)(void *, const char *);
  void (*slist_free_all)(void *);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*multi_setopt)(void *, int, ...);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_perform)(void *, int *);
  int (*multi_poll)(void *, void *, unsigned, int, int *);
  int (*multi_wakeup)(void *);
  struct message *(*multi_info_read)(void *, int *);
} curl;

// Readers: threads inside libcurl. Writer: the exit handler of the process.
static pthread_rwlock_t ending = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void end(void) { pthread_rwlock_wrlock(&ending); }

#define SYMBOL(name) {"curl_" #name, &curl.name}
static const clibrary_symbol symbols[] = {
  SYMBOL(global_init),
  SYMBOL(easy_init),
  SYMBOL(easy_cleanup),
  SYMBOL(easy_pause),
  SYMBOL(easy_setopt),
  SYMBOL(easy_getinfo),
  SYMBOL(slist_append),
  SYMBOL(slist_free_all),
  SYMBOL(multi_init),
  SYMBOL(multi_cleanup),
  SYMBOL(multi_setopt),
  SYMBOL(multi_add_handle),
  SYMBOL(multi_remove_handle),
  SYMBOL(multi_perform),
  SYMBOL(multi_poll),
  SYMBOL(multi_wakeup),
  SYMBOL(multi_info_read),
  {NULL, NULL},
};
#undef SYMBOL

static bool prepare(void) {
  const long everything = 3;  // CURL_GLOBAL_ALL
  // Registered after the handlers of the TLS library, so it runs before them.
  return curl.global_init(everything) == 0 && atexit(end) == 0;
}

bool ccurl_load(const char *name) {
  static clibrary library = {.symbols = symbols, .prepare = prepare};
  return clibrary_load(&library, name);
}

void ccurl_enter(void) { pthread_rwlock_rdlock(&ending); }
void ccurl_leave(void) { pthread_rwlock_unlock(&ending); }

void *ccurl_easy_new(void) { return curl.easy_init(); }
void ccurl_easy_free(void *easy) { curl.easy_cleanup(easy); }

int ccurl_easy_resume(void *easy) {
  const int all = 0;  // CURLPAUSE_CONT
  return curl.easy_pause(easy, all);
}

int ccurl_easy_set_long(void *easy, int option, long value) {
  return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_offset(void *easy, int option, int64_t value) {
  return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_pointer(void *easy, int option, const void *value) {
  return curl.easy_setopt(easy, option, value);
}

void ccurl_easy_set_callbacks(
  void *easy, ccurl_receive head, ccurl_receive body, ccurl_progress progress, void *context) {
  enum {
    WRITEDATA = 10001, WRITEFUNCTION = 20011, HEADERDATA = 10029, HEADERFUNCTION = 20079,
    XFERINFODATA = 10057, XFERINFOFUNCTION = 20219
  };
  curl.easy_setopt(easy, HEADERFUNCTION, head);
  curl.easy_setopt(easy, HEADERDATA, context);
  curl.easy_setopt(easy, WRITEFUNCTION, body);
  curl.easy_setopt(easy, WRITEDATA, context);
  curl.easy_setopt(easy, XFERINFOFUNCTION, progress);
  curl.easy_setopt(easy, XFERINFODATA, context);
  curl.easy_setopt(easy, CCURL_NOPROGRESS, 0L);
}

static long get_long(void *easy, int info) {
  long value = 0;
  curl.easy_getinfo(easy, info, &value);
  return value;
}

long ccurl_easy_status(void *easy) { return get_long(easy, 0x200002); }
long ccurl_easy_os_error(void *easy) { return get_long(easy, 0x200019); }

void ccurl_easy_set_prerequest(void *easy, ccurl_prerequest prerequest, void *context) {
  enum { PREREQFUNCTION = 20312, PREREQDATA = 10313 };
  curl.easy_setopt(easy, PREREQFUNCTION, prerequest);
  curl.easy_setopt(easy, PREREQDATA, context);
}

bool ccurl_easy_reuses_connection(void *easy) {
  return get_long(easy, 0x20001A) == 0;  // CURLINFO_NUM_CONNECTS
}

bool ccurl_easy_kept_socket(void *easy, int *socket, int *local_port) {
  const long http2 = 3;
  *socket = -1;
  curl.easy_getinfo(easy, 0x50002C, socket);         // CURLINFO_ACTIVESOCKET
  *local_port = (int)get_long(easy, 0x20002A);       // CURLINFO_LOCAL_PORT
  return *socket >= 0 && get_long(easy, 0x20002E) < http2;  // CURLINFO_HTTP_VERSION
}

bool ccurl_socket_has_input(int socket, int local_port) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage storage;
  } address = {0};
  socklen_t size = sizeof address;
  if (getsockname(socket, &address.any, &size) != 0) return false;
  int port = address.any.sa_family == AF_INET6  ? ntohs(address.v6.sin6_port)
             : address.any.sa_family == AF_INET ? ntohs(address.v4.sin_port)
                                                : -1;
  char byte;
  return port == local_port && recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

int64_t ccurl_easy_connected_after(void *easy) {
  int64_t value = 0;
  curl.easy_getinfo(easy, 0x600035, &value);  // CURLINFO_PRETRANSFER_TIME_T
  return value;
}

void *ccurl_easy_private(void *easy) {
  void *value = NULL;
  curl.easy_getinfo(easy, 0x100015, &value);
  return value;
}

void *ccurl_list_append(void *list, const char *text) { return curl.slist_append(list, text); }
void ccurl_list_free(void *list) { curl.slist_free_all(list); }

void *ccurl_multi_new(void) { return curl.multi_init(); }
void ccurl_multi_free(void *multi) { curl.multi_cleanup(multi); }
int ccurl_multi_set_long(void *multi, int option, long value) {
  return curl.multi_setopt(multi, option, value);
}
int ccurl_multi_add(void *multi, void *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove(void *multi, void *easy) { return curl.multi_remove_handle(multi, easy); }

int ccurl_multi_perform(void *multi) {
  int running = 0;
  return curl.multi_perform(multi, &running);
}

int ccurl_multi_poll(void *multi, int milliseconds) {
  return curl.multi_poll(multi, NULL, 0, milliseconds, NULL);
}
int ccurl_multi_wakeup(void *multi) { return curl.multi_wakeup(multi); }

void *ccurl_multi_next_done(void *multi, int *code) {
  const int done = 1;  // CURLMSG_DONE
  struct message *message;
  int left = 0;
  while ((message = curl.multi_info_read(multi, &left))) {
    if (message->kind != done) continue;
    *code = message->data.code;
    return message->easy;
  }
  return NULL;
}
#endif
