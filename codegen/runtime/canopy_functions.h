/* The functions of expressions that C does not have: the law is that of docs/expressions.md of Canopy. */
#ifndef CANOPY_FUNCTIONS_H
#define CANOPY_FUNCTIONS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Expression: a function of the signals, of which the first is the time [s]. */
typedef double (*canopy_value)(const double *s);

static inline double canopy_min(double x, double y) {
  if (isnan(x) || isnan(y)) {
    return (isinf(x) && x < 0.0) || (isinf(y) && y < 0.0) ? -INFINITY : NAN;
  }
  return x < y || (x == y && signbit(x)) ? x : y;
}

static inline double canopy_max(double x, double y) {
  if (isnan(x) || isnan(y)) {
    return (isinf(x) && x > 0.0) || (isinf(y) && y > 0.0) ? INFINITY : NAN;
  }
  return x > y || (x == y && !signbit(x)) ? x : y;
}

static inline double canopy_sign(double x) {
  if (x > 0.0) {
    return 1.0;
  }
  return x < 0.0 ? -1.0 : x;
}

static inline double canopy_square(double x) { return x * x; }

/* The bits of a whole number. */
static inline double canopy_not(double x) { return -x - 1.0; }

static inline double canopy_mod(double x, double y) { return x - y * floor(x / y); }

/* '&', '|' or '^' of whole numbers; else NaN. */
static inline double canopy_bits(char operation, double x, double y) {
  const double most = 9007199254740992.0;
  if (!(fabs(x) <= most && fabs(y) <= most && floor(x) == x && floor(y) == y)) {
    return NAN;
  }
  const uint64_t a = (uint64_t)(int64_t)x;
  const uint64_t b = (uint64_t)(int64_t)y;
  const uint64_t is = operation == '&' ? a & b : operation == '|' ? a | b : a ^ b;
  /* a negative number is its two's complement */
  return (is >> 63) != 0U ? -(double)(~is) - 1.0 : (double)is;
}

/* Table of a function of one or two numbers, linear between its points. */
typedef struct {
  const double *x; /* ascending, at least two */
  const double *y; /* NULL: one number */
  const double *values;
  uint16_t nx;
  uint16_t ny;
  bool clamp; /* outside of its points, it has the value at the nearest one; else it is NaN */
} canopy_table;

/* The place of the last of n points that is not above a number, -1 if there is none. */
static inline int32_t canopy_below(const double *points, uint16_t n, double x) {
  int32_t i = n - 1;
  while (i >= 0 && !(points[i] <= x)) {
    i--;
  }
  return i;
}

/* Finds the piece of an axis that begins at low: its first point, and the share of the way to the next one at which x
 * is. It returns false if the function is undefined. */
static inline bool canopy_share(const double *points, uint16_t n, bool clamp, double x, double low, int32_t *at,
                                double *share) {
  const int32_t last = n - 1;
  *at = canopy_below(points, n, low);
  if (*at < 0) {
    *at = 0;
    *share = 0.0;
    return clamp;
  }
  if (*at == last) {
    *at = last - 1;
    if (clamp || low > points[last]) {
      *share = 1.0;
      return clamp;
    }
  }
  *share = (x - points[*at]) / (points[*at + 1] - points[*at]);
  return true;
}

/* The value on the way from a to b; exactly b at its end. */
static inline double canopy_between(double a, double b, double share) { return share == 1.0 ? b : a + share * (b - a); }

/* The value on the pieces that begin at the given bounds, or beyond these on the same patch. */
static inline double canopy_on_piece(const canopy_table *table, double x, double y, double low_x, double low_y) {
  int32_t i = 0;
  int32_t j = 0;
  double p = 0.0;
  double q = 0.0;
  if (!canopy_share(table->x, table->nx, table->clamp, x, low_x, &i, &p)) {
    return NAN;
  }
  if (table->y == NULL) {
    return canopy_between(table->values[i], table->values[i + 1], p);
  }
  if (!canopy_share(table->y, table->ny, table->clamp, y, low_y, &j, &q)) {
    return NAN;
  }
  const double *first = &table->values[i * table->ny + j];
  const double *second = &first[table->ny];
  return canopy_between(canopy_between(first[0], first[1], q), canopy_between(second[0], second[1], q), p);
}

static inline double canopy_look_up(const canopy_table *table, double x, double y) {
  return isnan(x) || isnan(y) ? NAN : canopy_on_piece(table, x, y, x, y);
}

#endif
