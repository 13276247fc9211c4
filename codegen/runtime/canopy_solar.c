/* The solar high-altitude aircraft, after package vehicle/model of Canopy, whose functions have the same names: a point
 * mass on a commanded trajectory, two electric drives, a battery and 26 solar panels. docs/vehicles-built-in.md
 * describes it; the comments and the sources of the equations are in the Go files. */
#include "canopy_functions.h"
#include "canopy_vehicle.h"

#include <string.h>

#define PI 3.14159265358979323846
#define DEGREE 0.017453292519943295 /* [rad] */
#define SECONDS_DAY 86400.0
#define EPOCH_J2000 2451545.0 /* Julian day */

#define GRAVITY 9.80665                /* [m/s^2] */
#define AIR_GAS_CONSTANT 287.05287     /* [J/(kg K)] */
#define EARTH_RADIUS 6356766.0         /* [m] */
#define SEA_LEVEL_TEMPERATURE 288.15   /* [K] */
#define SEA_LEVEL_PRESSURE 101325.0    /* [Pa] */
#define SEA_LEVEL_DENSITY 1.225        /* [kg/m^3] */
#define LAPSE_RATE 0.0065              /* [K/m] */
#define TROPOPAUSE 11000.0             /* [m] */
#define TROPOPAUSE_TEMPERATURE 216.65  /* [K] */
#define TROPOPAUSE_PRESSURE 22632.06   /* [Pa] */
#define STEFAN_BOLTZMANN 5.670374e-8   /* [W/(m^2 K^4)] */
#define CELL_REFERENCE 298.15          /* [K] */
#define TEST_IRRADIANCE 1000.0         /* [W/m^2] */
#define DIFFUSE_MODIFIER 0.95
#define LOWEST_VOLTAGE 1.0 /* [V] */
#define DARKNESS 1e-17     /* [W/m^2] */

enum { PANELS = 26, PARAMETERS = 82, COMMANDS = 7, OUTPUTS = 26 };

enum {
  NORTH,
  EAST,
  ALTITUDE,
  CLIMB,
  AIRSPEED,
  AIRSPEED_RATE,
  COURSE,
  BANK,
  LEFT,                   /* drive: current, speed, integral, winding temperature */
  RIGHT = LEFT + 4,       /* the other drive */
  BATTERY = RIGHT + 4,    /* state of charge, two RC voltages, temperature */
  PANEL_T = BATTERY + 4,  /* panel temperatures */
  PANEL_V = PANEL_T + PANELS, /* panel voltages */
  STATES = PANEL_V + PANELS
};

enum { CL_CMD, ALTITUDE_CMD, PAYLOAD, HOLD_NORTH, HOLD_EAST, HOLD_RADIUS, ELECTROLYSER };

/* The parameters, all double, in the order of the vehicle's description. */
typedef struct {
  struct {
    double latitude, longitude, year, month, day, utc_offset;
  } site;
  struct {
    double mass, span, area, zero_drag, oswald, zero_lift, lift_slope;
  } airframe;
  struct {
    double diameter, thrust_coefficient, advance_ratio, profile, induced, inertia;
  } propeller;
  struct {
    double torque, resistance, resistance_slope, current_lag, friction;
    double proportional, integral, efficiency, capacity, cooling;
  } motor;
  struct {
    double cells, cell_area, short_current, open_voltage, mpp_current, mpp_voltage;
    double voltage_slope, current_slope, thermal_voltage, encapsulation, efficiency;
    double reflectance, absorptance, heat_capacity, convection, emissivity, tracking;
  } panels;
  struct {
    double turbidity_ground, turbidity_high, turbidity_height, diffuse_fraction, diffuse_height;
  } sky;
  struct {
    double series, energy, cell_voltage, r0, r1, tau1, r2, tau2, coulomb_efficiency, heat_capacity, conductance;
    double bay_share, charge_rate, tapered_rate, taper_start;
  } battery;
  struct {
    double avionics, payload;
  } loads;
  struct {
    double altitude_gain, climb_lag, climb_rate, sink_share, airspeed_frequency, course_gain, bank_lag, largest_bank;
  } autopilot;
  struct {
    double north, east, course, altitude, lift, charge;
  } initial;
} parameters_of;

static const double limits[PARAMETERS][2] = {
    /* site */
    {-90, 90}, {-180, 180}, {1950, 2050}, {1, 12}, {1, 31}, {-12, 14},
    /* airframe */
    {10, 2000}, {2, 100}, {1, 300}, {0.003, 0.1}, {0.5, 1}, {-0.5, 1.5}, {3, 6.3},
    /* propeller */
    {0.2, 5}, {0.02, 0.3}, {0.3, 3}, {0, 0.05}, {1, 2}, {0.001, 10},
    /* motor */
    {0.01, 5}, {0.001, 5}, {0, 0.01}, {0.001, 10}, {0, 0.1}, {0, 50}, {0, 50}, {0.5, 1}, {10, 1e5}, {0.01, 100},
    /* panels */
    {1, 200}, {0.005, 0.05}, {1, 20}, {0.4, 0.8}, {0.8, 19}, {0.3, 0.75}, {-0.004, 0}, {0, 0.002}, {0.025, 0.06},
    {0.5, 1}, {0.5, 1}, {0.05, 0.5}, {0.3, 1}, {200, 20000}, {1, 100}, {0, 1}, {0.1, 600},
    /* sky */
    {1, 8}, {1, 8}, {500, 20000}, {0, 0.5}, {500, 30000},
    /* battery */
    {1, 200}, {100, 1e5}, {2, 4.5}, {1e-4, 1}, {1e-5, 1}, {0.1, 3600}, {1e-5, 1}, {1, 36000}, {0.8, 1}, {100, 1e6},
    {0, 100}, {0, 1}, {0.01, 10}, {0.001, 1}, {0, 0.99},
    /* loads */
    {0, 5000}, {0, 5000},
    /* autopilot */
    {0.001, 1}, {0.1, 300}, {0.05, 5}, {0.1, 1.5}, {0.01, 5}, {0.001, 2}, {0.1, 60}, {1, 60},
    /* initial */
    {-1e6, 1e6}, {-1e6, 1e6}, {-360, 360}, {0, 18000}, {0.2, 2}, {0, 1}};

/* Unit vector in north, east and up. */
typedef struct {
  double north, east, up;
} direction;

typedef struct {
  direction sun;
  double elevation, air_mass, beam, diffuse;
} daylight;

typedef struct {
  double temperature, pressure, density, density_gradient;
} air;

/* What depends on the parameters only. */
typedef struct {
  double midnight, day_of_year, sin_latitude, cos_latitude;               /* site */
  double induced_drag;                                                    /* airframe */
  double thrust_factor, power_factor, disc;                               /* propeller */
  double charge, taper_slope;                                             /* battery */
  double extraterrestrial;                                                /* sky */
  double normals[3][PANELS];                                              /* panels, from here on */
  double cooling, mpp_fraction, diode1, diode2, modifier_scale, open_reference, open_logarithm, open_slope;
  double current_per_irradiance, power_per_area, radiated;
} derived;

/* Intermediate results of an evaluation. */
typedef struct {
  air air;
  double speed, mass_flux, sin_path, cos_path, sin_course, cos_course, sin_bank, cos_bank, distance;
  double lift, drag, drag_force, required, thrust, motors;
  double sun_x, sun_y, sun_z, direct, diffuse;
  double available, irradiance, load, taken, drawn, current, bus;
} snapshot;

typedef struct {
  parameters_of p;
  derived d;
  snapshot now;
  daylight light; /* at light_at */
  double light_at;
} aircraft;

static double smooth_min(double a, double b, double e) { return 0.5 * (a + b - sqrt((a - b) * (a - b) + e * e)); }

static double smooth_max(double a, double b, double e) { return 0.5 * (a + b + sqrt((a - b) * (a - b) + e * e)); }

static air standard_air(double h) {
  const double ratio = EARTH_RADIUS / (EARTH_RADIUS + h);
  const double geopotential = ratio * h;
  double lapse = LAPSE_RATE;
  air a;
  if (geopotential < TROPOPAUSE) {
    a.temperature = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * geopotential;
    const double exponent = GRAVITY / (LAPSE_RATE * AIR_GAS_CONSTANT);
    a.pressure = SEA_LEVEL_PRESSURE * exp(exponent * log(a.temperature * (1.0 / SEA_LEVEL_TEMPERATURE)));
  } else {
    lapse = 0.0;
    a.temperature = TROPOPAUSE_TEMPERATURE;
    const double rate = GRAVITY / (AIR_GAS_CONSTANT * TROPOPAUSE_TEMPERATURE);
    a.pressure = TROPOPAUSE_PRESSURE * exp(-rate * (geopotential - TROPOPAUSE));
  }
  a.density = a.pressure / (AIR_GAS_CONSTANT * a.temperature);
  a.density_gradient = (lapse - GRAVITY / AIR_GAS_CONSTANT) / a.temperature * ratio * ratio;
  return a;
}

static double julian_day(int year, int month, int day) {
  if (month <= 2) {
    year--;
    month += 12;
  }
  const int century = year / 100;
  const int gregorian = 2 - century + century / 4;
  return floor(365.25 * (year + 4716)) + floor(30.6001 * (month + 1)) + (day + gregorian) - 1524.5;
}

static bool derive_site(aircraft *a) {
  static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int year = (int)a->p.site.year;
  const int month = (int)a->p.site.month;
  const int day = (int)a->p.site.day;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int length = lengths[month - 1] + (month == 2 && leap ? 1 : 0);
  const double start = julian_day(year, month, day);
  a->d.midnight = start - a->p.site.utc_offset / 24.0;
  a->d.day_of_year = start - julian_day(year, 1, 1) + 1.0;
  a->d.sin_latitude = sin(a->p.site.latitude * DEGREE);
  a->d.cos_latitude = cos(a->p.site.latitude * DEGREE);
  return year == a->p.site.year && month == a->p.site.month && day == a->p.site.day && day <= length;
}

static direction sun(const aircraft *a, double julian) {
  const double days = julian - EPOCH_J2000;
  const double T = days / 36525.0;
  const double mean_longitude = 280.46646 + T * (36000.76983 + 0.0003032 * T);
  const double mean_anomaly = (357.52911 + T * (35999.05029 - 0.0001537 * T)) * DEGREE;
  const double sin_m = sin(mean_anomaly);
  const double cos_m = cos(mean_anomaly);
  const double sin_2m = 2.0 * sin_m * cos_m;
  const double sin_3m = sin_m * (3.0 - 4.0 * sin_m * sin_m);
  const double centre = sin_m * (1.914602 - T * (0.004817 + 0.000014 * T)) + sin_2m * (0.019993 - 0.000101 * T) +
                        sin_3m * 0.000289;
  const double node = (125.04 - 1934.136 * T) * DEGREE;
  const double lambda = (mean_longitude + centre - 0.00569 - 0.00478 * sin(node)) * DEGREE;
  const double eps = (23.43929111 - T * 0.0130042 + 0.00256 * cos(node)) * DEGREE;
  const double sidereal = (280.46061837 + 360.98564736629 * days + a->p.site.longitude) * DEGREE;
  const double sin_dec = sin(eps) * sin(lambda);
  const double x = cos(lambda);
  const double y = cos(eps) * sin(lambda);
  const double meridian = cos(sidereal) * x + sin(sidereal) * y;
  const double west = sin(sidereal) * x - cos(sidereal) * y;
  direction d;
  d.north = a->d.cos_latitude * sin_dec - a->d.sin_latitude * meridian;
  d.east = -west;
  d.up = canopy_max(-1.0, canopy_min(1.0, a->d.sin_latitude * sin_dec + a->d.cos_latitude * meridian));
  return d;
}

static double azimuth(direction d) {
  const double a = atan2(d.east, d.north);
  return a < 0.0 ? a + 2.0 * PI : a;
}

static double relative_air_mass(double elevation, double sine) {
  double degrees = elevation * (1.0 / DEGREE);
  if (degrees < -1.0) {
    degrees = -1.0;
    sine = -0.01745240643728351; /* sin(-1 deg) */
  }
  return 1.0 / (sine + 0.50572 * exp(-1.6364 * log(degrees + 6.07995)));
}

static daylight daylight_of(const aircraft *a, direction sun) {
  daylight l;
  l.sun = sun;
  l.elevation = asin(sun.up);
  l.air_mass = relative_air_mass(l.elevation, sun.up);
  l.beam = a->d.extraterrestrial / (1.0 + exp((l.elevation * (1.0 / DEGREE) + 0.5) * (-1.0 / 0.15)));
  l.diffuse = a->d.extraterrestrial * a->p.sky.diffuse_fraction * canopy_max(sun.up, 0.0) /
              (canopy_max(sun.up, 0.0) + 0.15);
  return l;
}

static double rayleigh_depth(double m) {
  if (m > 20.0) {
    return 1.0 / (10.4 + 0.718 * m);
  }
  return 1.0 / (6.6296 + m * (1.7513 + m * (-0.1202 + m * (0.0065 - m * 0.00013))));
}

/* Irradiances at an altitude and a pressure. */
static void sky_at(const aircraft *a, double altitude, double pressure, double *direct, double *diffuse) {
  const double turbidity = a->p.sky.turbidity_high + (a->p.sky.turbidity_ground - a->p.sky.turbidity_high) *
                                                         exp(-altitude / a->p.sky.turbidity_height);
  const double m = a->light.air_mass * pressure * (1.0 / SEA_LEVEL_PRESSURE);
  *direct = a->light.beam * exp(-0.8662 * turbidity * m * rayleigh_depth(m));
  *diffuse = a->light.diffuse > 0.0 ? a->light.diffuse * exp(-altitude / a->p.sky.diffuse_height) : 0.0;
}

static double drag(const aircraft *a, double CL) { return a->p.airframe.zero_drag + a->d.induced_drag * CL * CL; }

static double airspeed(const aircraft *a, double CL) {
  return sqrt(2.0 * a->p.airframe.mass * GRAVITY / (a->p.airframe.area * SEA_LEVEL_DENSITY * CL));
}

static double climb_command(const aircraft *a, double altitude_error, double glide) {
  const double w = smooth_min(a->p.autopilot.altitude_gain * altitude_error, a->p.autopilot.climb_rate, 0.02);
  return smooth_max(w, -a->p.autopilot.sink_share * glide, 0.02);
}

static double bank_command(aircraft *a, double north, double east, double speed, double radius) {
  snapshot *now = &a->now;
  now->distance = sqrt(north * north + east * east) + 1e-6;
  const double off = 2.0 * (now->distance - radius) / radius;
  const double field_north = -off * north - east;
  const double field_east = north - off * east;
  const double course_error = atan2(field_east * now->cos_course - field_north * now->sin_course,
                                    field_north * now->cos_course + field_east * now->sin_course);
  const double turn_rate = a->p.autopilot.course_gain * course_error + exp(-canopy_min(off * off, 600.0)) * speed / radius;
  const double largest = a->p.autopilot.largest_bank * DEGREE;
  return largest * tanh(atan(speed * (1.0 / GRAVITY) * turn_rate) / largest);
}

static double propeller_thrust(const aircraft *a, double n, double V, double rho) {
  const double J = V / canopy_max(n * a->p.propeller.diameter, 1e-3);
  return rho * n * n * a->d.thrust_factor * (1.0 - J / a->p.propeller.advance_ratio);
}

static double propeller_power(const aircraft *a, double T, double n, double V, double rho) {
  const double inflow = 0.5 * (sqrt(canopy_max(V * V + 2.0 * T / (rho * a->d.disc), 0.0)) - V);
  return T * (V + a->p.propeller.induced * inflow) + rho * n * n * n * a->d.power_factor;
}

static double propeller_speed(const aircraft *a, double T, double V, double rho) {
  const double at = V / (a->p.propeller.advance_ratio * a->p.propeller.diameter);
  return 0.5 * (at + sqrt(at * at + 4.0 * T / (rho * a->d.thrust_factor)));
}

static double feed_forward(const aircraft *a, double P, double omega) {
  return (P / omega + a->p.motor.friction * omega) / a->p.motor.torque;
}

static double motor_derivatives(const aircraft *a, const double *y, double *dydt, double command, double ahead, double Q,
                                double cooling) {
  const double i = y[0];
  const double omega = y[1];
  const double e = command - omega;
  const double copper = a->p.motor.resistance * (1.0 + a->p.motor.resistance_slope * (y[3] - 298.15)) * i * i;
  dydt[0] = (ahead + a->p.motor.proportional * e + a->p.motor.integral * y[2] - i) / a->p.motor.current_lag;
  dydt[1] = (a->p.motor.torque * i - a->p.motor.friction * omega - Q) / a->p.propeller.inertia;
  dydt[2] = e;
  dydt[3] = (copper + a->p.motor.friction * omega * omega - cooling * (y[3] - a->now.air.temperature)) / a->p.motor.capacity;
  return (a->p.motor.torque * i * omega + copper) / a->p.motor.efficiency;
}

static double open_circuit_of_cells(const aircraft *a, double s) {
  return a->p.battery.series * (3.35 + s * (0.55 + 0.25 * s * s) - 0.30 * exp(-25.0 * canopy_max(s, -0.05)));
}

static double charge_limit(const aircraft *a, double s) {
  double limit = a->p.battery.charge_rate * a->p.battery.energy;
  if (s >= a->p.battery.taper_start) {
    limit *= exp(a->d.taper_slope * (s - a->p.battery.taper_start));
  }
  return limit * canopy_min(canopy_max((1.0 - s) * (1.0 / 0.003), 0.0), 1.0);
}

static void battery_derivatives(aircraft *a, const double *y, double *dydt) {
  const double r0 = a->p.battery.r0;
  const double v1 = y[1];
  const double v2 = y[2];
  const double E = open_circuit_of_cells(a, y[0]) - v1 - v2;
  const double current = (E - sqrt(canopy_max(E * E - 4.0 * r0 * a->now.drawn, 0.0))) / (2.0 * r0);
  const double stored = current < 0.0 ? current * a->p.battery.coulomb_efficiency : current;
  dydt[0] = -stored / a->d.charge;
  dydt[1] = (a->p.battery.r1 * current - v1) / a->p.battery.tau1;
  dydt[2] = (a->p.battery.r2 * current - v2) / a->p.battery.tau2;
  dydt[3] = (r0 * current * current + v1 * v1 / a->p.battery.r1 + v2 * v2 / a->p.battery.r2 +
             a->p.battery.bay_share * a->p.loads.avionics - a->p.battery.conductance * (y[3] - a->now.air.temperature)) /
            a->p.battery.heat_capacity;
  a->now.current = current;
  a->now.bus = E - r0 * current;
}

static bool derive_panels(aircraft *a) {
  derived *d = &a->d;
  for (int i = 0; i < PANELS; i++) {
    const double span = (i + 0.5 - PANELS / 2) / (PANELS / 2);
    const double eta = fabs(span);
    const double roll = copysign(1.0 + 8.0 * eta, span) * DEGREE;
    const double pitch = -(2.0 + 1.5 * eta) * DEGREE;
    const double x = -sin(pitch) * cos(roll);
    const double y = -sin(roll) * cos(pitch);
    const double z = -cos(pitch) * cos(roll);
    const double length = sqrt(x * x + y * y + z * z);
    d->normals[0][i] = x / length;
    d->normals[1][i] = y / length;
    d->normals[2][i] = z / length;
  }
  const double rest = 1.0 - a->p.panels.mpp_current / a->p.panels.short_current;
  d->mpp_fraction = a->p.panels.mpp_voltage / a->p.panels.open_voltage;
  d->diode2 = (d->mpp_fraction - 1.0) / log(rest);
  d->diode1 = rest * exp(-d->mpp_fraction / d->diode2);
  d->modifier_scale = 1.0 / (1.0 - exp(-1.0 / a->p.panels.reflectance));
  d->open_reference = a->p.panels.cells * (a->p.panels.open_voltage - a->p.panels.thermal_voltage * log(TEST_IRRADIANCE));
  d->open_logarithm = a->p.panels.cells * a->p.panels.thermal_voltage;
  d->open_slope = a->p.panels.cells * a->p.panels.voltage_slope;
  d->current_per_irradiance = a->p.panels.short_current / TEST_IRRADIANCE;
  d->power_per_area = 1.0 / (a->p.panels.cells * a->p.panels.cell_area);
  d->radiated = a->p.panels.emissivity * STEFAN_BOLTZMANN;
  d->cooling = a->p.panels.convection * pow(7.0, -0.8);
  return a->p.panels.mpp_current < a->p.panels.short_current && a->p.panels.mpp_voltage < a->p.panels.open_voltage;
}

static double incidence_modifier(const aircraft *a, double cosine) {
  return (1.0 - exp(cosine / -a->p.panels.reflectance)) * a->d.modifier_scale;
}

static double open_circuit(const aircraft *a, double temperature, double irradiance) {
  const double logarithm = !(irradiance < DARKNESS) ? log(1.0 + irradiance) : 0.0;
  return canopy_max(LOWEST_VOLTAGE, a->d.open_reference + a->d.open_slope * (temperature - CELL_REFERENCE) +
                                        a->d.open_logarithm * logarithm);
}

static double panel_current(const aircraft *a, double voltage, double temperature, double irradiance, double open) {
  const double I = a->d.current_per_irradiance * irradiance *
                   (1.0 + a->p.panels.current_slope * (temperature - CELL_REFERENCE));
  if (irradiance < DARKNESS) {
    return voltage < open ? I : 0.0;
  }
  return I * canopy_max(0.0, 1.0 - a->d.diode1 * (exp(canopy_min(60.0, voltage / (a->d.diode2 * open))) - 1.0));
}

static void panel_derivatives(aircraft *a, const double *y, double *dydt) {
  snapshot *now = &a->now;
  const double convection = a->d.cooling * exp(0.8 * now->mass_flux);
  const double ambient = now->air.temperature;
  const double ambient4 = (ambient * ambient) * (ambient * ambient);
  now->available = 0.0;
  now->irradiance = 0.0;
  for (int i = 0; i < PANELS; i++) {
    const double T = y[PANEL_T + i];
    const double V = y[PANEL_V + i];
    const double cosine = a->d.normals[0][i] * now->sun_x + a->d.normals[1][i] * now->sun_y + a->d.normals[2][i] * now->sun_z;
    double direct = 0.0;
    double modified = 0.0;
    if (cosine > 0.0) {
      direct = now->direct * cosine;
      modified = direct * incidence_modifier(a, cosine);
    }
    const double received = direct + now->diffuse;
    const double effective = (modified + now->diffuse * DIFFUSE_MODIFIER) * a->p.panels.encapsulation;
    const double open = open_circuit(a, T, effective);
    const double power = V * panel_current(a, V, T, effective, open);
    const double heat = a->p.panels.absorptance * received - power * a->d.power_per_area;
    dydt[PANEL_T + i] = (heat - convection * (T - ambient) - a->d.radiated * ((T * T) * (T * T) - ambient4)) *
                        (1.0 / a->p.panels.heat_capacity);
    dydt[PANEL_V + i] = (a->d.mpp_fraction * open - V) * (1.0 / a->p.panels.tracking);
    now->available += power;
    now->irradiance += received;
  }
  now->available *= a->p.panels.efficiency;
  now->irradiance /= PANELS;
}

static void fly(aircraft *a, const double *y, const double *commands, double *dydt) {
  snapshot *now = &a->now;
  const double w = y[CLIMB];
  const double CL = commands[CL_CMD];
  const double density = now->air.density;
  const double dilution = sqrt(SEA_LEVEL_DENSITY / density);
  const double wanted = airspeed(a, CL);
  const double glide = wanted * dilution * drag(a, CL) / CL;
  const double climb = climb_command(a, commands[ALTITUDE_CMD] - y[ALTITUDE], glide);
  const double climb_rate = (climb - w) / a->p.autopilot.climb_lag;
  const double V = y[AIRSPEED] * dilution;
  const double acceleration = y[AIRSPEED_RATE] * dilution - 0.5 * V * now->air.density_gradient * w;
  now->sin_path = canopy_max(-0.5, canopy_min(0.5, w / V));
  now->cos_path = sqrt(1.0 - now->sin_path * now->sin_path);
  const double path_rate = (climb_rate - acceleration * now->sin_path) / (V * now->cos_path);

  now->sin_course = sin(y[COURSE]);
  now->cos_course = cos(y[COURSE]);
  now->sin_bank = sin(y[BANK]);
  now->cos_bank = cos(y[BANK]);
  const double bank = bank_command(a, y[NORTH] - commands[HOLD_NORTH], y[EAST] - commands[HOLD_EAST], V,
                                   commands[HOLD_RADIUS]);

  const double omega = a->p.autopilot.airspeed_frequency;
  dydt[NORTH] = V * now->cos_path * now->cos_course;
  dydt[EAST] = V * now->cos_path * now->sin_course;
  dydt[ALTITUDE] = w;
  dydt[CLIMB] = climb_rate;
  dydt[AIRSPEED] = y[AIRSPEED_RATE];
  dydt[AIRSPEED_RATE] = omega * omega * (wanted - y[AIRSPEED]) - 2.0 * omega * y[AIRSPEED_RATE];
  dydt[COURSE] = GRAVITY * now->sin_bank / (now->cos_bank * V);
  dydt[BANK] = (bank - y[BANK]) / a->p.autopilot.bank_lag;

  const double mass = a->p.airframe.mass;
  const double pressure_area = 0.5 * density * V * V * a->p.airframe.area;
  now->speed = V;
  now->mass_flux = log(density * V);
  now->lift = mass * (GRAVITY * now->cos_path + V * path_rate) / (now->cos_bank * pressure_area);
  now->drag = drag(a, now->lift);
  now->drag_force = pressure_area * now->drag;
  now->required = now->drag_force + mass * (GRAVITY * now->sin_path + acceleration);
}

static void drive(aircraft *a, const double *y, double *dydt) {
  snapshot *now = &a->now;
  const double V = now->speed;
  const double density = now->air.density;
  const double half = 0.5 * smooth_max(now->required, 0.0, 2.0);
  const double n = propeller_speed(a, half, V, density);
  const double command = 2.0 * PI * n;
  const double ahead = feed_forward(a, propeller_power(a, half, n, V, density), command);
  const double ln5 = 1.6094379124341003;
  const double cooling = a->p.motor.cooling * exp(0.6 * (now->mass_flux - ln5));
  now->motors = 0.0;
  now->thrust = 0.0;
  for (int i = LEFT; i <= RIGHT; i += RIGHT - LEFT) {
    const double omega = y[i + 1];
    const double turns = omega * (1.0 / (2.0 * PI));
    const double thrust = propeller_thrust(a, turns, V, density);
    const double torque = propeller_power(a, thrust, turns, V, density) / canopy_max(omega, 1.0);
    now->thrust += thrust;
    now->motors += motor_derivatives(a, &y[i], &dydt[i], command, ahead, torque, cooling);
  }
}

static void illuminate(aircraft *a, double t, double altitude) {
  snapshot *now = &a->now;
  if (t != a->light_at) { /* most calls repeat the time of the previous one */
    a->light = daylight_of(a, sun(a, a->d.midnight + t / SECONDS_DAY));
    a->light_at = t;
  }
  const direction *s = &a->light.sun;
  const double alpha = (now->lift - a->p.airframe.zero_lift) / a->p.airframe.lift_slope;
  const double sin_pitch = now->sin_path * cos(alpha) + now->cos_path * sin(alpha);
  const double cos_pitch = now->cos_path * cos(alpha) - now->sin_path * sin(alpha);
  const double ahead = now->cos_course * s->north + now->sin_course * s->east;
  const double right = now->cos_course * s->east - now->sin_course * s->north;
  const double below = sin_pitch * ahead - cos_pitch * s->up;
  now->sun_x = cos_pitch * ahead + sin_pitch * s->up;
  now->sun_y = now->cos_bank * right + now->sin_bank * below;
  now->sun_z = now->cos_bank * below - now->sin_bank * right;
  sky_at(a, altitude, now->air.pressure, &now->direct, &now->diffuse);
}

static void balance(aircraft *a, const double *y, const double *commands, double *dydt) {
  snapshot *now = &a->now;
  now->load = now->motors + a->p.loads.avionics + a->p.loads.payload * commands[PAYLOAD] + commands[ELECTROLYSER];
  now->taken = now->available > 0.0 ? smooth_min(now->available, now->load + charge_limit(a, y[BATTERY]), 2.0) : 0.0;
  now->drawn = now->load - now->taken;
  battery_derivatives(a, &y[BATTERY], &dydt[BATTERY]);
}

static bool create(void *self, const double *parameters) {
  aircraft *a = self;
  memcpy(&a->p, parameters, sizeof a->p);
  for (int i = 0; i < PARAMETERS; i++) {
    if (!(limits[i][0] <= parameters[i] && parameters[i] <= limits[i][1])) {
      return false;
    }
  }
  const double diameter2 = a->p.propeller.diameter * a->p.propeller.diameter;
  a->d.disc = PI * diameter2 / 4.0;
  a->d.thrust_factor = a->p.propeller.thrust_coefficient * diameter2 * diameter2;
  a->d.power_factor = a->p.propeller.profile * diameter2 * diameter2 * a->p.propeller.diameter;
  a->d.induced_drag = 1.0 / (PI * a->p.airframe.oswald * a->p.airframe.span * a->p.airframe.span / a->p.airframe.area);
  a->d.charge = 3600.0 * a->p.battery.energy / (a->p.battery.series * a->p.battery.cell_voltage);
  a->d.taper_slope = log(a->p.battery.tapered_rate) / (1.0 - a->p.battery.taper_start);
  const bool exists = derive_site(a);
  a->d.extraterrestrial = 1361.0 * (1.0 + 0.033 * cos(2.0 * PI * a->d.day_of_year / 365.0));
  a->light_at = NAN;
  return derive_panels(a) && exists;
}

static void initial(const void *self, double *y) {
  const aircraft *a = self;
  const air at = standard_air(a->p.initial.altitude);
  const double equivalent = airspeed(a, a->p.initial.lift);
  const double speed = equivalent * sqrt(SEA_LEVEL_DENSITY / at.density);
  for (int i = 0; i < STATES; i++) {
    y[i] = 0.0;
  }
  y[NORTH] = a->p.initial.north;
  y[EAST] = a->p.initial.east;
  y[ALTITUDE] = a->p.initial.altitude;
  y[AIRSPEED] = equivalent;
  y[COURSE] = a->p.initial.course * DEGREE;
  double thrust = 0.5 * at.density * speed * speed * a->p.airframe.area * drag(a, a->p.initial.lift) / 2.0;
  const double n = propeller_speed(a, thrust, speed, at.density);
  thrust = propeller_thrust(a, n, speed, at.density);
  const double omega = 2.0 * PI * n;
  for (int i = LEFT; i <= RIGHT; i += RIGHT - LEFT) {
    y[i] = feed_forward(a, propeller_power(a, thrust, n, speed, at.density), omega);
    y[i + 1] = omega;
    y[i + 3] = at.temperature + 10.0;
  }
  y[BATTERY] = a->p.initial.charge;
  y[BATTERY + 3] = at.temperature + 40.0;
  for (int i = 0; i < PANELS; i++) {
    y[PANEL_T + i] = at.temperature;
    y[PANEL_V + i] = a->d.mpp_fraction * open_circuit(a, at.temperature, 0.0);
  }
}

static void begin(const void *self, double *memory) {
  (void)self;
  (void)memory;
}

static void derivatives(void *self, double t, const double *y, const double *commands, const bool *above,
                        const double *memory, double *dydt) {
  aircraft *a = self;
  (void)above;
  (void)memory;
  a->now.air = standard_air(y[ALTITUDE]);
  fly(a, y, commands, dydt);
  drive(a, y, dydt);
  illuminate(a, t, y[ALTITUDE]);
  panel_derivatives(a, y, dydt);
  balance(a, y, commands, dydt);
}

static void output(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                   double *out) {
  aircraft *a = self;
  const snapshot *now = &a->now;
  double dydt[STATES];
  double sum = 0.0;
  derivatives(self, t, y, commands, above, memory, dydt);
  for (int i = 0; i < PANELS; i++) {
    sum += y[PANEL_T + i];
  }
  const double values[OUTPUTS] = {now->speed,
                                  asin(now->sin_path),
                                  now->lift,
                                  now->drag,
                                  now->drag_force,
                                  now->thrust,
                                  now->required,
                                  now->distance,
                                  now->air.density,
                                  now->air.temperature,
                                  a->light.elevation,
                                  azimuth(a->light.sun),
                                  now->direct,
                                  now->diffuse,
                                  now->irradiance,
                                  sum / PANELS,
                                  now->motors,
                                  now->load,
                                  now->available,
                                  now->taken,
                                  now->drawn,
                                  now->available - now->load,
                                  now->current,
                                  now->taken / now->bus,
                                  now->load / now->bus,
                                  now->bus};
  memcpy(out, values, sizeof values);
}

static void zeros(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                  double *g) {
  (void)self;
  (void)t;
  (void)y;
  (void)commands;
  (void)above;
  (void)memory;
  (void)g;
}

static bool react(void *self, double t, double *y, const double *commands, const bool *above, double *memory, bool settled) {
  (void)self;
  (void)t;
  (void)y;
  (void)commands;
  (void)above;
  (void)memory;
  (void)settled;
  return false;
}

extern const canopy_vehicle solar_vehicle;

const canopy_vehicle solar_vehicle = {PARAMETERS, STATES, COMMANDS,    OUTPUTS, 0,     0,    sizeof(aircraft), create,
                                      initial,    begin,  derivatives, output,  zeros, react};
