// A put into chunks that a file has: where in the file its bytes go.
//
// Problem: neighbours in the raw data lie in several chunks, and these lie anywhere in the file.
// Method: the runs that the put has of chunks, sorted by their places in the file, become its
// region, and a copy of its memory gets their order. Whatever moves puts then moves this one.
// Cost: O(runs log runs), about 60 bytes a run, and a copy of what is put.
#pragma once

#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "container/chunking.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Gives a put its places in the file, of which `index` has the dataset's chunks, and adds the
/// numbers of the chunks that it touches to `touched`. kUnsupported, without a change, where the
/// file doesn't have one; kCorrupted where the index makes no sense. No chunk passes a filter.
Status put_into_chunks(const DatasetEntry& dataset, std::span<const container::StoredChunk> index, Transfer& put,
                       std::vector<ByteRange>& touched);

}  // namespace stria::file
