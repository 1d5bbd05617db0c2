// Attributes, tables and lists of strings: rank 0 reads them for all ranks.
//
// Cost: a meeting and a broadcast each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "file/read/read_session.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Reads all of these. Collective: yes; the same outcome everywhere.
Result<std::vector<std::byte>> read_table(ReadSession& session, const std::string& dataset_path, std::vector<Column>& columns,
                                          int64_t& row_bytes);
Result<std::vector<std::string>> read_strings(ReadSession& session, const std::string& dataset_path);
Result<container::AttributeSpec> read_attribute(ReadSession& session, const std::string& object, const std::string& name);
Result<double> read_number_attribute(ReadSession& session, const std::string& object, const std::string& name);
Result<std::vector<AttributeInfo>> list_attributes(ReadSession& session, const std::string& object);

}  // namespace stria::file
