#define _GNU_SOURCE
#include "CAggregatorServer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static bool prepare(int socket, int family) {
  int on = 1, off = 0;
  // A port is free again at once after its server has ended; one that is in use stays so.
  return fcntl(socket, F_SETFD, FD_CLOEXEC) == 0
         && fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK) == 0
         && setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0
         && (family != AF_INET6
             || setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0);
}

int cserver_listen(const char *text, int port, int *bound_port) {
  union address address;
  memset(&address, 0, sizeof address);
  socklen_t size;
  if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons((uint16_t)port);
    size = sizeof address.v4;
  } else if (inet_pton(AF_INET6, text, &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons((uint16_t)port);
    size = sizeof address.v6;
  } else {
    errno = EINVAL;
    return -1;
  }
  int listener = socket(address.any.sa_family, SOCK_STREAM, 0);
  if (listener < 0) return -1;
  if (
    prepare(listener, address.any.sa_family) && bind(listener, &address.any, size) == 0
    && listen(listener, 511) == 0 && getsockname(listener, &address.any, &size) == 0) {
    *bound_port =
      ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
    return listener;
  }
  int error = errno;
  close(listener);
  errno = error;
  return -1;
}

void cserver_close(int socket) { close(socket); }

void cserver_write(int socket, const void *bytes, size_t count) {
  // The thread of the server blocks SIGPIPE.
  send(socket, bytes, count, MSG_DONTWAIT);
}

void cserver_shut_down(int socket) { shutdown(socket, SHUT_RDWR); }

bool cserver_has_left(int socket) {
#if defined(POLLRDHUP)
  struct pollfd polled = {socket, POLLRDHUP, 0};
  return poll(&polled, 1, 0) > 0;
#else
  char byte;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}
