// A file that is written, as far as its content is being defined: datasets, tables, attributes.
//
// Problem: every rank makes the same calls, and one that is refused on a rank must not let the
// others go on without it.
// Method: calls are recorded in definitions.hpp. An error fails the next collective call of all
// ranks. Rank 0 carries them out at the commit (write_session.hpp).
// Cost: nothing is sent.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "file/define/definitions.hpp"
#include "file/session/session.hpp"
#include "file/write/metadata/places.hpp"
#include "file/write/old/old_file.hpp"

namespace stria::file {

/// Everything public here is local.
class DefiningSession : public Session {
 public:
  /// Tells whether the file is there already.
  bool grows() const { return kind_ == Kind::kGrowing; }
  Format format() const override { return environment_.format->format(); }
  std::string how_opened() const override;
  bool is_written() const override { return true; }
  Result<int> find(const std::string& dataset_path) override;

  Result<int> create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options);
  Result<int> append_rows(const std::string& path, int64_t rows);
  /// `content` is empty on a rank that leaves it out; that of rank 0 counts.
  Status create_table(container::DatasetSpec spec, std::span<const std::byte> content);
  Status set_attribute(container::AttributeSpec attribute);
  Status create_link(container::LinkSpec link);
  Status create_group(const std::string& path);
  Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) override;
  /// Takes up a dataset that the file has, to overwrite elements in place.
  Result<int> update(const std::string& path);

 protected:
  enum class Kind { kNew, kGrowing };
  /// Says what is known of a file before the ranks meet.
  struct Beginning {
    Environment environment;
    std::string path;
    CreateOptions options;
    std::shared_ptr<RollCall> roll_call;
    Kind kind = Kind::kNew;
    std::unique_ptr<container::Layout> layout;  ///< places its raw data
  };
  explicit DefiningSession(Beginning beginning);
  /// Returns what definitions change.
  Definitions::Target target();

  const Kind kind_;
  CreateOptions options_;
  OldFile old_;
  Places places_;
  Definitions definitions_;
};

}  // namespace stria::file
