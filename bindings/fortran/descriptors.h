/* Describes what lies between the module stria and stria.h, because Fortran can't express it. */
#pragma once

#include <ISO_Fortran_binding.h>

#include "stria.h"

/* Says how something moves; the values are those of the module. */
enum stria_f_way {
  STRIA_F_PUT = 1,
  STRIA_F_PUT_COPY = 2, /* the array may change, or go, when the call has returned */
  STRIA_F_GET = 3,
  STRIA_F_GET_INTO_COPY = 4, /* into a copy that the compiler has made for the call: refused */
  STRIA_F_READ = 5
};
/* Says where in a dataset: `start` counts from 1, first dimension fastest, and has `count` numbers,
 * of which the first CFI_MAX_RANK are here; so has `stride`. */
typedef struct stria_f_place {
  int64_t start[CFI_MAX_RANK], stride[CFI_MAX_RANK];
  int count, has_stride;
} stria_f_place;
/* Does the same as stria_put_slab(), stria_get_slab() and stria_read_slab(). */
int stria_f_move(int way, stria_dataset* dataset, const stria_f_place* place, CFI_cdesc_t* array);
/* Does the same for an array of a derived type, of which the component of any one is passed. Its
 * dimensions come before those of the array. */
int stria_f_move_component(int way, stria_dataset* dataset, const stria_f_place* place, CFI_cdesc_t* records,
                           CFI_cdesc_t* component);
/* Does the same as stria_put_elements() and stria_get_elements(), with a map of `count`
 * elements. */
int stria_f_move_elements(int way, stria_dataset* dataset, const stria_elements* elements, int64_t count, CFI_cdesc_t* values);
/* Does the same as stria_append_own_rows(): the rows are along the array's last dimension. */
int stria_f_append_own_rows(int way, stria_file* file, const char* path, CFI_cdesc_t* array);
/* Whether gfortran has made a copy of an array for the call. It is called from Fortran without
 * bind(c), because a descriptor of C doesn't tell. */
struct gfortran_array;
int stria_f_is_copy_(const struct gfortran_array* array);
int stria_f_create_dataset(stria_file* file, const char* path, int element, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset);
/* Does the same as stria_create_string_dataset(), for strings that end with blanks. */
int stria_f_create_string_dataset(stria_file* file, const char* path, int64_t length, const int64_t* dims, int rank,
                                  stria_options* options, stria_dataset** dataset);
int stria_f_create_string_column(stria_file* file, const char* path, CFI_cdesc_t* strings);
/* Gives the first `count` sizes, in Fortran's order; 1 where the dataset has fewer. */
int stria_f_dims(const stria_dataset* dataset, int64_t* dims, int count);
/* Gives the lengths of chunks, in the same way: zeros where there are none. */
int stria_f_chunk(const stria_dataset* dataset, int64_t* chunk, int count);
/* Does the same as stria_dataset_dimension(), counted from 1 in Fortran's order. */
const char* stria_f_dimension(const stria_dataset* dataset, int dimension);
/* Does the same as stria_dataset_fill_value(), into one number of as many bytes as the
 * dataset's. */
int stria_f_fill_value(const stria_dataset* dataset, CFI_cdesc_t* value, int* given);
/* Numbers or strings, as the descriptor says; one, or a list of rank 1, or an array of numbers that
 * are not complex. */
int stria_f_set_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_get_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
/* Does the same as stria_get_strings(), for an attribute that has one string. */
int stria_f_get_one_string(stria_file* file, const char* object, const char* name, stria_list** list);
int stria_f_set_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_get_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value);
int stria_f_set_references(stria_file* file, const char* object, const char* name, CFI_cdesc_t* paths);
/* Does the same as stria_verify_except(); `except` is a list of names, or NULL. */
int stria_f_verify(stria_file* file, CFI_cdesc_t* except, stria_verdict** verdict);
/* The columns of a table: components of a record. `names` end with a zero each; of each column
 * `numbers` has the place in the record in bytes, the bytes of a string, and the element type. */
typedef struct stria_f_columns {
  const char* names;
  const int64_t* numbers;
  int64_t count;
} stria_f_columns;
/* Sets the three numbers of a column, from the addresses of the record and the component. `element`
 * -1: nothing that a table can have. */
int stria_f_describe_column(const char* name, const void* record, const void* component, int element, int64_t* numbers);
/* Records are one, or an array of rank 1. */
int stria_f_create_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records);
int stria_f_read_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records);
/* Do the same as stria_create_records(), stria_put() and stria_get(): sizes and places in Fortran's
 * order. The records are an array of rank 1 along the dataset's first dimension, or one. */
int stria_f_create_records(stria_file* file, const char* path, const stria_f_columns* columns, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset);
int stria_f_move_records(int way, stria_dataset* dataset, const stria_f_place* place, const stria_f_columns* columns,
                         CFI_cdesc_t* records);
int stria_f_create_strings(stria_file* file, const char* path, CFI_cdesc_t* strings);
/* Returns the element type of an array; -1 if files have none like it. Complex numbers are pairs of
 * it. A logical is an integer of its size, 1 where it is true. */
int stria_f_element_of(const CFI_cdesc_t* array);
int stria_f_is_complex(const CFI_cdesc_t* array);
int stria_f_is_logical(const CFI_cdesc_t* array); /* one of any kind */
/* Keeps a message in place of the library's, for stria_f_error_message(). Returns `code`. */
int stria_f_refuse(int code, const char* format, ...);
/* Returns the same as stria_error_message(), or what is wrong with an array, where that was it. */
const char* stria_f_error_message(void);
int64_t stria_f_text_length(const char* text);
/* Copies a C string into Fortran's, filled with blanks. */
void stria_f_copy_text(const char* from, char* to, int64_t length);
/* Says what failed, and ends this process: mpiexec ends the others. Of ranks that fail alike the
 * first one speaks, if it is there. */
void stria_f_stop(const char* call);
