/* The first words of the memory of a Cortex-M: its stack, and where it begins, which newlib defines. */
#include <stdint.h>

extern void _start(void);
extern uint32_t stack_top;

typedef struct {
  uint32_t *stack;
  void (*reset)(void);
} vector_table;

__attribute__((section(".vectors"), used)) static const vector_table vectors = {&stack_top, _start};
