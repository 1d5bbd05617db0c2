// The places of what a new file holds, or of what is added to an old one, made final.
//
// Problem: a dataset gets its place when it is defined, but some formats know the size of what lies
// before the data only later. Tables of sums get theirs when everything else is defined.
// Method: the layout gives places. Before the first data are moved they are settled, once; so are
// the puts that follow from them. Tables come at the commit, or before the rows in a file whose
// rows lie among each other behind everything else.
// Cost: a pass over the datasets; nothing is said to other ranks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/container.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/catalog.hpp"
#include "file/define/definitions.hpp"
#include "file/move/transfer.hpp"
#include "file/write/old/old_content.hpp"

namespace stria::file {

/// Everything here is local, and the same on every rank.
class Places {
 public:
  explicit Places(std::unique_ptr<container::Layout> layout) : layout_(std::move(layout)) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /// This layout gives the places. It is another one once it is known what grows.
  const std::unique_ptr<container::Layout>& layout() const { return layout_; }
  /// What is added to a growing file lies behind what it has. Must be called before anything is
  /// defined.
  void begin_behind(const OldContent& old, const container::FileFormat& format);
  /// Makes the places of all datasets final, the first time, and those of `pending` puts whose rows
  /// lie among others'. `complete`: nothing more will be defined.
  Status settle(bool complete, Catalog& catalog, std::span<Transfer> pending);
  /// Does the same when everything else is defined, and defines the tables of checksums, which it
  /// returns; none where they had their places before. `target` has this layout.
  Result<std::optional<std::vector<RowTable>>> settle_with_tables(bool complete, const Definitions::Target& target,
                                                                  std::span<Transfer> pending, const OldContent& old,
                                                                  Definitions& definitions);

 private:
  std::unique_ptr<container::Layout> layout_;
  bool settled_ = false;
};

}  // namespace stria::file
