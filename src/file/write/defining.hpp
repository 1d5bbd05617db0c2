// What a program defines in a file that is written: datasets, tables, attributes, links.
//
// Problem: every rank makes the same calls, and one that is refused on a rank must not let the
// others go on without it.
// Method: calls are recorded in the session's Defined (metadata/defined.hpp). An error fails the
// next collective call of all ranks. Rank 0 carries them out at the commit (write_session.hpp).
// Cost: nothing is sent. Everything here is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "container/container.hpp"
#include "file/write/write_session.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns the number of the dataset, as append_rows() and update() do.
Result<int> create_dataset(WriteSession& session, const container::DatasetSpec& spec, const DatasetOptions& options);
Result<int> append_rows(WriteSession& session, const std::string& path, int64_t rows);
/// Takes up a dataset that the file has, to overwrite elements in place.
Result<int> update(WriteSession& session, const std::string& path);
/// `content` is empty on a rank that leaves it out; that of rank 0 counts.
Status create_table(WriteSession& session, container::DatasetSpec spec, std::span<const std::byte> content);
Status set_attribute(WriteSession& session, container::AttributeSpec attribute);
Status create_link(WriteSession& session, container::LinkSpec link);

}  // namespace stria::file
