// server PEOPLE PRODUCTS LATENCY ADDRESS: a service that costs its clients hardly anything.
//
// The files have one JSON row a line, each with a comma at its end, and are mapped; a page is a part of them, sent as
// it is.
// LATENCY is in milliseconds, ADDRESS is one of this machine. The port is written to standard output.
//
//   GET  /api/?seed=S&page=P&results=N         people, as randomuser.me sends them
//   POST /products/offset {"skip":S,"take":N}  products; GET /products/offset?skip=S&take=N too
//   GET  /tagged/products/offset?skip=S&take=N products with an ETag, and 304 to If-None-Match
//   GET  /character/…                          a hero, as Comic Vine sends it
//   GET  /stats                                requests, the server's own processor time, arrivals
//   …/stall…                                   is never answered
//   …/fail…                                    is answered by 500
//   …/outage/1, …/outage/0                     begins and ends a time in which everything else is answered by 503
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 256, largest_request = 16384, most_arrivals = 1 << 21 };

// Rows, each ended by a comma and a line break.
struct rows {
  char *bytes;
  size_t *starts;  // one more than there are rows
  unsigned long *digests;
  long count;
};

struct connection {
  int socket;  // -1 for none
  char request[largest_request + 1];
  size_t length;
  double due;  // when to answer the first request; 0 for none
  // What is left to be sent: head, rows, tail.
  char head[512], tail[256];
  struct iovec parts[3];
  char *owned;  // freed when all is sent
};

static struct rows people, products;
static struct connection connections[most_connections];
static double latency;
static int is_out;
static double *arrivals;
static long arrival_count;

static void fail(const char *what) {
  perror(what);
  exit(74);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

// 64-bit FNV-1a.
static unsigned long digest(unsigned long digest, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
  return digest;
}

static struct rows load(const char *path) {
  struct rows rows = {0};
  struct stat status;
  int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &status) < 0) fail(path);
  size_t size = (size_t)status.st_size;
  rows.bytes = mmap(NULL, size + 1, PROT_READ, MAP_PRIVATE, file, 0);
  if (rows.bytes == MAP_FAILED) fail(path);
  close(file);
  char *end = rows.bytes + size;
  for (char *line = rows.bytes; (line = memchr(line, '\n', end - line)); line++) rows.count++;
  rows.starts = malloc((rows.count + 1) * sizeof *rows.starts);
  rows.digests = malloc((rows.count + 1) * sizeof *rows.digests);
  char *line = rows.bytes;
  for (long row = 0; row < rows.count; row++) {
    rows.starts[row] = line - rows.bytes;
    char *next = (char *)memchr(line, '\n', end - line) + 1;
    rows.digests[row] = digest(0xcbf29ce484222325, line, next - line);
    line = next;
  }
  rows.starts[rows.count] = line - rows.bytes;
  return rows;
}

static void leave(struct connection *client) {
  close(client->socket);
  free(client->owned);
  *client = (struct connection){.socket = -1};
}

static void set(struct iovec *part, void *bytes, size_t count) {
  part->iov_base = bytes;
  part->iov_len = count;
}

static void answer_with(struct connection *client, int status, char *body, size_t length) {
  int head = snprintf(client->head, sizeof client->head,
                      "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
                      "Content-Length: %zu\r\n\r\n", status, status == 200 ? "OK" : "Wrong",
                      length + strlen(client->tail));
  set(&client->parts[0], client->head, head);
  set(&client->parts[1], body, length);
  set(&client->parts[2], client->tail, strlen(client->tail));
}

// Answers with rows, and with an ETag if the request is given, or by 304 if it has that tag.
static void answer_page(struct connection *client, const char *opening, struct rows *rows,
                        long start, long count, const char *tagged) {
  if (start > rows->count) start = rows->count;
  if (count > rows->count - start) count = rows->count - start;
  char tag[64] = "";
  if (tagged) {
    snprintf(tag, sizeof tag, "ETag: \"%lx\"\r\n",
             digest(0xcbf29ce484222325, rows->digests + start, count * sizeof *rows->digests));
    char *known = strcasestr(tagged, "\r\nif-none-match: ");
    if (known && !strncmp(known + 17, tag + 6, strlen(tag + 6))) {
      int head = snprintf(client->head, sizeof client->head,
                          "HTTP/1.1 304 Not Modified\r\n%s\r\n", tag);
      set(&client->parts[0], client->head, head);
      set(&client->parts[1], NULL, 0);
      set(&client->parts[2], NULL, 0);
      return;
    }
  }
  size_t from = rows->starts[start], length = rows->starts[start + count] - from;
  if (length > 0) length -= 2;  // the last comma
  size_t whole = strlen(opening) + length + strlen(client->tail);
  int head = snprintf(client->head, sizeof client->head,
                      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s"
                      "Content-Length: %zu\r\n\r\n%s", tag, whole, opening);
  set(&client->parts[0], client->head, head);
  set(&client->parts[1], rows->bytes + from, length);
  set(&client->parts[2], client->tail, strlen(client->tail));
}

static void answer_stats(struct connection *client) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  size_t room = 128 + arrival_count * 20, length = 0;
  client->owned = malloc(room);
  length += snprintf(client->owned, room, "{\"processor\":%.6f,\"arrivals\":[",
                     usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
  for (long i = 0; i < arrival_count; i++)
    length += snprintf(client->owned + length, room - length, "%s%.6f", i ? "," : "",
                       arrivals[i] - arrivals[0]);
  length += snprintf(client->owned + length, room - length, "]}");
  arrival_count = 0;
  answer_with(client, 200, client->owned, length);
}

// The number after a key, of a query or of JSON; -1 if there is none.
static long number(const char *text, const char *key) {
  const char *found = strstr(text, key);
  if (!found) return -1;
  found += strlen(key);
  return strtol(found + strspn(found, "\": ="), NULL, 10);
}

static void answer(struct connection *client, char *request) {
  client->tail[0] = 0;
  char *line_end = strpbrk(request, "\r\n");
  char path[1024];
  snprintf(path, sizeof path, "%.*s", (int)(line_end ? line_end - request : 0), request);
  static char nothing[] = "{}";
  if (strstr(path, "/outage/")) {
    is_out = number(path, "/outage/") == 1;
    answer_with(client, 200, nothing, 2);
  } else if (strstr(path, "/fail")) {
    answer_with(client, 500, nothing, 2);
  } else if (strstr(path, "/stats")) {
    answer_stats(client);
  } else if (is_out) {
    answer_with(client, 503, nothing, 2);
  } else if (strstr(path, "/character/")) {
    static char hero[] =
        "{\"error\":\"OK\",\"limit\":1,\"offset\":0,\"number_of_page_results\":1,"
        "\"number_of_total_results\":1,\"status_code\":1,\"results\":{\"id\":1253,"
        "\"name\":\"Doctor Meridian\",\"real_name\":\"Ilse Varga\",\"powers\":[],\"teams\":[],"
        "\"description\":\"<p>She went on.</p>\"},\"version\":\"1.0\"}";
    answer_with(client, 200, hero, strlen(hero));
  } else if (strstr(path, "/products/offset")) {
    long skip = number(request, "skip"), take = number(request, "take");
    if (skip < 0) skip = 0;
    if (take < 0) take = 0;
    strcpy(client->tail, "]}");
    answer_page(client, "{\"products\":[", &products, skip, take,
                strstr(path, "/tagged/") ? request : NULL);
  } else {
    long page = number(path, "page"), count = number(path, "results");
    if (page < 1) page = 1;
    if (count < 1) count = 1;
    char seed[65] = "";
    char *found = strstr(path, "seed=");
    if (found) sscanf(found, "seed=%64[A-Za-z0-9-]", seed);
    snprintf(client->tail, sizeof client->tail,
             "],\"info\":{\"seed\":\"%s\",\"results\":%ld,\"page\":%ld,\"version\":\"1.4\"}}", seed,
             count, page);
    answer_page(client, "{\"results\":[", &people, (page - 1) * count, count, NULL);
  }
}

// How long the first request is; 0 if it is not whole yet, -1 if it is too long.
static long whole(struct connection *client) {
  client->request[client->length] = 0;
  char *end = strstr(client->request, "\r\n\r\n");
  if (!end) return client->length < largest_request ? 0 : -1;
  size_t length = end + 4 - client->request;
  char *field = strcasestr(client->request, "\r\ncontent-length:");
  if (field && field < end) length += strtol(field + 17, NULL, 10);
  if (length > largest_request) return -1;
  return length <= client->length ? (long)length : 0;
}

static int is_sending(struct connection *client) {
  return client->parts[0].iov_len + client->parts[1].iov_len + client->parts[2].iov_len > 0;
}

static void send_rest(struct connection *client) {
  while (is_sending(client)) {
    ssize_t sent = writev(client->socket, client->parts, 3);
    if (sent < 0) {
      if (errno != EAGAIN) leave(client);
      return;
    }
    for (int i = 0; i < 3; i++) {
      size_t part = client->parts[i].iov_len;
      if (part > (size_t)sent) part = (size_t)sent;
      set(&client->parts[i], (char *)client->parts[i].iov_base + part,
          client->parts[i].iov_len - part);
      sent -= part;
    }
  }
  free(client->owned);
  client->owned = NULL;
}

// Answers what is due, and notes what has come.
static void go_on(struct connection *client) {
  while (client->socket >= 0 && !is_sending(client)) {
    long length = whole(client);
    if (length < 0) leave(client);
    if (length <= 0) return;
    char *line_end = strstr(client->request, "\r\n");
    *line_end = 0;
    int stalls = strstr(client->request, "/stall") != NULL;
    int counts = strstr(client->request, "/stats") == NULL;
    *line_end = '\r';
    if (stalls) return;
    if (client->due == 0) {
      double time = now();
      if (counts && arrival_count < most_arrivals) arrivals[arrival_count++] = time;
      client->due = time + (counts ? latency : 0);
      if (latency > 0 && counts) return;
    }
    if (client->due > now()) return;
    client->due = 0;
    char kept = client->request[length];
    client->request[length] = 0;
    answer(client, client->request);
    client->request[length] = kept;
    client->length -= length;
    memmove(client->request, client->request + length, client->length);
    send_rest(client);
  }
}

static void welcome(int listener) {
  int socket = accept(listener, NULL, NULL);
  if (socket < 0) return;
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(socket, F_SETFL, O_NONBLOCK);
  for (int i = 0; i < most_connections; i++) {
    if (connections[i].socket < 0) {
      connections[i].socket = socket;
      return;
    }
  }
  close(socket);
}

static void take_in(struct connection *client) {
  ssize_t count = read(client->socket, client->request + client->length,
                       largest_request - client->length);
  if (count > 0) {
    client->length += count;
    go_on(client);
  } else if (count == 0 || errno != EAGAIN) {
    leave(client);
  }
}

int main(int count, char **arguments) {
  if (count != 6) return 64;
  signal(SIGPIPE, SIG_IGN);
  people = load(arguments[1]);
  products = load(arguments[2]);
  latency = atof(arguments[3]) / 1000;
  arrivals = malloc(most_arrivals * sizeof *arrivals);
  for (int i = 0; i < most_connections; i++) connections[i].socket = -1;

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  // Connections of a server that had the port before may still be closing.
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[5])),
                                .sin_addr.s_addr = inet_addr(arguments[4])};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 128) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) < 0)
    fail("listen");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  for (;;) {
    fd_set readable, writable;
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    FD_SET(listener, &readable);
    int highest = listener;
    double due = 0;
    for (int i = 0; i < most_connections; i++) {
      struct connection *client = &connections[i];
      if (client->socket < 0) continue;
      FD_SET(client->socket, is_sending(client) ? &writable : &readable);
      if (client->socket > highest) highest = client->socket;
      if (client->due > 0 && (due == 0 || client->due < due)) due = client->due;
    }
    double left = due > 0 ? due - now() : 0;
    if (left < 0) left = 0;
    struct timeval wait = {.tv_sec = (long)left, .tv_usec = (long)((left - (long)left) * 1e6)};
    if (select(highest + 1, &readable, &writable, NULL, due > 0 ? &wait : NULL) < 0) continue;
    if (FD_ISSET(listener, &readable)) welcome(listener);
    for (int i = 0; i < most_connections; i++) {
      struct connection *client = &connections[i];
      if (client->socket < 0) continue;
      if (FD_ISSET(client->socket, &writable)) send_rest(client);
      if (client->socket >= 0 && FD_ISSET(client->socket, &readable)) {
        take_in(client);
      } else {
        go_on(client);
      }
    }
  }
}
