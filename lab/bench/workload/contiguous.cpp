// Contiguous blocks in transfers (IOR), and files that are only opened.
#include <algorithm>

#include "stria/status.hpp"
#include "workload/catalog.hpp"

namespace stria::bench {

namespace {

Workload make_ior(const Chosen& chosen, const Ranks& ranks) {
  const int64_t block = chosen.numbers.at("block-kib") * kKiB;
  const int64_t transfer_bytes = chosen.numbers.at("transfer-bytes");
  const int64_t transfer = transfer_bytes > 0 ? transfer_bytes : chosen.numbers.at("transfer-kib") * kKiB;
  const int64_t segments = chosen.numbers.at("segments");
  Workload workload;
  workload.is_file_a_rank = chosen.words.at("files") == "separate";
  const int64_t ranks_in_file = workload.is_file_a_rank ? 1 : ranks.count;
  const int64_t rank_in_file = workload.is_file_a_rank ? 0 : ranks.rank;
  const int64_t length = segments * ranks_in_file * block;
  workload.arrays = {{"data", {length}, 1}};
  workload.memory_bytes = segments * block;
  for (int64_t segment = 0; segment < segments; ++segment) {
    const int64_t begin = (segment * ranks_in_file + rank_in_file) * block;
    for (int64_t done = 0; done < block; done += transfer) {
      const int64_t bytes = std::min(transfer, block - done);
      workload.calls.push_back(
          {{{0, Selection::box({length}, {begin + done}, {bytes}), Selection::whole({bytes}), segment * block + done}}});
    }
  }
  return workload;
}

Workload make_open(const Chosen& chosen, const Ranks& /*ranks*/) {
  Workload workload;
  workload.is_file_a_rank = chosen.words.at("files") == "separate";
  workload.files = static_cast<int>(chosen.numbers.at("count"));
  return workload;
}

}  // namespace

WorkloadKind ior_kind() {
  return {"ior",
          "contiguous blocks in transfers (IOR)",
          {{"block-kib", 32768, 1, 1 << 30, "of a rank, KiB"},
           {"transfer-kib", 1024, 1, 1 << 30, "of a call, KiB"},
           {"transfer-bytes", 0, 0, 1 << 30, "of a call, where it isn't whole KiB; 0: it is"},
           {"segments", 1, 1, 1'000'000, "blocks of each rank, the ranks' in turn"}},
          {{"files", {"shared", "separate"}, "one file, or one per rank"}},
          make_ior};
}

WorkloadKind open_kind() {
  return {"open",
          "files made and opened, without data",
          {{"count", 10, 1, 1'000'000, "files, one after the other"}},
          {{"files", {"shared", "separate"}, "opened by all ranks, or one per rank"}},
          make_open};
}

}  // namespace stria::bench
