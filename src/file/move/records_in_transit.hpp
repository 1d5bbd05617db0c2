// Records on their way between memory and the file's form, where these differ.
//
// Problem: the engine moves records as bytes.
// Method: what is put is converted into a copy at once, so that the memory may change; what is got
// comes into a buffer in the file's form, from which memory is filled when all has come. Records
// that are the same in both forms take neither.
// Cost: the memory of the records in the file's form, until the next flush or commit.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "file/move/record_conversion.hpp"
#include "stria/memory.hpp"

namespace stria::file {

struct DatasetEntry;

class RecordsInTransit {
 public:
  /// Takes the place of `memory`, which is to have as many records as `count`: `memory` is then
  /// that of the records in the file's form, which the result owns. Null where `memory` can be
  /// moved as it is. kInvalidArgument and kUnsupported say why the records don't fit.
  static Result<std::shared_ptr<RecordsInTransit>> of_put(const DatasetEntry& dataset, int64_t count, Memory& memory);
  static Result<std::shared_ptr<RecordsInTransit>> of_get(const DatasetEntry& dataset, int64_t count, Memory& memory);

  /// Fills the memory of a get, whose records have come.
  Status deliver();

 private:
  RecordsInTransit(RecordConversion conversion, Memory memory)
      : conversion_(std::move(conversion)), memory_(std::move(memory)) {}

  RecordConversion conversion_;
  Memory memory_;  // the program's
  std::vector<std::byte> records_{};
};

}  // namespace stria::file
