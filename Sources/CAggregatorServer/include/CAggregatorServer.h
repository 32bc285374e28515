#ifndef C_AGGREGATOR_SERVER_H
#define C_AGGREGATOR_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// libmicrohttpd (https://www.gnu.org/software/libmicrohttpd/), loaded at run time. All functions but
// `cserver_load`, `cserver_listen`, and those of sockets and bytes need a loaded library.

// Handles as numbers, which threads may share.
typedef uintptr_t cserver_daemon;
typedef uintptr_t cserver_connection;
typedef uintptr_t cserver_response;

// Called on the thread of the server, one at a time. `context` is the result of `opened`.
typedef struct {
  void *owner;
  // The address is text without a port. NULL closes the connection.
  void *(*opened)(void *owner, cserver_connection connection, int socket, const char *address);
  // The socket is still open.
  void (*closed)(void *context);
  // The request line has arrived; the target is as sent.
  void (*began)(void *context, const char *target);
  void (*field)(
    void *context, const char *name, size_t name_count, const char *value, size_t value_count);
  // All header fields have arrived. These return false to close the connection.
  bool (*head)(void *context, const char *method, size_t count);
  bool (*body)(void *context, const char *bytes, size_t count);
  // The request is complete, or its connection was resumed without a response.
  bool (*complete)(void *context);
  // The response was sent, or the connection failed.
  void (*finished)(void *context);
} cserver_callbacks;

// Returns false if the library is missing or older than 0.9.70.
bool cserver_load(const char *name);

// A socket that listens on a numeric address, and its port; -1 and `errno` if it fails, EINVAL if the address is
// not numeric.
int cserver_listen(const char *address, int port, int *bound_port);

// Takes the listening socket over. Returns 0 if it fails.
cserver_daemon cserver_start(
  int listener, size_t memory, unsigned connections, const cserver_callbacks *callbacks);
// Accepts no more connections.
void cserver_quiesce(cserver_daemon daemon);
// Closes all connections, none of which may be suspended, and blocks until the thread has ended; after
// `cserver_quiesce`.
void cserver_stop(cserver_daemon daemon);

// May be called in `complete` and in a reader only.
void cserver_suspend(cserver_connection connection);
void cserver_resume(cserver_connection connection);

// A response with a copy of the bytes.
cserver_response cserver_response_of_bytes(const void *bytes, size_t count);
// Returns the number of bytes written; 0 after suspending the connection, -1 at the end.
typedef ssize_t (*cserver_reader)(void *context, uint64_t position, char *buffer, size_t count);
cserver_response cserver_response_of_reader(
  cserver_reader reader, void *context, void (*release)(void *context));
// Ignores an invalid header field.
void cserver_add_field(cserver_response response, const char *name, const char *value);
// Frees the response; may be called in `head` and `complete` only.
bool cserver_send(cserver_connection connection, int status, cserver_response response);

void cserver_close(int socket);
// Writes as many bytes as the socket takes at once.
void cserver_write(int socket, const void *bytes, size_t count);
// Ends both directions of a connection; its descriptor stays open.
void cserver_shut_down(int socket);
// True if the client has closed its side of a connection.
bool cserver_has_left(int socket);

// A hash of bytes that is the same in every process, not for secrets.
uint64_t cserver_hash(const void *bytes, size_t count);

#endif
