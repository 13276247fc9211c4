/* A vehicle as a model. Its values are its states, their derivatives, its commands, parameters, outputs, and its event
 * indicators. */
#include "canopy_fmu.h"
#include "canopy_vehicle.h"

#include <string.h>

/* The own state: what the vehicle remembers, its storage, the sides of its switches. */
enum {
  VEHICLE_DERIVATIVES = 1 + VEHICLE_STATES,
  VEHICLE_COMMANDS = VEHICLE_DERIVATIVES + VEHICLE_STATES
};

static const canopy_vehicle *const vehicle = &VEHICLE;

static double *vehicle_memory(void *self) { return self; }

static void *vehicle_storage(void *self) { return vehicle_memory(self) + (vehicle->memory + 1U) / 2U * 2U; }

static bool *vehicle_sides(void *self) { return (bool *)vehicle_storage(self) + vehicle->size; }

static size_t vehicle_size(void) {
  return (vehicle->memory + 1U) / 2U * 2U * sizeof(double) + vehicle->size + vehicle->switches * sizeof(bool);
}

static void vehicle_attach(void *self, double *v) {
  (void)self;
  (void)v;
}

static uint32_t vehicle_parameters(void) { return VEHICLE_COMMANDS + vehicle->commands; }

static uint32_t vehicle_outputs(void) { return vehicle_parameters() + vehicle->parameters; }

static uint32_t vehicle_indicators(void) { return vehicle_outputs() + vehicle->outputs; }

/* The indicators with the present sides. */
static double *vehicle_zeros(void *self, double *v, const bool *sides) {
  double *g = &v[vehicle_indicators()];
  vehicle->zeros(vehicle_storage(self), v[0], &v[1], &v[VEHICLE_COMMANDS], sides, vehicle_memory(self), g);
  return g;
}

/* Commits the sides, and reports whether some have changed. */
static bool vehicle_commit(void *self, double *v, const bool *with) {
  const double *g = vehicle_zeros(self, v, with);
  bool *sides = vehicle_sides(self);
  bool changed = false;
  for (uint16_t i = 0; i < vehicle->switches; i++) {
    changed = changed || sides[i] != (g[i] >= 0.0);
    sides[i] = g[i] >= 0.0;
  }
  return changed;
}

static bool vehicle_begin(void *self, double *v) {
  memset(self, 0, vehicle_size());
  if (!vehicle->create(vehicle_storage(self), &v[vehicle_parameters()])) {
    return false;
  }
  vehicle->begin(vehicle_storage(self), vehicle_memory(self));
  (void)vehicle_commit(self, v, NULL);
  return true;
}

static const char *vehicle_event(void *self, double *v, double *next) {
  bool again = true;
  (void)next;
  for (unsigned round = 0; again; round++) {
    if (round == 100U) {
      return "the events of the vehicle set each other off";
    }
    again = vehicle_commit(self, v, vehicle_sides(self));
    again = vehicle->react(vehicle_storage(self), v[0], &v[1], &v[VEHICLE_COMMANDS], vehicle_sides(self),
                           vehicle_memory(self), !again) ||
            again;
  }
  return NULL;
}

static void vehicle_evaluate(void *self, double *v, unsigned parts) {
  if ((parts & CANOPY_INDICATORS) != 0U) {
    double *g = vehicle_zeros(self, v, vehicle_sides(self));
    for (uint16_t i = 0; i < vehicle->switches; i++) {
      g[i] = -g[i];
    }
  }
  if ((parts & CANOPY_RATES) != 0U) {
    vehicle->derivatives(vehicle_storage(self), v[0], &v[1], &v[VEHICLE_COMMANDS], vehicle_sides(self),
                         vehicle_memory(self), &v[VEHICLE_DERIVATIVES]);
  }
  if ((parts & CANOPY_OUTPUTS) != 0U) {
    vehicle->output(vehicle_storage(self), v[0], &v[1], &v[VEHICLE_COMMANDS], vehicle_sides(self), vehicle_memory(self),
                    &v[vehicle_outputs()]);
  }
}

#define MODEL_FUNCTIONS vehicle_size, vehicle_begin, vehicle_event, vehicle_evaluate, vehicle_attach
