// What a new file will hold, as defined so far on this rank: datasets, tables, attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"
#include "file/define/catalog.hpp"
#include "file/meet/definition_log.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// All ranks must define the same; the log finds where they don't. Errors are local:
/// kInvalidArgument, kAlreadyExists.
class Definitions {
 public:
  /// A small dataset that is made whole.
  struct Table {
    container::DatasetSpec spec;
    std::vector<std::byte> content;  ///< on rank 0, whose content counts
    bool is_dropped = false;         ///< it isn't made after all
  };
  /// What definitions change, besides being kept.
  struct Target {
    Catalog& catalog;
    const std::unique_ptr<container::Layout>& layout;  ///< another one when it is known what grows
    DefinitionLog& log;
    const Catalog& before;  ///< what a file that grows has
  };

  /// `alignment_bytes` is for datasets of at least that size which ask for none; `carries_out` on
  /// the rank that will.
  Definitions(const Target& target, int64_t alignment_bytes, bool carries_out)
      : target_(target), alignment_bytes_(alignment_bytes), carries_out_(carries_out) {}
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  /// Gives the dataset its number and its place.
  Result<int> create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options);
  /// Gives a dataset that is new, or that the file has, more rows. Returns its number.
  Result<int> append_rows(const std::string& path, int64_t rows);
  /// `content` is empty on a rank that leaves it out.
  Status create_table(container::DatasetSpec spec, std::span<const std::byte> content);
  Status set_attribute(container::AttributeSpec attribute);
  Status create_link(container::LinkSpec link);
  /// Makes a group that may have no members.
  Status create_group(const std::string& path);
  /// Takes up a dataset that the file has, to overwrite elements. Returns its number.
  Result<int> update(const std::string& path);
  /// As create_table(), without a look at the name: for tables of the library's own.
  Status add_table(container::DatasetSpec spec, std::span<const std::byte> content);

  /// Takes back the library's own tables.
  void drop_own_tables();

  /// Whether anything was defined.
  bool any() const {
    return target_.catalog.size() > 0 || !tables_.empty() || !attributes_.empty() || !links_.empty() || !groups_.empty();
  }
  /// In the order in which they were made; the same on every rank but for the contents.
  std::span<const Table> tables() const { return tables_; }
  /// Makes tables, links and attributes, when all datasets are made. On the rank that carries out.
  Status carry_out(container::Writer& writer) const;

 private:
  Status let_grow(const DatasetOptions& options, container::DatasetSpec& spec) const;
  Status tell_fill_value(const container::DatasetSpec& spec, const FillValue& value);

  Target target_;
  int64_t alignment_bytes_;
  bool carries_out_;
  int64_t next_order_ = 0;  // of what is made next
  std::vector<Table> tables_;
  std::vector<container::AttributeSpec> attributes_;
  std::vector<container::LinkSpec> links_;
  std::vector<std::pair<std::string, int64_t>> groups_;  // with their order
};

}  // namespace stria::file
