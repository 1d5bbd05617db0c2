#include "workload/replay.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workload/catalog.hpp"

namespace stria::bench {

namespace {

using Request = Recording::Request;

constexpr int64_t kAlignment = 4 * kMiB;

/// Counts, for each rank, as many requests as move no more than `most_bytes` together, and at least
/// one.
std::vector<size_t> kept_counts(const Recording& recording, int64_t most_bytes) {
  std::vector<size_t> counts(recording.ranks.size(), 0);
  int64_t bytes = 0;
  bool more = true;
  for (size_t i = 0; more; ++i) {
    more = false;
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      const std::vector<Request>& requests = recording.ranks[rank];
      if (i >= requests.size()) {
        continue;
      }
      if (bytes > 0 && bytes + requests[i].bytes > most_bytes) {
        return counts;
      }
      bytes += requests[i].bytes;
      counts[rank] = i + 1;
      more = true;
    }
  }
  return counts;
}

/// The places of a file whose gaps are shortened.
class ShortFile {
 public:
  explicit ShortFile(std::vector<Request> requests) {
    std::sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) { return a.offset < b.offset; });
    int64_t end = 0;
    int64_t shift = 0;
    for (const Request& request : requests) {
      const int64_t gap = request.offset - end;
      if (gap >= 2 * kAlignment) {
        shift += gap - kAlignment - gap % kAlignment;
      }
      if (shifts_.empty() || shifts_.back().second != shift) {
        shifts_.emplace_back(request.offset, shift);
      }
      end = std::max(end, request.offset + request.bytes);
    }
    length_ = end - shift;
  }
  int64_t length() const { return length_; }
  int64_t place(int64_t offset) const {
    const auto behind = std::upper_bound(shifts_.begin(), shifts_.end(), std::pair(offset, INT64_MAX));
    return offset - std::prev(behind)->second;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> shifts_;  ///< from this offset on so many bytes less
  int64_t length_ = 0;
};

/// Keeps what of a file was already taken.
class Taken {
 public:
  /// Calls `take(offset, bytes)` with what of the request is new.
  template <typename Take>
  void add(Request request, Take take) {
    int64_t at = request.offset;
    const int64_t end = at + request.bytes;
    auto next = stretches_.upper_bound(at);
    if (next != stretches_.begin()) {
      at = std::max(at, std::prev(next)->second);
    }
    for (; at < end; ++next) {
      const int64_t until = next == stretches_.end() ? end : std::min(end, next->first);
      if (until > at) {
        take(at, until - at);
      }
      if (next == stretches_.end() || next->first >= end) {
        break;
      }
      at = std::max(at, next->second);
    }
    merge(request.offset, end);
  }

 private:
  void merge(int64_t begin, int64_t end) {
    auto first = stretches_.upper_bound(begin);
    if (first != stretches_.begin() && std::prev(first)->second >= begin) {
      --first;
    }
    auto last = first;
    for (; last != stretches_.end() && last->first <= end; ++last) {
      begin = std::min(begin, last->first);
      end = std::max(end, last->second);
    }
    stretches_.erase(first, last);
    stretches_.emplace(begin, end);
  }

  std::map<int64_t, int64_t> stretches_;  ///< begin, end
};

/// Holds what all ranks need of a recording: found once for those of a process.
struct Prepared {
  Prepared(const Recording& of, int64_t limit_bytes)
      : recording(of), most_bytes(limit_bytes), counts(kept_counts(of, limit_bytes)) {
    const size_t ranks = of.ranks.size();
    for (size_t first = 0; first < ranks; first += of.is_file_a_rank ? 1 : ranks) {
      files.push_back(file_of(first, of.is_file_a_rank ? first + 1 : ranks));
    }
  }
  /// Stretches of a shared file begin at multiples of this.
  int64_t stretch_bytes() const { return (files.front().length() / kAlignment + 1) * kAlignment; }

  const Recording& recording;
  int64_t most_bytes;
  std::vector<size_t> counts;    ///< requests that are kept of each recorded rank
  std::vector<ShortFile> files;  ///< by recorded rank, or one for all

 private:
  ShortFile file_of(size_t first, size_t last) const {
    std::vector<Request> requests;
    for (size_t rank = first; rank < last; ++rank) {
      const auto begin = recording.ranks[rank].begin();
      requests.insert(requests.end(), begin, begin + static_cast<std::ptrdiff_t>(counts[rank]));
    }
    return ShortFile(std::move(requests));
  }
};

class Player {
 public:
  Player(const Prepared& prepared, const Ranks& ranks) : prepared_(prepared) {
    const size_t recorded = prepared.counts.size(), count = static_cast<size_t>(ranks.count);
    workload_.is_file_a_rank = prepared.recording.is_file_a_rank;
    if (!workload_.is_file_a_rank) {
      const auto stretches = static_cast<int64_t>((count - 1) / recorded + 1);
      const int64_t length = std::max<int64_t>(prepared.files.front().length(), 1);
      workload_.arrays.push_back({"file0", {(stretches - 1) * prepared.stretch_bytes() + length}, 1});
      taken_.emplace_back();
    }
    // A rank either plays several recorded ones, or repeats one.
    const auto own = static_cast<size_t>(ranks.rank);
    for (size_t rank = own % recorded; rank < recorded; rank += count) {
      if (workload_.is_file_a_rank) {
        workload_.arrays.push_back(
            {"file" + std::to_string(own < recorded ? rank : own), {std::max<int64_t>(prepared.files[rank].length(), 1)}, 1});
        taken_.emplace_back();
      }
      play(rank, workload_.is_file_a_rank ? 0 : static_cast<int64_t>(own / recorded) * prepared.stretch_bytes());
    }
    for (Call& call : workload_.calls) {
      std::sort(call.parts.begin(), call.parts.end(), [](const Part& a, const Part& b) {
        return std::pair(a.array, a.file.start[0]) < std::pair(b.array, b.file.start[0]);
      });
    }
    std::erase_if(workload_.calls, [](const Call& call) { return call.parts.empty(); });
  }
  Workload workload() { return std::move(workload_); }

 private:
  void play(size_t rank, int64_t shift) {
    const size_t array = taken_.size() - 1;
    const ShortFile& file = prepared_.files[workload_.is_file_a_rank ? rank : 0];
    workload_.calls.resize(std::max(workload_.calls.size(), prepared_.counts[rank]));
    for (size_t i = 0; i < prepared_.counts[rank]; ++i) {
      const Request& request = prepared_.recording.ranks[rank][i];
      taken_[array].add({shift + file.place(request.offset), request.bytes}, [&](int64_t offset, int64_t bytes) {
        workload_.calls[i].parts.push_back({array, Selection::box(workload_.arrays[array].dims, {offset}, {bytes}),
                                            Selection::whole({bytes}), workload_.memory_bytes});
        workload_.memory_bytes += bytes;
      });
    }
  }

  const Prepared& prepared_;
  std::vector<Taken> taken_;
  Workload workload_;
};

}  // namespace

WorkloadKind replay_kind(std::shared_ptr<const Recording> recording) {
  return {"replay",
          "the requests of a recorded run",
          {{"mib", 256, 1, 1 << 20, "of all ranks together at most; later requests are left out"}},
          {},
          [recording = std::move(recording), prepared = std::shared_ptr<const Prepared>()](const Chosen& chosen,
                                                                                           const Ranks& ranks) mutable {
            const int64_t most_bytes = chosen.numbers.at("mib") * kMiB;
            if (prepared == nullptr || prepared->most_bytes != most_bytes) {
              prepared = std::make_shared<const Prepared>(*recording, most_bytes);
            }
            return Player(*prepared, ranks).workload();
          }};
}

}  // namespace stria::bench
