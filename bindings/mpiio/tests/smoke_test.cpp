// A plain MPI program that makes every family of MPI-IO calls once, with the library preloaded.
// Only the right behaviour gives the expected values. The suite in tests/mpiio compares random
// calls with an oracle.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank = 0;
int size = 1;
int failures = 0;

void check(bool good, const char* text, int line) {
  if (!good) {
    std::fprintf(stderr, "rank %d, line %d: %s\n", rank, line, text);
    ++failures;
  }
}
#define CHECK(expression) check((expression), #expression, __LINE__)
#define CHECK_OK(expression) check((expression) == MPI_SUCCESS, #expression, __LINE__)

std::string file_name(const char* name) {
  const char* directory = std::getenv("TMPDIR");
  std::string text = std::string(directory == nullptr ? "." : directory) + "/stria_smoke_" + std::to_string(size) + "_" + name;
  return text;
}

int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(&status, type, &count);
  return count;
}

MPI_File create(const std::string& name, int more = 0) {
  MPI_File file = MPI_FILE_NULL;
  if (rank == 0) {
    MPI_File_delete(name.c_str(), MPI_INFO_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | more, MPI_INFO_NULL, &file));
  return file;
}

void test_explicit_offsets() {
  const std::string name = file_name("explicit");
  MPI_File file = create(name, MPI_MODE_DELETE_ON_CLOSE);
  const std::array<int, 4> mine{rank, rank + 1, rank + 2, rank + 3};
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, rank * 16, mine.data(), 4, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 4);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = (rank + 1) % size;
  std::array<int, 6> got{};
  got.fill(-1);
  CHECK_OK(MPI_File_read_at(file, other * 16, got.data(), other == size - 1 ? 6 : 4, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 4);
  CHECK(got[0] == other && got[3] == other + 3 && got[4] == -1);
  MPI_Offset bytes = 0;
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes == 16 * size);
  CHECK_OK(MPI_File_set_size(file, 8));
  CHECK_OK(MPI_File_preallocate(file, 4096));
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes == 4096);
  CHECK_OK(MPI_File_read_at_all(file, 8, got.data(), 2, MPI_INT, &status));
  CHECK(got[0] == 0 && got[1] == 0);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_ERR_NO_SUCH_FILE);
}

// Ranks interleave ints: rank r has every size-th.
MPI_Datatype interleaved() {
  MPI_Datatype one = MPI_INT;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(one, 0, static_cast<MPI_Aint>(4 * size), &type);
  MPI_Type_commit(&type);
  return type;
}

void test_views() {
  const std::string name = file_name("view");
  MPI_File file = create(name, MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype type = interleaved();
  CHECK_OK(MPI_File_set_view(file, 8 + 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL));
  std::vector<int> mine(1000);
  for (size_t i = 0; i < mine.size(); ++i) {
    mine[i] = static_cast<int>(i) * size + rank;
  }
  MPI_Status status;
  CHECK_OK(MPI_File_write_all(file, mine.data(), 600, MPI_INT, &status));
  CHECK_OK(MPI_File_write(file, mine.data() + 600, 400, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 400);
  MPI_Offset position = 0;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK(position == 1000);
  CHECK_OK(MPI_File_get_byte_offset(file, 3, &position));
  CHECK(position == 8 + 4 * rank + 12 * size);
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  CHECK(displacement == 8 + 4 * rank && etype == MPI_INT && std::strcmp(representation, "native") == 0);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_seek(file, -1000, MPI_SEEK_CUR));
  std::vector<int> got(1002, -1);
  CHECK_OK(MPI_File_read_all(file, got.data(), 1002, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 1000);
  CHECK(std::equal(mine.begin(), mine.end(), got.begin()) && got[1000] == -1);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  std::vector<int> all(static_cast<size_t>(1000 * size));
  CHECK_OK(MPI_File_read_at_all(file, 0, all.data(), 1000 * size, MPI_INT, &status));
  bool right = true;
  for (size_t i = 0; i < all.size(); ++i) {
    right = right && all[i] == static_cast<int>(i);
  }
  CHECK(right);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

void test_memory_types() {
  MPI_File file = create(file_name("memory"), MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(100, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  std::vector<double> memory(300);
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<double>(i);
  }
  MPI_Status status;
  CHECK_OK(MPI_File_write_at(file, rank * 800, memory.data() + 1, 1, column, &status));
  CHECK(count_of(status, column) == 1);
  std::vector<double> got(300, -1.0);
  CHECK_OK(MPI_File_read_at(file, rank * 800, got.data() + 2, 1, column, &status));
  CHECK(got[2] == 1.0 && got[5] == 4.0 && got[299] == 298.0 && got[0] == -1.0 && got[3] == -1.0);
  MPI_Type_free(&column);
  CHECK_OK(MPI_File_close(&file));
}

void test_nonblocking() {
  MPI_File file = create(file_name("nonblocking"), MPI_MODE_DELETE_ON_CLOSE);
  std::vector<int> mine(5000, rank + 1);
  std::array<MPI_Request, 3> requests{};
  CHECK_OK(MPI_File_iwrite_at(file, rank * 60000, mine.data(), 5000, MPI_INT, &requests[0]));
  CHECK_OK(MPI_File_iwrite_at_all(file, rank * 60000 + 20000, mine.data(), 5000, MPI_INT, &requests[1]));
  CHECK_OK(MPI_File_seek(file, rank * 60000 + 40000, MPI_SEEK_SET));
  CHECK_OK(MPI_File_iwrite(file, mine.data(), 5000, MPI_INT, &requests[2]));
  std::array<MPI_Status, 3> statuses{};
  CHECK_OK(MPI_Waitall(3, requests.data(), statuses.data()));
  CHECK(count_of(statuses[0], MPI_INT) == 5000 && count_of(statuses[2], MPI_INT) == 5000);
  CHECK(requests[1] == MPI_REQUEST_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = (rank + 1) % size;
  std::vector<int> got(15000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  CHECK_OK(MPI_File_iread_at(file, other * 60000, got.data(), 15000, MPI_INT, &request));
  int flag = 0;
  while (flag == 0) {
    CHECK_OK(MPI_Test(&request, &flag, &status));
  }
  CHECK(count_of(status, MPI_INT) == 15000 && got[0] == other + 1 && got[14999] == other + 1);
  CHECK_OK(MPI_File_iread_at(file, MPI_Offset{60000} * size - 4, got.data(), 2, MPI_INT, &request));
  int index = -1;
  CHECK_OK(MPI_Waitany(1, &request, &index, &status));
  CHECK(index == 0 && count_of(status, MPI_INT) == 1);
  CHECK_OK(MPI_File_close(&file));
}

void test_split() {
  MPI_File file = create(file_name("split"), MPI_MODE_DELETE_ON_CLOSE);
  std::vector<int> mine(100, rank);
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all_begin(file, rank * 400, mine.data(), 100, MPI_INT));
  CHECK(MPI_File_write_at_all_begin(file, 0, mine.data(), 1, MPI_INT) != MPI_SUCCESS);
  CHECK_OK(MPI_File_write_at_all_end(file, mine.data(), &status));
  CHECK(count_of(status, MPI_INT) == 100);
  std::vector<int> got(100, -1);
  CHECK_OK(MPI_File_read_ordered_begin(file, got.data(), 100, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, got.data(), &status));
  CHECK(got[0] == rank && got[99] == rank);
  CHECK_OK(MPI_File_close(&file));
}

void test_shared_pointer() {
  MPI_File file = create(file_name("shared"), MPI_MODE_DELETE_ON_CLOSE);
  for (int i = 0; i < 50; ++i) {
    CHECK_OK(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset position = 0;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK(position == 200 * size);
  std::vector<int> all(static_cast<size_t>(50 * size));
  CHECK_OK(MPI_File_read_at_all(file, 0, all.data(), 50 * size, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(std::count(all.begin(), all.end(), rank) == 50);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  std::vector<int> mine(static_cast<size_t>(rank + 1), rank);
  CHECK_OK(MPI_File_write_ordered(file, mine.data(), rank + 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, 0, all.data(), size * (size + 1) / 2, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(all[static_cast<size_t>(rank * (rank + 1) / 2)] == rank);
  CHECK(all[static_cast<size_t>((rank + 1) * (rank + 2) / 2 - 1)] == rank);
  CHECK_OK(MPI_File_close(&file));
}

int handler_calls = 0;
void count_calls(MPI_File*, int* code, ...) {
  ++handler_calls;
  CHECK(*code == MPI_ERR_ARG);
}

void test_errors() {
  const std::string name = file_name("errors");
  MPI_File file = create(name, MPI_MODE_DELETE_ON_CLOSE);
  int value = 0;
  CHECK(MPI_File_read_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_ERR_ARG);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unheard_of", MPI_INFO_NULL) == MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_File_create_errhandler(count_calls, &handler));
  CHECK_OK(MPI_File_set_errhandler(file, handler));
  CHECK(MPI_File_read_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_ERR_ARG);
  CHECK(handler_calls == 1);
  MPI_Errhandler got = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_File_get_errhandler(file, &got));
  CHECK(got == handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  CHECK_OK(MPI_File_close(&file));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Errhandler_free(&got));
  }
  const int code = MPI_File_open(MPI_COMM_WORLD, "no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(code == MPI_ERR_NO_SUCH_FILE);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  CHECK(std::strstr(text, "no/such/directory/file") != nullptr);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file) == MPI_ERR_AMODE);
  CHECK(MPI_File_close(&file) == MPI_ERR_FILE);
}

void test_external32() {
  MPI_File file = create(file_name("external32"), MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  const int value = 0x01020304;
  CHECK_OK(MPI_File_write_at(file, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Aint extent = 0;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK(extent == 4);
  int back = 0;
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(file, rank, &back, 1, MPI_INT, &status));
  CHECK(back == value && count_of(status, MPI_INT) == 1);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  std::array<unsigned char, 4> bytes{};
  CHECK_OK(MPI_File_read_at(file, 4 * rank, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(bytes[0] == 1 && bytes[3] == 4);
  CHECK_OK(MPI_File_close(&file));
}

// Reads a representation in which each int is written twice.
int read_twice(void* memory, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  for (int i = 0; i < count; ++i) {
    static_cast<int*>(memory)[position + i] = static_cast<int*>(file)[2 * i];
  }
  return MPI_SUCCESS;
}
int write_twice(void* memory, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  for (int i = 0; i < 2 * count; ++i) {
    static_cast<int*>(file)[i] = static_cast<int*>(memory)[position + i / 2];
  }
  return MPI_SUCCESS;
}
int extent_twice(MPI_Datatype type, MPI_Aint* extent, void*) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  *extent = 2 * static_cast<MPI_Aint>(bytes);
  return MPI_SUCCESS;
}

void test_registered_representation() {
  CHECK_OK(MPI_Register_datarep("twice", read_twice, write_twice, extent_twice, nullptr));
  CHECK(MPI_Register_datarep("twice", read_twice, write_twice, extent_twice, nullptr) == MPI_ERR_DUP_DATAREP);
  MPI_File file = create(file_name("registered"), MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "twice", MPI_INFO_NULL));
  const std::array<int, 3> mine{rank, rank + 10, rank + 20};
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, 3 * rank, mine.data(), 3, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 3);
  std::array<int, 3> back{};
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(MPI_File_iread_at(file, 3 * rank, back.data(), 3, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(back == mine && count_of(status, MPI_INT) == 3);
  MPI_Offset bytes = 0;
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes == 24 * size);
  CHECK_OK(MPI_File_close(&file));
}

#if MPI_VERSION >= 4
void test_large_counts() {
  MPI_File file = create(file_name("large"), MPI_MODE_DELETE_ON_CLOSE);
  std::vector<int> mine(1000, rank + 7);
  const MPI_Count count = 1000;
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all_c(file, rank * 4000, mine.data(), count, MPI_INT, &status));
  MPI_Count moved = 0;
  MPI_Get_count_c(&status, MPI_INT, &moved);
  CHECK(moved == count);
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> back(1000);
  CHECK_OK(MPI_File_iread_at_c(file, rank * 4000, back.data(), count, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(back == mine);
  // One item of more than 2^31 bytes, most of them a gap.
  const MPI_Count length = 4;
  const std::array<MPI_Count, 2> places{0, MPI_Count{3} << 30};
  MPI_Datatype far = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block_c(2, length, places.data(), MPI_BYTE, &far);
  MPI_Type_commit(&far);
  CHECK_OK(MPI_File_set_view(file, 8 * rank, MPI_BYTE, far, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all_c(file, 0, mine.data(), 8, MPI_BYTE, &status));
  MPI_Offset offset = 0;
  CHECK_OK(MPI_File_get_byte_offset(file, 4, &offset));
  CHECK(offset == (MPI_Offset{3} << 30) + 8 * rank);
  std::array<int, 2> two{};
  CHECK_OK(MPI_File_read_at_c(file, 0, two.data(), 8, MPI_BYTE, &status));
  CHECK(two[0] == rank + 7 && two[1] == rank + 7);
  MPI_Type_free(&far);
  CHECK_OK(MPI_File_close(&file));
}
#endif

void test_properties() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "1048576");
  MPI_File file = MPI_FILE_NULL;
  const std::string name = file_name("properties");
  CHECK_OK(
      MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, info, &file));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_get_info(file, &info));
  char value[MPI_MAX_INFO_VAL] = {};
  int found = 0;
  MPI_Info_get(info, "cb_buffer_size", sizeof value - 1, value, &found);
  CHECK(found != 0 && std::strcmp(value, "1048576") == 0);
  MPI_Info_free(&info);
  int amode = 0;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE));
  MPI_Group group = MPI_GROUP_NULL;
  CHECK_OK(MPI_File_get_group(file, &group));
  int members = 0;
  MPI_Group_size(group, &members);
  CHECK(members == size);
  MPI_Group_free(&group);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  int atomic = 0;
  CHECK_OK(MPI_File_get_atomicity(file, &atomic));
  CHECK(atomic == 1);
  CHECK_OK(MPI_File_write_at(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
  int got = 0;
  CHECK(MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_close(&file));
}

// HDF5 and PnetCDF close their files like this: when MPI ends and deletes an attribute that they
// gave MPI_COMM_SELF.
MPI_File closed_late = MPI_FILE_NULL;
int close_late(MPI_Comm, int, void*, void*) {
  CHECK_OK(MPI_File_write_at_all(closed_late, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset bytes = 0;
  CHECK_OK(MPI_File_sync(closed_late));
  CHECK_OK(MPI_File_get_size(closed_late, &bytes));
  CHECK(bytes == 4 * size);
  CHECK_OK(MPI_File_close(&closed_late));
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int late = MPI_KEYVAL_INVALID;  // before any file is opened
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_late, &late, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, late, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_explicit_offsets();
  test_views();
  test_memory_types();
  test_nonblocking();
  test_split();
  test_shared_pointer();
  test_errors();
  test_external32();
  test_registered_representation();
  test_properties();
#if MPI_VERSION >= 4
  test_large_counts();
#endif
  // A file left open: it is closed when MPI ends.
  MPI_File forgotten = create(file_name("forgotten"), MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_write_at(forgotten, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  closed_late = create(file_name("late"), MPI_MODE_DELETE_ON_CLOSE);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
