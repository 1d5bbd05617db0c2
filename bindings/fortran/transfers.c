/* Describes what is put and got: arrays, and components of arrays of a derived type, as they lie. A
 * descriptor gives type, kind, shape and strides of an array or a section of one.
 *
 * Problem: a put or get is made at the next flush or commit, and gfortran may pass a copy of the
 * array that ends with the call. It copies a section of components (particles%mass), also behind a
 * pointer, and every expression; and so do others with expressions.
 * Method: such a copy is known by its lower bounds, see stria_f_is_copy_(). What is put from one
 * is copied once more, into memory of the library. To get into one is refused; to read into one is
 * not, because the compiler copies it back at the end of the call. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include <ISO_Fortran_binding.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "descriptors.h"

/* Says how gfortran describes an array to Fortran's own procedures; only what is needed here. */
struct gfortran_array {
  void* data;
  size_t offset, element_bytes;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
  struct {
    ptrdiff_t stride, lower_bound, upper_bound;
  } dims[CFI_MAX_RANK];
};

/* A variable has the lower bounds 1 in a procedure with an array of assumed rank, as gfortran 12
 * sets them; those of a copy that it has made for the call are 0. A transposed variable has other
 * bounds too, and isn't copied: its first stride isn't 1. */
int stria_f_is_copy_(const struct gfortran_array* array) {
  for (int i = 0; i < array->rank; ++i) {
    if (array->dims[i].lower_bound != 0) {
      return 0;
    }
  }
  return array->rank > 0 && array->dims[0].stride == 1;
}

/* Says what moves: numbers in memory, in `rank` dimensions of which the first is the fastest. */
struct numbers {
  void* data;
  const char* wrong; /* what is wrong with them, whatever their place; NULL: nothing */
  int element, is_complex, is_text, rank;
  int64_t bytes; /* the bytes of one; of a string its length */
  int64_t extents[2 * CFI_MAX_RANK], strides[2 * CFI_MAX_RANK];
};

/* Tells whether an address is in a segment of the program or of a library that can't be written. */
static int find_constant(struct dl_phdr_info* object, size_t size, void* address) {
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    const uintptr_t offset = *(const uintptr_t*)address - object->dlpi_addr - segment->p_vaddr;
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0 && offset < segment->p_memsz) {
      return 1;
    }
  }
  return 0;
}

static int is_constant(const void* data) {
  uintptr_t address = (uintptr_t)data;
  return dl_iterate_phdr(find_constant, &address);
}

static void add_dimensions(struct numbers* numbers, const CFI_cdesc_t* array) {
  for (int i = 0; i < array->rank; ++i) {
    numbers->extents[numbers->rank] = array->dim[i].extent;
    numbers->strides[numbers->rank++] = array->dim[i].sm;
  }
}

static struct numbers numbers_of(const CFI_cdesc_t* array) {
  struct numbers numbers = {.data = array->base_addr,
                            .element = stria_f_element_of(array),
                            .is_complex = stria_f_is_complex(array),
                            .is_text = array->type == CFI_type_char,
                            .bytes = (int64_t)array->elem_len};
  add_dimensions(&numbers, array);
  if (numbers.is_text) {
    numbers.element = STRIA_BYTE;
  } else if (numbers.element < 0) {
    numbers.wrong =
        "an array of this type and kind can't be put or got: a dataset has integers, real(4), "
        "real(8), complex numbers of these, or logicals";
  } else if (array->rank == 0 && numbers.element == STRIA_INT8 && is_constant(array->base_addr)) {
    /* gfortran 12 describes the constant "abc" as it does 97_int8. */
    numbers.wrong =
        "a constant that is a string can't be put: see create_strings(); an integer(int8) that is a constant looks "
        "the same here: put an array of it, as [1_int8]";
  }
  for (int i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent < 0) {
      numbers.wrong = "an array whose last size isn't known (assumed size): put a section of it, as a(1:n)";
    }
  }
  return numbers;
}

/* Returns the component of an array of records that another one shows, which is any of them. */
static struct numbers component_of(const CFI_cdesc_t* records, const CFI_cdesc_t* component) {
  struct numbers numbers = numbers_of(component);
  const intptr_t apart = (char*)component->base_addr - (char*)records->base_addr;
  const intptr_t record_bytes = (intptr_t)records->elem_len;
  intptr_t first = 0, end = record_bytes, length = (intptr_t)component->elem_len;
  int64_t count = 1;
  for (int i = 0; i < component->rank; ++i) {
    length += component->dim[i].sm * (component->dim[i].extent - 1);
  }
  for (int i = 0; i < records->rank; ++i) {
    const intptr_t last = records->dim[i].sm * (records->dim[i].extent - 1);
    first += last < 0 ? last : 0;
    end += last > 0 ? last : 0;
    count *= records->dim[i].extent;
  }
  add_dimensions(&numbers, records);
  const intptr_t offset = (apart % record_bytes + record_bytes) % record_bytes;
  if (count > 0 && (apart < first || apart >= end || length > record_bytes - offset)) {
    numbers.wrong = "the component isn't one of these records";
  }
  numbers.data = count > 0 ? (char*)records->base_addr + offset : NULL;
  return numbers;
}

/* Describes the bytes of the numbers, the first dimension fastest: one vector per dimension around
 * the element. */
static int numbers_type(const struct numbers* numbers, stria_type** type) {
  stria_type* inner;
  int code = stria_type_bytes(numbers->bytes, &inner);
  for (int i = 0; code == STRIA_OK && i < numbers->rank; ++i) {
    stria_type* outer = NULL;
    code = stria_type_hvector(numbers->extents[i], 1, numbers->strides[i], inner, &outer);
    stria_type_free(inner);
    inner = outer;
  }
  *type = inner;
  return code;
}

static int64_t count_of(const struct numbers* numbers) {
  int64_t count = 1;
  for (int i = 0; i < numbers->rank; ++i) {
    count *= numbers->extents[i];
  }
  return count;
}

/* Strings go into datasets of strings of their length. */
static const char* wrong_text(const stria_dataset* dataset, const struct numbers* numbers) {
  static _Thread_local char words[120];
  long long length = 0;
  const int are_strings = sscanf(stria_dataset_type_name(dataset), "string[%lld]", &length) == 1;
  if (are_strings && length == (long long)numbers->bytes) {
    return NULL;
  }
  if (are_strings) {
    snprintf(words, sizeof words, "strings of %lld characters for a dataset of strings of %lld", (long long)numbers->bytes,
             length);
    return words;
  }
  return "strings for a dataset of numbers: make it by create_string_dataset(), or see create_strings() and put_records()";
}

/* Returns what is wrong with the numbers for this dataset, whatever their place; NULL: nothing. */
static const char* wrong_kind(const stria_dataset* dataset, const struct numbers* numbers, int is_logical) {
  const int element = stria_dataset_element(dataset);
  if (numbers->wrong != NULL) {
    return numbers->wrong;
  }
  if (numbers->is_complex && strcmp(stria_dataset_meaning(dataset), "complex") != 0) {
    return "an array of complex numbers for a dataset of others: make it with the option meaning, complex, and a first "
           "dimension of 2, or put and get real and imaginary parts";
  }
  if (is_logical && element != STRIA_UINT8 && element != STRIA_INT8) {
    return "an array of logicals for a dataset of larger numbers: make it of stria_uint8, with the option meaning, bool";
  }
  return numbers->is_text ? wrong_text(dataset, numbers) : NULL;
}

static const char into_copy[] =
    "the compiler passes a copy of this array, which ends with the call, because it is one component of an array of a "
    "derived type: read() it at once, or get_component(), or get an array of its own";

/* The place in the dataset, in C's order. The numbers are of rank `rank` of the dataset, or one for
 * one element of it; the sizes of 1 that they leave out, as in unk(1, :, :), stay out: `count` has
 * them all. */
struct region {
  int64_t start[CFI_MAX_RANK + 1], count[CFI_MAX_RANK + 1], stride[CFI_MAX_RANK + 1];
};

static struct region region_of(const stria_f_place* place, const struct numbers* numbers) {
  struct region region = {{0}, {0}, {0}};
  const int rank = place->count;
  for (int i = 0; i < rank; ++i) {
    region.start[rank - 1 - i] = place->start[i] - 1;
    region.count[rank - 1 - i] = i < numbers->rank ? numbers->extents[i] : 1;
    region.stride[rank - 1 - i] = place->stride[i];
  }
  region.count[rank] = 2; /* where there are pairs */
  region.stride[rank] = 1;
  return region;
}

/* Says what is wrong with the place of the numbers, in Fortran's order and counted from 1; the
 * library would tell it as C has it. Returns 0 where nothing is. */
static int wrong_place(const stria_dataset* dataset, const stria_f_place* place, const struct numbers* numbers, char* text,
                       size_t size) {
  int64_t dims[CFI_MAX_RANK + 1] = {0};
  if (stria_f_dims(dataset, dims, place->count + numbers->is_complex) != STRIA_OK) {
    return 0;
  }
  for (int i = 0; i < place->count; ++i) {
    const int64_t start = place->start[i], stride = place->has_stride ? place->stride[i] : 1;
    const int64_t end = dims[i + numbers->is_complex], count = i < numbers->rank ? numbers->extents[i] : 1;
    if (start < 1 || stride < 1) {
      return snprintf(text, size, "along dimension %d the %s is %lld, and has to be 1 or more", i + 1,
                      start < 1 ? "place" : "stride", (long long)(start < 1 ? start : stride));
    }
    if (count > 0 && (start > end || count - 1 > (end - start) / stride)) {
      return snprintf(text, size, "along dimension %d an array of %lld from %lld on%s passes the end at %lld", i + 1,
                      (long long)count, (long long)start, stride > 1 ? " with this stride" : "", (long long)end);
    }
  }
  return 0;
}

static int move_numbers(int way, stria_dataset* dataset, const stria_slab* slab, const struct numbers* numbers,
                        const stria_type* type) {
  switch (way) {
    case STRIA_F_PUT:
      return stria_put_slab(dataset, slab, numbers->data, type, numbers->element);
    case STRIA_F_PUT_COPY:
      return stria_put_slab_copy(dataset, slab, numbers->data, type, numbers->element);
    case STRIA_F_READ:
      return stria_read_slab(dataset, slab, numbers->data, type, numbers->element);
    default:
      return stria_get_slab(dataset, slab, numbers->data, type, numbers->element);
  }
}

/* The file's next collective call fails on all ranks with what is wrong; a call that all make
 * together goes on with nothing. */
static int refuse(int way, stria_dataset* dataset, const char* why) {
  int code = stria_refuse_transfer(dataset, why);
  if (way == STRIA_F_READ) {
    code = stria_read_slab(dataset, NULL, NULL, NULL, STRIA_BYTE);
  }
  return stria_f_refuse(code, "dataset '%s': %s", stria_dataset_path(dataset), why);
}

/* Tells whether the handle names a dataset; if not, what the library says of it is its error
 * message. */
static int is_open(stria_dataset* dataset) {
  return stria_dataset_type_name(dataset)[0] != '\0';
}

static int transfer(int way, stria_dataset* dataset, const stria_f_place* place, struct numbers* numbers, int is_logical) {
  if (!is_open(dataset)) {
    return stria_refuse_transfer(dataset, "");
  }
  /* A complex number is a pair along the dataset's first dimension, which the array hasn't. */
  const int rank = stria_dataset_rank(dataset) - numbers->is_complex;
  const char* wrong = way == STRIA_F_GET_INTO_COPY ? into_copy : wrong_kind(dataset, numbers, is_logical);
  char shapes[200];
  if (wrong == NULL && (place->count != rank || numbers->rank > rank || rank > CFI_MAX_RANK)) {
    snprintf(shapes, sizeof shapes, "an array of rank %d and a place of %d numbers for a dataset of %d dimensions",
             numbers->rank, place->count, rank);
    wrong = shapes;
  }
  if (wrong == NULL && wrong_place(dataset, place, numbers, shapes, sizeof shapes) > 0) {
    wrong = shapes;
  }
  if (wrong != NULL) {
    return refuse(way, dataset, wrong);
  }
  const struct region region = region_of(place, numbers);
  const stria_slab slab = {region.start, region.count, place->has_stride ? region.stride : NULL, NULL};
  stria_type* type = NULL;
  int code = numbers_type(numbers, &type);
  if (code == STRIA_OK) {
    /* A file would not refuse any place of an array without elements. */
    if (numbers->data == NULL && stria_type_size(type) == 0) {
      numbers->data = (void*)&region;
    }
    /* One number takes no memory, and may be an expression. */
    code = move_numbers(way == STRIA_F_PUT && numbers->rank == 0 ? STRIA_F_PUT_COPY : way, dataset, &slab, numbers, type);
  }
  stria_type_free(type);
  return code;
}

int stria_f_move(int way, stria_dataset* dataset, const stria_f_place* place, CFI_cdesc_t* array) {
  struct numbers numbers = numbers_of(array);
  return transfer(way, dataset, place, &numbers, stria_f_is_logical(array));
}

int stria_f_move_component(int way, stria_dataset* dataset, const stria_f_place* place, CFI_cdesc_t* records,
                           CFI_cdesc_t* component) {
  struct numbers numbers = component_of(records, component);
  return transfer(way, dataset, place, &numbers, stria_f_is_logical(component));
}

static int move_elements(int way, stria_dataset* dataset, const stria_elements* elements, const struct numbers* numbers) {
  switch (way) {
    case STRIA_F_PUT:
      return stria_put_elements(dataset, elements, numbers->data, numbers->element);
    case STRIA_F_PUT_COPY:
      return stria_put_elements_copy(dataset, elements, numbers->data, numbers->element);
    default:
      return stria_get_elements(dataset, elements, numbers->data, numbers->element);
  }
}

int stria_f_move_elements(int way, stria_dataset* dataset, const stria_elements* elements, int64_t count, CFI_cdesc_t* values) {
  struct numbers numbers = numbers_of(values);
  int64_t nothing = 0;
  const int together = values->rank == 0 || CFI_is_contiguous(values);
  const char* wrong = way == STRIA_F_GET_INTO_COPY      ? into_copy
                      : numbers.is_complex || !together ? "the values of a map must be contiguous, and not complex"
                                                        : wrong_kind(dataset, &numbers, stria_f_is_logical(values));
  char counts[100];
  if (!is_open(dataset)) {
    return stria_refuse_transfer(dataset, "");
  }
  if (wrong == NULL && count_of(&numbers) != count) {
    snprintf(counts, sizeof counts, "%lld values for a map of %lld elements", (long long)count_of(&numbers), (long long)count);
    wrong = counts;
  }
  if (wrong != NULL) {
    return refuse(way, dataset, wrong);
  }
  numbers.data = count == 0 ? &nothing : numbers.data;
  return move_elements(way == STRIA_F_PUT && values->rank == 0 ? STRIA_F_PUT_COPY : way, dataset, elements, &numbers);
}

int stria_f_append_own_rows(int way, stria_file* file, const char* path, CFI_cdesc_t* array) {
  struct numbers numbers = numbers_of(array);
  const char* wrong = numbers.wrong != NULL ? numbers.wrong
                      : numbers.is_complex  ? "an array of complex numbers: append its real and imaginary parts"
                      : numbers.rank == 0   ? "one value has no rows: they are along an array's last dimension"
                                            : NULL;
  const int64_t nothing = 0, rows = wrong == NULL ? numbers.extents[numbers.rank - 1] : -1;
  stria_type* type = NULL;
  stria_rows placed = {0, 0, 0};
  stria_dataset* dataset = NULL;
  /* Collective, so it is called whatever is wrong on this rank. */
  int code = stria_place_rows(file, numbers_type(&numbers, &type) == STRIA_OK ? rows : -1, &placed);
  if (code == STRIA_OK) {
    code = stria_append_rows(file, path, placed.total, &dataset);
  }
  if (code == STRIA_OK) {
    const void* data = numbers.data == NULL && stria_type_size(type) == 0 ? &nothing : numbers.data;
    code = way == STRIA_F_PUT_COPY ? stria_put_rows_copy(dataset, &placed, data, type, numbers.element)
                                   : stria_put_rows(dataset, &placed, data, type, numbers.element);
  }
  stria_type_free(type);
  return wrong == NULL ? code : stria_f_refuse(code, "append_own_rows('%s'): %s", path, wrong);
}
