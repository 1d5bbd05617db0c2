// Random collective requests for the tests of the access methods, and what the file must be after
// them, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "access/request/request.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "comm/simulated/simulated_comm.hpp"
#include "storage/driver.hpp"

namespace stria::access::test {

using Bytes = std::vector<std::byte>;

/// Holds what one rank brings: lanes, and for each stream its packed bytes and the file offset of
/// each byte.
struct RankCase {
  std::vector<Lane> lanes;
  std::vector<Bytes> packed;
  std::vector<std::vector<int64_t>> offsets;
  std::vector<bool> straight;  ///< memory is already as the file wants it
};

/// One collective operation with all its parameters.
struct Case {
  uint64_t seed = 0;
  SimulationOptions simulation;
  ResolvedHints hints;
  ThroughAggregators plan;
  bool two_phase = true;
  bool direct = false;       ///< with a handle past the page cache
  bool native_list = false;  ///< the storage takes lists as one request
  std::vector<RankCase> ranks;
  Bytes before;  ///< the file's content before the write
  Bytes after;   ///< the bytes after it
};

/// Makes a case that depends only on the seed. File regions of different ranks don't overlap.
Case make_case(uint64_t seed);

/// Returns the number of random cases, `usual` unless STRIA_TEST_CASES says otherwise, and the
/// first seed, from STRIA_TEST_SEED.
int case_count(int usual);
uint64_t first_seed();

/// Serves packed streams, and notes what was asked for.
class CaseSource : public StreamSource {
 public:
  explicit CaseSource(const RankCase& rank) : rank_(rank) {}
  void pack(std::span<const StreamPart> parts) override;
  const std::byte* straight_source(int stream_id) override;

 private:
  const RankCase& rank_;
};

/// Collects packed streams.
class CaseSink : public StreamSink {
 public:
  explicit CaseSink(const RankCase& rank);
  void unpack(std::span<const StreamPart> parts) override;
  std::byte* straight_target(int stream_id) override;
  const std::vector<Bytes>& received() const { return received_; }

 private:
  const RankCase& rank_;
  std::vector<Bytes> received_;
};

/// A handle that uses its contract to the limit: start_write() looks at the bytes only at the wait,
/// and a direct handle refuses what isn't aligned.
class StrictFile : public storage::File {
 public:
  static constexpr int64_t kDirectAlignmentBytes = 512;

  /// `native_list` replaces what the file says of itself.
  StrictFile(std::unique_ptr<storage::File> file, bool direct, bool native_list = true);
  const std::string& path() const override { return file_->path(); }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const storage::WriteSegment> segments) override;
  std::unique_ptr<storage::PendingWrite> start_write(std::span<const storage::WriteSegment> segments) override;
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override { return file_->read(segments); }
  Result<std::unique_ptr<storage::RangeLock>> lock(ByteRange range, storage::LockMode mode) override {
    return file_->lock(range, mode);
  }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

 private:
  Status check(std::span<const storage::WriteSegment> segments) const;

  std::unique_ptr<storage::File> file_;
  bool direct_;
  storage::Capabilities capabilities_;
};

/// Returns how many bytes of a rank's request are right in a file, counted from the first one on,
/// with the streams in the order of their numbers.
int64_t prefix_in_file(const RankCase& rank, const Bytes& content);
/// Returns the same for what was read: the packed streams by number.
int64_t prefix_received(const RankCase& rank, const std::vector<Bytes>& received);

/// Returns the whole content of a file that can be read.
Bytes content_of(storage::Driver& driver, const std::string& path);
void set_content(storage::Driver& driver, const std::string& path, const Bytes& content);

}  // namespace stria::access::test
