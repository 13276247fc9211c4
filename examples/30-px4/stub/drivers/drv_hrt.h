// Stub: the time is what main.cpp says.
#pragma once
#include <stdint.h>

typedef uint64_t hrt_abstime;
hrt_abstime hrt_absolute_time();
