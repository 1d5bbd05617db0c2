#include "file/verify/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/out_of_memory.hpp"
#include "file/checksums/changes.hpp"
#include "file/meet/outcome_message.hpp"
#include "file/meet/part_exchange.hpp"

namespace stria::file {

// Rank 0. Another program that adds to a file rewrites its superblock. What the metadata were
// is then unknown.
Status WholeFileCheck::check_metadata(Findings& findings) {
  const Seal& seal = seen_.checksums.seal;
  if (!seen_.checksums.is_sealed) {
    findings.remarks.emplace_back(
        "an older version of Stria wrote it: a sum that was lost looks like one that never was, and only HDF5's own sums "
        "guard its metadata");
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, seen_.file->size());
  STRIA_ASSIGN_OR_RETURN(const uint64_t superblock, seen_.checker.hash_range(seen_.reader->superblock()));
  if (seen_.checksums.is_changed || superblock != seal.superblock_sum || seen_.checksums.seal_offset < 0) {
    findings.remarks.push_back(fmt::format("another program has changed it since: {} guard its names, types and attributes",
                                           is_netcdf(seen_.reader->format()) ? "no sums" : "only HDF5's own sums"));
    return Status();
  }
  const auto datasets = seen_.catalog.datasets();
  const bool has_end = std::none_of(datasets.begin(), datasets.end(), [](const auto& entry) { return entry.spec.unlimited; });
  if (size_bytes > seal.file_bytes && has_end) {
    findings.remarks.push_back(fmt::format("{} bytes follow its end, and mean nothing", size_bytes - seal.file_bytes));
  }
  for (const SealedPart& part : seal.parts) {
    if (part.range.empty()) {
      continue;
    }
    StreamingHash hash;
    STRIA_RETURN_IF_ERROR(seen_.checker.hash_into(Datatype::bytes(part.range.size()), part.range.begin, hash));
    if (hash.digest() != part.sum) {
      add_damage(findings.damages, "", 0, 0);
      return Status();
    }
  }
  return seal.parts.empty() ? check_sealed(seal, findings) : Status();
}

// Rank 0: the metadata of a file that has not grown.
Status WholeFileCheck::check_sealed(const Seal& seal, Findings& findings) {
  StreamingHash hash;
  for (const ByteRange& range : sealed_ranges(seal, extents_of(seen_.catalog))) {
    STRIA_RETURN_IF_ERROR(seen_.checker.hash_into(Datatype::bytes(range.size()), range.begin, hash));
  }
  if (hash.digest() != seal.metadata_sum) {
    add_damage(findings.damages, "", 0, 0);
  }
  return Status();
}

// Rank 0: finds names that are in the list of sums but not in the file, and the reverse.
void WholeFileCheck::check_names(Findings& findings) {
  for (const std::string& path : seen_.checksums.paths) {
    if (!seen_.catalog.find(path)) {
      add_damage(findings.damages, path, 0, 0);
    }
  }
  for (const std::string& path : seen_.catalog.content_paths()) {
    if (!seen_.checker.is_listed(*seen_.catalog.find(path))) {
      findings.remarks.push_back(fmt::format("dataset '{}' has no checksum: another program has added it", path));
    }
  }
}

namespace {

void remark_on_rows(const std::string& path, ByteRange rows, Findings& findings) {
  findings.remarks.push_back(
      fmt::format("dataset '{}': rows {} to {} have no checksums: they were added later", path, rows.begin, rows.end - 1));
}

// Records without a sum, which datasets with a row table have of rows that were put twice.
bool is_added_by_others(const DatasetEntry& entry) {
  return entry.checksum_group < 0 && entry.row_bytes() > 0;
}

}  // namespace

// Rank 0, when it knows what all have found.
void WholeFileCheck::remark_on_datasets(Findings& findings) {
  for (const Damage& rows : findings.repeated) {
    findings.remarks.push_back(
        fmt::format("dataset '{}', rows {} to {}: elements were put more than once, with different values; the checksums of "
                    "such puts can't be compared",
                    rows.dataset, rows.first_row, rows.last_row - 1));
  }
  const std::set<int64_t> summed(findings.summed.begin(), findings.summed.end());
  for (const std::string& path : seen_.checksums.paths) {
    const auto number = seen_.catalog.find(path);
    if (number && seen_.catalog[*number].added_rows > 0) {
      const DatasetEntry& dataset = seen_.catalog[*number];
      remark_on_rows(path, {dataset.own_rows(), dataset.row_count()}, findings);
    }
    if (!number || path == kSealPath || seen_.catalog[*number].own_rows() == 0 || seen_.catalog[*number].row_bytes() == 0) {
      continue;
    }
    const DatasetEntry& dataset = seen_.catalog[*number];
    const bool is_sealed = dataset.spec.element.varies && seen_.checksums.is_sealed;
    if (!dataset.is_readable() && (dataset.checksum_group >= 0 || seen_.checker.has_slabs(*number))) {
      findings.remarks.push_back(
          fmt::format("dataset '{}' was filtered or packed by another program, so that it takes libhdf5 to be read: its "
                      "checksums can't be compared",
                      path));
    } else if (!is_sealed && !seen_.checker.has_slabs(*number) && summed.count(*number) == 0) {
      findings.remarks.push_back(
          dataset.is_lossy() ? fmt::format("dataset '{}' has checksums of its stored chunks alone, which hold no more", path)
          : dataset.is_readable()
              ? fmt::format("dataset '{}' has no checksum: nobody put it, so that it must have its fill value throughout", path)
              : fmt::format("dataset '{}' has no checksum: nobody put it", path));
    }
  }
  for (const SlabSum& slab : seen_.checksums.slabs) {
    const std::string& path = seen_.checksums.paths[static_cast<size_t>(slab.dataset)];
    const auto number = seen_.catalog.find(path);
    if (number && slab.sum == kNoSum && is_added_by_others(seen_.catalog[*number])) {
      const int64_t row_bytes = seen_.catalog[*number].row_bytes();
      const int64_t end = slab.displacement + slab.region.true_upper_bound();
      remark_on_rows(path, {slab.displacement / row_bytes, end / row_bytes}, findings);
    }
  }
  for (size_t i = 0; seen_.checksums.is_sealed && i < seen_.checksums.tables.size(); ++i) {
    if (seen_.checksums.seal.tables[i].count == TableSeal::kUnknown) {
      findings.remarks.push_back(
          fmt::format("dataset '{}', which holds checksums, has none itself: rows were put more than once", RowTable::path(i)));
    }
  }
}

Status WholeFileCheck::share(Findings& findings) {
  std::vector<std::byte> encoded;
  Status status = or_out_of_memory([&] {
    encoded = encode_findings(findings);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(seen_.comm.agree(status));
  PartExchange exchange;
  exchange.start(seen_.comm, std::move(encoded));
  exchange.finish();
  std::vector<std::byte> message;
  status = or_out_of_memory([&]() -> Status {
    if (seen_.comm.rank() != 0) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto parts, exchange.take());
    Findings all;
    for (const auto& part : parts) {
      decode_findings(part, all);
    }
    tidy(all.damages);
    tidy(all.repeated);
    remark_on_datasets(all);
    message = encode_findings(all);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(share_bytes(seen_.comm, status, message));
  findings = {};
  status = or_out_of_memory([&] {
    decode_findings(message, findings);
    return Status();
  });
  return seen_.comm.agree(status);
}

Status WholeFileCheck::check_share(const std::vector<std::string>& except, const Status& chunk_sums, Findings& findings) {
  std::set<int> left_out;
  for (const std::string& path : except) {
    left_out.insert(seen_.catalog.find(path).value_or(-1));
  }
  const auto is_left_out = [&](const std::string& path) {
    const auto number = seen_.catalog.find(path);
    return number && left_out.count(*number) != 0;
  };
  if (chunk_sums.code() == ErrorCode::kCorrupted || chunk_sums.code() == ErrorCode::kFormat) {
    if (seen_.comm.rank() == 0) {
      add_damage(findings.damages, kChunkSumsPath, 0, seen_.catalog[*seen_.catalog.find(kChunkSumsPath)].row_count());
    }
  } else {
    STRIA_RETURN_IF_ERROR(chunk_sums);
  }
  for (const std::string& path : seen_.checksums.paths) {
    const auto number = seen_.catalog.find(path);
    if (number && path != kSealPath && !is_left_out(path)) {
      STRIA_RETURN_IF_ERROR(seen_.checker.check_dataset(*number, seen_.comm, findings));
    }
  }
  for (size_t i = 0; i < seen_.checksums.slabs.size(); ++i) {
    const SlabSum& slab = seen_.checksums.slabs[i];
    if (static_cast<int>(i % static_cast<size_t>(seen_.comm.size())) == seen_.comm.rank() &&
        !is_left_out(seen_.checksums.paths[static_cast<size_t>(slab.dataset)])) {
      STRIA_RETURN_IF_ERROR(seen_.checker.check_slab(slab, findings.damages));
    }
  }
  findings.repeated = seen_.checker.take_repeated();
  STRIA_RETURN_IF_ERROR(seen_.checker.check_tables(seen_.comm, findings.damages));
  if (seen_.comm.rank() == 0) {
    check_names(findings);
    STRIA_RETURN_IF_ERROR(check_metadata(findings));
  }
  return Status();
}

}  // namespace stria::file
