#include "workload/replay.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workload/catalog.hpp"

namespace stria::bench {

namespace {

using Request = Recording::Request;

constexpr int64_t kAlignment = 4 * kMiB;

/// So many requests of each rank as move no more than `most_bytes` together, and at least one.
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

/// What of a file was already taken.
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

class Player {
 public:
  Player(const Recording& recording, int64_t most_bytes, const Ranks& ranks)
      : recording_(recording), counts_(kept_counts(recording, most_bytes)) {
    workload_.is_file_a_rank = recording.is_file_a_rank;
    if (!recording.is_file_a_rank) {
      add_array(0, recording.ranks.size());
    }
    for (size_t rank = static_cast<size_t>(ranks.rank); rank < counts_.size(); rank += static_cast<size_t>(ranks.count)) {
      if (recording.is_file_a_rank) {
        add_array(rank, rank + 1);
      }
      play(rank);
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
  // An array for the requests of some of the recorded ranks.
  void add_array(size_t first, size_t last) {
    std::vector<Request> requests;
    for (size_t rank = first; rank < last; ++rank) {
      const auto begin = recording_.ranks[rank].begin();
      requests.insert(requests.end(), begin, begin + static_cast<std::ptrdiff_t>(counts_[rank]));
    }
    files_.emplace_back(std::move(requests));
    taken_.emplace_back();
    workload_.arrays.push_back({"file" + std::to_string(first), {std::max<int64_t>(files_.back().length(), 1)}, 1});
  }

  void play(size_t rank) {
    const size_t array = files_.size() - 1;
    workload_.calls.resize(std::max(workload_.calls.size(), counts_[rank]));
    for (size_t i = 0; i < counts_[rank]; ++i) {
      const Request& request = recording_.ranks[rank][i];
      taken_[array].add({files_[array].place(request.offset), request.bytes}, [&](int64_t offset, int64_t bytes) {
        workload_.calls[i].parts.push_back({array, Selection::box(workload_.arrays[array].dims, {offset}, {bytes}),
                                            Selection::whole({bytes}), workload_.memory_bytes});
        workload_.memory_bytes += bytes;
      });
    }
  }

  const Recording& recording_;
  std::vector<size_t> counts_;  ///< requests that are kept of each recorded rank
  std::vector<ShortFile> files_;
  std::vector<Taken> taken_;
  Workload workload_;
};

}  // namespace

WorkloadKind replay_kind(std::shared_ptr<const Recording> recording) {
  return {"replay",
          "the requests of a recorded run",
          {{"mib", 256, 1, 1 << 20, "of all ranks together at most; later requests are left out"}},
          {},
          [recording = std::move(recording)](const Chosen& chosen, const Ranks& ranks) {
            return Player(*recording, chosen.numbers.at("mib") * kMiB, ranks).workload();
          }};
}

}  // namespace stria::bench
