// measure REPORT PROGRAM [ARGUMENT…]: runs a program and writes seconds of wall clock, user and
// system time, and its peak memory in kilobytes to REPORT. Ends as the program did.
//
// A process inherits the peak memory of the one that it is made from, so that is a small one.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

int main(int count, char **arguments) {
  if (count < 3) return 64;
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = fork();
  if (child == 0) {
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 71;
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE *report = fopen(arguments[1], "w");
  if (!report) return 74;
#ifdef __APPLE__
  long kilobytes = usage.ru_maxrss / 1024;
#else
  long kilobytes = usage.ru_maxrss;
#endif
  fprintf(report, "%.6f %.6f %.6f %ld\n",
          end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9,
          seconds(usage.ru_utime), seconds(usage.ru_stime), kilobytes);
  fclose(report);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
