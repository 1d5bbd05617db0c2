// Attributes, tables and lists of strings: rank 0 reads them for all ranks.
#include <fmt/format.h>

#include "container/container.hpp"
#include "file/define/attribute_values.hpp"
#include "file/define/columns.hpp"
#include "file/meet/outcome_message.hpp"
#include "file/read/read_session.hpp"
#include "file/session/catalog_message.hpp"
#include "file/verify/get_checks.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// The most that is broadcast whole, because a damaged or hostile header may claim anything.
constexpr int64_t kSmallBytesMax = 256 << 20;

}  // namespace

// Rank 0's whole content of a small dataset, on every rank, unless one of them has failed `before`.
Result<std::vector<std::byte>> ReadSession::read_small(const std::string& dataset_path, const Status& before, Call call) {
  return healing([&] { return read_small_once(dataset_path, before, call); });
}

Result<std::vector<std::byte>> ReadSession::read_small_once(const std::string& dataset_path, const Status& before, Call call) {
  const auto number = or_out_of_memory([&] { return find(dataset_path); });
  Status status = before.ok() ? number.status() : before;
  std::vector<std::byte> content;
  if (status.ok() && is_root()) {
    status = or_out_of_memory([&] { return read_whole(*number, content); });
  }
  STRIA_RETURN_IF_ERROR(meet_and_share(call, status, content));
  return content;
}

// Rank 0 alone.
Status ReadSession::read_whole(int number, std::vector<std::byte>& content) {
  PhaseTimer timer(report_.phases, Phase::kRead);
  const DatasetEntry& entry = dataset(number);
  if (entry.data_bytes() > kSmallBytesMax) {
    return Status(ErrorCode::kFormat, fmt::format("'{}': dataset '{}' is too large for a list", path_, entry.spec.path));
  }
  content.resize(static_cast<size_t>(entry.data_bytes()));
  const std::vector<int64_t> start(entry.spec.dims.size(), 0);
  STRIA_RETURN_IF_ERROR(reader_->read_hyperslab(entry.spec.path, start, entry.spec.dims, content));
  return checks() ? check_small(summed(), number) : Status();
}

Result<std::vector<std::string>> ReadSession::read_strings(const std::string& dataset_path) {
  size_t width = 0;
  std::string padding(" \0", 2);
  const Status strings_there = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
    const container::DatasetSpec& spec = dataset(number).spec;
    width = static_cast<size_t>(spec.element.bytes);
    padding.erase(0, spec.element.varies ? 1 : 0);  // blanks belong to a text of any length
    return spec.element.kind == container::ElementSpec::Kind::kString
               ? Status()
               : Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}' holds no strings of fixed length", spec.path));
  });
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::byte> content, read_small(dataset_path, strings_there, Call::kReadStrings));
  std::vector<std::string> strings;
  STRIA_RETURN_IF_ERROR(comm().agree(or_out_of_memory([&] {
    for (size_t at = 0; width > 0 && at + width <= content.size(); at += width) {
      std::string text(reinterpret_cast<const char*>(content.data()) + at, width);
      strings.push_back(text.substr(0, text.find_last_not_of(padding) + 1));
    }
    return Status();
  })));
  return strings;
}

Result<std::vector<Column>> ReadSession::read_columns(const std::string& dataset_path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(check_open());
  STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
  row_bytes = dataset(number).spec.element.bytes;
  return list_columns(dataset(number).spec);
}

Result<std::vector<std::byte>> ReadSession::read_table(const std::string& dataset_path, std::vector<Column>& columns,
                                                       int64_t& row_bytes) {
  const Status known = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(columns, read_columns(dataset_path, row_bytes));
    return Status();
  });
  return read_small(dataset_path, known, Call::kReadTable);
}

// Rank 0's answer on every rank. If one rank has no memory to decode it, the others hear of it.
template <typename Value, typename Ask, typename Decode>
Result<Value> ReadSession::ask_root(Ask&& ask, Decode&& decode) {
  std::vector<std::byte> answer;
  const Status status = is_root() ? or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(answer, ask());
    return Status();
  })
                                  : Status();
  STRIA_RETURN_IF_ERROR(meet_and_share(Call::kAttribute, status, answer));
  Value value;
  STRIA_RETURN_IF_ERROR(comm().agree(or_out_of_memory([&] {
    value = decode(answer);
    return Status();
  })));
  return value;
}

Result<container::AttributeSpec> ReadSession::read_attribute(const std::string& object, const std::string& name) {
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    STRIA_ASSIGN_OR_RETURN(const auto attribute, reader_->attribute(object, name));
    return encode_attribute(attribute);
  };
  return ask_root<container::AttributeSpec>(ask, decode_attribute);
}

Result<double> ReadSession::read_number_attribute(const std::string& object, const std::string& name) {
  STRIA_ASSIGN_OR_RETURN(const auto attribute, read_attribute(object, name));
  return number_of(attribute);
}

Result<std::vector<AttributeInfo>> ReadSession::list_attributes(const std::string& object) {
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    STRIA_ASSIGN_OR_RETURN(const auto names, reader_->attribute_names(object));
    std::vector<AttributeInfo> infos;
    for (const std::string& name : names) {
      auto attribute = reader_->attribute(object, name);
      // One that can't be read, or a reference that leads nowhere, doesn't hide the rest.
      const bool is_lost = attribute.status().code() == ErrorCode::kNotFound;
      if (is_lost || attribute.status().code() == ErrorCode::kUnsupported) {
        infos.push_back({name, is_lost ? "reference" : "other", {}});
        continue;
      }
      STRIA_RETURN_IF_ERROR(attribute.status());
      if (attribute->element.meaning == Meaning::kComplex) {
        attribute->dims.pop_back();
      }
      infos.push_back({name, type_name_of(attribute->element), std::move(attribute->dims)});
    }
    return encode_attribute_list(infos);
  };
  return ask_root<std::vector<AttributeInfo>>(ask, decode_attribute_list);
}

}  // namespace stria::file
