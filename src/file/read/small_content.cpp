#include "file/read/small_content.hpp"

#include <fmt/format.h>

#include "base/out_of_memory.hpp"
#include "file/define/attribute_values.hpp"
#include "file/session/catalog_message.hpp"

namespace stria::file {

namespace {

// Gives rank 0's answer to every rank. If one rank has no memory to decode it, the others hear of
// it.
template <typename Value, typename Ask, typename Decode>
Result<Value> ask_root(Meetings& meetings, Ask&& ask, Decode&& decode) {
  std::vector<std::byte> answer;
  const Status status = meetings.is_root() ? or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(answer, ask());
    return Status();
  })
                                           : Status();
  STRIA_RETURN_IF_ERROR(meetings.meet_and_share(Call::kAttribute, status, answer));
  Value value;
  STRIA_RETURN_IF_ERROR(meetings.comm().agree(or_out_of_memory([&] {
    value = decode(answer);
    return Status();
  })));
  return value;
}

}  // namespace

Result<std::vector<std::string>> read_strings(ReadSession& session, const std::string& dataset_path) {
  size_t width = 0;
  std::string padding(" \0", 2);
  const Status strings_there = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int number, session.find(dataset_path));
    const container::DatasetSpec& spec = session.file().catalog[number].spec;
    width = static_cast<size_t>(spec.element.bytes);
    padding.erase(0, spec.element.varies ? 1 : 0);  // blanks belong to a text of any length
    return spec.element.kind == container::ElementSpec::Kind::kString
               ? Status()
               : Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}' holds no strings of fixed length", spec.path));
  });
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                         session.read_small(dataset_path, strings_there, Call::kReadStrings));
  std::vector<std::string> strings;
  STRIA_RETURN_IF_ERROR(session.file().comm().agree(or_out_of_memory([&] {
    for (size_t at = 0; width > 0 && at + width <= content.size(); at += width) {
      std::string text(reinterpret_cast<const char*>(content.data()) + at, width);
      strings.push_back(text.substr(0, text.find_last_not_of(padding) + 1));
    }
    return Status();
  })));
  return strings;
}

Result<std::vector<std::byte>> read_table(ReadSession& session, const std::string& dataset_path, std::vector<Column>& columns,
                                          int64_t& row_bytes) {
  const Status known = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(columns, session.read_columns(dataset_path, row_bytes));
    return Status();
  });
  return session.read_small(dataset_path, known, Call::kReadTable);
}

Result<container::AttributeSpec> read_attribute(ReadSession& session, const std::string& object, const std::string& name) {
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    STRIA_ASSIGN_OR_RETURN(const auto attribute, session.source().reader->attribute(object, name));
    return encode_attribute(attribute);
  };
  return ask_root<container::AttributeSpec>(session.file().meetings, ask, decode_attribute);
}

Result<double> read_number_attribute(ReadSession& session, const std::string& object, const std::string& name) {
  STRIA_ASSIGN_OR_RETURN(const auto attribute, read_attribute(session, object, name));
  return number_of(attribute);
}

Result<std::vector<AttributeInfo>> list_attributes(ReadSession& session, const std::string& object) {
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    STRIA_ASSIGN_OR_RETURN(const auto names, session.source().reader->attribute_names(object));
    std::vector<AttributeInfo> infos;
    for (const std::string& name : names) {
      auto attribute = session.source().reader->attribute(object, name);
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
  return ask_root<std::vector<AttributeInfo>>(session.file().meetings, ask, decode_attribute_list);
}

}  // namespace stria::file
