// Individual and shared file pointers: every call that moves them, ordered access, seeks, byte
// offsets. No stray files are left.

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/random_shape.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  DIR* dir = opendir(directory.c_str());
  while (dirent* entry = dir ? readdir(dir) : nullptr) {
    names.insert(entry->d_name);
  }
  if (dir) {
    closedir(dir);
  }
  return names;
}

class File {
 public:
  File(const std::string& path, MPI_Comm comm = MPI_COMM_WORLD, int mode = MPI_MODE_RDWR | MPI_MODE_CREATE) {
    EXPECT_MPI(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &file_));
  }
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  MPI_File get() const { return file_; }
  void close() {
    if (file_ != MPI_FILE_NULL) {
      EXPECT_MPI(MPI_File_close(&file_));
    }
  }
  void settle() {
    MPI_File_sync(file_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file_);
  }

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

MPI_Offset shared_position(MPI_File file) {
  MPI_Offset position = -1;
  EXPECT_MPI(MPI_File_get_position_shared(file, &position));
  return position;
}

// Every rank writes `kRecords` records of one etype each. Each record must be in the file once, and
// each rank's in its order.
void shared_writes(const Suite& suite, const Call& call) {
  constexpr int kRecords = 12;
  const std::string path = suite.path("shared");
  const int64_t all = int64_t{kRecords} * suite.rank_count();
  {
    File file(path);
    const MPI_Datatype pair = MPI_2INT;
    EXPECT_MPI(MPI_File_set_view(file.get(), 100, pair, pair, "native", MPI_INFO_NULL));
    for (int i = 0; i < kRecords; ++i) {
      int record[2] = {suite.rank() + 1, i + 1};
      MPI_Status status;
      EXPECT_MPI(perform(call, true, file.get(), {0, record, 1, pair}, &status));
      int count = 0;
      MPI_Get_count(&status, pair, &count);
      EXPECT(count == 1, "the status counts ", count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(shared_position(file.get()) == all, "the shared pointer is at ", shared_position(file.get()), ", not ", all);
    MPI_Offset own = -1;
    MPI_File_get_position(file.get(), &own);
    EXPECT(own == 0, "the individual pointer moved to ", own);
  }
  if (suite.rank() == 0) {
    const std::vector<uint8_t> bytes = read_file(path);
    EXPECT(static_cast<int64_t>(bytes.size()) == 100 + 8 * all, bytes.size(), " bytes");
    std::vector<int> last(static_cast<size_t>(suite.rank_count()) + 1, 0);
    for (int64_t i = 0; i < all && 100 + 8 * i + 8 <= static_cast<int64_t>(bytes.size()); ++i) {
      int record[2];
      std::copy_n(bytes.data() + 100 + 8 * i, 8, reinterpret_cast<uint8_t*>(record));
      const bool known = record[0] >= 1 && record[0] <= suite.rank_count();
      EXPECT(known && record[1] == last[static_cast<size_t>(known ? record[0] : 0)] + 1, "record ", i, " is rank ",
             record[0] - 1, "'s number ", record[1]);
      if (known) {
        last[static_cast<size_t>(record[0])] = record[1];
      }
    }
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// All ranks together read the records of a file: each record comes once.
void shared_reads(const Suite& suite, const Call& call) {
  constexpr int kRecords = 12;
  const std::string path = suite.path("shared_read");
  const int all = kRecords * suite.rank_count();
  std::vector<int> records(static_cast<size_t>(all));
  for (int i = 0; i < all; ++i) {
    records[static_cast<size_t>(i)] = i + 1;
  }
  if (suite.rank() == 0) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(records.data());
    make_file(path, {bytes, bytes + records.size() * 4});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<int> seen(static_cast<size_t>(all), 0);
  {
    File file(path, MPI_COMM_WORLD, MPI_MODE_RDONLY);
    EXPECT_MPI(MPI_File_set_view(file.get(), 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    int last = 0;
    for (int i = 0; i < kRecords; ++i) {
      int record = 0;
      MPI_Status status;
      EXPECT_MPI(perform(call, false, file.get(), {0, &record, 1, MPI_INT}, &status));
      EXPECT(record > last && record <= all, "record ", record, " after ", last);
      last = record;
      if (record >= 1 && record <= all) {
        ++seen[static_cast<size_t>(record) - 1];
      }
    }
    // There is nothing behind the end.
    MPI_Barrier(MPI_COMM_WORLD);
    int record = 77;
    MPI_Status status;
    EXPECT_MPI(perform(call, false, file.get(), {0, &record, 1, MPI_INT}, &status));
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == 0 && record == 77, "behind the end: count ", count, ", value ", record);
  }
  MPI_Allreduce(MPI_IN_PLACE, seen.data(), all, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }), "a record was read twice or never");
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Ordered access through a common view with holes: rank r's data lie behind those of lower ranks.
void ordered(const Suite& suite, uint64_t seed) {
  Random random(seed);
  const View view = random_common_view(random);
  const std::string path = suite.path("ordered");
  NaiveFile oracle;
  File file(path);
  EXPECT_MPI(MPI_File_set_view(file.get(), view.displacement, view.etype.type, view.filetype.type, "native", MPI_INFO_NULL));
  const int64_t start = random.between(0, 20);
  EXPECT_MPI(MPI_File_seek_shared(file.get(), start, MPI_SEEK_SET));
  int64_t position = start * view.etype.size();
  std::vector<Call> ordered_calls;
  for (const Call& call : all_calls()) {
    if (call.pointer == Pointer::kShared && call.collective) {
      ordered_calls.push_back(call);
    }
  }
  const auto pick = [&] {
    return ordered_calls[static_cast<size_t>(random.between(0, static_cast<int64_t>(ordered_calls.size()) - 1))];
  };
  std::vector<int> counts;
  for (const bool write : {true, false}) {
    const Call call = pick();
    position = start * view.etype.size();
    EXPECT_MPI(MPI_File_seek_shared(file.get(), start, MPI_SEEK_SET));
    for (int r = 0; r < suite.rank_count(); ++r) {
      if (write) {
        counts.push_back(static_cast<int>(random.between(0, 40)));
      }
      const int count = counts[static_cast<size_t>(r)];
      Memory memory(view.etype, count, 0xcd);
      for (int64_t i = 0; i < count * view.etype.size(); ++i) {
        const int64_t offset = view.offset_of(position + i);
        memory.at(view.etype.at(i)) = mark(seed, r, i);
        oracle.write(offset, mark(seed, r, i));
      }
      position += count * view.etype.size();
      if (r == suite.rank()) {
        Memory target = write ? memory : Memory(view.etype, count, 0xcd);
        MPI_Status status;
        EXPECT_MPI(perform(call, write, file.get(), {0, target.base(), count, view.etype.type}, &status));
        EXPECT(target == memory, call_name(call, write), " differs at ", target.first_difference(memory), ", view ",
               view.filetype.text);
      }
    }
    EXPECT(shared_position(file.get()) == position / view.etype.size(), "the shared pointer is at ",
           shared_position(file.get()), " after ", call_name(call, write));
    file.settle();
  }
  file.close();
  if (suite.rank() == 0) {
    if (oracle.size() > 0) {
      expect_same(read_file(path), oracle.bytes, view.filetype.text);
    }
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void seeks(const Suite& suite) {
  const std::string path = suite.path("seeks");
  std::vector<uint8_t> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = mark(1, 0, static_cast<int64_t>(i));
  }
  if (suite.rank() == 0) {
    make_file(path, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  File file(path);
  // Two ints of every five, from byte 100 on: 18 etypes lie within the first 900 bytes behind it at
  // offsets 100, 104, 120 …
  const Shape filetype = resized(0, 20, contiguous(2, named(MPI_INT, "MPI_INT", 4)));
  EXPECT_MPI(MPI_File_set_view(file.get(), 100, MPI_INT, filetype.type, "native", MPI_INFO_NULL));
  MPI_Offset position = -1;
  const auto expect_at = [&](MPI_Offset wanted, const char* what) {
    MPI_File_get_position(file.get(), &position);
    EXPECT(position == wanted, what, ": the pointer is at ", position, ", not ", wanted);
  };
  expect_at(0, "after set_view");
  EXPECT_MPI(MPI_File_seek(file.get(), 7, MPI_SEEK_SET));
  EXPECT_MPI(MPI_File_seek(file.get(), suite.rank(), MPI_SEEK_CUR));
  expect_at(7 + suite.rank(), "SEEK_CUR");
  int value = 0;
  MPI_Status status;
  EXPECT_MPI(MPI_File_read(file.get(), &value, 1, MPI_INT, &status));
  const int64_t etype = 7 + suite.rank();
  int wanted = 0;
  std::copy_n(bytes.data() + 100 + etype / 2 * 20 + etype % 2 * 4, 4, reinterpret_cast<uint8_t*>(&wanted));
  EXPECT(value == wanted, "read ", value, ", not ", wanted);
  expect_at(etype + 1, "read");
  EXPECT_MPI(MPI_File_seek(file.get(), 0, MPI_SEEK_END));
  expect_at(90, "SEEK_END");
  EXPECT_MPI(MPI_File_seek(file.get(), -4, MPI_SEEK_END));
  expect_at(86, "SEEK_END - 4");
  EXPECT(MPI_File_seek(file.get(), -100, MPI_SEEK_SET) != MPI_SUCCESS, "a seek before the begin succeeds");
  expect_at(86, "a refused seek");
  MPI_Offset byte = -1;
  EXPECT_MPI(MPI_File_get_byte_offset(file.get(), 5, &byte));
  EXPECT(byte == 100 + 2 * 20 + 4, "etype 5 is at byte ", byte);
  EXPECT_MPI(MPI_File_seek_shared(file.get(), 4, MPI_SEEK_SET));
  EXPECT(shared_position(file.get()) == 4, "seek_shared");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_File_seek_shared(file.get(), 3, MPI_SEEK_CUR));
  EXPECT(shared_position(file.get()) == 7, "seek_shared from the current position");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_File_seek_shared(file.get(), -1, MPI_SEEK_END));
  EXPECT(shared_position(file.get()) == 89, "seek_shared from the end gives ", shared_position(file.get()));
  expect_at(86, "after seek_shared");
  EXPECT_MPI(MPI_File_set_view(file.get(), 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  expect_at(0, "a new view");
  EXPECT(shared_position(file.get()) == 0, "a new view resets the shared pointer");
  file.close();
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// MPI_MODE_APPEND sets both pointers to the end; two opens of a file have shared
// pointers of their own.
void append_and_two_opens(const Suite& suite) {
  const std::string path = suite.path("append");
  if (suite.rank() == 0) {
    make_file(path, std::vector<uint8_t>(10, 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  File first(path, MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_APPEND);
  File second(path);
  MPI_Offset position = -1;
  MPI_File_get_position(first.get(), &position);
  EXPECT(position == 10, "the pointer of a file opened to append is at ", position);
  EXPECT(shared_position(first.get()) == 10, "the shared pointer is at ", shared_position(first.get()));
  EXPECT(shared_position(second.get()) == 0, "the other open's shared pointer is at ", shared_position(second.get()));
  MPI_Barrier(MPI_COMM_WORLD);
  const uint8_t byte = static_cast<uint8_t>(suite.rank() + 2);
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_ordered(first.get(), &byte, 1, MPI_BYTE, &status));
  EXPECT_MPI(MPI_File_seek_shared(second.get(), 2, MPI_SEEK_SET));
  EXPECT(shared_position(first.get()) == 10 + suite.rank_count(), "first ", shared_position(first.get()));
  EXPECT(shared_position(second.get()) == 2, "second ", shared_position(second.get()));
  first.close();
  second.close();
  if (suite.rank() == 0) {
    std::vector<uint8_t> wanted(10, 1);
    for (int r = 0; r < suite.rank_count(); ++r) {
      wanted.push_back(static_cast<uint8_t>(r + 2));
    }
    expect_same(read_file(path), wanted, "appended");
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string own = suite.path("");
  const std::string prefix = own.substr(own.rfind('/') + 1);
  for (const Call& call : all_calls()) {
    if (call.pointer == Pointer::kShared) {
      suite.run(call_name(call, true), [&] { shared_writes(suite, call); });
      suite.run(call_name(call, false), [&] { shared_reads(suite, call); });
    }
  }
  suite.run_random("ordered", 20, [&](uint64_t seed) { ordered(suite, seed); });
  suite.run("seeks", [&] { seeks(suite); });
  suite.run("append", [&] { append_and_two_opens(suite); });
  suite.run("no stray files", [&] {
    for (const std::string& name : names_in(suite.options().directory)) {
      EXPECT(name.find(prefix) == std::string::npos, name, " was left behind");
    }
  });
  return suite.finish();
}
