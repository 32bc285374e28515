#ifndef C_AGGREGATOR_SERVER_H
#define C_AGGREGATOR_SERVER_H

#include <stdbool.h>

// libmicrohttpd (https://www.gnu.org/software/libmicrohttpd/), loaded at run time.

// Returns false if the library is missing or too old.
bool cserver_load(const char *name);

#endif
