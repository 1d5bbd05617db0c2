// Checks for the tests in C.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "stria.h"

#define CHECK(condition)                                                                                   \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: not so: %s\n  %s\n", __FILE__, __LINE__, #condition, stria_error_message()); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

#define CHECK_OK(call)  \
  do {                  \
    CHECK((call) == 0); \
  } while (0)
