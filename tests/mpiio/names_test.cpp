// Files whose names change while they are open: an open file stays the same, whatever its
// name means by now.
//
// The bytes of every call, blocking or not, must go to the file that was opened and come from it.
// By now that file has another name, none, or one relative to a directory that the program has
// left. Another file that has the name meanwhile keeps its bytes, and its place in the directory.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kBytes = 5000;  // per rank, one behind the other
constexpr uint8_t kStranger = 0x55;

std::vector<uint8_t> stranger() {
  return std::vector<uint8_t>(static_cast<size_t>(4 * kBytes), kStranger);
}

uint8_t byte_of(int rank, int64_t i) {
  return static_cast<uint8_t>(mark(7, rank, i) | 0x80);  // never the stranger's value
}

std::vector<uint8_t> data_of(int rank) {
  std::vector<uint8_t> data(kBytes);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = byte_of(rank, static_cast<int64_t>(i));
  }
  return data;
}

std::vector<uint8_t> data_of_all(const Suite& suite) {
  std::vector<uint8_t> all;
  for (int rank = 0; rank < suite.rank_count(); ++rank) {
    const std::vector<uint8_t> data = data_of(rank);
    all.insert(all.end(), data.begin(), data.end());
  }
  return all;
}

MPI_File open(const Suite& suite, const std::string& path, const Hints& hints, int more_mode = 0) {
  const Info info(hints);
  MPI_File file = MPI_FILE_NULL;
  const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | more_mode;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, info.get(), &file));
  EXPECT_MPI(MPI_File_set_view(file, MPI_Offset{kBytes} * suite.rank(), MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  return file;
}

// Does what rank 0 does to names while the others wait.
template <typename Change>
void alone(const Suite& suite, const Change& change) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    change();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void transfer(const Call& call, bool write, MPI_File file, std::vector<uint8_t>& data) {
  MPI_Status status;
  EXPECT_MPI(perform(call, write, file, {0, data.data(), kBytes, MPI_BYTE}, &status));
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT(count == kBytes, "the status counts ", count);
}

// Another file has the name when the transfer begins.
void renamed(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("named");
  const std::string moved = suite.path("moved");
  MPI_File file = open(suite, path, hints);
  alone(suite, [&] {
    std::filesystem::rename(path, moved);
    make_file(path, stranger());
  });
  std::vector<uint8_t> data = data_of(suite.rank());
  transfer(call, true, file, data);
  EXPECT_MPI(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(read_file(path), stranger(), "the stranger's file");
  expect_same(read_file(moved), data_of_all(suite), "the file");
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  std::fill(data.begin(), data.end(), uint8_t{0});
  transfer(call, false, file, data);
  expect_same(data, data_of(suite.rank()), "what was read");
  MPI_Offset bytes = 0;
  EXPECT_MPI(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == MPI_Offset{kBytes} * suite.rank_count(), bytes, " bytes");
  EXPECT_MPI(MPI_File_close(&file));
  alone(suite, [&] {
    unlink(path.c_str());
    unlink(moved.c_str());
  });
}

// The file has no name any more.
void removed(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("removed");
  MPI_File file = open(suite, path, hints);
  alone(suite, [&] { unlink(path.c_str()); });
  std::vector<uint8_t> data = data_of(suite.rank());
  transfer(call, true, file, data);
  EXPECT_MPI(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  std::fill(data.begin(), data.end(), uint8_t{0});
  transfer(call, false, file, data);
  expect_same(data, data_of(suite.rank()), "what was read");
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(access(path.c_str(), F_OK) != 0, "the name is back");
  MPI_Barrier(MPI_COMM_WORLD);
}

// Two directories. The program is in the first of them as long as this object lives.
class Places {
 public:
  explicit Places(const Suite& suite)
      : suite_(suite), before_(std::filesystem::current_path()), first_(suite.path("first")), second_(suite.path("second")) {
    alone(suite, [&] {
      std::filesystem::create_directory(first_);
      std::filesystem::create_directory(second_);
    });
    first_ = std::filesystem::absolute(first_);
    second_ = std::filesystem::absolute(second_);
    std::filesystem::current_path(first_);
  }
  ~Places() {
    std::filesystem::current_path(before_);
    alone(suite_, [&] {
      std::filesystem::remove_all(first_);
      std::filesystem::remove_all(second_);
    });
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  void leave() const { std::filesystem::current_path(second_); }
  std::string first(const std::string& name) const { return first_ / name; }
  std::string second(const std::string& name) const { return second_ / name; }

 private:
  const Suite& suite_;
  std::filesystem::path before_;
  std::filesystem::path first_;
  std::filesystem::path second_;
};

void another_directory(const Suite& suite, const Call& call, const Hints& hints) {
  const Places places(suite);
  MPI_File file = open(suite, "named", hints);
  alone(suite, [&] { make_file(places.second("named"), stranger()); });
  places.leave();
  std::vector<uint8_t> data = data_of(suite.rank());
  transfer(call, true, file, data);
  EXPECT_MPI(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(read_file(places.second("named")), stranger(), "the stranger's file");
  expect_same(read_file(places.first("named")), data_of_all(suite), "the file");
  EXPECT_MPI(MPI_File_close(&file));
}

void deleted_on_close(const Suite& suite) {
  const std::string path = suite.path("deleted");
  MPI_File file = open(suite, path, {}, MPI_MODE_DELETE_ON_CLOSE);
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(access(path.c_str(), F_OK) != 0, "still there");
  MPI_Barrier(MPI_COMM_WORLD);
}

void not_deleted_on_close(const Suite& suite) {
  const std::string path = suite.path("kept");
  const std::string moved = suite.path("kept_too");
  MPI_File file = open(suite, path, {}, MPI_MODE_DELETE_ON_CLOSE);
  alone(suite, [&] {
    std::filesystem::rename(path, moved);
    make_file(path, stranger());
  });
  EXPECT_MPI(MPI_File_close(&file));
  expect_same(read_file(path), stranger(), "the stranger's file");
  EXPECT(access(moved.c_str(), F_OK) == 0, "a file is gone whose name the program never said");
  alone(suite, [&] {
    unlink(path.c_str());
    unlink(moved.c_str());
  });
}

void deleted_elsewhere(const Suite& suite) {
  const Places places(suite);
  MPI_File file = open(suite, "named", {}, MPI_MODE_DELETE_ON_CLOSE);
  alone(suite, [&] { make_file(places.second("named"), stranger()); });
  places.leave();
  EXPECT_MPI(MPI_File_close(&file));
  expect_same(read_file(places.second("named")), stranger(), "the stranger's file");
  EXPECT(access(places.first("named").c_str(), F_OK) != 0, "still there");
  MPI_Barrier(MPI_COMM_WORLD);
}

std::string words_of(int error) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return text;
}

// The last rank names another file. All ranks get an error with both names, whether the other file
// exists or not.
void different_files(const Suite& suite) {
  const int last = suite.rank_count() - 1;
  const std::string first = suite.path("first"), other = suite.path("other");
  for (const bool exists : {true, false}) {
    alone(suite, [&] {
      make_file(first, stranger());
      exists ? make_file(other, stranger()) : static_cast<void>(unlink(other.c_str()));
    });
    MPI_File file = MPI_FILE_NULL;
    const std::string& name = suite.rank() == last ? other : first;
    const int error = MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    EXPECT_MPI_ERROR(error, exists ? MPI_ERR_NOT_SAME : MPI_ERR_NO_SUCH_FILE);
    EXPECT(file == MPI_FILE_NULL, "there is a file");
    const std::string wanted = "rank 0 opens '" + first + "', rank " + std::to_string(last) + " '" + other + "'";
    EXPECT(!suite.is_stria() || words_of(error).find(wanted) != std::string::npos, words_of(error));
  }
  alone(suite, [&] { unlink(first.c_str()); });
}

// The system refuses these names, on all ranks or on the last one alone. Each error has its class
// on every rank.
void refused_names(const Suite& suite) {
  const int last = suite.rank_count() - 1;
  const std::string first = suite.path("first"), directory = suite.path("directory"), loop = suite.path("loop");
  alone(suite, [&] {
    make_file(first, stranger());
    std::filesystem::create_directory(directory);
    std::filesystem::create_symlink(loop, loop);
  });
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  struct Refused {
    std::string name;
    int error_number;
    int error_class;
  };
  for (const Refused& refused : {Refused{directory, EISDIR, MPI_ERR_BAD_FILE},
                                 {loop, ELOOP, MPI_ERR_BAD_FILE},
                                 {suite.path(std::string(300, 'x')), ENAMETOOLONG, MPI_ERR_BAD_FILE},
                                 {program, ETXTBSY, MPI_ERR_FILE_IN_USE}}) {
    for (const bool by_all : {true, false}) {
      MPI_File file = MPI_FILE_NULL;
      const bool is_refused = by_all || suite.rank() == last;
      const std::string& name = is_refused ? refused.name : first;
      const int error = MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
      EXPECT_MPI_ERROR(error, refused.error_class);
      EXPECT(words_of(error).find(std::strerror(refused.error_number)) != std::string::npos, words_of(error));
    }
  }
  alone(suite, [&] {
    unlink(first.c_str());
    unlink(loop.c_str());
    std::filesystem::remove(directory);
  });
}

// Different names of one file are allowed.
void different_names(const Suite& suite) {
  const std::string path = suite.path("named");
  const size_t slash = path.rfind('/');
  const std::string longer = path.substr(0, slash) + "/." + path.substr(slash);
  MPI_File file = open(suite, suite.rank() == 0 ? path : longer, {}, MPI_MODE_DELETE_ON_CLOSE);
  std::vector<uint8_t> data = data_of(suite.rank());
  EXPECT_MPI(MPI_File_write_all(file, data.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(read_file(path), data_of_all(suite), "the file");
  EXPECT_MPI(MPI_File_close(&file));
}

// A link may lead to a file that isn't there yet: a home directory's to a scratch disk.
void through_a_link(const Suite& suite) {
  const std::string path = suite.path("link"), target = suite.path("to_come");
  alone(suite, [&] { std::filesystem::create_symlink(std::filesystem::absolute(target), path); });
  MPI_File file = open(suite, path, {});
  std::vector<uint8_t> data = data_of(suite.rank());
  EXPECT_MPI(MPI_File_write_all(file, data.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(std::filesystem::is_symlink(path), "the link is gone");
  expect_same(read_file(target), data_of_all(suite), "the link's file");
  alone(suite, [&] { unlink(target.c_str()); });
  const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL;
  EXPECT_MPI_ERROR(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
  alone(suite, [&] { unlink(path.c_str()); });
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<Hints> drivers = {{}, {{"stria_driver", "uring"}}, {{"stria_method", "data_sieving"}}};
  for (const Hints& hints : drivers) {
    const std::string by = Info(hints).text();
    for (const Call& call : private_calls()) {
      if (call.large_count) {
        continue;
      }
      const std::string name = call_name(call, true) + by;
      suite.run("renamed, " + name, [&] { renamed(suite, call, hints); });
      suite.run("removed, " + name, [&] { removed(suite, call, hints); });
      suite.run("another directory, " + name, [&] { another_directory(suite, call, hints); });
    }
  }
  suite.run("through a link", [&] { through_a_link(suite); });
  suite.run("deleted on close", [&] { deleted_on_close(suite); });
  suite.run("not deleted on close", [&] { not_deleted_on_close(suite); });
  suite.run("deleted from elsewhere", [&] { deleted_elsewhere(suite); });
  if (suite.is_stria()) {
    suite.run("refused names", [&] { refused_names(suite); });
  }
  if (suite.rank_count() > 1) {
    suite.run("different files", [&] { different_files(suite); });
    suite.run("different names", [&] { different_names(suite); });
  }
  return suite.finish();
}
