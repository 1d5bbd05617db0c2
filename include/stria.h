/* The C API: one standard HDF5 file, written and read by all ranks of a communicator.
 *
 *   stria_file* file;
 *   stria_dataset* dens;
 *   stria_create_mpi(MPI_COMM_WORLD, "run_chk_0001.h5", NULL, &file);
 *   stria_create_dataset(file, "dens", STRIA_FLOAT64, 4, dims, NULL, &dens);
 *   stria_put(dens, start, count, unk, interior, STRIA_FLOAT64);
 *   stria_commit(file);
 *   stria_close(&file);
 *
 * stria_put() only records; stria_commit() moves everything that was put before, as one collective
 * write. Until it has returned, an old file of the same name stays as it was.
 *
 * Functions return STRIA_OK or the code of an error; stria_error_message() tells what happened,
 * where, and what to do. Functions marked `Collective: yes` are called by all ranks of the file's
 * communicator in the same order, and return the same code on all. A function that fails sets what
 * it would have returned to NULL or leaves it unchanged.
 *
 * A copy of a handle names the same object. Those of files, datasets, commits, options and maps of
 * elements know when it has ended: a call with a copy of one that was closed or freed returns
 * STRIA_INVALID_ARGUMENT, and to end it once more does nothing. Those of types, lists, tables and
 * verdicts are addresses, of which the user frees each once.
 *
 * Include mpi.h before this header for the functions that take an MPI_Comm; all others are declared
 * without it. This header may be included again behind mpi.h. The library is called libstria_c, and
 * without MPI libstria_c_serial, in which every file belongs to one process. Their SONAME ends with
 * the number of this interface, .so.0: it grows when a function or a struct here changes or goes,
 * not when one is added. So a program runs with every later library of the same number.
 *
 * Threads: calls on different files may be made at the same time, where MPI was initialised for
 * that and each file has a communicator of its own. Only one thread at a time may use a file and
 * its datasets: a call that comes while another thread is in one does nothing and returns
 * STRIA_INVALID_ARGUMENT, and the file's next collective call fails on every rank. Memory of an
 * accelerator must be reachable by the CPU.
 */
#ifndef STRIA_H
#define STRIA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stria_file stria_file; /* an open file */
/* A dataset; belongs to its file and is freed with it. */
typedef struct stria_dataset stria_dataset;
typedef struct stria_commit_handle stria_commit_handle; /* a commit that goes on by itself */
typedef struct stria_type stria_type;                   /* bytes of memory, in their order */
typedef struct stria_elements stria_elements;           /* a map of single elements */
typedef struct stria_options stria_options;             /* what a file or a dataset gets, by name */
typedef struct stria_list stria_list;                   /* strings */
typedef struct stria_table stria_table;                 /* records that were read */
typedef struct stria_verdict stria_verdict;             /* what stria_verify() found */

enum stria_code {
  STRIA_OK = 0,
  STRIA_INVALID_ARGUMENT,   /* the caller's input can't be used */
  STRIA_NOT_FOUND,          /* no such file, dataset or attribute */
  STRIA_ALREADY_EXISTS,     /* the name is taken */
  STRIA_PERMISSION_DENIED,  /* the file system refused */
  STRIA_READ_ONLY,          /* a read-only file, directory or file system */
  STRIA_NO_SPACE,           /* the device is full, or a quota is used up */
  STRIA_IO,                 /* the storage failed to read or write */
  STRIA_FORMAT,             /* the bytes are not the format that they should be */
  STRIA_CORRUPTED,          /* a checksum does not match */
  STRIA_UNSUPPORTED,        /* valid, but not something that this build or storage can do */
  STRIA_RESOURCE_EXHAUSTED, /* out of memory or of another limited resource */
  STRIA_ABORTED,            /* given up because another rank failed */
  STRIA_INTERNAL            /* a broken invariant of the library */
};

/* The representation of a number. STRIA_BYTE is moved as it is, never converted. */
enum stria_element {
  STRIA_BYTE = 0,
  STRIA_INT8,
  STRIA_UINT8,
  STRIA_INT16,
  STRIA_UINT16,
  STRIA_INT32,
  STRIA_UINT32,
  STRIA_INT64,
  STRIA_UINT64,
  STRIA_FLOAT32,
  STRIA_FLOAT64
};

/* The order of an array's dimensions in memory. */
enum stria_order {
  STRIA_ORDER_C = 0,      /* last dimension fastest */
  STRIA_ORDER_FORTRAN = 1 /* first dimension fastest */
};

/* ---- Errors ---- */

/* Returns the message of this thread's last call that failed; "" when none has failed. Valid until
 * the next one fails. */
const char* stria_error_message(void);
/* Returns the stable lower-case name of a code, such as "no_space". */
const char* stria_code_name(int code);
/* Returns the version of the library, "0.1.0". */
const char* stria_version(void);

/* ---- Options ----
 * Names and values are strings. For a new file: "sync" (survive a power loss; default true),
 * "checksums" (default true), "format" ("hdf5", "netcdf", "cdf1", "cdf2", "cdf5"; default netcdf
 * for a path that ends with .nc, else hdf5), "track_order" (keep the order in which objects and
 * attributes were made). For an opened file: "verify" (compare with the checksums while reading;
 * default false). For a dataset: "value_range" (store its smallest and largest value as
 * attributes), "big_endian", "alignment" (bytes), "compress" ("true" or "deflate": shuffle and
 * deflate; "zstd": that in place of deflate; "scale_offset": integers in as few bits as they need;
 * "zfp_absolute:BOUND" and "zfp_relative:BOUND": lossy, for floating-point numbers;
 * "zfp_reversible"; "zfp_rate:BITS" of each number; other programs read zstd and ZFP with a
 * plug-in), "shuffle" (with "compress" or without), "fletcher32" (a sum behind each chunk, which
 * other readers compare), "chunk" (its lengths, with commas between), "dimensions"
 * (their names, with commas between, for xarray and other readers of netCDF), "meaning" (what other
 * programs take the numbers for: "bool", of STRIA_UINT8; "half", whose bits are in STRIA_UINT16;
 * "complex", of pairs along a last dimension of 2), "enumeration" (of integers, the names of their
 * values: "NAME=INTEGER", with commas between), "fill_value" (what elements read as that nobody
 * puts: a number; of "half" its bits; of "complex" also both parts, with a comma between);
 * "unlimited" (it has the rows of its shape, and stria_append() can give it more); "blank_padded"
 * (of stria_create_string_dataset(): shorter strings end with blanks, not with NULs).
 * In a name among others, a comma or a backslash has a backslash before it: "x\\,y,z" has two
 * names. Switches have the values "true" and "false". Every other name is a hint of the file
 * (docs/hints.md). stria_options_set() refuses a wrong value, and an unknown name that is like one
 * of these; a dataset's options may have no unknown name. */
int stria_options_new(stria_options** options);
int stria_options_set(stria_options* options, const char* name, const char* value);
void stria_options_free(stria_options* options);
/* Gives a sentence on each hint among the options that is unknown or has a value that can't be
 * used, for programs that warn before they begin. Collective: no. */
int stria_hint_problems(const stria_options* options, stria_list** problems);

/* ---- Files ---- */

/* Do the same as stria_create_mpi(), stria_open_mpi() and stria_append_mpi(), with the communicator
 * of Fortran, an INTEGER. STRIA_UNSUPPORTED in the library without MPI. Collective: yes. */
int stria_create_f(int comm, const char* path, const stria_options* options, stria_file** file);
int stria_open_f(int comm, const char* path, const stria_options* options, stria_file** file);
int stria_append_f(int comm, const char* path, const stria_options* options, stria_file** file);
/* Begin, open or add to a file of this process alone: MPI is not used, and may be absent.
 * Collective: no; nor is any call on the file. */
int stria_create(const char* path, const stria_options* options, stria_file** file);
int stria_open(const char* path, const stria_options* options, stria_file** file);
int stria_append(const char* path, const stria_options* options, stria_file** file);

/* Moves everything put so far. Its memory may then be reused; the file stays unfinished.
 * Collective: yes. */
int stria_flush(stria_file* file);
/* Moves everything put or got so far. A new file is completed, synced if asked, and takes its
 * name. After an error the new file is gone, and an old one of that name is unchanged.
 * Collective: yes. */
int stria_commit(stria_file* file);
/* Does the same as stria_commit(), but returns once this rank's data are packed into memory: they
 * may change, and the file may be closed. The file gets its name by itself, and *commit tells how
 * that went. See docs/async.md. Collective: yes. */
int stria_commit_async(stria_file* file, stria_commit_handle** commit);
/* Returns 1 when stria_commit_wait() would not block, otherwise 0. Collective: no. */
int stria_commit_done(const stria_commit_handle* commit);
/* Waits until the commit has ended, and returns its outcome, the same on every rank. After an error
 * an old file of that name is unchanged. Collective: no. */
int stria_commit_wait(const stria_commit_handle* commit);
/* Ends the handle, but not the commit, and sets *commit to NULL; NULL is ignored. */
void stria_commit_free(stria_commit_handle** commit);
/* Calls `report` while a later stria_commit() or stria_flush() moves data: on this rank, in the
 * calling thread, at most about a hundred times a call, and at its end, with the bytes that this
 * rank has moved and has to move. It must not use the file: such a call does nothing, returns
 * STRIA_INVALID_ARGUMENT, and the file's next collective call fails on every rank; stria_close()
 * takes effect when the outer call returns. NULL ends the reports. Collective: no. */
int stria_progress(stria_file* file, void (*report)(void* context, int64_t done_bytes, int64_t total_bytes), void* context);
/* Gives up a new file. Nothing of it is left. Collective: yes. */
int stria_discard(stria_file* file);
/* Ends the handle and those of its datasets, and sets *file to NULL; NULL is ignored. A new file
 * that was neither committed nor discarded is given up: the other ranks' next collective call on it
 * returns STRIA_ABORTED. Collective: no; it doesn't wait for other ranks. */
void stria_close(stria_file** file);
/* Closes the file as stria_close() does, because this rank's own work has failed: nothing is said
 * on standard error, and the message of the other ranks has the first 200 bytes of `reason`, which
 * may be NULL.
 * Collective: no; it doesn't wait for other ranks. */
void stria_give_up(stria_file** file, const char* reason);

/* Returns the file's path; valid as long as the file. */
const char* stria_file_path(const stria_file* file);
/* Returns "hdf5", or "cdf1", "cdf2" and "cdf5" of an opened netCDF file; of a new one it may be
 * "netcdf", which the commit makes one of those. Collective: no. */
const char* stria_file_format(const stria_file* file);

/* ---- Datasets. Sizes and places are in elements, slowest dimension first. ---- */

/* The first of `dims` where the dataset has no rows yet, and stria_append_rows() gives it some. */
#define STRIA_UNLIMITED (-1)

/* Makes a dataset of numbers, and the groups in its path. `options` may be NULL. All ranks must
 * pass the same arguments, which the next flush or commit checks. Collective: yes, without
 * communication. After an error here the next collective call fails on every rank. */
int stria_create_dataset(stria_file* file, const char* path, int element, int rank, const int64_t* dims,
                         const stria_options* options, stria_dataset** dataset);
/* Gives a dataset that was made with STRIA_UNLIMITED `rows` more rows: the last ones of *dataset,
 * for puts: of numbers, records, or strings of a fixed length, which are put as STRIA_BYTE. The
 * dataset may be new, or one of a file that is added to. Collective: as stria_create_dataset(). */
int stria_append_rows(stria_file* file, const char* path, int64_t rows, stria_dataset** dataset);
/* Takes up a dataset that a file opened by stria_append() has: what is put into it takes the place
 * of what the file has there, in the file itself, and is not crash-safe. Checksums follow at the
 * commit. STRIA_UNSUPPORTED for a dataset that is not of numbers in one piece of the file or in
 * chunks without filters; from the commit for a chunk that the file doesn't have yet.
 * Collective: as stria_create_dataset(). */
int stria_update(stria_file* file, const char* path, stria_dataset** dataset);
/* Finds a dataset of an opened file: STRIA_NOT_FOUND. Collective: no. */
int stria_find_dataset(stria_file* file, const char* path, stria_dataset** dataset);
/* Gives the paths of an opened file's datasets. Collective: no. */
int stria_datasets(stria_file* file, stria_list** paths);

/* Returns the number of the dataset's dimensions; 0 for a scalar. Collective: no. */
int stria_dataset_rank(const stria_dataset* dataset);
/* Copies the dataset's shape, stria_dataset_rank() sizes. Collective: no. */
int stria_dataset_dims(const stria_dataset* dataset, int64_t* dims);
/* Returns the enum stria_element of a dataset of numbers. Collective: no. */
int stria_dataset_element(const stria_dataset* dataset);
/* Returns the name of its type: "float64", "string[4]", "record[84]" …; valid as long as the
 * dataset. */
const char* stria_dataset_type_name(const stria_dataset* dataset);
/* Returns the dataset's path; valid as long as the dataset. */
const char* stria_dataset_path(const stria_dataset* dataset);
/* Returns what its numbers are to other programs: "number", "bool", "half" or "complex". */
const char* stria_dataset_meaning(const stria_dataset* dataset);
/* Returns what its chunks pass, such as "shuffle deflate(1)"; "" where they pass nothing, or there
 * are none. Valid as long as the dataset. */
const char* stria_dataset_filters(const stria_dataset* dataset);
/* Gives the names of its integers' values, "NAME=INTEGER", where they are an enumeration; else an
 * empty list. Collective: no. */
int stria_dataset_enumeration(const stria_dataset* dataset, stria_list** members);
/* Returns the name of a dimension; "" where it has none, or there is no such dimension. In HDF5
 * files names are paths. Valid as long as the dataset. */
const char* stria_dataset_dimension(const stria_dataset* dataset, int dimension);
/* Returns 1 where the first dimension has no limit, so that stria_append_rows() may give the
 * dataset rows; otherwise 0. */
int stria_dataset_can_grow(const stria_dataset* dataset);
/* Copies the lengths of its chunks, stria_dataset_rank() numbers: zeros where it has none.
 * Collective: no. */
int stria_dataset_chunk(const stria_dataset* dataset, int64_t* chunk);
/* Copies what elements read as that nobody has put, one number of the type that
 * stria_dataset_element() tells. Where it is zero, or no number, *given becomes 0, otherwise 1, and
 * only then `value` is set. Of complex numbers it is the real part. Collective: no. */
int stria_dataset_fill_value(const stria_dataset* dataset, void* value, int* given);
/* Gives how many bytes all its elements have, and how many it takes in a file that is open for
 * reading: -1 when only libhdf5 can tell. Either may be NULL. Collective: no. */
int stria_dataset_bytes(const stria_dataset* dataset, int64_t* bytes, int64_t* stored_bytes);
/* Tells whether the raw data lie in one piece: 1 or 0. Collective: no. */
int stria_dataset_is_contiguous(const stria_dataset* dataset, int* contiguous);
/* Returns the bytes of an element; 0 when there is no such type. */
int64_t stria_element_bytes(int element);
/* Returns "float64" and so on; "" when there is no such type. */
const char* stria_element_name(int element);

/* Records a write to the region that begins at `start` and has `count` elements in each dimension.
 * `data` has numbers of type `element`, which are converted to the dataset's while they are packed;
 * a number that the type can't hold becomes the nearest that it can. `type` says which bytes of
 * `data` are meant; with NULL the numbers lie one behind another. They must not change until
 * stria_commit() or stria_flush() has returned: a put of at most 64 KiB is copied, as far as the
 * hint stria_put_copies allows; of others a sample is compared, and where they have changed those
 * calls fail with STRIA_INVALID_ARGUMENT on every rank, naming the dataset and the put. So they do
 * where two puts of one flush or commit share elements, but for regions that several ranks put
 * alike, and where the hint stria_put_overlaps allows it. Elements that are never put read as the
 * fill value. A scalar dataset takes NULL for `start` and `count`. Collective: no. After an error
 * the next collective call fails on every rank. */
int stria_put(stria_dataset* dataset, const int64_t* start, const int64_t* count, const void* data, const stria_type* type,
              int element);
/* Does the same as stria_put(), with a copy: `data` may change or go as soon as this returns. As
 * much memory is taken until the commit or flush (stria_get_copied()); STRIA_RESOURCE_EXHAUSTED
 * where there is none. Collective: no. */
int stria_put_copy(stria_dataset* dataset, const int64_t* start, const int64_t* count, const void* data, const stria_type* type,
                   int element);
/* Records a read, as stria_put() does a write; stria_commit() or stria_flush() makes it, and `data`
 * must stay until then, which nothing checks. Collective: no. */
int stria_get(stria_dataset* dataset, const int64_t* start, const int64_t* count, void* data, const stria_type* type,
              int element);
/* Says that this rank can't make its part of a file, or its put or get of a dataset, for a reason
 * that only the program knows: the file's next collective call fails on every rank, with `message`.
 * Returns STRIA_INVALID_ARGUMENT. Collective: no. */
int stria_refuse(stria_file* file, const char* message);
int stria_refuse_transfer(stria_dataset* dataset, const char* message);

/* A regular region: in each dimension `count` blocks of `block` elements, `stride` apart; the first
 * begins at `start`. NULL for `stride` means `block`; NULL for `block` means ones. What
 * stria_put(), stria_put_copy() and stria_get() promise holds for the calls with such a region,
 * too. */
typedef struct stria_slab {
  const int64_t* start;
  const int64_t* count;
  const int64_t* stride;
  const int64_t* block;
} stria_slab;
int stria_put_slab(stria_dataset* dataset, const stria_slab* slab, const void* data, const stria_type* type, int element);
int stria_put_slab_copy(stria_dataset* dataset, const stria_slab* slab, const void* data, const stria_type* type, int element);
int stria_get_slab(stria_dataset* dataset, const stria_slab* slab, void* data, const stria_type* type, int element);

/* A box of an array in memory, in C order: `sizes` is the shape of the whole array, `start` the
 * place of the box. */
typedef struct stria_box {
  const int64_t* sizes;
  const int64_t* start;
} stria_box;
/* Records a write or read of a box of an array, for instance the interior of one with guard cells.
 * The array has as many dimensions as the dataset; the box is as large as `count`. As stria_put(),
 * stria_put_copy() and stria_get(). */
int stria_put_box(stria_dataset* dataset, const stria_slab* place, const stria_box* box, const void* data, int element);
int stria_put_box_copy(stria_dataset* dataset, const stria_slab* place, const stria_box* box, const void* data, int element);
int stria_get_box(stria_dataset* dataset, const stria_slab* place, const stria_box* box, void* data, int element);

/* Reads at once: as stria_get(), and moves whatever was got before. Collective: yes; the region may
 * differ between ranks, and be empty. */
int stria_read(stria_dataset* dataset, const int64_t* start, const int64_t* count, void* data, const stria_type* type,
               int element);
int stria_read_slab(stria_dataset* dataset, const stria_slab* slab, void* data, const stria_type* type, int element);

/* ---- Rows of the first dimension, dealt to the ranks ---- */

typedef struct stria_rows {
  int64_t first;
  int64_t count;
  int64_t total;
} stria_rows;
/* Gives the place of this rank's `count` rows among those of all ranks, which follow each other in
 * order of ranks. Collective: yes. */
int stria_place_rows(stria_file* file, int64_t count, stria_rows* rows);
/* Gives this rank's share when all ranks share `total` rows evenly. Collective: no. */
int stria_share_rows(const stria_file* file, int64_t total, stria_rows* rows);
/* Do the same as stria_put(), stria_put_copy() and stria_get(), with whole rows. Where the dataset
 * can grow, puts count from the first of its last rows->total rows, those that stria_append_rows()
 * has given last. STRIA_INVALID_ARGUMENT when the dataset has fewer rows than rows->total, or
 * another number and can't grow. */
int stria_put_rows(stria_dataset* dataset, const stria_rows* rows, const void* data, const stria_type* type, int element);
int stria_put_rows_copy(stria_dataset* dataset, const stria_rows* rows, const void* data, const stria_type* type, int element);
int stria_get_rows(stria_dataset* dataset, const stria_rows* rows, void* data, const stria_type* type, int element);

/* Gives a dataset as many more rows as all ranks have together, and puts this rank's `count` rows,
 * which `data` has, behind those of lower ranks: stria_place_rows(), stria_append_rows() and
 * stria_put_rows() in one. `dataset` may be NULL. Collective: yes; an error in what one rank passes
 * is that of the next collective call on the others. */
int stria_append_own_rows(stria_file* file, const char* path, int64_t count, const void* data, const stria_type* type,
                          int element, stria_dataset** dataset);

/* ---- Single elements, in any order ---- */

/* Makes a map for any number of datasets: offsets[i] is the place of value i, the number of
 * elements before it in the dataset; -1: value i is left out. STRIA_INVALID_ARGUMENT when a place
 * comes twice. Time and memory are linear in `count`. A file with checksums keeps the map of each
 * put, at one to three bytes for each run of neighbours. The user frees the map, at any time. */
int stria_elements_new(int64_t count, const int64_t* offsets, stria_elements** elements);
void stria_elements_free(stria_elements* elements);
/* Do the same as stria_put(), stria_put_copy() and stria_get(); `data` has `count` consecutive
 * numbers. */
int stria_put_elements(stria_dataset* dataset, const stria_elements* elements, const void* data, int element);
int stria_put_elements_copy(stria_dataset* dataset, const stria_elements* elements, const void* data, int element);
int stria_get_elements(stria_dataset* dataset, const stria_elements* elements, void* data, int element);

/* ---- Distributed arrays: a global array of which every rank holds a box ---- */

/* A rank's box of a global array of `rank` dimensions, and how it lies in memory with the layers of
 * ghosts around it, which are neither written nor read; NULL: none. `data` points to the first
 * element in memory, a ghost where there are some. A zero in `count`: this rank has no elements.
 * With STRIA_ORDER_FORTRAN the dataset's dimensions are those of `shape` reversed. */
typedef struct stria_array {
  void* data;
  int element;
  int order;
  int rank;
  const int64_t* shape; /* the same on all ranks */
  const int64_t* start;
  const int64_t* count;
  const int64_t* ghosts_before;
  const int64_t* ghosts_after;
} stria_array;
/* Makes a dataset of numbers of type `element` in the array's shape, and records a write of each
 * rank's box, as stria_put(). Boxes must not overlap. `options` may be NULL. Collective: as
 * stria_create_dataset(). After an error the next collective call fails on every rank. */
int stria_put_array(stria_file* file, const char* path, int element, const stria_array* array, const stria_options* options);
/* Records a read of this rank's box of a dataset of the array's shape, as stria_get(). Ghosts stay
 * as they are. Collective: no. After an error the next collective call fails on every rank. */
int stria_get_array(stria_file* file, const char* path, const stria_array* array);

/* ---- Memory ----
 * The constructors have the meaning of their MPI namesakes; displacements of those with an h count
 * bytes. Types are immutable. Their user frees them, at any time: types made of them, and what was
 * put with them, live on. Collective: no. */
int stria_type_bytes(int64_t count, stria_type** type);
int stria_type_of(int element, stria_type** type);
int stria_type_contiguous(int64_t count, const stria_type* old, stria_type** type);
int stria_type_vector(int64_t count, int64_t block_length, int64_t stride, const stria_type* old, stria_type** type);
int stria_type_hvector(int64_t count, int64_t block_length, int64_t stride_bytes, const stria_type* old, stria_type** type);
int stria_type_indexed(int64_t count, const int64_t* block_lengths, const int64_t* displacements, const stria_type* old,
                       stria_type** type);
int stria_type_hindexed(int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes, const stria_type* old,
                        stria_type** type);
int stria_type_indexed_block(int64_t count, int64_t block_length, const int64_t* displacements, const stria_type* old,
                             stria_type** type);
int stria_type_hindexed_block(int64_t count, int64_t block_length, const int64_t* displacements_bytes, const stria_type* old,
                              stria_type** type);
int stria_type_struct(int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes,
                      const stria_type* const* types, stria_type** type);
int stria_type_subarray(int rank, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts, int order,
                        const stria_type* old, stria_type** type);
int stria_type_resized(const stria_type* old, int64_t lower_bound_bytes, int64_t extent_bytes, stria_type** type);
int64_t stria_type_size(const stria_type* type);   /* bytes of data */
int64_t stria_type_extent(const stria_type* type); /* bytes between repetitions */
int64_t stria_type_lower_bound(const stria_type* type);
/* Returns where the data begin and how far they reach, whatever stria_type_resized() has set. */
int64_t stria_type_true_lower_bound(const stria_type* type);
int64_t stria_type_true_extent(const stria_type* type);
void stria_type_free(stria_type* type);

/* ---- Attributes of datasets and groups; "/" is the root. ---- */

/* Set a number, a list of numbers, a string, a list of strings. Collective: as
 * stria_create_dataset(). */
int stria_set_number(stria_file* file, const char* object, const char* name, int element, const void* value);
int stria_set_numbers(stria_file* file, const char* object, const char* name, int element, int64_t count, const void* values);
/* Sets an array of numbers of `rank` dimensions, slowest first. stria_get_numbers() returns all of
 * them, stria_attribute_types() their shape. STRIA_UNSUPPORTED in netCDF files for more than one
 * dimension. */
int stria_set_array(stria_file* file, const char* object, const char* name, int element, int rank, const int64_t* dims,
                    const void* values);
int stria_set_string(stria_file* file, const char* object, const char* name, const char* value);
int stria_set_strings(stria_file* file, const char* object, const char* name, int64_t count, const char* const* values);
/* Set booleans, complex numbers and references to objects by their paths, as h5py has them. Complex
 * numbers are pairs of `element`, STRIA_FLOAT32 or STRIA_FLOAT64. `count` -1: one value, no list.
 * Collective: as stria_create_dataset(). */
int stria_set_booleans(stria_file* file, const char* object, const char* name, int64_t count, const unsigned char* values);
int stria_set_complex(stria_file* file, const char* object, const char* name, int element, int64_t count, const void* values);
int stria_set_references(stria_file* file, const char* object, const char* name, int64_t count, const char* const* paths);
/* Reads an attribute of numbers or booleans, converted to `element`, into `values`, which holds
 * `capacity` of them. `count`, if given, gets how many there are. STRIA_INVALID_ARGUMENT when there
 * are more than `capacity`, unless that is 0. Collective: yes. */
int stria_get_numbers(stria_file* file, const char* object, const char* name, int element, int64_t capacity, void* values,
                      int64_t* count);
/* Reads an attribute of complex numbers as stria_get_numbers() does, as pairs of `element`;
 * `capacity` and `count` are of pairs. Collective: yes. */
int stria_get_complex(stria_file* file, const char* object, const char* name, int element, int64_t capacity, void* values,
                      int64_t* count);
/* Reads an attribute of references: the objects' paths. Collective: yes. */
int stria_get_references(stria_file* file, const char* object, const char* name, stria_list** paths);
/* Reads an attribute of one string or a list of strings. Collective: yes. */
int stria_get_strings(stria_file* file, const char* object, const char* name, stria_list** strings);
/* Gives the names of an object's attributes. Collective: yes. */
int stria_attributes(stria_file* file, const char* object, stria_list** names);
/* Gives the types and shapes of an object's attributes, in the order of stria_attributes():
 * "float64 ()" is one number, "string[4] (3)" a list of three strings. Collective: yes. */
int stria_attribute_types(stria_file* file, const char* object, stria_list** types);

/* Makes another name for an object at `target`, which may come later or not be there; of another
 * file if `target_file` isn't NULL. Collective: as stria_create_dataset(). */
int stria_create_link(stria_file* file, const char* path, const char* target, const char* target_file);

/* ---- Small datasets, whole ---- */

/* One column of records: a number, or, when string_bytes > 0, a string of fixed size,
 * in tables padded with blanks. A member of a record within the record, or an element of an array,
 * has its path for a name: "pos.x", "v[2]", "t[0][1]"; and so have the parts of a complex number,
 * "z.r" and "z.i". A dot, a bracket or a backslash in a part of a path has a backslash before it.
 * Half precision is its bits, as STRIA_UINT16. */
typedef struct stria_column {
  const char* name;
  int64_t offset_bytes;
  int64_t string_bytes;
  int element;
} stria_column;
typedef struct stria_records {
  const stria_column* columns;
  int64_t column_count;
  int64_t row_bytes;
  int64_t row_count;
  const void* rows; /* ranks other than 0 may pass NULL */
} stria_records;
/* Makes a small dataset of records, with its content. Collective: as stria_create_dataset(). */
int stria_create_table(stria_file* file, const char* path, const stria_records* records);
/* Makes a dataset of strings of `string_bytes` each, padded with blanks. Collective: as
 * stria_create_dataset(). */
int stria_create_strings(stria_file* file, const char* path, int64_t count, const char* const* strings, int64_t string_bytes);
/* Makes a dataset of strings of the shape {count, 1}, as FLASH has its names. Collective: as
 * stria_create_dataset(). */
int stria_create_string_column(stria_file* file, const char* path, int64_t count, const char* const* strings,
                               int64_t string_bytes);
/* Makes a dataset of strings in the shape `dims`, padded with NULs, as h5py has them; as long as
 * the longest where `string_bytes` is 0. Collective: as stria_create_dataset(). */
int stria_create_string_array(stria_file* file, const char* path, int rank, const int64_t* dims, const char* const* strings,
                              int64_t string_bytes);
/* Makes a dataset of records of which every rank puts its own: as stria_create_dataset(), with the
 * columns of `records`, whose rows don't count. In the file a record has its columns one behind the
 * other. Strings have what is in memory, and are declared as padded with NULs. Give stria_put() and
 * stria_get() a type of stria_type_records() and STRIA_BYTE. Options for numbers alone are refused:
 * STRIA_UNSUPPORTED. Collective: as stria_create_dataset(). */
int stria_create_records(stria_file* file, const char* path, const stria_records* records, int rank, const int64_t* dims,
                         const stria_options* options, stria_dataset** dataset);
/* Makes a dataset of strings of `string_bytes` each, of which every rank puts its own: as
 * stria_create_dataset(). Give stria_put() and stria_get() STRIA_BYTE, and a type of as many bytes
 * for each element, as of stria_type_bytes(). Options for numbers alone are refused:
 * STRIA_UNSUPPORTED. Collective: as stria_create_dataset(). */
int stria_create_string_dataset(stria_file* file, const char* path, int64_t string_bytes, int rank, const int64_t* dims,
                                const stria_options* options, stria_dataset** dataset);
/* Describes which bytes of memory such records are: row_count rows, row_bytes apart, and of each
 * the columns. They go to the dataset's columns of the same names, and are converted as numbers of
 * datasets are. A type that is made of it, such as one of stria_type_hvector(), is of records too.
 * What is put has all columns of the dataset, and is copied by stria_put() where the file's records
 * are other bytes; what is got may have some of them. STRIA_INVALID_ARGUMENT, from stria_put() and
 * stria_get(), names a column that the dataset doesn't have, or has of another kind. */
int stria_type_records(const stria_records* records, stria_type** type);
/* Gives the columns of a dataset of records, also of a file that is added to, and row_bytes of one
 * in stria_read_table(), as a table without rows. Numbers have the machine's byte order there, and
 * text of any length is strings as long as the longest. STRIA_UNSUPPORTED names a column whose type
 * isn't known. Collective: no. */
int stria_read_columns(stria_file* file, const char* path, stria_table** table);
/* Read small datasets. Collective: yes. */
int stria_read_table(stria_file* file, const char* path, stria_table** table);
int stria_read_strings(stria_file* file, const char* path, stria_list** strings);
/* Returns the content of a table that was read; valid as long as the table. */
const stria_records* stria_table_records(const stria_table* table);
void stria_table_free(stria_table* table);

/* Returns the number of strings. */
int64_t stria_list_size(const stria_list* list);
/* Returns a string of the list, valid as long as the list; NULL when there is none of that
 * number. */
const char* stria_list_at(const stria_list* list, int64_t index);
/* Frees a list; NULL is ignored. */
void stria_list_free(stria_list* list);

/* ---- Looking after ---- */

/* Tells whether the file carries Stria's checksums: 1 or 0. */
int stria_has_checksums(const stria_file* file, int* has);
/* Reads everything and compares it with its checksums. A file that is damaged is no error of the
 * call. Collective: yes. */
int stria_verify(stria_file* file, stria_verdict** verdict);
/* Does the same as stria_verify(), but leaves out `count` datasets that are named in `except`, the
 * same on all ranks, for instance because they were got whole with the option "verify". Collective:
 * yes. */
int stria_verify_except(stria_file* file, int64_t count, const char* const* except, stria_verdict** verdict);
typedef struct stria_damage {
  const char* dataset; /* "": the file's own metadata */
  /* These are rows [first_row, last_row) of the first dimension; none: the dataset is missing. */
  int64_t first_row;
  int64_t last_row;
} stria_damage;
/* Returns the number of damages. */
int64_t stria_verdict_size(const stria_verdict* verdict);
/* Returns the damage with this number, valid as long as the verdict; NULL when there is none. */
const stria_damage* stria_verdict_at(const stria_verdict* verdict, int64_t index);
/* Returns sentences on what can't be checked; belongs to the verdict. */
const stria_list* stria_verdict_remarks(const stria_verdict* verdict);
void stria_verdict_free(stria_verdict* verdict);

/* Says what a commit or flush did; sums of bytes are over all ranks. Strings are valid until the
 * next call on the file. */
typedef struct stria_report {
  int64_t useful_bytes;
  int64_t file_bytes;
  double seconds;     /* since the file was created or opened, on this rank */
  const char* method; /* the method of the last transfer */
  const char* reason; /* why that method */
} stria_report;
int stria_get_report(const stria_file* file, stria_report* report);
/* Gives the seconds of this rank in one phase: "open", "metadata", "pack", "unpack", "exchange",
 * "write", "read", "sync", "commit". */
int stria_get_phase(const stria_file* file, const char* phase, double* seconds);
/* Gives the bytes that stria_append() has found behind the end of the file, left there by a commit
 * that did not complete, and has cleared. Collective: no. */
int stria_get_cleared(const stria_file* file, int64_t* bytes);
/* Gives the most memory that copies of puts have taken on this rank at a time: of stria_put_copy()
 * and its like, and of small puts. Collective: no. */
int stria_get_copied(const stria_file* file, int64_t* bytes);
/* Give the file's hints with the values in effect, as "name=value"; and what was wrong with those
 * given. */
int stria_hints(const stria_file* file, stria_list** hints);
int stria_hint_warnings(const stria_file* file, stria_list** warnings);

/* Removes files that a killed program left in `directory` under their temporary names, where
 * the name begins with `prefix`, if they are this user's and no live program writes them. Where
 * such a name is a link, it looks beside the file to which that leads. `removed`, if given, gets
 * their paths. Collective: no; one rank calls it. */
int stria_remove_abandoned(const char* directory, const char* prefix, stria_list** removed);
/* Brings whole files to their own place that a killed program has left where the hint
 * stria_staging was `place`, and removes what isn't whole; never what a live program works on.
 * Tries all, and fails with the first failure. `brought`, if given, gets the paths where all went
 * well. Collective: no; one rank calls it. */
int stria_drain_staged(const char* place, stria_list** brought);

/* ---- Paths. Of this machine, stria://SERVER/PATH and rados://POOL/PATH. ---- */

/* Returns 1 for a path in a store, whose directories are made with their files; otherwise 0. */
int stria_is_store_path(const char* path);
/* Tells whether a file or directory has the name: 1 or 0. It is an error when that can't be told: a
 * server that doesn't answer. Collective: no. */
int stria_path_exists(const char* path, int* exists);
/* Gives the names in a directory, sorted: STRIA_NOT_FOUND. Collective: no. */
int stria_list_directory(const char* directory, stria_list** names);
/* Removes a file: STRIA_NOT_FOUND. Collective: no. */
int stria_remove_file(const char* path);

/* ---- Tracing. Where the time goes: docs/tracing.md. ---- */

/* Says what is recorded; each level adds to the one before. */
enum stria_trace_level {
  STRIA_TRACE_OFF = 0,
  STRIA_TRACE_COUNTERS, /* counters of every file: the default */
  STRIA_TRACE_APP,      /* a span for each call of the application */
  STRIA_TRACE_LIBRARY,  /* the phases inside: pack, exchange, write, and so on */
  STRIA_TRACE_FULL      /* each request to the storage and each message */
};

/* Do the same as stria_trace_start_mpi() and stria_trace_start_from_environment_mpi(), with the
 * communicator of Fortran, an INTEGER. STRIA_UNSUPPORTED in the library without MPI. Collective:
 * yes. */
int stria_trace_start_f(int comm, int level, const char* directory);
int stria_trace_start_from_environment_f(int comm);
/* Ends the run, and merges what the ranks have recorded. `path`, if given, gets one string, the
 * trace file's path; none where there is no trace. Without this call MPI_Finalize ends the run.
 * STRIA_UNSUPPORTED in the library without MPI. Collective: yes, over the communicator of the
 * run. */
int stria_trace_finish(stria_list** path);
/* Changes what this rank records from now on. Collective: no. */
int stria_trace_set_level(int level);
/* Returns the enum stria_trace_level in effect on this rank. */
int stria_trace_level(void);
/* Writes what this rank has recorded so far, where a crash of the program can't harm it. Commits do
 * this by themselves. Collective: no. */
void stria_trace_flush(void);
/* Mark a region of the program between two calls of one thread: at STRIA_TRACE_APP and above it is
 * a span of this name around the calls within. Regions nest; stria_trace_end() ends the last one
 * that has begun: STRIA_INVALID_ARGUMENT when there is none. Collective: no. */
int stria_trace_begin(const char* name);
int stria_trace_end(void);

#ifdef __cplusplus
}
#endif

#endif /* STRIA_H */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- With a communicator of MPI. Declared where mpi.h comes before stria.h. ---- */

#if defined(MPI_VERSION) && !defined(STRIA_H_MPI)
#define STRIA_H_MPI
/* Begins a new file of the ranks of `comm` under a temporary name beside `path`. A link is
 * followed, also to a file that is still to come. A file that is replaced hands on its mode, group,
 * access list and extended attributes. STRIA_INVALID_ARGUMENT for what is no file, such as a pipe;
 * STRIA_PERMISSION_DENIED for a file that can't be written to, and where another user has taken the
 * temporary name. `options` may be NULL. Collective: yes. */
int stria_create_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file);
/* Opens an HDF5 file for reading, whichever program has written it. Collective: yes. */
int stria_open_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file);
/* Opens an HDF5 file to add to it: datasets, tables, attributes (one of the same name is replaced)
 * and rows. What the file has stays readable throughout; only the commit's last write makes the new
 * visible, all of it at once. STRIA_ALREADY_EXISTS when another program writes to the file;
 * STRIA_UNSUPPORTED when its structure can't be added to. Of the options of a new file "sync"
 * counts; new data get checksums where the file has them. Collective: yes. */
int stria_append_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file);
/* Begins to record the ranks of `comm` as one run, in a file in `directory`, and compares their
 * clocks. Without this call the variable STRIA_TRACE begins a run. STRIA_INVALID_ARGUMENT when one
 * has begun already. Collective: yes. */
int stria_trace_start_mpi(MPI_Comm comm, int level, const char* directory);
/* Begins at once the run that STRIA_TRACE and STRIA_TRACE_DIR ask for, if any, so that the first
 * file's time doesn't include the comparison of clocks. Collective: yes. */
int stria_trace_start_from_environment_mpi(MPI_Comm comm);
#endif

#ifdef __cplusplus
}
#endif
