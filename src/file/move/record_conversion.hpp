// Turns records of one form into those of another: the file's, and those that memory has.
//
// Problem: programs differ in the order of members, their widths, byte order and padding, and may
// have fewer of them.
// Method: values are matched by their paths (record_places.hpp); each pair becomes a step, and
// steps that copy neighbours become one. Steps are done one after another for a batch of rows,
// which stays in the caches, so that a conversion is one call for many numbers. Cost: each value is
// read and written once, or three times where it is converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::file {

class RecordConversion {
 public:
  /// Converts records that are put to those of the file. kInvalidArgument names a column that only
  /// one side has, or that is of another kind; kUnsupported one whose type isn't known.
  static Result<RecordConversion> to_file(const container::ElementSpec& memory, const container::ElementSpec& file);
  /// Converts records of the file to those that are got, which may have fewer columns.
  static Result<RecordConversion> from_file(const container::ElementSpec& file, const container::ElementSpec& memory);
  /// Converts between the file's records and the same in the machine's byte order; both ways are
  /// alike.
  static Result<RecordConversion> turning(const container::ElementSpec& file);

  /// The records of both forms are the same bytes.
  bool is_identity() const;
  int64_t from_bytes() const { return from_bytes_; }
  int64_t to_bytes() const { return to_bytes_; }
  /// Converts as many whole records as `to` has room for. Bytes of `to` that nothing goes to become
  /// zero. kInvalidArgument names a string that is longer than there is room.
  Status convert(std::span<const std::byte> from, std::span<std::byte> to) const;

 private:
  /// Values of one column, in every record.
  struct Step {
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    int64_t count = 1;
    container::ElementSpec from{}, to{};  ///< each value's elements, without members and names
    bool is_copy = false;
    std::string path{};
  };
  struct Batch {
    const std::byte* from;
    std::byte* to;
    int64_t rows;
  };

  static Result<RecordConversion> match(const container::ElementSpec& from, const container::ElementSpec& to, bool to_file);
  Status require_all(const container::ElementSpec& file) const;
  void join_copies();
  Status run(const Step& step, const Batch& batch, std::vector<std::byte>& room) const;
  void copy(const Step& step, const Batch& batch) const;
  Status copy_strings(const Step& step, const Batch& batch) const;
  void convert_numbers(const Step& step, const Batch& batch, std::vector<std::byte>& room) const;

  int64_t from_bytes_ = 0;
  int64_t to_bytes_ = 0;
  std::vector<Step> steps_;
};

}  // namespace stria::file
