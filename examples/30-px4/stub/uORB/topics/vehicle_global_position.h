#pragma once
struct vehicle_global_position_s {
  float alt; // above mean sea level [m]
};
