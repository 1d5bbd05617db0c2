// Describes what a session knows about the datasets of its file, the same on every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "container/spec.hpp"
#include "stria/element_type.hpp"
#include "stria/status.hpp"

namespace stria::file {

struct DatasetEntry {
  container::DatasetSpec spec;
  /// Where the raw data begin; -1: they have no place yet, or not one piece. New chunks are one
  /// piece once they are packed. Where chunks are overwritten, it is all that the file has.
  /// stored_bytes says how much that is.
  int64_t data_offset = -1;
  int64_t stored_bytes = 0;    ///< the bytes of the same
  std::string filters;         ///< what chunks pass, in words
  std::string obstacle;        ///< what of its chunks takes the format's library
  std::vector<int64_t> chunk;  ///< the lengths of an existing dataset's chunks
  bool is_scale = false;       ///< it holds the coordinates of the dimension of its name
  Status problem;              ///< why its elements can't be read
  bool value_range = false;
  bool is_virtual = false;  ///< other files have its rows
  /// The rows that the file has of a dataset that gets longer. 0: it is new.
  int64_t old_rows = 0;
  bool is_old = false;      ///< the file that grows has it
  bool is_updated = false;  ///< true: what is put takes the place of what it has
  int checksum_group = -1;  ///< rows are summed: which table, and which column of it; -1: by slabs
  int checksum_column = 0;
  int64_t added_rows = 0;  ///< another program has added them, behind those that may have sums

  /// Returns the type of its numbers; kByte where it has none.
  ElementType stored_element() const {
    return spec.element.kind == container::ElementSpec::Kind::kNumber ? spec.element.number : ElementType::kByte;
  }
  int64_t row_count() const { return spec.dims.empty() ? 1 : spec.dims[0]; }
  int64_t row_bytes() const;  ///< the bytes of one index of the first dimension
  int64_t data_bytes() const { return row_count() * row_bytes(); }
  /// Returns a name for each dimension, "" for one without; empty where none has one.
  std::vector<std::string> dimension_names() const;
  /// The first dimension has no limit.
  bool can_grow() const { return spec.extendable || spec.unlimited; }
  bool is_chunked() const { return spec.chunking.has_value(); }
  /// Its chunks are made at the commit, of all that is put.
  bool is_packed() const { return is_chunked() && !is_updated; }
  /// What is got isn't just what was put: only the stored chunks have sums.
  bool is_lossy() const { return is_chunked() && spec.chunking->filters.loses(); }
  /// The engine can read it, else only libhdf5 can.
  bool is_readable() const { return data_offset >= 0 || is_chunked(); }
  /// Rows lie among those of other datasets.
  bool is_interleaved() const { return spec.row_stride_bytes > 0; }
  /// Returns where a dataset with a data_offset lies in the file; what interleaved rows have in
  /// between is others'.
  ByteRange extent() const;
  /// Returns where a range of the raw data begins in the file, as far as it lies in one piece
  /// there. In the raw data rows always follow each other. \pre data_offset >= 0
  ByteRange in_file(ByteRange raw) const;
  /// Returns the rows that Stria has made.
  int64_t own_rows() const { return row_count() - added_rows; }
};

/// All paths that a file has, of which several may lead to one object.
struct CatalogPaths {
  /// Each entry is a dataset and its number, in the order of the file's list.
  std::vector<std::pair<std::string, int>> datasets;
  /// The path of a group, and the one under which the file lists what it has.
  std::unordered_map<std::string, std::string> groups;
  /// A group, with '/' at the end, or a link to no dataset or group of this file; it stands behind
  /// so many paths of datasets.
  struct Other {
    std::string path;
    int64_t datasets_before = 0;
    std::string target{};  ///< the target of a link
    std::string file{};    ///< the file of a link to another file
  };
  std::vector<Other> others{};
};

/// The datasets of a file by number, in the order in which they came, and by path.
class Catalog {
 public:
  Catalog() = default;
  Catalog(std::vector<DatasetEntry> datasets, CatalogPaths paths);

  /// Returns the dataset's number.
  int add(DatasetEntry entry);
  /// Finds the number of the dataset at a path, with or without a slash before it; links lead to
  /// theirs.
  std::optional<int> find(const std::string& path) const;
  /// Everything but Stria's own tables, and datasets that only stand for a dimension. Links too.
  std::vector<std::string> content_paths() const;
  const CatalogPaths& paths() const { return paths_; }
  /// Tells whether there is a group at a path; "" and "/" are the root.
  bool has_group(const std::string& path) const;
  /// Returns the names in a group, in the file's order, but for Stria's own group.
  std::vector<std::string> members(const std::string& group) const;
  /// Returns the link at a path that leads to another file; null where there is none.
  const CatalogPaths::Other* link_to_file(const std::string& path) const;
  /// Returns the catalog `all`, where a dataset that is in this one keeps its number.
  Catalog completed(Catalog all) const;
  /// Tells whether any dataset is_packed().
  bool has_packed() const;

  DatasetEntry& operator[](int number) { return datasets_[static_cast<size_t>(number)]; }
  const DatasetEntry& operator[](int number) const { return datasets_[static_cast<size_t>(number)]; }
  int size() const { return static_cast<int>(datasets_.size()); }
  std::span<DatasetEntry> datasets() { return datasets_; }
  std::span<const DatasetEntry> datasets() const { return datasets_; }

 private:
  std::string listed_path(const std::string& path) const;

  std::vector<DatasetEntry> datasets_;
  CatalogPaths paths_;
  std::unordered_map<std::string, int> number_of_path_;
};

}  // namespace stria::file
