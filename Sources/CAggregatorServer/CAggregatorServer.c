#include "CAggregatorServer.h"

#include <dlfcn.h>

bool cserver_load(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL) != 0; }
