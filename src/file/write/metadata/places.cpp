#include "file/write/metadata/places.hpp"

#include <utility>

#include "file/write/metadata/checksum_tables.hpp"

namespace stria::file {

void Places::begin_behind(const OldContent& old, const container::FileFormat& format) {
  layout_ = format.make_layout();
  layout_->begin_behind(old.end);
}

Status Places::settle(bool complete, Catalog& catalog, std::span<Transfer> pending) {
  if (settled_) {
    return Status();
  }
  settled_ = true;
  STRIA_RETURN_IF_ERROR(layout_->settle(complete));
  for (DatasetEntry& entry : catalog.datasets()) {
    if (entry.data_offset >= 0 && !entry.is_old) {
      layout_->finish_place(entry.spec);
      entry.data_offset = entry.spec.data_offset;
    }
  }
  for (Transfer& transfer : pending) {
    const DatasetEntry& entry = catalog[transfer.dataset];
    if (entry.is_interleaved()) {
      STRIA_ASSIGN_OR_RETURN(transfer, make_transfer(transfer.dataset, entry, transfer.slab, transfer.memory));
    }
  }
  return Status();
}

Result<std::optional<std::vector<RowTable>>> Places::settle_with_tables(bool complete, const Definitions::Target& target,
                                                                        std::span<Transfer> pending, const OldContent& old,
                                                                        Definitions& definitions) {
  std::optional<std::vector<RowTable>> made;
  if (settled_ && layout_->interleaves()) {
    return made;  // they have their places before the rows
  }
  const bool was_settled = settled_;
  STRIA_ASSIGN_OR_RETURN(auto tables, define_checksum_tables(target, old, definitions));
  STRIA_RETURN_IF_ERROR(settle(complete, target.catalog, pending));
  for (size_t i = 0; !was_settled && i < tables.size(); ++i) {
    container::DatasetSpec spec = tables[i].spec(old.checksums.tables.size() + i);
    layout_->finish_place(spec);
    tables[i].data_offset = spec.data_offset;
  }
  made = std::move(tables);
  return made;
}

}  // namespace stria::file
