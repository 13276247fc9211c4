#pragma once
#include <stdint.h>

struct debug_vect_s {
  uint64_t timestamp;
  float x, y, z;
  char name[10];
};
