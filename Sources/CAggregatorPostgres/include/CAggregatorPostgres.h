#ifndef C_AGGREGATOR_POSTGRES_H
#define C_AGGREGATOR_POSTGRES_H

#include <stdbool.h>
#include <stdint.h>

// libpq (https://www.postgresql.org/docs/current/libpq.html), loaded at run time. The functions have the
// names of those that they call; all but `cpq_load` need a loaded library.

// The libpq types, without their headers: a connection, a result and the handle of a cancellation.
typedef struct cpq_connection cpq_connection;
typedef struct cpq_result cpq_result;
typedef struct cpq_cancel cpq_cancel;

// PostgresPollingStatusType
enum { CPQ_POLLING_FAILED, CPQ_POLLING_READING, CPQ_POLLING_WRITING, CPQ_POLLING_OK };

// ExecStatusType, as far as it is used
enum { CPQ_COMMAND_OK = 1, CPQ_TUPLES_OK = 2, CPQ_PIPELINE_SYNC = 10, CPQ_PIPELINE_ABORTED = 11 };

// Returns false if the library is missing or older than PostgreSQL 14, whose pipeline mode is needed.
bool cpq_load(const char *name);

cpq_connection *cpq_connect_start(const char *const *keywords, const char *const *values);
int cpq_connect_poll(cpq_connection *connection);
void cpq_finish(cpq_connection *connection);
bool cpq_is_open(const cpq_connection *connection);
// True if the last transaction has ended.
bool cpq_is_idle(const cpq_connection *connection);
int cpq_socket(const cpq_connection *connection);
int cpq_server_version(const cpq_connection *connection);
// The name of a server's user, or another parameter that the server reports; NULL if it reports none.
const char *cpq_parameter(const cpq_connection *connection, const char *name);
const char *cpq_error(const cpq_connection *connection);
void cpq_discard_notices(cpq_connection *connection);

bool cpq_set_nonblocking(cpq_connection *connection);
bool cpq_enter_pipeline(cpq_connection *connection);
bool cpq_pipeline_sync(cpq_connection *connection);
// Parameters are binary; so is the result if `format` is 1.
bool cpq_send(
  cpq_connection *connection, const char *sql, int count, const uint32_t *types,
  const char *const *values, const int *lengths, const int *formats, int format);
// 0 if all is sent, 1 if some is left, -1 for a failure.
int cpq_flush(cpq_connection *connection);
bool cpq_consume_input(cpq_connection *connection);
bool cpq_is_busy(cpq_connection *connection);
// NULL if there is none left of the statement.
cpq_result *cpq_get_result(cpq_connection *connection);

// The process ID that the server, or a pool in its place, has given this connection.
int cpq_backend_pid(const cpq_connection *connection);
// The payload of the next notification, to be freed by `free`; NULL if there is none.
char *cpq_next_notification(cpq_connection *connection);

int cpq_result_status(const cpq_result *result);
// A field of an error, such as 'C' for its SQLSTATE; NULL if it has none.
const char *cpq_result_error_field(const cpq_result *result, int field);
const char *cpq_result_error(const cpq_result *result);
int cpq_row_count(const cpq_result *result);
int cpq_column_count(const cpq_result *result);
const char *cpq_column_name(const cpq_result *result, int column);
uint32_t cpq_column_type(const cpq_result *result, int column);
bool cpq_is_null(const cpq_result *result, int row, int column);
const char *cpq_value(const cpq_result *result, int row, int column);
int cpq_length(const cpq_result *result, int row, int column);
void cpq_clear(cpq_result *result);

cpq_cancel *cpq_get_cancel(cpq_connection *connection);
// Blocks until the server has received it.
bool cpq_cancel_now(cpq_cancel *cancel);
void cpq_free_cancel(cpq_cancel *cancel);

#endif
