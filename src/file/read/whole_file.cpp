// Compares a whole file with its sums: the parts of the ranks, names and metadata, and what
// all have found.
#include <fmt/format.h>

#include <functional>
#include <set>

#include "file/meet/outcome_message.hpp"
#include "file/meet/part_exchange.hpp"
#include "file/read/read_session.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

// Rank 0. Another program that adds to a file rewrites its superblock. What the metadata were
// is then unknown.
Status ReadSession::verify_metadata(Findings& findings) {
  const Seal& seal = checksums_.seal;
  if (!checksums_.is_sealed) {
    findings.remarks.emplace_back(
        "an older version of Stria wrote it: a sum that was lost looks like one that never was, and only HDF5's own sums "
        "guard its metadata");
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file_->size());
  STRIA_ASSIGN_OR_RETURN(const uint64_t superblock, checker_.hash_range(reader_->superblock()));
  if (superblock != seal.superblock_sum || checksums_.seal_offset < 0) {
    findings.remarks.push_back(fmt::format("another program has changed it since: {} guard its names, types and attributes",
                                           is_netcdf(format_) ? "no sums" : "only HDF5's own sums"));
    return Status();
  }
  if (size_bytes > seal.file_bytes) {
    findings.remarks.push_back(fmt::format("{} bytes follow its end, and mean nothing", size_bytes - seal.file_bytes));
  }
  for (const SealedPart& part : seal.parts) {
    if (part.range.empty()) {
      continue;
    }
    StreamingHash hash;
    STRIA_RETURN_IF_ERROR(checker_.hash_into(Datatype::bytes(part.range.size()), part.range.begin, hash));
    if (hash.digest() != part.sum) {
      add_damage(findings.damages, "", 0, 0);
      return Status();
    }
  }
  return seal.parts.empty() ? verify_sealed(seal, findings) : Status();
}

// Rank 0: the metadata of a file that has not grown.
Status ReadSession::verify_sealed(const Seal& seal, Findings& findings) {
  std::vector<ByteRange> extents;
  for (const DatasetEntry& entry : catalog_.datasets()) {
    if (entry.data_offset >= 0) {
      extents.push_back(entry.extent());
    }
  }
  StreamingHash hash;
  for (const ByteRange& range : sealed_ranges(seal, std::move(extents))) {
    STRIA_RETURN_IF_ERROR(checker_.hash_into(Datatype::bytes(range.size()), range.begin, hash));
  }
  if (hash.digest() != seal.metadata_sum) {
    add_damage(findings.damages, "", 0, 0);
  }
  return Status();
}

// Rank 0: finds names that are in the list of sums but not in the file, and the reverse.
void ReadSession::verify_names(Findings& findings) {
  const std::set<std::string> listed(checksums_.paths.begin(), checksums_.paths.end());
  std::set<int64_t> summed_places;
  for (const std::string& path : listed) {
    const auto number = find(path);
    if (!number.ok()) {
      add_damage(findings.damages, path, 0, 0);
    } else if (dataset(*number).data_offset >= 0) {
      summed_places.insert(dataset(*number).data_offset);
    }
  }
  for (const std::string& path : dataset_paths()) {
    const auto number = find(path);
    // A link is another name for data that have sums.
    const bool is_other_name = number.ok() && summed_places.count(dataset(*number).data_offset) != 0;
    if (listed.count(path) == 0 && !is_other_name) {
      findings.remarks.push_back(fmt::format("dataset '{}' has no checksum: another program has added it", path));
    }
  }
}

// Rank 0, when it knows what all have found.
void ReadSession::remark_on_datasets(Findings& findings) {
  const std::set<int64_t> summed(findings.summed.begin(), findings.summed.end());
  for (const std::string& path : checksums_.paths) {
    const auto number = find(path);
    if (!number.ok() || path == kSealPath || dataset(*number).data_bytes() == 0) {
      continue;
    }
    if (!checker_.has_slabs(*number) && summed.count(*number) == 0) {
      findings.remarks.push_back(
          dataset(*number).is_readable()
              ? fmt::format("dataset '{}' has no checksum: nobody put it, so that it must be zero throughout", path)
              : fmt::format("dataset '{}' has no checksum: nobody put it", path));
    }
  }
  for (size_t i = 0; checksums_.is_sealed && i < checksums_.tables.size(); ++i) {
    if (checksums_.seal.tables[i].count == TableSeal::kUnknown) {
      findings.remarks.push_back(
          fmt::format("dataset '{}', which holds checksums, has none itself: two ranks put the same rows", RowTable::path(i)));
    }
  }
}

// What all ranks have found, on every rank.
Status ReadSession::share_findings(Findings& findings) {
  std::vector<std::byte> encoded;
  Status status = or_out_of_memory([&] {
    encoded = encode_findings(findings);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  PartExchange exchange;
  exchange.start(comm(), std::move(encoded));
  exchange.finish();
  std::vector<std::byte> message;
  status = or_out_of_memory([&]() -> Status {
    if (!is_root()) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto parts, exchange.take());
    Findings all;
    for (const auto& part : parts) {
      decode_findings(part, all);
    }
    tidy(all.damages);
    remark_on_datasets(all);
    message = encode_findings(all);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(share_bytes(comm(), status, message));
  findings = {};
  status = or_out_of_memory([&] {
    decode_findings(message, findings);
    return Status();
  });
  return comm().agree(status);
}

// This rank's share of the data.
Status ReadSession::verify_share(const std::vector<std::string>& except, Findings& findings) {
  const std::set<std::string> left_out(except.begin(), except.end());
  STRIA_RETURN_IF_ERROR(open_handle());
  PhaseTimer timer(report_.phases, Phase::kRead);
  if (const Status loaded = load_chunk_sums(); loaded.code() == ErrorCode::kCorrupted || loaded.code() == ErrorCode::kFormat) {
    if (is_root()) {
      add_damage(findings.damages, kChunkSumsPath, 0, dataset(*catalog_.find(kChunkSumsPath)).row_count());
    }
  } else if (!loaded.ok()) {
    return loaded;
  }
  for (const std::string& path : checksums_.paths) {
    const auto number = find(path);
    if (number.ok() && path != kSealPath && left_out.count(path) == 0) {
      STRIA_RETURN_IF_ERROR(checker_.check_dataset(*number, comm(), findings));
    }
  }
  for (size_t i = 0; i < checksums_.slabs.size(); ++i) {
    const SlabSum& slab = checksums_.slabs[i];
    if (static_cast<int>(i % static_cast<size_t>(comm().size())) == comm().rank() &&
        left_out.count(checksums_.paths[static_cast<size_t>(slab.dataset)]) == 0) {
      STRIA_RETURN_IF_ERROR(checker_.check_slab(slab, findings.damages));
    }
  }
  STRIA_RETURN_IF_ERROR(checker_.check_tables(comm(), findings.damages));
  if (is_root()) {
    verify_names(findings);
    STRIA_RETURN_IF_ERROR(verify_metadata(findings));
  }
  return Status();
}

Result<std::vector<Damage>> ReadSession::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  if (!checksums_.present) {
    return Status(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums of Stria's", path_));
  }
  STRIA_RETURN_IF_ERROR(checksums_.problem);
  STRIA_RETURN_IF_ERROR(meet(Call::kVerify, set_reserve_aside()));
  Findings findings;
  // By reference, because a std::function would take memory for what the lambda captures, and one
  // rank might have none.
  auto share = [&] { return or_out_of_memory([&] { return verify_share(except, findings); }); };
  STRIA_RETURN_IF_ERROR(together(std::ref(share)));
  STRIA_RETURN_IF_ERROR(share_findings(findings));
  if (remarks != nullptr) {
    *remarks = std::move(findings.remarks);
  }
  return std::move(findings.damages);
}

}  // namespace stria::file
