/* Turns Fortran's arrays and strings into arguments of stria.h: sizes, attributes, lists of
 * strings, and what went wrong. A descriptor gives type, kind, shape and strides of an array or a
 * section of one. The file has the dimensions in C's order: Fortran's first is its last. */
#include "descriptors.h"

#include <ISO_Fortran_binding.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What was wrong with an array, in the place of the library's message about what it got instead. */
static _Thread_local char own_message[200], replaced[400];

/* An array that can't be meant is passed on to the library as nothing, so that the error reaches
 * all ranks. `code` is what the library said to that. */
int stria_f_refuse(int code, const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(own_message, sizeof own_message, format, values);
  va_end(values);
  snprintf(replaced, sizeof replaced, "%s", stria_error_message());
  return code;
}

/* A region as the library tells it, "[4:8, 0:16] (counted from 0, in C's order)", becomes a section
 * of Fortran: "(1:16, 5:8)". Returns the message where it tells none. */
static const char* in_fortrans_order(const char* message) {
  static const char words[] = " (counted from 0, in C's order)";
  static _Thread_local char told[600];
  const char* const end = strstr(message, words);
  const char* begin = end;
  while (begin != NULL && begin > message && *begin != '[') {
    --begin;
  }
  long long firsts[CFI_MAX_RANK], ends[CFI_MAX_RANK];
  int rank = 0, length = 0;
  for (const char* at = begin; at != NULL && at < end && rank < CFI_MAX_RANK; ++rank) {
    if (sscanf(at + 1, "%lld:%lld%n", &firsts[rank], &ends[rank], &length) != 2) {
      return message;
    }
    at = strpbrk(at + 1 + length, ",]");
    at = at != NULL && *at == ',' ? at : NULL;
  }
  if (rank == 0 || end == NULL) {
    return message;
  }
  int size = snprintf(told, sizeof told, "%.*s(", (int)(begin - message), message);
  for (int i = rank - 1; i >= 0 && size < (int)sizeof told; --i) {
    size += snprintf(told + size, sizeof told - (size_t)size, "%lld:%lld%s", firsts[i] + 1, ends[i], i > 0 ? ", " : ")");
  }
  if (size < (int)sizeof told) {
    snprintf(told + size, sizeof told - (size_t)size, "%s", end + sizeof words - 1);
  }
  return told;
}

const char* stria_f_error_message(void) {
  const char* message = stria_error_message();
  return own_message[0] != '\0' && strncmp(message, replaced, sizeof replaced - 1) == 0 ? own_message
                                                                                        : in_fortrans_order(message);
}

int stria_f_is_logical(const CFI_cdesc_t* array) {
#ifdef CFI_type_Logical
  return (array->type & CFI_type_mask) == CFI_type_Logical;
#else
  // Flang's logicals of more bytes have types of C that it gives to no integer.
  return array->type == CFI_type_Bool || array->type == CFI_type_int_least16_t || array->type == CFI_type_int_least32_t ||
         array->type == CFI_type_int_least64_t;
#endif
}

int stria_f_element_of(const CFI_cdesc_t* array) {
  if (stria_f_is_logical(array)) {
    return array->elem_len == 1   ? STRIA_UINT8
           : array->elem_len == 2 ? STRIA_UINT16
           : array->elem_len == 4 ? STRIA_UINT32
           : array->elem_len == 8 ? STRIA_UINT64
                                  : -1;
  }
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
    case CFI_type_float_Complex:
      return STRIA_FLOAT32;
    case CFI_type_double:
    case CFI_type_double_Complex:
      return STRIA_FLOAT64;
    default:
      return -1;
  }
}

int stria_f_is_complex(const CFI_cdesc_t* array) {
  return array->type == CFI_type_float_Complex || array->type == CFI_type_double_Complex;
}

/* Gives sizes in C's order. */
static void sizes_of(const int64_t* dims, int rank, int64_t dims_c[CFI_MAX_RANK + 1]) {
  for (int i = 0; i < rank && rank <= CFI_MAX_RANK; ++i) {
    dims_c[rank - 1 - i] = dims[i];
  }
}

/* Strings that Fortran puts end with blanks. The caller's options say so then too, which means
 * nothing to other datasets. */
int stria_f_create_string_dataset(stria_file* file, const char* path, int64_t length, const int64_t* dims, int rank,
                                  stria_options* options, stria_dataset** dataset) {
  int64_t dims_c[CFI_MAX_RANK + 1] = {0};
  sizes_of(dims, rank, dims_c);
  stria_options* own = options;
  int code = own == NULL ? stria_options_new(&own) : STRIA_OK;
  if (code == STRIA_OK) {
    code = stria_options_set(own, "blank_padded", "true");
  }
  const int made = stria_create_string_dataset(file, path, length, rank <= CFI_MAX_RANK ? rank : -1, dims_c, own, dataset);
  if (options == NULL) {
    stria_options_free(own);
  }
  return code == STRIA_OK ? made : code;
}

int stria_f_create_dataset(stria_file* file, const char* path, int element, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset) {
  int64_t dims_c[CFI_MAX_RANK + 1] = {0};
  sizes_of(dims, rank, dims_c);
  return stria_create_dataset(file, path, element, rank <= CFI_MAX_RANK ? rank : -1, dims_c, options, dataset);
}

typedef int lengths_call(const stria_dataset*, int64_t*);

/* Returns lengths in Fortran's order; `otherwise` where the dataset has fewer dimensions. */
static int lengths(lengths_call* call, const stria_dataset* dataset, int64_t* values, int count, int64_t otherwise) {
  const int rank = stria_dataset_rank(dataset);
  int64_t values_c[64] = {0};
  const int code = rank <= 64 ? call(dataset, values_c) : STRIA_UNSUPPORTED;
  for (int i = 0; i < count; ++i) {
    values[i] = i < rank ? values_c[rank - 1 - i] : otherwise;
  }
  return code;
}

int stria_f_dims(const stria_dataset* dataset, int64_t* dims, int count) {
  return lengths(stria_dataset_dims, dataset, dims, count, 1);
}

int stria_f_chunk(const stria_dataset* dataset, int64_t* chunk, int count) {
  return lengths(stria_dataset_chunk, dataset, chunk, count, 0);
}

const char* stria_f_dimension(const stria_dataset* dataset, int dimension) {
  return stria_dataset_dimension(dataset, stria_dataset_rank(dataset) - dimension);
}

int stria_f_fill_value(const stria_dataset* dataset, CFI_cdesc_t* value, int* given) {
  char bytes[8] = {0};
  const int code = stria_dataset_fill_value(dataset, bytes, given);
  const int element = stria_dataset_element(dataset), own = stria_f_element_of(value);
  /* Fortran has no unsigned numbers: their bits are those of the signed ones before them. */
  const int fits = !stria_f_is_complex(value) && own >= 0 && (own == element || (own < STRIA_FLOAT32 && own + 1 == element));
  if (code != STRIA_OK || !fits || value->rank != 0) {
    return code != STRIA_OK ? code
                            : stria_f_refuse(STRIA_INVALID_ARGUMENT, "fill_value: the dataset holds %s, which this can't take",
                                             stria_dataset_type_name(dataset));
  }
  if (*given) {
    memcpy(value->base_addr, bytes, value->elem_len);
  }
  return code;
}

/* Returns a Fortran string without the blanks at its end, for C. The caller frees it. NULL: out of
 * memory. */
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

/* Returns the number of values: an attribute is one value or a list of rank 1. -1 for more, which
 * is refused. */
static int64_t value_count(const CFI_cdesc_t* value) {
  return value->rank == 0 ? 1 : value->rank == 1 ? value->dim[0].extent : -1;
}

static char* value_at(const CFI_cdesc_t* value, int64_t index) {
  return (char*)value->base_addr + (value->rank == 0 ? 0 : (ptrdiff_t)index * value->dim[0].sm);
}

/* Returns the number of elements of an array of any rank. */
static int64_t element_count(const CFI_cdesc_t* array) {
  int64_t count = 1;
  for (int i = 0; i < array->rank; ++i) {
    count *= array->dim[i].extent;
  }
  return count;
}

/* Returns element `index` of an array of any rank, in Fortran's order. */
static char* element_at(const CFI_cdesc_t* array, int64_t index) {
  char* at = array->base_addr;
  for (int i = 0; i < array->rank; ++i) {
    at += (ptrdiff_t)(index % array->dim[i].extent) * array->dim[i].sm;
    index /= array->dim[i].extent;
  }
  return at;
}

/* Makes C's strings of an array of Fortran's. The caller frees them. NULL: out of memory. */
static char** c_strings(const CFI_cdesc_t* value) {
  const int64_t count = value_count(value) < 0 ? 0 : value_count(value);
  char** texts = calloc((size_t)count + 1, sizeof *texts);
  for (int64_t i = 0; texts != NULL && i < count; ++i) {
    texts[i] = c_string(value_at(value, i), value->elem_len);
  }
  return texts;
}

static void free_strings(char** texts, const CFI_cdesc_t* value) {
  for (int64_t i = 0; texts != NULL && i < value_count(value); ++i) {
    free(texts[i]);
  }
  free(texts);
}

static int set_strings(stria_file* file, const char* object, const char* name, const CFI_cdesc_t* value) {
  char** texts = c_strings(value);
  const int code = value->rank == 0 ? stria_set_string(file, object, name, texts == NULL ? NULL : texts[0])
                                    : stria_set_strings(file, object, name, value_count(value), (const char* const*)texts);
  free_strings(texts, value);
  return code;
}

int stria_f_set_references(stria_file* file, const char* object, const char* name, CFI_cdesc_t* paths) {
  char** texts = c_strings(paths);
  const int code = stria_set_references(file, object, name, value_count(paths), (const char* const*)texts);
  free_strings(texts, paths);
  return code;
}

int stria_f_verify(stria_file* file, CFI_cdesc_t* except, stria_verdict** verdict) {
  if (except == NULL) {
    return stria_verify_except(file, 0, NULL, verdict);
  }
  char** texts = c_strings(except);
  const int code = stria_verify_except(file, value_count(except), (const char* const*)texts, verdict);
  free_strings(texts, except);
  return code;
}

typedef int strings_call(stria_file*, const char* path, int64_t count, const char* const* strings, int64_t string_bytes);

static int create_strings(strings_call* call, stria_file* file, const char* path, const CFI_cdesc_t* strings) {
  char** texts = c_strings(strings);
  const int code = call(file, path, value_count(strings), (const char* const*)texts, (int64_t)strings->elem_len);
  free_strings(texts, strings);
  return code;
}

int stria_f_create_strings(stria_file* file, const char* path, CFI_cdesc_t* strings) {
  return create_strings(stria_create_strings, file, path, strings);
}

int stria_f_create_string_column(stria_file* file, const char* path, CFI_cdesc_t* strings) {
  return create_strings(stria_create_string_column, file, path, strings);
}

/* A logical of any kind is an integer that isn't 0 where it is true. */
static int is_true(const char* value, size_t bytes) {
  int any = 0;
  for (size_t i = 0; i < bytes; ++i) {
    any |= value[i];
  }
  return any != 0;
}

int stria_f_set_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  const int64_t count = value_count(value);
  unsigned char* bytes = count < 0 ? NULL : malloc((size_t)count + 1);
  for (int64_t i = 0; bytes != NULL && i < count; ++i) {
    bytes[i] = (unsigned char)is_true(value_at(value, i), value->elem_len);
  }
  const int code = stria_set_booleans(file, object, name, value->rank == 0 ? -1 : count, bytes);
  free(bytes);
  return code;
}

/* An attribute has another number of values than the variable, which then has as many as there
 * are: an error, for the rest of the variable would pass for values. */
static int check_count(int code, const char* object, const char* name, int64_t there, int64_t count) {
  return code != STRIA_OK || there == count
             ? code
             : stria_f_refuse(STRIA_INVALID_ARGUMENT, "attribute '%s' of '%s' has %lld values, the variable takes %lld", name,
                              object, (long long)there, (long long)count);
}

int stria_f_get_logical(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  const int64_t count = value_count(value);
  signed char* bytes = calloc((size_t)(count < 0 ? 0 : count) + 1, 1);
  int64_t there = 0;
  const int code = stria_get_numbers(file, object, name, STRIA_INT8, bytes == NULL || count < 0 ? 0 : count, bytes, &there);
  for (int64_t i = 0; bytes != NULL && code == STRIA_OK && i < count && i < there; ++i) {
    memset(value_at(value, i), 0, value->elem_len);
    *value_at(value, i) = bytes[i] != 0; /* this machine's numbers begin with their lowest byte */
  }
  free(bytes);
  return count < 0 ? code : check_count(code, object, name, there, count);
}

int stria_f_set_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  if (value->type == CFI_type_char) {
    return set_strings(file, object, name, value);
  }
  const int element = stria_f_element_of(value);
  if (value->rank == 0) {
    return stria_f_is_complex(value) ? stria_set_complex(file, object, name, element, -1, value->base_addr)
                                     : stria_set_number(file, object, name, element, value->base_addr);
  }
  const int64_t count = stria_f_is_complex(value) ? value_count(value) : element_count(value);
  int64_t dims_c[CFI_MAX_RANK];
  char* packed = malloc((size_t)(count < 0 ? 0 : count) * value->elem_len + 1);
  for (int64_t i = 0; packed != NULL && i < count; ++i) {
    memcpy(packed + (size_t)i * value->elem_len, element_at(value, i), value->elem_len);
  }
  for (int i = 0; i < value->rank; ++i) {
    dims_c[value->rank - 1 - i] = value->dim[i].extent;
  }
  const int code = stria_f_is_complex(value) ? stria_set_complex(file, object, name, element, count, count < 0 ? NULL : packed)
                   : value->rank == 1        ? stria_set_numbers(file, object, name, element, count, packed)
                                             : stria_set_array(file, object, name, element, value->rank, dims_c, packed);
  free(packed);
  return code;
}

/* Returns the length of a string without the blanks at its end, which Fortran adds. */
static int64_t trimmed_length(const char* text) {
  int64_t length = text == NULL ? 0 : (int64_t)strlen(text);
  while (length > 0 && text[length - 1] == ' ') {
    --length;
  }
  return length;
}

static int get_strings(stria_file* file, const char* object, const char* name, const CFI_cdesc_t* value) {
  stria_list* list = NULL;
  int code = stria_get_strings(file, object, name, &list);
  const int64_t there = code == STRIA_OK ? stria_list_size(list) : 0;
  int64_t longest = 0;
  for (int64_t i = 0; code == STRIA_OK && i < value_count(value); ++i) {
    const char* text = i < there ? stria_list_at(list, i) : NULL;
    stria_f_copy_text(text, value_at(value, i), (int64_t)value->elem_len);
    const int64_t length = trimmed_length(text);
    longest = length > longest ? length : longest;
  }
  code = check_count(code, object, name, there, value_count(value));
  if (code == STRIA_OK && longest > (int64_t)value->elem_len) {
    code = stria_f_refuse(STRIA_INVALID_ARGUMENT,
                          "attribute '%s' of '%s' has %lld characters, the variable takes %lld: see get_text_attribute", name,
                          object, (long long)longest, (long long)value->elem_len);
  }
  stria_list_free(list);
  return code;
}

int stria_f_get_one_string(stria_file* file, const char* object, const char* name, stria_list** list) {
  const int code = stria_get_strings(file, object, name, list);
  const int checked = code == STRIA_OK ? check_count(code, object, name, stria_list_size(*list), 1) : code;
  if (code == STRIA_OK && checked != STRIA_OK) {
    stria_list_free(*list);
  }
  return checked;
}

int stria_f_get_attribute(stria_file* file, const char* object, const char* name, CFI_cdesc_t* value) {
  if (value->type == CFI_type_char) {
    return get_strings(file, object, name, value);
  }
  const int64_t count = stria_f_is_complex(value) ? value_count(value) : element_count(value);
  char* packed = calloc((size_t)(count < 0 ? 0 : count) + 1, value->elem_len);
  int64_t there = 0;
  /* Collective, so it is called whatever is wrong on this rank. */
  const int64_t room = packed == NULL || count < 0 ? 0 : count;
  const int code = stria_f_is_complex(value)
                       ? stria_get_complex(file, object, name, stria_f_element_of(value), room, packed, &there)
                       : stria_get_numbers(file, object, name, stria_f_element_of(value), room, packed, &there);
  for (int64_t i = 0; packed != NULL && code == STRIA_OK && i < count && i < there; ++i) {
    memcpy(element_at(value, i), packed + (size_t)i * value->elem_len, value->elem_len);
  }
  free(packed);
  return count < 0 ? code : check_count(code, object, name, there, count);
}

int64_t stria_f_text_length(const char* text) {
  return text == NULL ? 0 : (int64_t)strlen(text);
}

void stria_f_copy_text(const char* from, char* to, int64_t length) {
  const size_t known = from == NULL ? 0 : strlen(from);
  for (int64_t i = 0; i < length; ++i) {
    to[i] = (size_t)i < known ? from[i] : ' ';
  }
}

/* Returns the number that the launcher gave this process; 0 without one. */
static int rank_of_process(void) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL) {
      return atoi(value);
    }
  }
  return 0;
}

/* A collective call fails on all ranks. The first one ends the program while the others wait for
 * it, as they do in C++; an error that it hasn't got is told by another one. */
void stria_f_stop(const char* call) {
  const int rank = rank_of_process();
  if (rank > 0) {
    const long wait_ms = 1000 + 20L * (rank < 100 ? rank : 100);
    const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000};
    nanosleep(&wait, NULL);
  }
  fprintf(stderr, "stria: %s: %s\n", call, stria_f_error_message());
  exit(1);
}
