/* Replays a recorded solar day: the plan in C gets the recorded signals, and must make each recorded status change. */
#include "solar-day.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, MOST = 10000 };

typedef struct {
  double t;
  char task[64];
  char to[32];
} change;

static change recorded[MOST];
static int n, at;

static const char *const statuses[] = {"Success", "Failure",  "Accept",       "Activating", "Running",
                                       "Finished", "Aborted", "Deactivating", "Skipped",    "Dropped"};

static void fail(const char *text) {
  fprintf(stderr, "replay: %s\n", text);
  exit(1);
}

static void changed(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration) {
  const double t = *(const double *)context;
  const char *const name = solar_day_tree.names[task];
  const change *const next = &recorded[at];
  (void)from;
  (void)iteration;
  if (at < n && strcmp(next->task, name) == 0 && strcmp(next->to, statuses[to]) == 0 && fabs(next->t - t) < 1e-6) {
    at++;
  } else {
    fprintf(stderr, "replay: at %.9f s %s becomes %s; recorded is, at %.9f s, %s becomes %s\n", t, name, statuses[to],
            next->t, next->task, next->to);
    exit(1);
  }
}

/* The number of the column whose name begins with this. */
static int column(char *header, const char *name) {
  int i = 0;
  for (char *word = strtok(header, ","); word != NULL; word = strtok(NULL, ","), i++) {
    if (strncmp(word, name, strlen(name)) == 0) {
      return i;
    }
  }
  fail("a signal is not recorded");
  return -1;
}

int main(int argc, char **argv) {
  static char line[LINE], copy[LINE];
  char path[1024];
  if (argc != 2) {
    fail("give the folder of the run");
  }
  snprintf(path, sizeof path, "%s/status.csv", argv[1]);
  FILE *file = fopen(path, "r");
  if (file == NULL || fgets(line, LINE, file) == NULL) {
    fail("the folder has no status.csv");
  }
  while (n < MOST && fscanf(file, "%lf,%*d,%63[^,],%*[^,],%31[^\n]", &recorded[n].t, recorded[n].task, recorded[n].to) == 3) {
    n++;
  }
  fclose(file);

  snprintf(path, sizeof path, "%s/signals.csv", argv[1]);
  file = fopen(path, "r");
  if (file == NULL || fgets(line, LINE, file) == NULL) {
    fail("the folder has no signals.csv");
  }
  const int h = column(strcpy(copy, line), "h ");
  const int soc = column(strcpy(copy, line), "soc ");
  static solar_day plan;
  static double t;
  static const canopy_hooks hooks = {changed, NULL, NULL};
  solar_day_begin(&plan);
  plan.x.hooks = &hooks;
  plan.x.context = &t;
  while (fgets(line, LINE, file) != NULL) {
    int i = 0;
    for (char *word = strtok(line, ","); word != NULL; word = strtok(NULL, ","), i++) {
      if (i == 0) {
        t = atof(word);
      } else if (i == h) {
        plan.signals[SOLAR_DAY_IN_H] = atof(word);
      } else if (i == soc) {
        plan.signals[SOLAR_DAY_IN_SOC] = atof(word);
      }
    }
    if (canopy_execution_step(&plan.x, (canopy_time)t, 100) != CANOPY_FINE) {
      fail("the plan does not settle");
    }
  }
  fclose(file);
  if (at < n) {
    fail("some recorded changes did not happen");
  }
  printf("%d status changes as recorded\n", n);
  return 0;
}
