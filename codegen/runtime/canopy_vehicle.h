/* A vehicle as functions: its start, its derivatives and outputs, its switches and what happens at an event. The law is
 * that of docs/vehicles.md of Canopy. There is no heap, no recursion and no global state: what an instance needs is in
 * its storage, which is plain data and may be copied. */
#ifndef CANOPY_VEHICLE_H
#define CANOPY_VEHICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of a vehicle. self is its storage of size bytes, aligned as a double is; what was computed before never
 * changes a result. Arrays have the lengths and the order of the vehicle's description; all values but those of the
 * parameters are in coherent SI units, t in seconds.
 *
 * Between events, a solver holds the sides of all switches, above, and the memory, so that derivatives and outputs are
 * smooth. A switch is above if its indicator is at least zero. If above is NULL, relations are evaluated directly. y,
 * commands and above are only read, except by initial and react; memory only by react. */
typedef struct {
  uint16_t parameters;
  uint16_t states;
  uint16_t commands;
  uint16_t outputs;
  uint16_t switches;
  uint16_t memory; /* numbers that the vehicle remembers */
  size_t size;

  /* Fixes the parameters, in the units of the vehicle's description. It returns false if they are impossible: outside
   * their ranges, or inconsistent. Then self is not to be used. */
  bool (*create)(void *self, const double *parameters);

  /* Writes the states at the start. */
  void (*initial)(const void *self, double *y);

  /* Writes what the vehicle remembers before the start. It must react once at the start. */
  void (*begin)(const void *self, double *memory);

  /* Writes the derivatives of the states. */
  void (*derivatives)(void *self, double t, const double *y, const double *commands, const bool *above,
                      const double *memory, double *dydt);

  /* Writes the outputs. */
  void (*output)(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                 double *out);

  /* Writes the indicators of all switches. */
  void (*zeros)(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                double *g);

  /* Updates the memory at an event, and returns whether something has changed. If the sides are settled, those that
   * belong to the present states, it also changes the states as the vehicle's events demand. It is to be repeated, each
   * time with the sides that follow, until it returns false. */
  bool (*react)(void *self, double t, double *y, const double *commands, const bool *above, double *memory, bool settled);
} canopy_vehicle;

#ifdef __cplusplus
}
#endif

#endif
