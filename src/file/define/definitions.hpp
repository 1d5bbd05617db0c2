// Describes what a new file will hold, as defined so far on this rank: datasets, tables,
// attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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
  /// Says what a definition changes, besides being kept: each call gets it. The catalog must
  /// outlive the log, which describes what was defined when ranks differ.
  struct Target {
    Catalog& catalog;
    container::Layout& layout;
    DefinitionLog& log;
    const Catalog& before;  ///< what a file that grows has
  };

  /// `alignment_bytes` is for datasets of at least that size which ask for none; `carries_out` on
  /// the rank that will.
  Definitions(int64_t alignment_bytes, bool carries_out) : alignment_bytes_(alignment_bytes), carries_out_(carries_out) {}
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  /// Gives the dataset its number and its place.
  Result<int> create_dataset(const Target& target, const container::DatasetSpec& spec, const DatasetOptions& options);
  /// Gives a dataset that is new, or that the file has, more rows. Returns its number.
  Result<int> append_rows(const Target& target, const std::string& path, int64_t rows);
  /// `content` is empty on a rank that leaves it out.
  Status create_table(const Target& target, container::DatasetSpec spec, std::span<const std::byte> content);
  Status set_attribute(const Target& target, container::AttributeSpec attribute);
  Status create_link(const Target& target, container::LinkSpec link);
  /// Takes up a dataset that the file has, to overwrite elements. Returns its number.
  Result<int> update(const Target& target, const std::string& path);
  /// Does the same as create_table(), without a look at the name: it is for tables of the library's
  /// own.
  Status add_table(const Target& target, container::DatasetSpec spec, std::span<const std::byte> content);

  /// Takes back the library's own tables.
  void drop_own_tables();

  /// Tells whether anything was defined besides datasets.
  bool any() const { return !tables_.empty() || !attributes_.empty() || !links_.empty(); }
  /// The tables come in the order in which they were made; they are the same on every rank but for
  /// the contents.
  std::span<const Table> tables() const { return tables_; }
  /// Makes tables, links and attributes, when all datasets are made. On the rank that carries out.
  Status carry_out(container::Writer& writer) const;

 private:
  Status tell_fill_value(const Target& target, const container::DatasetSpec& spec, const FillValue& value);

  int64_t alignment_bytes_;
  bool carries_out_;
  int64_t next_order_ = 0;  // the order of what is made next
  std::vector<Table> tables_;
  std::vector<container::AttributeSpec> attributes_;
  std::vector<container::LinkSpec> links_;
};

}  // namespace stria::file
