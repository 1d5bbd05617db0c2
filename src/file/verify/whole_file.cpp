#include "file/verify/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/checksums/changes.hpp"
#include "file/meet/outcome_message.hpp"
#include "file/meet/part_exchange.hpp"
#include "file/meet/share_of.hpp"
#include "file/verify/row_sums.hpp"
#include "file/verify/sum_check.hpp"

namespace stria::file {

namespace {

// This rank's share of a dataset: its rows where they have sums, and what was never put.
Status check_dataset(SumCheck& check, const Comm& comm, int dataset, Findings& findings) {
  const DatasetEntry& entry = check.from().catalog[dataset];
  if (!entry.is_readable()) {
    return Status();
  }
  if (entry.is_lossy()) {
    STRIA_RETURN_IF_ERROR(check.check_chunks(dataset, share_of(entry.data_bytes(), comm), findings.damages));
    if (check.from().chunks.has_sums(entry.spec.path)) {
      findings.summed.push_back(dataset);
    }
    return Status();
  }
  if (entry.checksum_group >= 0) {
    STRIA_ASSIGN_OR_RETURN(const bool any_sum, check.check_rows(dataset, share_of(entry.own_rows(), comm), findings.damages));
    if (any_sum) {
      findings.summed.push_back(dataset);
    }
    if (check.from().sums.is_full(entry.checksum_group)) {
      return Status();
    }
  }
  return check.check_unwritten(dataset, share_of(entry.own_rows() * entry.row_bytes(), comm), findings.damages);
}

// Ranks take turns at what is numbered from 0.
bool is_mine(size_t number, const Comm& comm) {
  return static_cast<int>(number % static_cast<size_t>(comm.size())) == comm.rank();
}

// This rank's share of the tables of sums.
Status check_tables(const SummedFile& from, const Comm& comm, std::vector<Damage>& found) {
  for (size_t i = 0; from.sums.is_sealed && i < from.sums.tables.size(); ++i) {
    if (is_mine(i, comm)) {
      STRIA_ASSIGN_OR_RETURN(const bool is_right, from.rows.is_right(from, static_cast<int>(i)));
      if (!is_right) {
        add_damage(found, RowTable::path(i), 0, from.sums.tables[i][1]);
      }
    }
  }
  return Status();
}

// This rank's share of the data, without the datasets named in `except`.
Status check_data(const SummedFile& from, const Comm& comm, const std::vector<std::string>& except, Findings& findings) {
  std::set<int> left_out;
  for (const std::string& path : except) {
    left_out.insert(from.catalog.find(path).value_or(-1));
  }
  SumCheck check(from);
  for (const std::string& path : from.sums.paths) {
    const auto number = from.catalog.find(path);
    if (number && path != kSealPath && left_out.count(*number) == 0) {
      STRIA_RETURN_IF_ERROR(check_dataset(check, comm, *number, findings));
    }
  }
  for (size_t i = 0; i < from.sums.slabs.size(); ++i) {
    const auto number = dataset_of(from, from.sums.slabs[i]);
    if (is_mine(i, comm) && number && left_out.count(*number) == 0) {
      STRIA_RETURN_IF_ERROR(check.check_record(from.sums.slabs[i], findings.damages));
    }
  }
  findings.repeated = check.take_repeated();
  return Status();
}

// Checks, on rank 0, the metadata of a file that has not grown.
Status check_sealed(const SummedFile& from, const Seal& seal, Findings& findings) {
  StreamingHash hash;
  for (const ByteRange& range : sealed_ranges(seal, extents_of(from.catalog))) {
    STRIA_RETURN_IF_ERROR(hash_into(from, Datatype::bytes(range.size()), range.begin, hash));
  }
  if (hash.digest() != seal.metadata_sum) {
    add_damage(findings.damages, "", 0, 0);
  }
  return Status();
}

// Checks, on rank 0, the metadata.
Status check_metadata(const SummedFile& from, const container::Reader& reader, Findings& findings) {
  const Seal& seal = from.sums.seal;
  if (!from.sums.is_sealed) {
    findings.remarks.emplace_back(
        "an older version of Stria wrote it: a sum that was lost looks like one that never was, and only HDF5's own sums "
        "guard its metadata");
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, from.file.size());
  STRIA_ASSIGN_OR_RETURN(const uint64_t superblock, hash_range(from, reader.superblock()));
  if (from.sums.is_changed || superblock != seal.superblock_sum || from.sums.seal_offset < 0) {
    findings.remarks.push_back(fmt::format("another program has changed it since: {} guard its names, types and attributes",
                                           is_netcdf(reader.format()) ? "no sums" : "only HDF5's own sums"));
    return Status();
  }
  const auto datasets = from.catalog.datasets();
  const bool has_end = std::none_of(datasets.begin(), datasets.end(), [](const auto& entry) { return entry.spec.unlimited; });
  if (size_bytes > seal.file_bytes && has_end) {
    findings.remarks.push_back(fmt::format("{} bytes follow its end, and mean nothing", size_bytes - seal.file_bytes));
  }
  for (const SealedPart& part : seal.parts) {
    if (part.range.empty()) {
      continue;
    }
    StreamingHash hash;
    STRIA_RETURN_IF_ERROR(hash_into(from, Datatype::bytes(part.range.size()), part.range.begin, hash));
    if (hash.digest() != part.sum) {
      add_damage(findings.damages, "", 0, 0);
      return Status();
    }
  }
  return seal.parts.empty() ? check_sealed(from, seal, findings) : Status();
}

// Finds, on rank 0, names that are in the list of sums but not in the file, and the reverse.
void check_names(const SummedFile& from, Findings& findings) {
  for (const std::string& path : from.sums.paths) {
    if (!from.catalog.find(path)) {
      add_damage(findings.damages, path, 0, 0);
    }
  }
  for (const std::string& path : from.catalog.content_paths()) {
    if (!from.records.is_listed(*from.catalog.find(path))) {
      findings.remarks.push_back(fmt::format("dataset '{}' has no checksum: another program has added it", path));
    }
  }
}

void remark_on_rows(const std::string& path, ByteRange rows, Findings& findings) {
  findings.remarks.push_back(
      fmt::format("dataset '{}': rows {} to {} have no checksums: they were added later", path, rows.begin, rows.end - 1));
}

// Records without a sum, which datasets with a row table have of rows that were put twice.
bool is_added_by_others(const DatasetEntry& entry) {
  return entry.checksum_group < 0 && entry.row_bytes() > 0;
}

// Rank 0, when it knows what all have found.
void remark_on_datasets(const SummedFile& from, Findings& findings) {
  for (const Damage& rows : findings.repeated) {
    findings.remarks.push_back(
        fmt::format("dataset '{}', rows {} to {}: elements were put more than once, with different values; the checksums of "
                    "such puts can't be compared",
                    rows.dataset, rows.first_row, rows.last_row - 1));
  }
  const std::set<int64_t> summed(findings.summed.begin(), findings.summed.end());
  for (const std::string& path : from.sums.paths) {
    const auto number = from.catalog.find(path);
    if (number && from.catalog[*number].added_rows > 0) {
      const DatasetEntry& dataset = from.catalog[*number];
      remark_on_rows(path, {dataset.own_rows(), dataset.row_count()}, findings);
    }
    if (!number || path == kSealPath || from.catalog[*number].own_rows() == 0 || from.catalog[*number].row_bytes() == 0) {
      continue;
    }
    const DatasetEntry& dataset = from.catalog[*number];
    const bool is_sealed = dataset.spec.element.varies && from.sums.is_sealed;
    if (!dataset.is_readable() && (dataset.checksum_group >= 0 || !from.records.of(*number).empty())) {
      findings.remarks.push_back(
          fmt::format("dataset '{}' was filtered or packed by another program, so that it takes libhdf5 to be read: its "
                      "checksums can't be compared",
                      path));
    } else if (!is_sealed && from.records.of(*number).empty() && summed.count(*number) == 0) {
      findings.remarks.push_back(
          dataset.is_lossy() ? fmt::format("dataset '{}' has checksums of its stored chunks alone, which hold no more", path)
          : dataset.is_readable()
              ? fmt::format("dataset '{}' has no checksum: nobody put it, so that it must have its fill value throughout", path)
              : fmt::format("dataset '{}' has no checksum: nobody put it", path));
    }
  }
  for (const SlabSum& slab : from.sums.slabs) {
    const std::string& path = from.sums.paths[static_cast<size_t>(slab.dataset)];
    const auto number = from.catalog.find(path);
    if (number && slab.sum == kNoSum && is_added_by_others(from.catalog[*number])) {
      const int64_t row_bytes = from.catalog[*number].row_bytes();
      const int64_t end = slab.displacement + slab.region.true_upper_bound();
      remark_on_rows(path, {slab.displacement / row_bytes, end / row_bytes}, findings);
    }
  }
  for (size_t i = 0; from.sums.is_sealed && i < from.sums.tables.size(); ++i) {
    if (from.sums.seal.tables[i].count == TableSeal::kUnknown) {
      findings.remarks.push_back(
          fmt::format("dataset '{}', which holds checksums, has none itself: rows were put more than once", RowTable::path(i)));
    }
  }
}

}  // namespace

Result<Findings> check_share(const SummedFile& from, const Comm& comm, const container::Reader* reader,
                             const std::vector<std::string>& except, const Status& chunk_sums) {
  STRIA_CHECK(comm.rank() != 0 || reader != nullptr, from.path);
  Findings findings;
  if (chunk_sums.code() == ErrorCode::kCorrupted || chunk_sums.code() == ErrorCode::kFormat) {
    if (comm.rank() == 0) {
      add_damage(findings.damages, kChunkSumsPath, 0, from.catalog[*from.catalog.find(kChunkSumsPath)].row_count());
    }
  } else {
    STRIA_RETURN_IF_ERROR(chunk_sums);
  }
  STRIA_RETURN_IF_ERROR(check_data(from, comm, except, findings));
  STRIA_RETURN_IF_ERROR(check_tables(from, comm, findings.damages));
  if (comm.rank() == 0) {
    check_names(from, findings);
    STRIA_RETURN_IF_ERROR(check_metadata(from, *reader, findings));
  }
  return findings;
}

Result<Findings> share_findings(const SummedFile& from, Comm& comm, const Findings& mine) {
  std::vector<std::byte> encoded;
  Status status = or_out_of_memory([&] {
    encoded = encode_findings(mine);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm.agree(status));
  PartExchange exchange;
  exchange.start(comm, std::move(encoded));
  exchange.finish();
  std::vector<std::byte> message;
  status = or_out_of_memory([&]() -> Status {
    if (comm.rank() != 0) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto parts, exchange.take());
    Findings all;
    for (const auto& part : parts) {
      decode_findings(part, all);
    }
    tidy(all.damages);
    tidy(all.repeated);
    remark_on_datasets(from, all);
    message = encode_findings(all);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(share_bytes(comm, status, message));
  Findings all;
  status = or_out_of_memory([&] {
    decode_findings(message, all);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm.agree(status));
  return all;
}

}  // namespace stria::file
