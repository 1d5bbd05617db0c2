/* Turns Fortran's arrays into arguments of stria.h. A descriptor gives type, kind, shape and
 * strides of an array or a section of one, which is used as it lies. The file has the dimensions in
 * C's order: Fortran's first is its last. */
#include "descriptors.h"

#include <ISO_Fortran_binding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The element type of an array; -1 if files have none like it. */
static int element_of(const CFI_cdesc_t* array) {
  switch (array->type) {
    case CFI_type_int8_t:
      return STRIA_INT8;
    case CFI_type_int16_t:
      return STRIA_INT16;
    case CFI_type_int32_t:
      return STRIA_INT32;
    case CFI_type_int64_t:
      return STRIA_INT64;
    case CFI_type_float:
      return STRIA_FLOAT32;
    case CFI_type_double:
      return STRIA_FLOAT64;
    default:
      return -1;
  }
}

/* The bytes of an array, its first dimension fastest: one vector per dimension
 * around the element. */
static int type_of(const CFI_cdesc_t* array, stria_type** type) {
  stria_type* inner;
  int code = stria_type_bytes((int64_t)array->elem_len, &inner);
  for (int i = 0; code == STRIA_OK && i < array->rank; ++i) {
    stria_type* outer = NULL;
    code = stria_type_hvector(array->dim[i].extent, 1, array->dim[i].sm, inner, &outer);
    stria_type_free(inner);
    inner = outer;
  }
  *type = inner;
  return code;
}

/* The array is of rank `rank` of the dataset, or a scalar for one element of it; the sizes of 1
 * that it leaves out, as in unk(1, :, :), stay out: `count` has them all. */
static void describe_place(const CFI_cdesc_t* array, int rank, const int64_t* start, int64_t* start_c, int64_t* count_c) {
  for (int i = 0; i < rank; ++i) {
    start_c[rank - 1 - i] = start[i] - 1;
    count_c[rank - 1 - i] = i < array->rank ? array->dim[i].extent : 1;
  }
}

typedef int transfer_call(stria_dataset*, const int64_t*, const int64_t*, void*, const stria_type*, int);

static int put(stria_dataset* dataset, const int64_t* start, const int64_t* count, void* data, const stria_type* type,
               int element) {
  return stria_put(dataset, start, count, data, type, element);
}

static int transfer(transfer_call* call, stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array) {
  const int rank = stria_dataset_rank(dataset);
  int64_t start_c[CFI_MAX_RANK + 1] = {0}, count_c[CFI_MAX_RANK + 1] = {0};
  /* An impossible place is passed on as no place, so that the error reaches all ranks. */
  const int fits = start_count == rank && array->rank <= rank && rank <= CFI_MAX_RANK;
  stria_type* type = NULL;
  if (fits) {
    describe_place(array, rank, start, start_c, count_c);
  }
  int code = type_of(array, &type);
  if (code == STRIA_OK) {
    /* A file would not refuse any place of an array without elements. */
    const int empty = stria_type_size(type) == 0;
    void* data = array->base_addr == NULL && empty ? &start_c : array->base_addr;
    code = call(dataset, fits ? start_c : NULL, fits ? count_c : NULL, data, type, element_of(array));
  }
  stria_type_free(type);
  return code;
}

int stria_f_put(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array) {
  return transfer(put, dataset, start, start_count, array);
}

int stria_f_get(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array) {
  return transfer(stria_get, dataset, start, start_count, array);
}

int stria_f_read(stria_dataset* dataset, const int64_t* start, int start_count, CFI_cdesc_t* array) {
  return transfer(stria_read, dataset, start, start_count, array);
}

int stria_f_create_dataset(stria_file* file, const char* path, int element, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset) {
  int64_t dims_c[CFI_MAX_RANK + 1] = {0};
  for (int i = 0; i < rank && rank <= CFI_MAX_RANK; ++i) {
    dims_c[rank - 1 - i] = dims[i];
  }
  return stria_create_dataset(file, path, element, rank <= CFI_MAX_RANK ? rank : -1, dims_c, options, dataset);
}

int stria_f_dims(const stria_dataset* dataset, int64_t* dims, int count) {
  const int rank = stria_dataset_rank(dataset);
  int64_t dims_c[64] = {0};
  const int code = rank <= 64 ? stria_dataset_dims(dataset, dims_c) : STRIA_UNSUPPORTED;
  for (int i = 0; i < count; ++i) {
    dims[i] = i < rank ? dims_c[rank - 1 - i] : 1;
  }
  return code;
}

/* A Fortran string without the blanks at its end, for C. The caller frees it. NULL:
 * out of memory. */
static char* c_string(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') {
    --length;
  }
  char* copy = malloc(length + 1);
  if (copy != NULL) {
    memcpy(copy, text, length);
    copy[length] = '\0';
  }
  return copy;
}

/* The number of values: an attribute is one value or a list of rank 1. -1 for more,
 * which is refused. */
static int64_t value_count(const CFI_cdesc_t* value) {
  return value->rank == 0 ? 1 : value->rank == 1 ? value->dim[0].extent : -1;
}

static char* value_at(const CFI_cdesc_t* value, int64_t index) {
  return (char*)value->base_addr + (value->rank == 0 ? 0 : (ptrdiff_t)index * value->dim[0].sm);
}

static int set_strings(stria_file* file, const char* object, const char* name, const CFI_cdesc_t* value) {
  const int64_t count = value_count(value), known = count < 0 ? 0 : count;
  char** texts = calloc((size_t)known + 1, sizeof *texts);
  for (int64_t i = 0; texts != NULL && i < known; ++i) {
    texts[i] = c_string(value_at(value, i), value->elem_len);
  }
  const int code = value->rank == 0 ? stria_set_string(file, object, name, texts == NULL ? NULL : texts[0])
                                    : stria_set_strings(file, object, name, count, (const char* const*)texts);
  for (int64_t i = 0; texts != NULL && i < known; ++i) {
    free(texts[i]);
  }
  free(texts);
  return code;
}

int stria_f_set_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  if (value->type == CFI_type_char) {
    return set_strings(file, object, name, value);
  }
  const int element = element_of(value);
  if (value->rank == 0) {
    return stria_set_number(file, object, name, element, value->base_addr);
  }
  const int64_t count = value_count(value);
  char* packed = malloc((size_t)(count < 0 ? 0 : count) * value->elem_len + 1);
  for (int64_t i = 0; packed != NULL && i < count; ++i) {
    memcpy(packed + (size_t)i * value->elem_len, value_at(value, i), value->elem_len);
  }
  const int code = stria_set_numbers(file, object, name, element, count, packed);
  free(packed);
  return code;
}

static int get_strings(stria_file* file, const char* object, const char* name, const CFI_cdesc_t* value) {
  stria_list* list = NULL;
  const int code = stria_get_strings(file, object, name, &list);
  for (int64_t i = 0; code == STRIA_OK && i < value_count(value); ++i) {
    stria_f_copy_text(stria_list_at(list, i), value_at(value, i), (int64_t)value->elem_len);
  }
  stria_list_free(list);
  return code;
}

int stria_f_get_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  if (value->type == CFI_type_char) {
    return get_strings(file, object, name, value);
  }
  const int64_t count = value_count(value);
  char* packed = calloc((size_t)(count < 0 ? 0 : count) + 1, value->elem_len);
  int64_t there = 0;
  /* Collective, so it is called whatever is wrong on this rank. */
  const int code =
      stria_get_numbers(file, object, name, element_of(value), packed == NULL || count < 0 ? 0 : count, packed, &there);
  for (int64_t i = 0; packed != NULL && code == STRIA_OK && i < count && i < there; ++i) {
    memcpy(value_at(value, i), packed + (size_t)i * value->elem_len, value->elem_len);
  }
  free(packed);
  return code;
}

int64_t stria_f_message_length(void) {
  return (int64_t)strlen(stria_error_message());
}

void stria_f_copy_text(const char* from, char* to, int64_t length) {
  const size_t known = from == NULL ? 0 : strlen(from);
  for (int64_t i = 0; i < length; ++i) {
    to[i] = (size_t)i < known ? from[i] : ' ';
  }
}

void stria_f_stop(const char* call) {
  fprintf(stderr, "stria: %s: %s\n", call, stria_error_message());
  exit(1);
}
