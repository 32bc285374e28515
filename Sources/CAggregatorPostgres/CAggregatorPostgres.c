#define _GNU_SOURCE
#include "CAggregatorPostgres.h"

#include <CAggregatorLibrary.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// PGnotify, whose further fields are libpq's own
typedef struct {
  char *channel;
  int pid;
  char *payload;
} notification;

static struct {
  int (*libVersion)(void);
  cpq_connection *(*connectStartParams)(const char *const *, const char *const *, int);
  int (*connectPoll)(cpq_connection *);
  void (*finish)(cpq_connection *);
  int (*status)(const cpq_connection *);
  int (*transactionStatus)(const cpq_connection *);
  int (*socket)(const cpq_connection *);
  int (*serverVersion)(const cpq_connection *);
  const char *(*parameterStatus)(const cpq_connection *, const char *);
  char *(*errorMessage)(const cpq_connection *);
  void *(*setNoticeProcessor)(cpq_connection *, void (*)(void *, const char *), void *);
  int (*setnonblocking)(cpq_connection *, int);
  int (*enterPipelineMode)(cpq_connection *);
  int (*pipelineSync)(cpq_connection *);
  int (*sendQueryParams)(
    cpq_connection *, const char *, int, const uint32_t *, const char *const *, const int *,
    const int *, int);
  int (*flush)(cpq_connection *);
  int (*consumeInput)(cpq_connection *);
  int (*isBusy)(cpq_connection *);
  cpq_result *(*getResult)(cpq_connection *);
  int (*backendPID)(const cpq_connection *);
  notification *(*notifies)(cpq_connection *);
  void (*freemem)(void *);
  int (*resultStatus)(const cpq_result *);
  char *(*resultErrorField)(const cpq_result *, int);
  char *(*resultErrorMessage)(const cpq_result *);
  int (*ntuples)(const cpq_result *);
  int (*nfields)(const cpq_result *);
  char *(*fname)(const cpq_result *, int);
  uint32_t (*ftype)(const cpq_result *, int);
  int (*getisnull)(const cpq_result *, int, int);
  char *(*getvalue)(const cpq_result *, int, int);
  int (*getlength)(const cpq_result *, int, int);
  void (*clear)(cpq_result *);
  cpq_cancel *(*getCancel)(cpq_connection *);
  int (*cancel)(cpq_cancel *, char *, int);
  void (*freeCancel)(cpq_cancel *);
} pq;

// Readers: threads inside libpq. Writer: the exit handler of the process, so that the TLS library is not
// taken apart while a thread uses it.
#if defined(__linux__)
static pthread_rwlock_t ending = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
static pthread_rwlock_t ending = PTHREAD_RWLOCK_INITIALIZER;
#endif

static void end(void) { pthread_rwlock_wrlock(&ending); }

#define SYMBOL(name) {"PQ" #name, &pq.name}
static const clibrary_symbol symbols[] = {
  SYMBOL(libVersion),
  SYMBOL(connectStartParams),
  SYMBOL(connectPoll),
  SYMBOL(finish),
  SYMBOL(status),
  SYMBOL(transactionStatus),
  SYMBOL(socket),
  SYMBOL(serverVersion),
  SYMBOL(parameterStatus),
  SYMBOL(errorMessage),
  SYMBOL(setNoticeProcessor),
  SYMBOL(setnonblocking),
  SYMBOL(enterPipelineMode),
  SYMBOL(pipelineSync),
  SYMBOL(sendQueryParams),
  SYMBOL(flush),
  SYMBOL(consumeInput),
  SYMBOL(isBusy),
  SYMBOL(getResult),
  SYMBOL(backendPID),
  SYMBOL(notifies),
  SYMBOL(freemem),
  SYMBOL(resultStatus),
  SYMBOL(resultErrorField),
  SYMBOL(resultErrorMessage),
  SYMBOL(ntuples),
  SYMBOL(nfields),
  SYMBOL(fname),
  SYMBOL(ftype),
  SYMBOL(getisnull),
  SYMBOL(getvalue),
  SYMBOL(getlength),
  SYMBOL(clear),
  SYMBOL(getCancel),
  SYMBOL(cancel),
  SYMBOL(freeCancel),
  {NULL, NULL},
};
#undef SYMBOL

// Registered after the handlers of the TLS library, so it runs before them.
static bool prepare(void) { return atexit(end) == 0; }

bool cpq_load(const char *name) {
  static clibrary library = {.symbols = symbols, .prepare = prepare};
  return clibrary_load(&library, name);
}

// Runs a call of a connection, unless the process is ending.
#define GUARDED(type, call)          \
  pthread_rwlock_rdlock(&ending);    \
  type result = (call);              \
  pthread_rwlock_unlock(&ending);    \
  return result

cpq_connection *cpq_connect_start(const char *const *keywords, const char *const *values) {
  GUARDED(cpq_connection *, pq.connectStartParams(keywords, values, 1));
}
int cpq_connect_poll(cpq_connection *connection) { GUARDED(int, pq.connectPoll(connection)); }
void cpq_finish(cpq_connection *connection) {
  pthread_rwlock_rdlock(&ending);
  pq.finish(connection);
  pthread_rwlock_unlock(&ending);
}
bool cpq_is_open(const cpq_connection *connection) { return pq.status(connection) == 0; }
bool cpq_is_idle(const cpq_connection *connection) {
  return pq.transactionStatus(connection) == 0;
}
int cpq_socket(const cpq_connection *connection) { return pq.socket(connection); }
int cpq_server_version(const cpq_connection *connection) { return pq.serverVersion(connection); }
const char *cpq_parameter(const cpq_connection *connection, const char *name) {
  return pq.parameterStatus(connection, name);
}
const char *cpq_error(const cpq_connection *connection) { return pq.errorMessage(connection); }

static void discard(void *context, const char *notice) {
  (void)context;
  (void)notice;
}
void cpq_discard_notices(cpq_connection *connection) {
  pq.setNoticeProcessor(connection, discard, NULL);
}

bool cpq_set_nonblocking(cpq_connection *connection) {
  return pq.setnonblocking(connection, 1) == 0;
}
bool cpq_enter_pipeline(cpq_connection *connection) {
  return pq.enterPipelineMode(connection) == 1;
}
bool cpq_pipeline_sync(cpq_connection *connection) {
  GUARDED(bool, pq.pipelineSync(connection) == 1);
}
bool cpq_send(
  cpq_connection *connection, const char *sql, int count, const uint32_t *types,
  const char *const *values, const int *lengths, const int *formats, int format) {
  GUARDED(
    bool,
    pq.sendQueryParams(connection, sql, count, types, values, lengths, formats, format) == 1);
}
int cpq_flush(cpq_connection *connection) { GUARDED(int, pq.flush(connection)); }
bool cpq_consume_input(cpq_connection *connection) {
  GUARDED(bool, pq.consumeInput(connection) == 1);
}
bool cpq_is_busy(cpq_connection *connection) { return pq.isBusy(connection) != 0; }
cpq_result *cpq_get_result(cpq_connection *connection) {
  GUARDED(cpq_result *, pq.getResult(connection));
}

int cpq_backend_pid(const cpq_connection *connection) { return pq.backendPID(connection); }
char *cpq_next_notification(cpq_connection *connection) {
  notification *next = pq.notifies(connection);
  if (!next) return NULL;
  char *payload = strdup(next->payload);
  pq.freemem(next);
  return payload;
}

int cpq_result_status(const cpq_result *result) { return pq.resultStatus(result); }
const char *cpq_result_error_field(const cpq_result *result, int field) {
  return pq.resultErrorField(result, field);
}
const char *cpq_result_error(const cpq_result *result) { return pq.resultErrorMessage(result); }
int cpq_row_count(const cpq_result *result) { return pq.ntuples(result); }
int cpq_column_count(const cpq_result *result) { return pq.nfields(result); }
const char *cpq_column_name(const cpq_result *result, int column) {
  return pq.fname(result, column);
}
uint32_t cpq_column_type(const cpq_result *result, int column) {
  return pq.ftype(result, column);
}
bool cpq_is_null(const cpq_result *result, int row, int column) {
  return pq.getisnull(result, row, column) != 0;
}
const char *cpq_value(const cpq_result *result, int row, int column) {
  return pq.getvalue(result, row, column);
}
int cpq_length(const cpq_result *result, int row, int column) {
  return pq.getlength(result, row, column);
}
void cpq_clear(cpq_result *result) { pq.clear(result); }

cpq_cancel *cpq_get_cancel(cpq_connection *connection) { return pq.getCancel(connection); }
bool cpq_cancel_now(cpq_cancel *cancel) {
  char error[256];
  GUARDED(bool, pq.cancel(cancel, error, sizeof error) == 1);
}
void cpq_free_cancel(cpq_cancel *cancel) { pq.freeCancel(cancel); }
