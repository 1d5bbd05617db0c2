/* What lies between the module stria and stria.h, because Fortran can't express it. */
#pragma once

#include <ISO_Fortran_binding.h>

#include "stria.h"

/* As stria_put(), stria_get() and stria_read(): `start` counts from 1, first dimension fastest, and
 * has `start_count` numbers. */
int stria_f_put(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
int stria_f_get(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
int stria_f_read(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
int stria_f_create_dataset(stria_file* file, const char* path, int element, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset);
/* The first `count` sizes, in Fortran's order; 1 where the dataset has fewer. */
int stria_f_dims(const stria_dataset* dataset, int64_t* dims, int count);
/* Numbers or strings, as the descriptor says; one, or a list of rank 1. */
int stria_f_set_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_get_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int64_t stria_f_message_length(void);
/* Copies a C string into Fortran's, filled with blanks. */
void stria_f_copy_text(const char* from, char* to, int64_t length);
/* Says what failed, and ends this process: mpiexec ends the others. */
void stria_f_stop(const char* call);
