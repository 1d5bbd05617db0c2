// Datasets whose content other programs don't see, and keep.
//
// Problem: h5diff compares all that two files have. Sums, and where things lie, differ between
// files with the same data: by the ranks that wrote them, or by filters.
// Method: the dataset is one record that is as long as its content and 8 bytes more. Its only
// member is a number at the beginning, 0. Programs that read the record see the member; those that
// copy it, with new filters or another layout too, copy all of its bytes.
// Cost: 8 bytes for each dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Where the content begins in the record.
inline constexpr int64_t kHiddenContentAt = 8;

/// Tells whether a dataset that is to be made is stored so: it asks for it, and isn't too long for
/// a record.
bool hides_content(const DatasetSpec& spec);
/// Makes the record of a dataset that hides_content(); of another one, is_hidden becomes false.
void fold_hidden(DatasetSpec& spec);
/// Returns the content of such a record.
std::vector<std::byte> with_hidden_head(std::span<const std::byte> content);
/// Returns how long the content is of a dataset of the file, if it is such a record.
std::optional<int64_t> hidden_content_bytes(const ElementSpec& element, const std::vector<int64_t>& dims);

}  // namespace stria::container::h5
