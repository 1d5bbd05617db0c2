#include "run/sieving.hpp"

#include <algorithm>

#include "access/request/overlap.hpp"

namespace stria::simulate {

namespace {

using access::Overlap;
using access::Stream;

class SievedStream {
 public:
  SievedStream(RunShared& shared, storage::File& file)
      : shared_(shared),
        file_(file),
        window_bytes_(reads() ? shared.hints.read_window_bytes : shared.hints.write_window_bytes) {}

  Status move(const Stream& stream) {
    const int64_t end = access::hull_of(stream).end;
    for (int64_t done = 0; done < stream.size();) {
      const int64_t begin = access::hull_of(Overlap{&stream, done, done + 1}).begin;
      const ByteRange window{begin, std::min(begin + window_bytes_, end)};
      const int64_t next = access::position_of(stream, window.end);
      STRIA_RETURN_IF_ERROR(move_window(window, next - done, pieces_a_byte(stream)));
      done = next;
    }
    return {};
  }

 private:
  bool reads() const { return shared_.reads; }
  static double pieces_a_byte(const Stream& stream) {
    return static_cast<double>(stream.file_type.piece_count()) / static_cast<double>(stream.file_type.size());
  }

  Status move_window(ByteRange window, int64_t bytes, double pieces_a_byte) {
    const Nodes& nodes = shared_.machine.nodes;
    std::byte* place = shared_.nowhere(window.size()).data();
    const auto mode = reads() ? storage::LockMode::kShared : storage::LockMode::kExclusive;
    STRIA_ASSIGN_OR_RETURN(const auto lock, file_.lock(window, mode));
    const storage::ReadSegment all{window.begin, place, window.size()};
    STRIA_RETURN_IF_ERROR(file_.read(std::span(&all, 1)).status());
    const auto copied = static_cast<double>(bytes);
    shared_.clock.charge(copied / nodes.pack_rate + copied * pieces_a_byte * nodes.piece_s);
    if (reads()) {
      return {};
    }
    const storage::WriteSegment changed{window.begin, place, window.size()};
    return file_.write(std::span(&changed, 1));
  }

  RunShared& shared_;
  storage::File& file_;
  int64_t window_bytes_;
};

}  // namespace

Status sieve_as_romio(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  if (shared.options.carries_data) {
    return Status(ErrorCode::kUnsupported, "ROMIO's sieving is a pattern without bytes: it can't be verified");
  }
  const FilePlaces places = place_arrays(workload, kHeaderBytes, 1);
  STRIA_ASSIGN_OR_RETURN(const auto file, open_everywhere(shared, comm));
  SievedStream sieved(shared, *file);
  for (size_t call = 0; call < workload.calls.size(); ++call) {
    for (const access::Lane& lane : lanes_of(workload, places, call, call + 1)) {
      for (const Stream& stream : lane.streams) {
        STRIA_RETURN_IF_ERROR(sieved.move(stream));
      }
    }
  }
  shared.clock.settle();
  return {};
}

}  // namespace stria::simulate
