// A rank's part of a workload as the engine's request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "access/request/request.hpp"
#include "clock/clock.hpp"
#include "machine/machine.hpp"
#include "stria/phases.hpp"
#include "workload/workload.hpp"

namespace stria::simulate {

/// Says where the arrays of a workload lie in the file, and how long that is.
struct FilePlaces {
  std::vector<int64_t> arrays;
  int64_t end_bytes = 0;
};
/// Each array begins at a multiple of `alignment_bytes`, behind a header of `header_bytes`.
FilePlaces place_arrays(const bench::Workload& workload, int64_t header_bytes, int64_t alignment_bytes);

/// Returns the parts of calls [first, last), as far as there are so many, as lanes, one for each
/// array. Arrays of one size advance together. Throws stria::Error where a part can't be described.
std::vector<access::Lane> lanes_of(const bench::Workload& workload, const FilePlaces& places, size_t first, size_t last);

/// Stands for a rank's memory. In a run of descriptions packing takes the machine's time for it and
/// moves nothing. In a run with data, each byte of a file is a function of its place.
class ModelledMemory : public access::StreamSource, public access::StreamSink {
 public:
  struct Options {
    bool carries_data = false;
  };
  /// What is passed must outlive this.
  ModelledMemory(Clock& clock, const Nodes& nodes, std::span<const access::Lane> lanes, const Options& options);

  void pack(std::span<const access::StreamPart> parts) override;
  void unpack(std::span<const access::StreamPart> parts) override;
  /// kCorrupted where a byte of the lanes isn't in the file of that name in `driver` as it must be.
  static Status check(storage::Driver& driver, const std::string& path, std::span<const access::Lane> lanes);
  /// Bytes that were unpacked and aren't those that the file must have.
  int64_t wrong_bytes() const { return wrong_bytes_; }

  static std::byte value_at(int64_t file_offset) {
    const auto place = static_cast<uint64_t>(file_offset);
    return static_cast<std::byte>((place * 0x9E3779B97F4A7C15U) >> 56);
  }

 private:
  double pieces_a_byte(int stream_id);
  void charge(std::span<const access::StreamPart> parts, Phase phase);
  std::vector<std::byte> stream_bytes(int stream_id) const;
  const std::vector<std::byte>& stream(int stream_id);

  Clock& clock_;
  const Nodes& nodes_;
  std::span<const access::Lane> lanes_;
  Options options_;
  std::map<int, std::vector<std::byte>> streams_;
  std::map<int, double> pieces_a_byte_;  ///< by stream
  int64_t wrong_bytes_ = 0;
};

}  // namespace stria::simulate
