#define FMI_VERSION 2
#include "ball.c"
