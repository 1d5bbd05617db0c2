// All of MPI-IO except data access: opening, sizes, hints, queries of views, errors and their
// handlers, communicators, many requests at once.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "mpiio/support/files.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

// Tries to open it, because an NFS client then asks the server. Otherwise it reports a removed
// name for seconds.
bool exists(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    close(descriptor);
  }
  return descriptor >= 0;
}

void modes(const Suite& suite) {
  const std::string path = suite.path("modes");
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDONLY, &file), MPI_ERR_NO_SUCH_FILE);
  EXPECT(file == MPI_FILE_NULL, "a failed open gives a handle");
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDWR, &file), MPI_ERR_NO_SUCH_FILE);
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDONLY | MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDONLY | MPI_MODE_EXCL, &file), MPI_ERR_AMODE);
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  EXPECT(!exists(path), "a refused open made the file");
  file = open(path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL);
  int mode = 0;
  EXPECT_MPI(MPI_File_get_amode(file, &mode));
  EXPECT(mode == (MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL), "amode ", mode);
  int value = 5;
  MPI_Status status;
  EXPECT_MPI_ERROR(MPI_File_read_at(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_MPI(MPI_File_write_at(file, 4 * suite.rank(), &value, 1, MPI_INT, &status));
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(file == MPI_FILE_NULL, "close leaves a handle");
  EXPECT_MPI_ERROR(open_code(path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, &file), MPI_ERR_FILE_EXISTS);
  file = open(path, MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN);
  const int code = MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status);
  EXPECT(error_class(code) == MPI_ERR_READ_ONLY || error_class(code) == MPI_ERR_ACCESS, error_text(code));
  EXPECT(MPI_File_set_size(file, 100) != MPI_SUCCESS, "set_size of a file opened read-only succeeds");
  EXPECT(MPI_File_preallocate(file, 100) != MPI_SUCCESS, "preallocate of a file opened read-only succeeds");
  EXPECT_MPI(MPI_File_close(&file));
  file = open(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(!exists(path), "deleted on close, and still there");
  MPI_Barrier(MPI_COMM_WORLD);
}

void deletion(const Suite& suite) {
  const std::string path = suite.path("delete");
  if (suite.rank() == 0) {
    EXPECT_MPI_ERROR(MPI_File_delete(path.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    make_file(path, {1, 2, 3});
    EXPECT_MPI(MPI_File_delete(path.c_str(), MPI_INFO_NULL));
    EXPECT(!exists(path), "deleted, and still there");
  }
  MPI_File file = MPI_FILE_NULL;
  EXPECT(open_code(suite.options().directory, MPI_MODE_RDWR, &file) != MPI_SUCCESS, "a directory opens");
  EXPECT(open_code(suite.path("none/such/file"), MPI_MODE_RDWR | MPI_MODE_CREATE, &file) != MPI_SUCCESS, "no directory");
  // A long name is an error, not an overflow.
  const int code = open_code(suite.path(std::string(5000, 'x')), MPI_MODE_RDWR | MPI_MODE_CREATE, &file);
  EXPECT(code != MPI_SUCCESS && file == MPI_FILE_NULL, "a name of 5000 characters opens");
}

void sizes(const Suite& suite) {
  const std::string path = suite.path("sizes");
  MPI_File file = open(path);
  MPI_Offset size = -1;
  const auto expect_size = [&](MPI_Offset wanted, const char* what) {
    EXPECT_MPI(MPI_File_get_size(file, &size));
    EXPECT(size == wanted, what, ": ", size, " bytes, not ", wanted);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  expect_size(0, "new");
  EXPECT_MPI(MPI_File_preallocate(file, 10000));
  expect_size(10000, "preallocated");
  EXPECT_MPI(MPI_File_preallocate(file, 100));
  expect_size(10000, "preallocated less");
  EXPECT_MPI(MPI_File_set_size(file, 50));
  expect_size(50, "cut");
  EXPECT_MPI(MPI_File_set_size(file, 200));
  expect_size(200, "made longer");
  std::array<uint8_t, 200> bytes;
  bytes.fill(0xcd);
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_at_all(file, 0, bytes.data(), 200, MPI_BYTE, &status));
  EXPECT(std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; }), "bytes that nobody wrote are not 0");
  EXPECT(MPI_File_set_size(file, -1) != MPI_SUCCESS, "a negative size");
  expect_size(200, "after a refused size");
  EXPECT_MPI(MPI_File_sync(file));
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

// Where no hint gives the size of the collective buffers, the planner's choice is told.
void planned_buffers(const Suite& suite) {
  const std::string path = suite.path("planned");
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  MPI_Info used = MPI_INFO_NULL;
  EXPECT_MPI(MPI_File_get_info(file, &used));
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Info_get(used, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(!suite.is_stria() || std::atoll(value) >= 1 << 20, "cb_buffer_size is ", found != 0 ? value : "absent");
  MPI_Info_free(&used);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

// The file of hints counts below the program's own, and that of rank 0 counts on every rank.
void hints_from_a_file(const Suite& suite) {
  const std::string path = suite.path("tuned");
  const std::string hints = path + ".hints";
  if (suite.rank() == 0) {
    std::ofstream(hints) << "cb_buffer_size 131072\nromio_ds_read disable\n";
    setenv("STRIA_HINTS_FILE", hints.c_str(), 1);
  }
  const Info info(Hints{{"cb_buffer_size", "1048576"}});
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(), &file));
  unsetenv("STRIA_HINTS_FILE");
  MPI_Info used = MPI_INFO_NULL;
  EXPECT_MPI(MPI_File_get_info(file, &used));
  for (const auto& [name, wanted] : {std::pair("cb_buffer_size", "1048576"), std::pair("romio_ds_read", "disable")}) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get(used, name, MPI_MAX_INFO_VAL, value, &found);
    EXPECT(!suite.is_stria() || std::string(value) == wanted, name, " is ", found != 0 ? value : "absent");
  }
  MPI_Info_free(&used);
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(hints.c_str());
  }
  remove_later(suite, path);
}

void hints_and_group(const Suite& suite) {
  const std::string path = suite.path("hints");
  const Info info({{"cb_buffer_size", "1048576"},
                   {"cb_nodes", "1"},
                   {"nobody_knows_this", "1"},
                   {"striping_unit", "65536"},
                   {"stria_direct", "enable"}});
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(), &file));
  MPI_Info used = MPI_INFO_NULL;
  EXPECT_MPI(MPI_File_get_info(file, &used));
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Info_get(used, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(found != 0 && std::string(value) == "1048576", "cb_buffer_size is ", found ? value : "absent");
  MPI_Info_get(used, "cb_nodes", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(found != 0 && std::string(value) == "1", "cb_nodes is ", found ? value : "absent");
  MPI_Info_get(used, "stria_direct", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(!suite.is_stria() || (found != 0 && std::string(value) == "disable"), "stria_direct is ", found ? value : "absent");
  MPI_Info_free(&used);
  const Info later(Hints{{"cb_buffer_size", "2097152"}});
  EXPECT_MPI(MPI_File_set_info(file, later.get()));
  EXPECT_MPI(MPI_File_get_info(file, &used));
  EXPECT(used != MPI_INFO_NULL, "no info");
  MPI_Info_get(used, "striping_unit", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(found != 0 && std::string(value) == "65536", "striping_unit is ", found ? value : "absent");
  MPI_Info_get(used, "striping_factor", MPI_MAX_INFO_VAL, value, &found);
  EXPECT(found == 0 || !suite.is_stria(), "striping_factor is ", value, " although nothing is striped");
  MPI_Info_free(&used);
  MPI_Group mine = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  EXPECT_MPI(MPI_File_get_group(file, &mine));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int same = MPI_UNEQUAL;
  MPI_Group_compare(mine, world, &same);
  EXPECT(same == MPI_IDENT, "the group differs");
  MPI_Group_free(&mine);
  MPI_Group_free(&world);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void views_asked_back(const Suite& suite) {
  const std::string path = suite.path("asked");
  MPI_File file = open(path);
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char name[MPI_MAX_DATAREP_STRING] = "";
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  EXPECT(displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && std::string(name) == "native",
         "the first view: displacement ", displacement, ", representation ", name);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  EXPECT_MPI(MPI_File_set_view(file, 12, MPI_INT, vector, "native", MPI_INFO_NULL));
  MPI_Type_free(&vector);
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  int size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_size(filetype, &size);
  MPI_Type_get_extent(filetype, &lb, &extent);
  EXPECT(displacement == 12 && etype == MPI_INT && size == 12 && extent == 20, "displacement ", displacement, ", filetype of ",
         size, " bytes, extent ", extent);
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
  EXPECT(combiner != MPI_COMBINER_NAMED, "the filetype lost its structure");
  if (combiner != MPI_COMBINER_NAMED) {
    MPI_Type_free(&filetype);
  }
  MPI_Aint int_extent = 0;
  EXPECT_MPI(MPI_File_get_type_extent(file, MPI_INT, &int_extent));
  EXPECT(int_extent == 4, "an int extends ", int_extent);
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "no such representation", MPI_INFO_NULL) != MPI_SUCCESS, "datarep");
  EXPECT(MPI_File_set_view(file, -5, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) != MPI_SUCCESS, "a negative displacement");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void atomicity(const Suite& suite) {
  const std::string path = suite.path("atomic");
  MPI_File file = open(path);
  int flag = -1;
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT(flag == 0, "atomic from the begin");
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT(flag != 0, "not atomic");
  // All ranks write the same stretch at once, in one piece and in many: afterwards the file holds
  // the bytes of one rank only.
  constexpr int kBytes = 200000;
  std::vector<uint8_t> mine(kBytes, static_cast<uint8_t>(suite.rank() + 1));
  MPI_Datatype pieces = MPI_DATATYPE_NULL;
  MPI_Type_vector(kBytes / 10, 10, 20, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  for (int round = 0; round < 10; ++round) {
    const bool strided = round % 2 == 1;
    EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, strided ? pieces : MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Status status;
    EXPECT_MPI(MPI_File_write_at(file, 0, mine.data(), kBytes, MPI_BYTE, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<uint8_t> back(kBytes);
    EXPECT_MPI(MPI_File_read_at(file, 0, back.data(), kBytes, MPI_BYTE, &status));
    EXPECT(std::all_of(back.begin(), back.end(), [&](uint8_t b) { return b == back[0] && b != 0; }), "round ", round,
           ": bytes of several ranks");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&pieces);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

int handler_calls = 0;
int handled_class = MPI_SUCCESS;
void count_errors(MPI_File*, int* code, ...) {
  ++handler_calls;
  handled_class = error_class(*code);
}

void forgive_errors(MPI_File*, int* code, ...) {
  *code = MPI_SUCCESS;
}

void error_handlers(const Suite& suite) {
  const std::string path = suite.path("handlers");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
  EXPECT(handler == MPI_ERRORS_RETURN, "the default is not MPI_ERRORS_RETURN");
  MPI_Errhandler mine = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(count_errors, &mine));
  MPI_File file = open(path);
  EXPECT_MPI(MPI_File_get_errhandler(file, &handler));
  EXPECT(handler == MPI_ERRORS_RETURN, "a new file's handler is not MPI_ERRORS_RETURN");
  EXPECT_MPI(MPI_File_set_errhandler(file, mine));
  handler_calls = 0;
  MPI_File_set_size(file, -7);
  EXPECT(handler_calls == 1, "the file's handler was called ", handler_calls, " times");
  EXPECT_MPI(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
  EXPECT(handler_calls == 2 && handled_class == MPI_ERR_QUOTA, "call_errhandler: ", handler_calls, " calls");
  int own_code = 0;
  MPI_Add_error_class(&own_code);
  MPI_Add_error_string(own_code, "a program's own");
  EXPECT_MPI(MPI_File_call_errhandler(file, own_code));
  EXPECT(error_text(own_code).find("a program's own") != std::string::npos, error_text(own_code));
  EXPECT_MPI(MPI_File_get_errhandler(file, &handler));
  EXPECT(handler == mine, "another handler comes back");
  MPI_Errhandler forgiving = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(forgive_errors, &forgiving));
  EXPECT_MPI(MPI_File_set_errhandler(file, forgiving));
  MPI_Errhandler_free(&forgiving);
  EXPECT(!suite.is_stria() || MPI_File_set_size(file, -7) == MPI_SUCCESS, "the handler's code doesn't come back");
  EXPECT_MPI(MPI_File_close(&file));
  // The handler of MPI_FILE_NULL serves failed opens, and files opened later begin with it.
  EXPECT_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
  handler_calls = 0;
  open_code(suite.path("absent"), MPI_MODE_RDONLY, &file);
  EXPECT(handler_calls == 1 && handled_class == MPI_ERR_NO_SUCH_FILE, "MPI_FILE_NULL's handler was called ", handler_calls,
         " times, class ", handled_class);
  file = open(path);
  EXPECT_MPI(MPI_File_get_errhandler(file, &handler));
  EXPECT(handler == mine, "a new file doesn't take MPI_FILE_NULL's handler");
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MPI_Errhandler_free(&mine);
  remove_later(suite, path);
}

void error_messages(const Suite& suite) {
  MPI_File file = MPI_FILE_NULL;
  const std::string path = suite.path("absent");
  const int code = open_code(path, MPI_MODE_RDONLY, &file);
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  EXPECT_MPI(MPI_Error_string(code, words, &length));
  EXPECT(length > 0, "no message");
  if (suite.is_stria()) {
    const std::string message(words, static_cast<size_t>(length));
    EXPECT(message.find("absent") != std::string::npos && message.find("No such file") != std::string::npos,
           "the message names neither file nor reason: ", message);
  }
}

void fortran_handles(const Suite& suite) {
  const std::string path = suite.path("handles");
  MPI_File file = open(path);
  const MPI_Fint number = MPI_File_c2f(file);
  EXPECT(MPI_File_f2c(number) == file, "f2c(c2f) is another file");
  EXPECT(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "MPI_FILE_NULL does not come back");
  MPI_File second = open(path);
  EXPECT(MPI_File_c2f(second) != number, "two files share a number");
  EXPECT_MPI(MPI_File_close(&second));
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void communicators(const Suite& suite) {
  // One file per rank, all open at once; then one file for the even and one for the odd ranks. The
  // communicator may be freed before the file.
  const std::string own = suite.path(text("self", suite.rank()));
  MPI_File file = open(own, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_COMM_SELF);
  int value = suite.rank();
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_all(file, &value, 1, MPI_INT, &status));
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(read_file(own).size() == 4, "the file of one rank");
  unlink(own.c_str());
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, suite.rank() % 2, -suite.rank(), &half);
  int place = 0;
  int count = 0;
  MPI_Comm_rank(half, &place);
  MPI_Comm_size(half, &count);
  const std::string shared = suite.path(text("half", suite.rank() % 2));
  file = open(shared, MPI_MODE_RDWR | MPI_MODE_CREATE, half);
  MPI_Comm_free(&half);
  EXPECT_MPI(MPI_File_write_at_all(file, 4 * place, &value, 1, MPI_INT, &status));
  EXPECT_MPI(MPI_File_sync(file));
  std::vector<int> all(static_cast<size_t>(count), -1);
  EXPECT_MPI(MPI_File_read_at_all(file, 0, all.data(), count, MPI_INT, &status));
  for (int i = 0; i + 1 < count; ++i) {
    EXPECT(all[static_cast<size_t>(i)] == all[static_cast<size_t>(i) + 1] + 2, "ranks in another order");
  }
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  unlink(shared.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
}

// Forty requests are under way on two files. They complete in other orders, mixed with messages; a
// rank may have nothing in a collective.
void many_requests(const Suite& suite) {
  constexpr int kRequests = 20;
  constexpr int kBlock = 5000;
  const std::array<std::string, 2> paths = {suite.path("many_a"), suite.path("many_b")};
  std::array<MPI_File, 2> files = {open(paths[0]), open(paths[1])};
  std::vector<std::vector<uint8_t>> data;
  std::vector<MPI_Request> requests;
  const auto offset = [&](int i) { return MPI_Offset{kBlock} * (i * suite.rank_count() + suite.rank()); };
  for (int i = 0; i < kRequests; ++i) {
    for (size_t f = 0; f < 2; ++f) {
      data.emplace_back(kBlock, static_cast<uint8_t>(i * 2 + static_cast<int>(f) + 1));
      requests.push_back(MPI_REQUEST_NULL);
      const int bytes = i % 3 == 0 && suite.rank() == 0 ? 0 : kBlock;
      EXPECT_MPI(i % 2 == 0 ? MPI_File_iwrite_at_all(files[f], offset(i), data.back().data(), bytes, MPI_BYTE, &requests.back())
                            : MPI_File_iwrite_at(files[f], offset(i), data.back().data(), bytes, MPI_BYTE, &requests.back()));
    }
  }
  int token = suite.rank();
  const int next = (suite.rank() + 1) % suite.rank_count();
  const int previous = (suite.rank() + suite.rank_count() - 1) % suite.rank_count();
  MPI_Sendrecv_replace(&token, 1, MPI_INT, next, 5, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(token == previous, "a message got lost");
  for (int half = 0; half < kRequests; ++half) {
    int index = -1;
    MPI_Status status;
    EXPECT_MPI(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, &status));
  }
  std::vector<MPI_Status> statuses(requests.size());
  EXPECT_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()));
  for (size_t f = 0; f < 2; ++f) {
    MPI_File_sync(files[f]);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<uint8_t> back(kBlock);
    for (int i = 0; i < kRequests; ++i) {
      if (i % 3 != 0 || suite.rank() != 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        EXPECT_MPI(MPI_File_iread_at(files[f], offset(i), back.data(), kBlock, MPI_BYTE, &request));
        int done = 0;
        while (done == 0) {
          MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        EXPECT(back == data[static_cast<size_t>(i) * 2 + f], "request ", i, " of file ", f);
      }
    }
    EXPECT_MPI(MPI_File_close(&files[f]));
    remove_later(suite, paths[f]);
  }
}

// Nothing at all: zero counts, null buffers, empty types, on every rank or on some.
void nothing(const Suite& suite) {
  const std::string path = suite.path("nothing");
  MPI_File file = open(path);
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Status status;
  int count = -1;
  EXPECT_MPI(MPI_File_write_at_all(file, 0, nullptr, 0, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(count == 0, "count ", count);
  EXPECT_MPI(MPI_File_read_at_all(file, 100, nullptr, 0, MPI_INT, MPI_STATUS_IGNORE));
  int value = 9;
  EXPECT_MPI(MPI_File_write_at_all(file, 0, &value, 3, empty, &status));
  EXPECT_MPI(MPI_File_write_all(file, &value, suite.rank() == 0 ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset size = -1;
  MPI_File_sync(file);
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT(size == 4, size, " bytes");
  EXPECT(MPI_File_write_at(file, 0, &value, -1, MPI_INT, &status) != MPI_SUCCESS, "a negative count");
  EXPECT(MPI_File_write_at(file, -4, &value, 1, MPI_INT, &status) != MPI_SUCCESS, "a negative offset");
  MPI_Type_free(&empty);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

// A split collective begun twice, or ended without a begin, is an error; other calls may lie
// between begin and end.
void split_rules(const Suite& suite) {
  const std::string path = suite.path("split");
  MPI_File file = open(path);
  int value = suite.rank();
  MPI_Status status;
  EXPECT(MPI_File_write_all_end(file, &value, &status) != MPI_SUCCESS, "an end without a begin");
  EXPECT_MPI(MPI_File_write_at_all_begin(file, 4 * suite.rank(), &value, 1, MPI_INT));
  int other = 3;
  EXPECT(MPI_File_write_at_all_begin(file, 0, &other, 1, MPI_INT) != MPI_SUCCESS, "a second begin");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_File_write_at_all_end(file, &value, &status));
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(count == 1, "count ", count);
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(read_file(path).size() == static_cast<size_t>(4 * suite.rank_count()), "the file");
  remove_later(suite, path);
}

// The program's own descriptors stay what they are, and no descriptor is left open.
void descriptors(const Suite& suite) {
  const std::string path = suite.path("descriptors");
  const int before = ::open("/dev/null", O_RDONLY);
  close(before);
  for (int i = 0; i < 20; ++i) {
    MPI_File file = open(path);
    int value = i;
    EXPECT_MPI(MPI_File_write_at_all(file, 4 * suite.rank(), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_close(&file));
  }
  const int after = ::open("/dev/null", O_RDONLY);
  close(after);
  EXPECT(after <= before + 4, "descriptors are left open: the next one was ", before, ", now it is ", after);
  remove_later(suite, path);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<std::pair<const char*, void (*)(const Suite&)>> cases = {
      {"modes", modes},
      {"delete", deletion},
      {"sizes", sizes},
      {"hints and group", hints_and_group},
      {"planned buffers", planned_buffers},
      {"hints from a file", hints_from_a_file},
      {"views asked back", views_asked_back},
      {"atomicity", atomicity},
      {"error handlers", error_handlers},
      {"error messages", error_messages},
      {"Fortran handles", fortran_handles},
      {"communicators", communicators},
      {"many requests", many_requests},
      {"nothing", nothing},
      {"split rules", split_rules},
      {"descriptors", descriptors},
  };
  for (const auto& [name, body] : cases) {
    suite.run(name, [&suite, run = body] { run(suite); });
  }
  return suite.finish();
}
