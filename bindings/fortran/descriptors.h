/* What lies between the module stria and stria.h, because Fortran can't express it. */
#pragma once

#include <ISO_Fortran_binding.h>

#include "stria.h"

/* As stria_put(), stria_get() and stria_read(): `start` counts from 1, first dimension fastest, and
 * has `start_count` numbers. */
int stria_f_put(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
int stria_f_get(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
int stria_f_read(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array);
/* As stria_put_slab() and so on; `stride` has as many numbers as `start`. */
int stria_f_put_strided(stria_dataset* dataset, const int64_t* start, const int64_t* stride, int start_count,
                        CFI_cdesc_t* array);
int stria_f_get_strided(stria_dataset* dataset, const int64_t* start, const int64_t* stride, int start_count,
                        CFI_cdesc_t* array);
int stria_f_read_strided(stria_dataset* dataset, const int64_t* start, const int64_t* stride, int start_count,
                         CFI_cdesc_t* array);
/* As stria_put_elements() and stria_get_elements(), with a map of `count` elements. */
int stria_f_put_elements(stria_dataset* dataset, const stria_elements* elements, int64_t count, CFI_cdesc_t* values);
int stria_f_get_elements(stria_dataset* dataset, const stria_elements* elements, int64_t count, CFI_cdesc_t* values);
/* As stria_append_own_rows(): the rows are along the array's last dimension. */
int stria_f_append_own_rows(stria_file* file, const char* path, CFI_cdesc_t* array);
int stria_f_create_dataset(stria_file* file, const char* path, int element, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset);
int stria_f_create_string_column(stria_file* file, const char* path, CFI_cdesc_t* strings);
/* The first `count` sizes, in Fortran's order; 1 where the dataset has fewer. */
int stria_f_dims(const stria_dataset* dataset, int64_t* dims, int count);
/* Likewise the lengths of chunks: zeros where there are none. */
int stria_f_chunk(const stria_dataset* dataset, int64_t* chunk, int count);
/* As stria_dataset_dimension(), counted from 1 in Fortran's order. */
const char* stria_f_dimension(const stria_dataset* dataset, int dimension);
/* As stria_dataset_fill_value(), into one number of as many bytes as the dataset's. */
int stria_f_fill_value(const stria_dataset* dataset, CFI_cdesc_t* value, int* given);
/* Numbers or strings, as the descriptor says; one, or a list of rank 1, or an array of numbers that
 * are not complex. */
int stria_f_set_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_get_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_set_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_get_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_set_references(stria_file* file, const char* object, const char* name, CFI_cdesc_t* paths);
/* As stria_verify_except(); `except` is a list of names, or NULL. */
int stria_f_verify(stria_file* file, CFI_cdesc_t* except, stria_verdict** verdict);
/* The columns of a table, which the first one makes: components of a record, by their addresses.
 * `element` -1: nothing that a table can have. */
typedef struct stria_f_columns stria_f_columns;
int stria_f_columns_add(stria_f_columns** columns, const char* name, const void* record, const void* component, int element,
                        int64_t string_bytes);
void stria_f_columns_free(stria_f_columns** columns);
/* Records are one, or an array of rank 1. */
int stria_f_create_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records);
int stria_f_read_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records);
/* As stria_create_records(), stria_put() and stria_get(): sizes, and `start` from 1, in Fortran's
 * order. The records are an array of rank 1 along the dataset's first dimension, or one. */
int stria_f_create_records(stria_file* file, const char* path, const stria_f_columns* columns, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset);
int stria_f_put_records(stria_dataset* dataset, const int64_t* start, int start_count, const stria_f_columns* columns,
                        CFI_cdesc_t* records);
int stria_f_get_records(stria_dataset* dataset, const int64_t* start, int start_count, const stria_f_columns* columns,
                        CFI_cdesc_t* records);
int stria_f_create_strings(stria_file* file, const char* path, CFI_cdesc_t* strings);
/* Keeps a message in place of the library's, for stria_f_error_message(). Returns `code`. */
int stria_f_refuse(int code, const char* format, ...);
/* As stria_error_message(); of what is wrong with an array, where that was it. */
const char* stria_f_error_message(void);
int64_t stria_f_text_length(const char* text);
/* Copies a C string into Fortran's, filled with blanks. */
void stria_f_copy_text(const char* from, char* to, int64_t length);
/* Says what failed, and ends this process: mpiexec ends the others. Of ranks that fail alike the
 * first one speaks, if it is there. */
void stria_f_stop(const char* call);
