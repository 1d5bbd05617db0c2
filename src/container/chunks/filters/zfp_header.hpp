// Describes what the registered filter 32013 (H5Z-ZFP) keeps in a dataset's header: ZFP's own
// header, which says what chunks are, and by what they were cut short. It takes no libzfp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "container/spec.hpp"

namespace stria::container {

/// Returns the lengths of a chunk that ZFP sees, slowest first: those greater than 1.
std::vector<int64_t> zfp_dims(const DatasetSpec& spec);

/// Tells whether ZFP takes chunks of these elements and lengths by these bounds: an error says why
/// not.
Status check_zfp(const DatasetSpec& spec);

/// Returns ZFP's name for the mode: fixed accuracy or precision by the bound, fixed rate, or
/// reversible.
uint64_t zfp_mode(const DatasetSpec& spec);

/// Returns the values of the filter, of a spec that check_zfp() has found well.
std::vector<uint32_t> zfp_values(const DatasetSpec& spec);

/// Returns the mode that values of another writer tell of, as Filters with nothing else. Nothing
/// where they don't fit the spec, which has no filters yet, or tell of a mode that has no short
/// name.
std::optional<Filters> zfp_filters(std::span<const uint32_t> values, const DatasetSpec& spec);

}  // namespace stria::container
