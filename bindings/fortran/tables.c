/* Tables: arrays of a derived type, whose components are the columns. A column's place is that of
 * the component within the type, which is taken from the addresses of both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"

/* The sizes are in the order of enum stria_element. */
static const int number_bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

int stria_f_describe_column(const char* name, const void* record, const void* component, int element, int64_t* numbers) {
  const int64_t offset = (int64_t)((intptr_t)component - (intptr_t)record);
  numbers[0] = offset;
  numbers[2] = element;
  if (element < 0) {
    return stria_f_refuse(STRIA_INVALID_ARGUMENT, "column '%s' is no integer, real, logical or string", name);
  }
  if (offset < 0) {
    return stria_f_refuse(STRIA_INVALID_ARGUMENT, "column '%s': the component is not of the record", name);
  }
  return STRIA_OK;
}

/* Returns the columns as C describes them. The caller frees the list. NULL: out of memory. */
static stria_column* listed(const stria_f_columns* columns) {
  stria_column* list = malloc((size_t)columns->count * sizeof *list + 1);
  const char* name = columns->names;
  for (int64_t i = 0; list != NULL && i < columns->count; ++i) {
    const int64_t* numbers = columns->numbers + 3 * i;
    list[i] = (stria_column){name, numbers[0], numbers[1], (int)numbers[2]};
    name += strlen(name) + 1;
  }
  return list;
}

static int64_t column_bytes(const stria_column* column) {
  return column->string_bytes > 0 ? column->string_bytes : number_bytes[column->element];
}

/* Returns the first column that reaches beyond a record; NULL where all fit. */
static const stria_column* too_far(const stria_records* records, int64_t record_bytes) {
  for (int64_t i = 0; i < records->column_count; ++i) {
    const stria_column* column = &records->columns[i];
    if (column->offset_bytes + column_bytes(column) > record_bytes) {
      return column;
    }
  }
  return NULL;
}

static int64_t record_count(const CFI_cdesc_t* records) {
  return records->rank == 0 ? 1 : records->rank == 1 ? records->dim[0].extent : -1;
}

static char* record_at(const CFI_cdesc_t* records, int64_t index) {
  return (char*)records->base_addr + (records->rank == 0 ? 0 : (ptrdiff_t)index * records->dim[0].sm);
}

/* Records of these columns, which the caller frees. Without memory they have none. */
static stria_records description(const stria_f_columns* columns, int64_t row_bytes) {
  stria_column* list = listed(columns);
  return (stria_records){list, list == NULL ? 0 : columns->count, row_bytes, 0, NULL};
}

static void free_columns(stria_records* records) {
  free((stria_column*)records->columns);
}

int stria_f_create_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records) {
  const int64_t count = record_count(records), bytes = (int64_t)records->elem_len;
  stria_records table = description(columns, bytes);
  const stria_column* far = too_far(&table, bytes);
  /* A section of an array lies apart. */
  char* rows = far != NULL || count < 0 || table.columns == NULL ? NULL : malloc((size_t)count * (size_t)bytes + 1);
  for (int64_t i = 0; rows != NULL && i < count; ++i) {
    memcpy(rows + i * bytes, record_at(records, i), (size_t)bytes);
  }
  /* What can't be meant, all ranks hear of. */
  char wrong[200] = "out of memory";
  if (far != NULL) {
    snprintf(wrong, sizeof wrong, "table '%s': column '%s' is not in the records, of %lld bytes", path, far->name,
             (long long)bytes);
  } else if (count < 0) {
    snprintf(wrong, sizeof wrong, "table '%s': the records are an array of rank %d", path, (int)records->rank);
  }
  table.row_count = count;
  table.rows = rows;
  const int code = rows == NULL ? stria_refuse(file, wrong) : stria_create_table(file, path, &table);
  free(rows);
  free_columns(&table);
  return code;
}

static const stria_column* find_column(const stria_records* table, const char* name) {
  for (int64_t i = 0; i < table->column_count; ++i) {
    if (strcmp(table->columns[i].name, name) == 0) {
      return &table->columns[i];
    }
  }
  return NULL;
}

/* Copies a string of the file, which ends with blanks or NULs, cut off or filled with blanks. */
static void copy_text(const char* from, int64_t from_bytes, char* to, int64_t to_bytes) {
  while (from_bytes > 0 && from[from_bytes - 1] == '\0') {
    --from_bytes;
  }
  const int64_t both = from_bytes < to_bytes ? from_bytes : to_bytes;
  memcpy(to, from, (size_t)both);
  memset(to + both, ' ', (size_t)(to_bytes - both));
}

static int copy_column(const stria_records* table, const char* path, const stria_column* to, const CFI_cdesc_t* records) {
  const stria_column* from = find_column(table, to->name);
  if (from == NULL) {
    return stria_f_refuse(STRIA_NOT_FOUND, "table '%s' has no column '%s'", path, to->name);
  }
  const int strings = to->string_bytes > 0;
  if ((from->string_bytes > 0) != strings || (!strings && from->element != to->element)) {
    return stria_f_refuse(STRIA_INVALID_ARGUMENT, "table '%s': column '%s' has another type than the component", path,
                          to->name);
  }
  for (int64_t i = 0; i < table->row_count; ++i) {
    const char* value = (const char*)table->rows + i * table->row_bytes + from->offset_bytes;
    char* place = record_at(records, i) + to->offset_bytes;
    if (strings) {
      copy_text(value, from->string_bytes, place, to->string_bytes);
    } else {
      memcpy(place, value, (size_t)column_bytes(to));
    }
  }
  return STRIA_OK;
}

/* The collective call comes first, whatever is wrong on this rank. */
int stria_f_read_table(stria_file* file, const char* path, const stria_f_columns* columns, CFI_cdesc_t* records) {
  stria_table* read = NULL;
  int code = stria_read_table(file, path, &read);
  if (code != STRIA_OK) {
    return code;
  }
  const stria_records* table = stria_table_records(read);
  stria_records wanted = description(columns, (int64_t)records->elem_len);
  const stria_column* far = too_far(&wanted, (int64_t)records->elem_len);
  if (record_count(records) != table->row_count) {
    code = stria_f_refuse(STRIA_INVALID_ARGUMENT, "table '%s' has %lld rows, the array has %lld records", path,
                          (long long)table->row_count, (long long)record_count(records));
  } else if (far != NULL) {
    code = stria_f_refuse(STRIA_INVALID_ARGUMENT, "table '%s': column '%s' is not in the records", path, far->name);
  } else if (wanted.columns == NULL) {
    code = stria_f_refuse(STRIA_RESOURCE_EXHAUSTED, "out of memory");
  }
  for (int64_t i = 0; code == STRIA_OK && i < wanted.column_count; ++i) {
    code = copy_column(table, path, &wanted.columns[i], records);
  }
  free_columns(&wanted);
  stria_table_free(read);
  return code;
}

int stria_f_create_records(stria_file* file, const char* path, const stria_f_columns* columns, const int64_t* dims, int rank,
                           const stria_options* options, stria_dataset** dataset) {
  int64_t dims_c[CFI_MAX_RANK] = {0};
  const int fits = rank <= CFI_MAX_RANK;
  for (int i = 0; fits && i < rank; ++i) {
    dims_c[rank - 1 - i] = dims[i];
  }
  stria_records records = description(columns, 0);
  const int code = stria_create_records(file, path, &records, fits ? rank : 1, fits ? dims_c : NULL, options, dataset);
  free_columns(&records);
  return fits ? code : stria_f_refuse(code, "records '%s' of %d dimensions", path, rank);
}

static int move_records(int way, stria_dataset* dataset, const stria_slab* slab, void* rows, const stria_type* type) {
  switch (way) {
    case STRIA_F_PUT:
      return stria_put_slab(dataset, slab, rows, type, STRIA_BYTE);
    case STRIA_F_PUT_COPY:
      return stria_put_slab_copy(dataset, slab, rows, type, STRIA_BYTE);
    default:
      return stria_get_slab(dataset, slab, rows, type, STRIA_BYTE);
  }
}

/* The type goes from one record to the next, of a section too, backwards if need be. */
static int records_type(const stria_records* described, const CFI_cdesc_t* records, stria_type** type) {
  stria_type* one = NULL;
  int code = stria_type_records(described, &one);
  if (code == STRIA_OK) {
    code = stria_type_hvector(record_count(records), 1, records->rank == 0 ? 0 : records->dim[0].sm, one, type);
  }
  stria_type_free(one);
  return code;
}

int stria_f_move_records(int way, stria_dataset* dataset, const stria_f_place* place, const stria_f_columns* columns,
                         CFI_cdesc_t* records) {
  const int rank = stria_dataset_rank(dataset);
  const int64_t count = record_count(records);
  stria_records described = description(columns, (int64_t)records->elem_len);
  const stria_column* far = too_far(&described, described.row_bytes);
  const int fits = place->count == rank && rank >= 1 && rank <= CFI_MAX_RANK && count >= 0;
  int64_t start[CFI_MAX_RANK] = {0}, counts[CFI_MAX_RANK] = {0};
  for (int i = 0; fits && i < rank; ++i) {
    start[rank - 1 - i] = place->start[i] - 1;
    counts[rank - 1 - i] = i == 0 ? count : 1;
  }
  char wrong[200] = "";
  if (way == STRIA_F_GET_INTO_COPY) {
    snprintf(wrong, sizeof wrong,
             "the compiler passes a copy of these records, which ends with the call: get an array of its own");
  } else if (far != NULL) {
    snprintf(wrong, sizeof wrong, "column '%s' is not in the records, of %lld bytes", far->name, (long long)records->elem_len);
  } else if (!fits) {
    snprintf(wrong, sizeof wrong, "records of rank %d and a place of %d numbers for a dataset of %d dimensions",
             (int)records->rank, place->count, rank);
  }
  const stria_slab slab = {start, counts, NULL, NULL};
  stria_type* type = NULL;
  described.row_count = 1;
  int code = wrong[0] != '\0' ? STRIA_INVALID_ARGUMENT : records_type(&described, records, &type);
  if (code == STRIA_OK) {
    void* rows = records->base_addr == NULL && count == 0 ? (void*)&start : records->base_addr;
    /* One record takes little memory, and may be an expression. */
    code = move_records(way == STRIA_F_PUT && records->rank == 0 ? STRIA_F_PUT_COPY : way, dataset, &slab, rows, type);
  } else {
    code = stria_refuse_transfer(dataset, wrong[0] != '\0' ? wrong : stria_error_message());
  }
  stria_type_free(type);
  free_columns(&described);
  return code;
}
