// Calls of one short piece a rank among others, by simulated ranks under random schedules: every
// byte in its place, and what was written is there for the ranks that read it next.
#include "access/together/node/short_calls.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "access/move.hpp"
#include "access/shared_file_test.hpp"
#include "comm/simulated/simulated_comm.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr int64_t kSlotBytes = 64;
constexpr int64_t kPieceBytes = 8;
enum class Has { kOnePiece, kPieces, kNothing };

/// One collective call of all ranks; a read is of what the next rank wrote in `written_in`.
struct Call {
  bool write = true;
  int written_in = 0;
  std::vector<Has> has;
};

std::vector<Call> make_calls(int ranks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Call> calls;
  int last_write = -1;
  bool write = true;
  for (int number = 0; number < 60; ++number) {
    write = last_write < 0 || (random() % 6 == 0 ? !write : write);
    last_write = write ? number : last_write;
    Call call{write, last_write, std::vector<Has>(static_cast<size_t>(ranks), Has::kOnePiece)};
    for (Has& has : call.has) {
      const bool mixed = random() % 4 == 0 && number % 10 > 5;
      has = !write ? Has::kOnePiece : !mixed ? has : random() % 2 == 0 ? Has::kPieces : Has::kNothing;
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

/// Returns the bytes of one rank in one call: as many as a slot has, with zeros where it has none.
std::vector<std::byte> bytes_of(const Call& call, int number, int rank) {
  std::vector<std::byte> bytes(static_cast<size_t>(kSlotBytes));
  const Has has = call.has[static_cast<size_t>(rank)];
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool is_there = has == Has::kOnePiece || (has == Has::kPieces && i / kPieceBytes % 2 == 0);
    bytes[i] = is_there ? static_cast<std::byte>(1 + (number * 31 + rank * 7 + static_cast<int>(i)) % 255) : std::byte{0};
  }
  return bytes;
}

/// A slot's bytes, or every other piece of them, in memory as in the file.
class SlotMemory : public StreamSource, public StreamSink {
 public:
  SlotMemory(std::vector<std::byte>& slot, Has has) : slot_(slot), stride_(has == Has::kPieces ? 2 : 1) {}
  void pack(std::span<const StreamPart> parts) override {
    for_each_byte(parts, [](std::byte& packed, std::byte& in_slot) { packed = in_slot; });
  }
  void unpack(std::span<const StreamPart> parts) override {
    for_each_byte(parts, [](std::byte& packed, std::byte& in_slot) { in_slot = packed; });
  }

 private:
  template <typename Visit>
  void for_each_byte(std::span<const StreamPart> parts, Visit&& visit) {
    for (const StreamPart& part : parts) {
      for (int64_t at = part.begin; at < part.end; ++at) {
        const int64_t place = at / kPieceBytes * stride_ * kPieceBytes + at % kPieceBytes;
        visit(part.packed[at - part.begin], slot_[static_cast<size_t>(place)]);
      }
    }
  }
  std::vector<std::byte>& slot_;
  int64_t stride_;
};

class Rank {
 public:
  Rank(Comm& comm, storage::File& file) : comm_(comm), file_(file) {}

  /// Returns true where the rank passed.
  bool make(const Call& call, int number) {
    const int other = call.write ? comm_.rank() : (comm_.rank() + 1) % comm_.size();
    const Has has = call.has[static_cast<size_t>(comm_.rank())];
    const int64_t offset = (static_cast<int64_t>(call.write ? number : call.written_in) * comm_.size() + other) * kSlotBytes;
    slot_ = call.write ? bytes_of(call, number, other) : std::vector<std::byte>(static_cast<size_t>(kSlotBytes));
    if (has == Has::kOnePiece && kept_.windows.may_pass(call.write, kSlotBytes)) {
      kept_.windows.pass(comm_, call.write, kSlotBytes);
      move_alone(call.write, offset);
      return true;
    }
    Lane lane;
    if (has != Has::kNothing) {
      const Datatype pieces = Datatype::vector(kSlotBytes / kPieceBytes / 2, 1, 2, Datatype::bytes(kPieceBytes)).value();
      lane.streams.push_back({.file_type = has == Has::kPieces ? pieces : Datatype::bytes(kSlotBytes), .displacement = offset});
    }
    SlotMemory memory(slot_, has);
    Context context{comm_, &file_, hints_, times_};
    const Endpoint endpoint = call.write ? Endpoint::of_write(memory) : Endpoint::of_read(memory);
    const MoveReport report = access::move(context, {&lane, 1}, endpoint, Collectively{&kept_});
    EXPECT_TRUE(report.status.ok()) << report.status.message();
    return false;
  }
  const std::vector<std::byte>& slot() const { return slot_; }

 private:
  void move_alone(bool write, int64_t offset) {
    if (write) {
      const storage::WriteSegment segment{offset, slot_.data(), kSlotBytes};
      EXPECT_TRUE(file_.write({&segment, 1}).ok());
    } else {
      const storage::ReadSegment segment{offset, slot_.data(), kSlotBytes};
      EXPECT_TRUE(file_.read({&segment, 1}).ok());
    }
  }

  Comm& comm_;
  storage::File& file_;
  ResolvedHints hints_;
  PhaseTimes times_;
  Kept kept_;
  std::vector<std::byte> slot_;
};

TEST(ShortCalls, AmongOthers) {
  int passed = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 4);
    const std::vector<Call> calls = make_calls(ranks, seed);
    storage::MemoryDriver driver;
    ASSERT_TRUE(driver.open("data", {.mode = storage::OpenOptions::Mode::kCreate}).ok());
    LockTable locks;
    const auto report = run_simulated({.ranks = ranks, .ranks_per_node = ranks, .seed = seed}, [&](Comm& comm) {
      SharedFile file(driver.open("data", {.mode = storage::OpenOptions::Mode::kReadWrite}).value(), comm, locks, false);
      ASSERT_TRUE(
          comm.agree(comm.rank() == 0 ? file.resize(static_cast<int64_t>(calls.size()) * ranks * kSlotBytes) : Status()).ok());
      Rank rank(comm, file);
      for (size_t i = 0; i < calls.size(); ++i) {
        passed += rank.make(calls[i], static_cast<int>(i)) ? 1 : 0;
        if (!calls[i].write) {
          const int wrote = (comm.rank() + 1) % ranks;
          const Call& of_write = calls[static_cast<size_t>(calls[i].written_in)];
          EXPECT_TRUE(rank.slot() == bytes_of(of_write, calls[i].written_in, wrote)) << "seed " << seed << ", call " << i;
        }
      }
      comm.barrier();
      for (size_t i = 0; i < calls.size() && comm.rank() == 0; ++i) {
        for (int r = 0; r < ranks && calls[i].write; ++r) {
          std::vector<std::byte> there(static_cast<size_t>(kSlotBytes));
          const storage::ReadSegment segment{(static_cast<int64_t>(i) * ranks + r) * kSlotBytes, there.data(), kSlotBytes};
          ASSERT_TRUE(file.read({&segment, 1}).ok());
          EXPECT_TRUE(there == bytes_of(calls[i], static_cast<int>(i), r))
              << "seed " << seed << ", call " << i << ", rank " << r;
        }
      }
    });
    ASSERT_TRUE(report.ok()) << "seed " << seed << ": " << report.status().message();
  }
  EXPECT_GT(passed, 1000);
}

}  // namespace
}  // namespace stria::access::test
