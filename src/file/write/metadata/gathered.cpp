#include "file/write/metadata/gathered.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

void unite_with(ValueRange& total, const ValueRange& more) {
  total.minimum = std::min(total.minimum, more.minimum);
  total.maximum = std::max(total.maximum, more.maximum);
}

}  // namespace

Result<SlabSum> record_of(const Transfer& put, const DatasetEntry& dataset) {
  SlabSum record{.dataset = put.dataset, .displacement = put.displacement, .region = put.region};
  if (dataset.is_interleaved()) {
    // Another program may move the rows further apart.
    DatasetEntry raw = dataset;
    raw.spec.row_stride_bytes = 0;
    STRIA_ASSIGN_OR_RETURN(Transfer same, make_transfer(put.dataset, raw, put.slab, put.memory));
    record.displacement = same.displacement;
    record.region = std::move(same.region);
  }
  return record;
}

Status Gathered::keep(TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog) {
  set.finish_sums();
  value_ranges_.resize(static_cast<size_t>(catalog.size()));
  keep_value_ranges(set, transfers);
  keep_chunk_sums(set, transfers);
  return keep_sums(set, transfers, catalog);
}

void Gathered::keep_value_ranges(const TransferSet& set, std::span<const Transfer> transfers) {
  for (size_t i = 0; i < set.value_ranges().size(); ++i) {
    if (transfers[i].stored) {
      continue;
    }
    unite_with(value_ranges_[static_cast<size_t>(transfers[i].dataset)], set.value_ranges()[i]);
  }
}

void Gathered::keep_chunk_sums(const TransferSet& set, std::span<const Transfer> transfers) {
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (const UnitHasher* const hasher = set.chunk_sums(i)) {
      SummedChunk* chunk = chunks_[static_cast<size_t>(transfers[i].dataset)].data() + transfers[i].raw_chunks.first;
      for (const uint64_t sum : hasher->sums()) {
        chunk++->sum = sum;
      }
    }
  }
}

Status Gathered::keep_sums(const TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog) {
  for (size_t i = 0; i < transfers.size(); ++i) {
    const UnitHasher* hasher = set.sums(i);
    if (hasher == nullptr) {
      continue;
    }
    const Transfer& transfer = transfers[i];
    if (summed_by_rows(transfer, catalog[transfer.dataset])) {
      for (int64_t row = 0; row < hasher->unit_count(); ++row) {
        if (hasher->is_left_out(row)) {
          continue;
        }
        row_sums_.push_back(
            {.table = transfer.dataset, .index = transfer.first_row + row, .sum = hasher->sums()[static_cast<size_t>(row)]});
      }
    } else if (hasher->unit_count() == 1) {
      STRIA_ASSIGN_OR_RETURN(SlabSum record, record_of(transfer, catalog[transfer.dataset]));
      record.sum = hasher->sums()[0];
      encode_slab_sum(record, slab_records_);
    }
  }
  return Status();
}

void Gathered::keep_chunks(int dataset, std::vector<SummedChunk> chunks) {
  chunks_.resize(std::max(chunks_.size(), static_cast<size_t>(dataset) + 1));
  chunks_[static_cast<size_t>(dataset)] = std::move(chunks);
}

void Gathered::keep_records(std::span<const std::byte> records) {
  slab_records_.insert(slab_records_.end(), records.begin(), records.end());
}

void Gathered::drop_sums() {
  row_sums_.clear();
  slab_records_.clear();
}

void Gathered::lay_out(std::span<const RowTable> tables, const Catalog& catalog) {
  STRIA_CHECK(!laid_out_);
  laid_out_ = true;
  for (RowSum& sum : row_sums_) {
    const DatasetEntry& dataset = catalog[sum.table];
    const auto columns = static_cast<int64_t>(tables[static_cast<size_t>(dataset.checksum_group)].datasets.size());
    sum.index = sum.index * columns + dataset.checksum_column;
    sum.table = dataset.checksum_group;
  }
  row_sum_bytes_ = lay_out_row_sums(tables, std::move(row_sums_));
  value_ranges_.resize(static_cast<size_t>(catalog.size()));
}

std::vector<std::byte> Gathered::encode(const Catalog& catalog) const {
  STRIA_CHECK(laid_out_);
  // add() goes through the same datasets on rank 0.
  STRIA_CHECK(value_ranges_.size() == static_cast<size_t>(catalog.size()) && chunks_.size() <= value_ranges_.size(),
              value_ranges_.size(), chunks_.size(), catalog.size());
  std::vector<ValueRange> ranges;
  for (size_t i = 0; i < value_ranges_.size(); ++i) {
    if (catalog[static_cast<int>(i)].value_range) {
      ranges.push_back(value_ranges_[i]);
    }
  }
  FieldWriter fields;
  fields.bytes(std::as_bytes(std::span(ranges)));
  for (const TableShare& share : row_sum_bytes_.shares) {
    fields.bytes(std::as_bytes(std::span(share.places)));
    fields.number(static_cast<int64_t>(share.sum));
    fields.bytes(std::as_bytes(std::span(share.repeated)));
  }
  fields.bytes(slab_records_);
  for (size_t i = 0; i < value_ranges_.size(); ++i) {
    if (catalog[static_cast<int>(i)].is_chunked()) {
      encode_chunks(i < chunks_.size() ? std::span<const SummedChunk>(chunks_[i]) : std::span<const SummedChunk>(), fields);
    }
  }
  puts_.encode(fields);
  return fields.take();
}

std::vector<storage::WriteSegment> Gathered::take_row_sums() {
  return std::exchange(row_sum_bytes_.segments, {});
}

Status GatheredByAll::add(std::span<const std::byte> message, const Catalog& catalog) {
  STRIA_CHECK(value_ranges.size() == static_cast<size_t>(catalog.size()) && chunks.size() == value_ranges.size(),
              value_ranges.size(), chunks.size(), catalog.size());
  FieldReader fields(message);
  std::vector<ValueRange> ranges;
  fields.append_to(ranges);
  size_t next = 0;
  for (size_t i = 0; i < value_ranges.size(); ++i) {
    if (catalog[static_cast<int>(i)].value_range) {
      unite_with(value_ranges[i], next < ranges.size() ? ranges[next] : ValueRange());
      ++next;
    }
  }
  for (std::vector<TableShare>& shares : table_shares) {
    TableShare& share = shares.emplace_back();
    fields.append_to(share.places);
    share.sum = static_cast<uint64_t>(fields.number());
    fields.append_to(share.repeated);
  }
  const auto records = fields.bytes();
  slab_records.insert(slab_records.end(), records.begin(), records.end());
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (catalog[static_cast<int>(i)].is_chunked()) {
      decode_chunks(fields, chunks[i]);
    }
  }
  decode_put_places(fields, rank_count++, puts);
  return fields.is_whole() && next == ranges.size()
             ? Status()
             : Status(ErrorCode::kInternal, "what a rank gathered was garbled on its way");
}

}  // namespace stria::file
