// Random views, datatypes, calls and hints: every byte of the file and of memory is compared with a
// loop over bytes.
//
// A case opens a file that holds random bytes or none, and gives each rank a view of its own. Then
// it writes by one call and reads by another, a few times, possibly through a neighbour's view.
// Gaps keep what they held, holes are 0, memory outside the datatype stays as it was, and statuses
// count what was moved.

#include <unistd.h>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/random_shape.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr uint8_t kUntouched = 0xcd;

// Says what one rank transfers in one step.
struct Part {
  Shape memory;
  int64_t start_etypes = 0;
  int copies = 0;

  int64_t byte_count() const { return memory.size() * copies; }
};

class Case {
 public:
  Case(const Suite& suite, uint64_t seed)
      : suite_(suite), seed_(seed), random_(seed), views_(random_views(seed, suite.rank_count())), path_(suite.path("views")) {}

  void run() {
    const Info hints(random_hints(random_, suite_.rank_count()));
    hints_ = hints.text();
    start_with(random_.one_in(2) ? 0 : random_.between(1, 20000));
    MPI_File file = MPI_FILE_NULL;
    const std::string name = suite_.options().prefix + path_;
    EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, hints.get(), &file));
    if (file == MPI_FILE_NULL) {
      return;
    }
    const int64_t steps = random_.between(1, 3);
    for (int64_t step = 0; step < steps; ++step) {
      set_view(file, suite_.rank());
      write(file, step);
      MPI_File_sync(file);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_File_sync(file);
      const int shift = random_.one_in(2) ? 0 : 1;
      if (shift != 0) {
        set_view(file, (suite_.rank() + shift) % suite_.rank_count());
      }
      read(file, shift);
    }
    MPI_Offset size = -1;
    MPI_File_get_size(file, &size);
    EXPECT(size == oracle_.size(), size, " bytes, not ", oracle_.size());
    EXPECT_MPI(MPI_File_close(&file));
    if (suite_.rank() == 0) {
      expect_same(read_file(path_), oracle_.bytes, describe());
      unlink(path_.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  std::string describe() const {
    return text("view ", mine().filetype.text, " at ", mine().displacement, "; hints", hints_, "; ", history_);
  }

  const View& mine() const { return views_[static_cast<size_t>(viewed_)]; }

  void start_with(int64_t bytes) {
    for (int64_t i = 0; i < bytes; ++i) {
      oracle_.bytes.push_back(mark(seed_, -1, i));
    }
    if (suite_.rank() == 0) {
      make_file(path_, oracle_.bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void set_view(MPI_File file, int rank) {
    viewed_ = rank;
    EXPECT_MPI(MPI_File_set_view(file, mine().displacement, mine().etype.type, mine().filetype.type, "native", MPI_INFO_NULL));
  }

  Call random_call() {
    static const std::vector<Call> calls = private_calls();
    return calls[static_cast<size_t>(random_.between(0, static_cast<int64_t>(calls.size()) - 1))];
  }

  // Returns what each rank moves; at most `limit(rank)` bytes from the begin of its view on.
  template <class Limit>
  std::vector<Part> random_parts(Limit limit) {
    std::vector<Part> parts;
    const int64_t most = random_.one_in(6) ? 120000 : 3000;
    for (size_t r = 0; r < views_.size(); ++r) {
      const Shape& etype = views_[0].etype;
      const int64_t etypes = limit(static_cast<int>(r)) / etype.size();
      Part part;
      part.copies = random_.one_in(8) ? 0 : static_cast<int>(random_.between(1, 4));
      part.memory = random_.one_in(3) ? etype : random_memory(random_, etype, 3, part.copies);
      if (random_.one_in(3) || most > 3000) {
        part.memory = etype;
        part.copies = static_cast<int>(random_.between(0, most / etype.size()));
      }
      part.start_etypes = random_.between(0, std::min<int64_t>(etypes, 300));
      // The oracle holds the file in the memory of every rank.
      constexpr int64_t kMostFileBytes = 32 << 20;
      const auto end_offset = [&] {
        const bool empty = views_[r].filetype.size() == 0;
        return empty ? 0 : views_[r].offset_of(part.start_etypes * etype.size() + part.byte_count());
      };
      while (part.copies > 0 &&
             (part.start_etypes + part.byte_count() / etype.size() > etypes || end_offset() > kMostFileBytes)) {
        part.copies /= 2;
      }
      parts.push_back(part);
    }
    return parts;
  }

  void transfer(MPI_File file, bool write, const Call& call, const Part& part, Memory& memory) {
    history_ =
        text(call_name(call, write), " from etype ", part.start_etypes, ", memory ", part.copies, " x ", part.memory.text);
    MPI_Status status;
    const Transfer what{part.start_etypes, memory.base(), part.copies, part.memory.type};
    if (call.pointer == Pointer::kIndividual) {
      EXPECT_MPI(MPI_File_seek(file, part.start_etypes, MPI_SEEK_SET));
    }
    const int code = perform(call, write, file, what, &status);
    EXPECT(code == MPI_SUCCESS, error_text(code), " ", describe());
    int count = -1;
    MPI_Get_count(&status, part.memory.type, &count);
    EXPECT(count == part.copies, "the status counts ", count, ", not ", part.copies, "; ", describe());
    if (call.pointer == Pointer::kIndividual) {
      MPI_Offset position = -1;
      MPI_File_get_position(file, &position);
      const int64_t wanted = part.start_etypes + part.byte_count() / views_[0].etype.size();
      EXPECT(position == wanted, "the pointer is at ", position, ", not ", wanted, "; ", describe());
    }
  }

  void write(MPI_File file, int64_t step) {
    const Call call = random_call();
    const std::vector<Part> parts =
        random_parts([&](int r) { return views_[static_cast<size_t>(r)].filetype.size() > 0 ? int64_t{200000} : int64_t{0}; });
    const uint64_t data_seed = seed_ * 16 + static_cast<uint64_t>(step);
    for (int r = 0; r < suite_.rank_count(); ++r) {
      const Part& part = parts[static_cast<size_t>(r)];
      const View& view = views_[static_cast<size_t>(r)];
      const int64_t begin = part.start_etypes * view.etype.size();
      for (int64_t i = 0; i < part.byte_count(); ++i) {
        oracle_.write(view.offset_of(begin + i), mark(data_seed, r, i));
      }
    }
    const Part& part = parts[static_cast<size_t>(suite_.rank())];
    Memory memory(part.memory, part.copies, kUntouched);
    for (int64_t i = 0; i < part.byte_count(); ++i) {
      memory.at(part.memory.at(i)) = mark(data_seed, suite_.rank(), i);
    }
    const Memory before = memory;
    transfer(file, true, call, part, memory);
    EXPECT(memory == before, "writing changed the memory; ", describe());
  }

  void read(MPI_File file, int shift) {
    const Call call = random_call();
    const std::vector<Part> parts = random_parts(
        [&](int r) { return oracle_.visible_bytes(views_[static_cast<size_t>((r + shift) % suite_.rank_count())]); });
    const Part& part = parts[static_cast<size_t>(suite_.rank())];
    Memory memory(part.memory, part.copies, kUntouched);
    Memory wanted = memory;
    const int64_t begin = part.start_etypes * mine().etype.size();
    for (int64_t i = 0; i < part.byte_count(); ++i) {
      wanted.at(part.memory.at(i)) = oracle_.bytes[static_cast<size_t>(mine().offset_of(begin + i))];
    }
    transfer(file, false, call, part, memory);
    EXPECT(memory == wanted, "memory differs at offset ", memory.first_difference(wanted), "; ", describe());
  }

  const Suite& suite_;
  uint64_t seed_;
  Random random_;
  std::vector<View> views_;
  std::string path_;
  std::string hints_;
  std::string history_;
  NaiveFile oracle_;
  int viewed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  suite.run_random("views", 150, [&](uint64_t seed) { Case(suite, seed).run(); });
  return suite.finish();
}
