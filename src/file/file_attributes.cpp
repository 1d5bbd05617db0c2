// The attributes of File: numbers, strings and references, one or a list.
#include "file/define/attribute_values.hpp"
#include "file/opening/calls.hpp"
#include "file/read/small_content.hpp"
#include "file/write/defining.hpp"
#include "stria/file.hpp"

namespace stria {

using file::ReadTurn;
using file::WriteTurn;

namespace {

container::AttributeSpec strings_attribute(const std::string& object, const std::string& name,
                                           const std::vector<std::string_view>& values) {
  size_t longest = 1;
  for (const std::string_view value : values) {
    longest = std::max(longest, value.size());
  }
  container::AttributeSpec attribute{
      object, name, container::ElementSpec::of_string(static_cast<int64_t>(longest), false), {}, {}};
  attribute.value.resize(longest * values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) {
      std::memcpy(attribute.value.data() + i * longest, values[i].data(), values[i].size());
    }
  }
  return attribute;
}

container::AttributeSpec texts_attribute(const std::string& object, const std::string& name,
                                         const std::vector<std::string_view>& values) {
  container::AttributeSpec attribute = strings_attribute(object, name, values);
  attribute.element.varies = true;
  return attribute;
}

container::AttributeSpec references_attribute(const std::string& object, const std::string& name,
                                              const std::vector<std::string_view>& paths) {
  container::AttributeSpec attribute = strings_attribute(object, name, paths);
  attribute.element = container::ElementSpec::of_reference(attribute.element.bytes);
  return attribute;
}

// Returns the texts of an attribute of strings or references.
std::vector<std::string> texts_of(const container::AttributeSpec& found) {
  std::vector<std::string> values;
  const auto width = static_cast<size_t>(found.element.bytes);
  for (size_t at = 0; width > 0 && at + width <= found.value.size(); at += width) {
    std::string text(reinterpret_cast<const char*>(found.value.data()) + at, width);
    text.resize(std::min(text.find('\0'), text.size()));
    const size_t last = found.element.space_padded ? text.find_last_not_of(' ') + 1 : text.size();
    values.push_back(text.substr(0, last));
  }
  return values;
}

container::AttributeSpec read_one(const std::shared_ptr<file::Session>& of, const std::string& object,
                                  const std::string& name) {
  const ReadTurn session(of, "attribute()");
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileReadList), session->file().accounts.trace_id());
  const CallNote noted = note(*session, "attribute()");
  return file::read_attribute(*session, object, name).value();
}

}  // namespace

void File::set_numbers(const std::string& object, const std::string& name, const Numbers& numbers) {
  const WriteTurn session(session_, "set_attribute()");
  container::AttributeSpec attribute{object, name, container::ElementSpec::of_number(numbers.type), numbers.dims, {}};
  const auto shape_bytes = container::dataset_bytes({.path = name, .element = attribute.element, .dims = numbers.dims});
  if (!shape_bytes.ok() || *shape_bytes != numbers.count * attribute.element.bytes) {
    const std::string what = fmt::format("set_attribute('{}', '{}'): {} values don't have the shape {{{}}}", object, name,
                                         numbers.count, fmt::join(numbers.dims, ", "));
    session->file().meetings.refuse(Status(ErrorCode::kInvalidArgument, what)).throw_if_error();
  }
  const auto* bytes = static_cast<const std::byte*>(numbers.values);
  const int64_t parts = numbers.meaning == Meaning::kComplex ? 2 : 1;
  attribute.value.assign(bytes, bytes + numbers.count * parts * element_bytes(numbers.type));
  attribute.element.meaning = numbers.meaning;
  if (numbers.meaning == Meaning::kComplex) {
    attribute.dims.push_back(2);
  }
  file::set_attribute(*session, std::move(attribute)).throw_if_error();
}

void File::set_attribute(const std::string& object, const std::string& name, std::string_view value) {
  file::set_attribute(*WriteTurn(session_, "set_attribute()"), strings_attribute(object, name, {value})).throw_if_error();
}

void File::set_attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values) {
  container::AttributeSpec attribute = strings_attribute(object, name, {values.begin(), values.end()});
  attribute.dims = {static_cast<int64_t>(values.size())};
  file::set_attribute(*WriteTurn(session_, "set_attribute()"), std::move(attribute)).throw_if_error();
}

void File::set_text(const std::string& object, const std::string& name, std::string_view text) {
  file::set_attribute(*WriteTurn(session_, "set_text()"), texts_attribute(object, name, {text})).throw_if_error();
}

void File::set_texts(const std::string& object, const std::string& name, const std::vector<std::string>& texts) {
  container::AttributeSpec attribute = texts_attribute(object, name, {texts.begin(), texts.end()});
  attribute.dims = {static_cast<int64_t>(texts.size())};
  file::set_attribute(*WriteTurn(session_, "set_texts()"), std::move(attribute)).throw_if_error();
}

void File::set_attribute(const std::string& object, const std::string& name, const Reference& value) {
  file::set_attribute(*WriteTurn(session_, "set_attribute()"), references_attribute(object, name, {value.path}))
      .throw_if_error();
}

void File::set_attribute(const std::string& object, const std::string& name, const std::vector<Reference>& values) {
  std::vector<std::string_view> paths;
  for (const Reference& value : values) {
    paths.emplace_back(value.path);
  }
  container::AttributeSpec attribute = references_attribute(object, name, paths);
  attribute.dims = {static_cast<int64_t>(values.size())};
  file::set_attribute(*WriteTurn(session_, "set_attribute()"), std::move(attribute)).throw_if_error();
}

std::vector<AttributeInfo> File::attributes(const std::string& object) {
  const ReadTurn session(session_, "attributes()");
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileReadList), session->file().accounts.trace_id());
  const CallNote noted = note(*session, "attributes()");
  return file::list_attributes(*session, object).value();
}

double File::attribute(const std::string& object, const std::string& name) {
  return attribute<double>(object, name);
}

void File::require_one(const std::string& object, const std::string& name, size_t count) {
  if (count != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("attribute '{}' of '{}' is not one value but a list of {}", name, object, count));
  }
}

std::vector<std::byte> File::number_values(const std::string& object, const std::string& name, ElementType wanted,
                                           bool is_complex) {
  const container::AttributeSpec found = read_one(session_, object, name);
  if ((found.element.meaning == Meaning::kComplex) != is_complex) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("attribute '{}' of '{}' is {}, {}", name, object, file::type_name_of(found.element),
                            is_complex ? "not complex" : "and can be read as complex only"));
  }
  return file::numbers_of(found, wanted).value();
}

std::vector<std::string> File::string_values(const std::string& object, const std::string& name) {
  const container::AttributeSpec found = read_one(session_, object, name);
  if (found.element.kind != container::ElementSpec::Kind::kString) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("attribute '{}' of '{}' is {}, not a string", name, object, file::type_name_of(found.element)));
  }
  return texts_of(found);
}

std::vector<Reference> File::references(const std::string& object, const std::string& name) {
  const container::AttributeSpec found = read_one(session_, object, name);
  if (found.element.kind != container::ElementSpec::Kind::kReference) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("attribute '{}' of '{}' is {}, not a reference", name, object, file::type_name_of(found.element)));
  }
  std::vector<Reference> references;
  for (std::string& path : texts_of(found)) {
    references.push_back({std::move(path)});
  }
  return references;
}

}  // namespace stria
