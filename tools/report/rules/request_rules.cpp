// Rules about the requests that reach the storage: their size, place and order.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr int64_t kManyElements = 1000;  // "element_by_element"
constexpr double kElementBytes = 64;
constexpr double kConsecutiveShare = 0.8;
constexpr int kSmallBins = 4;  // up to 100,000 bytes: docs/trace_report.md, "small_requests"
constexpr double kSmallShare = 0.5;
constexpr int64_t kLeastPieces = 100;      // fewer pieces are no pattern
constexpr double kUnalignedShare = 0.5;    // "unaligned"
constexpr int64_t kLeastAlignment = 4096;  // a unit below a page costs nothing
// The ends hardly matter in pieces that are longer than this many units.
constexpr double kUnitsAPiece = 4;
constexpr double kSequentialShare = 0.5;  // "random_order"
constexpr double kReadTwice = 2;          // "read_again"
constexpr double kPiecesARequest = 256;   // "scattered"
constexpr double kScatteredPiece = 4096;  // bytes

int64_t pieces(const RunDigest& run) {
  return run.counters().total(Counter::kReadPieces) + run.counters().total(Counter::kWritePieces);
}

double mean_piece(const RunDigest& run) {
  return share_of(static_cast<double>(run.counters().total(Counter::kBytesRead) + run.counters().total(Counter::kBytesWritten)),
                  static_cast<double>(pieces(run)));
}

std::string commonest(const RunDigest& run) {
  const auto sizes = run.counters().common_sizes();
  return sizes.empty() ? ""
                       : fmt::format("; the most common size is {}, {} times", bytes_text(static_cast<double>(sizes[0].first)),
                                     count_text(sizes[0].second));
}

// Returns the file of which most pieces are.
std::string busiest_file(const RunDigest& run) {
  const int file = run.counters().file_of_most(Counter::kReadPieces, Counter::kWritePieces);
  return file < 0 ? ""
                  : fmt::format("; {} '{}'", run.counters().files().size() == 1 ? "all in" : "most of them in",
                                run.trace().files[static_cast<size_t>(file)]);
}

// Returns the hint that makes ranks collect what they move, for the direction in which most pieces
// go.
std::string collecting_hint(const RunDigest& run, const char* value) {
  const bool reads = run.counters().total(Counter::kReadPieces) > run.counters().total(Counter::kWritePieces);
  return fmt::format("romio_cb_{}={}", reads ? "read" : "write", value);
}

// Tells whether most transfers of the file with most pieces were made by all ranks together.
bool is_mostly_together(const RunDigest& run) {
  const int file = run.counters().file_of_most(Counter::kReadPieces, Counter::kWritePieces);
  return file >= 0 && stria::tool::is_mostly_together(run, file);
}

// A library above hands over one element in each call, one behind the other.
bool comes_element_by_element(const RunDigest& run) {
  const int64_t requests = run.counters().total(Counter::kReadRequests) + run.counters().total(Counter::kWriteRequests);
  const int64_t consecutive =
      run.counters().total(Counter::kConsecutiveReads) + run.counters().total(Counter::kConsecutiveWrites);
  return pieces(run) >= kManyElements && mean_piece(run) <= kElementBytes &&
         share_of(consecutive, pieces(run)) >= kConsecutiveShare && share_of(requests, pieces(run)) >= kConsecutiveShare;
}

MaybeFinding element_by_element(const RunDigest& run, const StorageLimit&) {
  if (!comes_element_by_element(run)) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("{} requests of {} on average each follow directly behind the one before: elements come one by one.",
                  count_text(pieces(run)), bytes_text(mean_piece(run)));
  finding.evidence = fmt::format(
      "{} of {} pieces begin where the one before ended{}{}",
      count_text(run.counters().total(Counter::kConsecutiveReads) + run.counters().total(Counter::kConsecutiveWrites)),
      count_text(pieces(run)), commonest(run), busiest_file(run));
  finding.advice =
      "A library makes a call of each element. HDF5 does so where memory is not contiguous, as arrays with guard cells, and the "
      "transfer is independent. Preload libstria_hdf5.so, which packs the memory first (docs/hdf5_preload.md), pack it "
      "before the call, or make the transfer collective (H5Pset_dxpl_mpio).";
  finding.weight = run.moving_share();
  return finding;
}

MaybeFinding small_requests(const RunDigest& run, const StorageLimit&) {
  int64_t small = 0;
  for (int bin = 0; bin < kSmallBins; ++bin) {
    small += run.counters().total(static_cast<Counter>(static_cast<int>(Counter::kReadSizes0) + bin)) +
             run.counters().total(static_cast<Counter>(static_cast<int>(Counter::kWriteSizes0) + bin));
  }
  const double share = share_of(small, pieces(run));
  if (share < kSmallShare || pieces(run) < kLeastPieces || comes_element_by_element(run)) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} of the pieces that reach the storage are smaller than 100 kB.", percent_text(share));
  finding.evidence = fmt::format("{} of {} pieces, {} on average{}{}", count_text(small), count_text(pieces(run)),
                                 bytes_text(mean_piece(run)), commonest(run), busiest_file(run));
  finding.advice =
      is_mostly_together(run)
          ? fmt::format(
                "Each request costs about the same whatever its size. Ranks collect theirs already (two-phase): move more in "
                "a call or before a commit. Where a call moves one short piece of each rank, far from the others', spare "
                "the exchange (hint {}).",
                collecting_hint(run, "disable"))
          : fmt::format(
                "Each request costs about the same whatever its size. Combine them: put more before a commit, use "
                "collective calls (hint {}), or a larger buffer (cb_buffer_size).",
                collecting_hint(run, "enable"));
  finding.weight = share * run.moving_share();
  return finding;
}

MaybeFinding unaligned(const RunDigest& run, const StorageLimit&) {
  const int64_t odd = run.counters().total(Counter::kUnalignedReads) + run.counters().total(Counter::kUnalignedWrites);
  const double share = share_of(odd, pieces(run));
  const auto unit = static_cast<double>(run.counters().total(Counter::kAlignmentBytes));
  if (share < kUnalignedShare || pieces(run) < kLeastPieces || unit < static_cast<double>(kLeastAlignment) ||
      mean_piece(run) > kUnitsAPiece * unit || comes_element_by_element(run)) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("{} of the pieces begin or end inside a unit of {} of the storage.", percent_text(share), bytes_text(unit));
  finding.evidence = fmt::format("{} of {} pieces, {} on average{}{}", count_text(odd), count_text(pieces(run)),
                                 bytes_text(mean_piece(run)), commonest(run), busiest_file(run));
  finding.advice =
      "Two writers in one unit wait for each other's lock, and a part of a unit may be read before it is written. "
      "Align the parts of ranks to it: aggregated writing does so when it knows the unit (hint striping_unit).";
  finding.weight = 0.5 * share * run.moving_share();
  return finding;
}

MaybeFinding random_order(const RunDigest& run, const StorageLimit&) {
  const int64_t all = pieces(run);
  const double share =
      share_of(run.counters().total(Counter::kSequentialReads) + run.counters().total(Counter::kSequentialWrites), all);
  if (share >= kSequentialShare || all < kLeastPieces) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("Only {} of the pieces lie behind the one before: files are accessed in no order.", percent_text(share));
  finding.evidence = fmt::format(
      "{} of {} pieces in ascending order{}",
      count_text(run.counters().total(Counter::kSequentialReads) + run.counters().total(Counter::kSequentialWrites)),
      count_text(all), busiest_file(run));
  finding.advice =
      "Read-ahead and write-behind guess the next place. Sort what is read or written by its place in the file, or "
      "do it in one commit, which sorts.";
  finding.weight = 0.5 * run.moving_share();
  return finding;
}

MaybeFinding scattered(const RunDigest& run, const StorageLimit&) {
  const int64_t requests = run.counters().total(Counter::kReadRequests) + run.counters().total(Counter::kWriteRequests);
  const double in_one = share_of(static_cast<double>(pieces(run)), static_cast<double>(requests));
  if (in_one < kPiecesARequest || mean_piece(run) > kScatteredPiece) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("A request is scattered over {} places of the file on average, {} in each.",
                             count_text(static_cast<int64_t>(in_one)), bytes_text(mean_piece(run)));
  finding.evidence = fmt::format(
      "{} pieces in {} requests; at most {} in one{}", count_text(pieces(run)), count_text(requests),
      count_text(std::max(run.counters().total(Counter::kMaxPiecesOfRead), run.counters().total(Counter::kMaxPiecesOfWrite))),
      busiest_file(run));
  finding.advice =
      is_mostly_together(run)
          ? std::string(
                "The file's layout is far from memory's, and ranks exchange their data already (two-phase): choose a layout "
                "in which a rank's part is contiguous.")
          : fmt::format(
                "The file's layout is far from memory's. Exchange it between ranks (hint {}), or choose a layout in which "
                "a rank's part is contiguous.",
                collecting_hint(run, "enable"));
  finding.weight = 0.6 * run.moving_share();
  return finding;
}

// Returns the bytes that the program asked to read. What the engine read beyond them is not the
// program's fault ("read_in_excess").
int64_t bytes_asked_for(const RunDigest& run, int file) {
  const int64_t read = run.counters().of_file(Counter::kBytesRead, file);
  const int64_t got = run.counters().of_file(Counter::kBytesGot, file);
  return got > 0 ? std::min(read, got) : read;
}

MaybeFinding read_again(const RunDigest& run, const StorageLimit&) {
  int worst = -1;
  double most = kReadTwice;
  for (int file : run.counters().files()) {
    const double times = share_of(bytes_asked_for(run, file), run.counters().of_file(Counter::kMaxReadEnd, file));
    if (times >= most && bytes_asked_for(run, file) >= kLeastBytes) {
      worst = file;
      most = times;
    }
  }
  if (worst < 0) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("'{}' was read {:.1f} times over.", run.trace().files[static_cast<size_t>(worst)], most);
  finding.evidence = fmt::format("{} read, of a file of {} as far as it was read",
                                 bytes_text(static_cast<double>(bytes_asked_for(run, worst))),
                                 bytes_text(static_cast<double>(run.counters().of_file(Counter::kMaxReadEnd, worst))));
  finding.advice = "Let each rank read its part once, or one rank read it and broadcast what all need.";
  finding.weight = (1 - 1 / most) * run.moving_share(trace::Direction::kRead);
  return finding;
}

constexpr Rule kRequestRules[] = {{"element_by_element", element_by_element},
                                  {"small_requests", small_requests},
                                  {"unaligned", unaligned},
                                  {"random_order", random_order},
                                  {"scattered", scattered},
                                  {"read_again", read_again}};

}  // namespace

std::span<const Rule> request_rules() {
  return kRequestRules;
}

}  // namespace stria::tool
