// Errors, lists and options.
#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <cstring>
#include <span>
#include <string_view>

#include "base/similar_names.hpp"
#include "handles.hpp"

namespace stria::c {

namespace {

// Kept per thread: the failure of another thread doesn't change it.
std::string& last_message() {
  thread_local std::string message;
  return message;
}

bool truth(const std::string& name, const std::string& value) {
  if (value == "true" || value == "1") {
    return true;
  }
  if (value == "false" || value == "0") {
    return false;
  }
  refuse("option '" + name + "' is '" + value + "'; use true or false");
}

int64_t number(const std::string& name, const std::string& value) {
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size() || parsed < 0) {
    refuse("option '" + name + "' is '" + value + "'; use a number");
  }
  return parsed;
}

// What has commas between; a backslash before a comma or a backslash makes it one of a word.
std::vector<std::string> words(const std::string& value) {
  std::vector<std::string> list(1);
  for (size_t i = 0; i < value.size(); ++i) {
    const bool is_quoted = value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == ',' || value[i + 1] == '\\');
    if (value[i] == ',') {
      list.emplace_back();
    } else {
      i += is_quoted ? 1 : 0;
      list.back() += value[i];
    }
  }
  return list;
}

std::vector<int64_t> numbers(const std::string& name, const std::string& value) {
  std::vector<int64_t> list;
  for (const std::string& word : words(value)) {
    list.push_back(number(name, word));
  }
  return list;
}

// The names of values of an enum, from its first on.
constexpr const char* kFormats[] = {"", "hdf5", "netcdf", "cdf1", "cdf2", "cdf5"};
constexpr const char* kMeanings[] = {"number", "bool", "half", "complex"};

template <typename Value>
Value named(std::span<const char* const> names, const std::string& name, const std::string& value, const char* use) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (value.empty() || found == names.end()) {
    refuse("option '" + name + "' is '" + value + "'; use " + use);
  }
  return static_cast<Value>(found - names.begin());
}

Format format(const std::string& name, const std::string& value) {
  return named<Format>(kFormats, name, value, "hdf5, netcdf, cdf1, cdf2 or cdf5");
}

Meaning meaning(const std::string& name, const std::string& value) {
  return named<Meaning>(kMeanings, name, value, "number, bool, half or complex");
}

// The last = is the one before the value.
std::vector<NamedNumber> members(const std::string& name, const std::string& value) {
  std::vector<NamedNumber> list;
  for (const std::string& word : words(value)) {
    const size_t equals = std::min(word.rfind('='), word.size());
    const char* const end = word.data() + word.size();
    NamedNumber& member = list.emplace_back(NamedNumber{word.substr(0, equals), 0});
    const char* const begin = word.data() + std::min(equals + 1, word.size());
    if (const auto [rest, error] = std::from_chars(begin, end, member.value); error != std::errc() || rest != end) {
      refuse("option '" + name + "' is '" + value + "'; use NAME=INTEGER, with commas between");
    }
  }
  return list;
}

Filters filters(const std::string& name, const std::string& value) {
  const bool is_switch = value == "true" || value == "1" || value == "false" || value == "0";
  if (!is_switch) {
    return Filters::from_text(value);
  }
  return truth(name, value) ? Filters::compress() : Filters();
}

// Returns an integer where the text is one, so that it is exact.
FillValue real_fill_value(const std::string& name, const std::string& value) {
  int64_t integer = 0;
  uint64_t large = 0;
  const char* const begin = value.data();
  const char* const end = begin + value.size();
  if (const auto [rest, error] = std::from_chars(begin, end, integer); error == std::errc() && rest == end) {
    return integer;
  }
  if (const auto [rest, error] = std::from_chars(begin, end, large); error == std::errc() && rest == end) {
    return large;
  }
  double real = 0;
  if (const auto [rest, error] = std::from_chars(begin, end, real); error == std::errc() && rest == end) {
    return real;
  }
  refuse("option '" + name + "' is '" + value + "'; it must be a number");
}

// Both parts of a complex number have a comma between.
FillValue fill_value(const std::string& name, const std::string& value) {
  const std::vector<std::string> parts = words(value);
  if (parts.size() != 2) {
    return real_fill_value(name, value);
  }
  std::array<double, 2> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const char* const end = parts[i].data() + parts[i].size();
    if (const auto [rest, error] = std::from_chars(parts[i].data(), end, numbers[i]); error != std::errc() || rest != end) {
      refuse("option '" + name + "' is '" + value + "'; it must be a number, or two with a comma between");
    }
  }
  return std::complex<double>(numbers[0], numbers[1]);
}

// The bits of half precision are given as any integer is.
FillValue bits_of_half(const FillValue& value) {
  int64_t bits = 0;
  std::memcpy(&bits, value.bytes.data(), sizeof bits);
  const bool fits = value.element == ElementType::kInt64 && bits >= 0 && bits <= UINT16_MAX;
  return fits ? FillValue(static_cast<uint16_t>(bits)) : value;
}

constexpr std::string_view kFileOptions[] = {"sync", "checksums", "format", "track_order", "verify"};
constexpr std::string_view kDatasetOptions[] = {"value_range", "big_endian",  "alignment",   "compress",   "chunk",
                                                "dimensions",  "meaning",     "unlimited",   "fill_value", "shuffle",
                                                "fletcher32",  "enumeration", "blank_padded"};

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_option(std::string_view name) {
  return is_in(kFileOptions, name) || is_in(kDatasetOptions, name);
}

bool is_known_hint(const std::string& name) {
  const std::vector<std::string> problems = hint_problems({{name, ""}});
  return problems.empty() || problems[0].find("is not known") == std::string::npos;
}

// Returns the option that was probably meant; empty when none is like it.
std::string_view similar_option(std::string_view name) {
  std::string_view nearest;
  size_t least = kNoMatch;
  const auto look = [&](std::span<const std::string_view> names) {
    for (const std::string_view option : names) {
      if (const size_t slips = difference(name, option); slips < least) {
        least = slips;
        nearest = option;
      }
    }
  };
  look(kDatasetOptions);
  look(kFileOptions);
  return nearest;
}

// A hint that is not known, and is like no option: for another library, or of another version.
bool is_foreign_hint(const std::string& name) {
  return !is_option(name) && !is_known_hint(name) && similar_option(name).empty();
}

[[noreturn]] void refuse_option(const std::string& name) {
  const std::string_view meant = similar_option(name);
  refuse("there is no option or hint '" + name + "'" + (meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?"));
}

}  // namespace

const char* format_name(Format format) {
  return kFormats[static_cast<size_t>(format)];
}

const char* meaning_name(Meaning meaning) {
  return kMeanings[static_cast<size_t>(meaning)];
}

int fail(ErrorCode code, const char* message) noexcept {
  try {
    last_message() = message;
  } catch (...) {
    last_message().clear();
  }
  return static_cast<int>(code);
}

namespace {

// The error is thrown once more; the caller reports the first one.
template <typename Refuse>
void drop_error(Refuse&& refuse) noexcept {
  try {
    refuse();
  } catch (...) {
  }
}

}  // namespace

void Refusal::fail_next_call(File& file, const Error& error) noexcept {
  drop_error([&] { file.refuse(error); });
}

void Refusal::fail_next_call(Dataset& dataset, const Error& error) noexcept {
  drop_error([&] { dataset.refuse(error); });
}

ElementType element(int value) {
  if (value < STRIA_BYTE || value > STRIA_FLOAT64) {
    refuse("there is no element type " + std::to_string(value) + "; see enum stria_element");
  }
  return static_cast<ElementType>(value);
}

namespace {

std::map<std::string, std::string> values_of(const stria_options* options) {
  return options == nullptr ? std::map<std::string, std::string>() : given(options, "options").values;
}

}  // namespace

CreateOptions create_options(const stria_options* options) {
  CreateOptions result;
  for (const auto& [name, value] : values_of(options)) {
    if (name == "sync") {
      result.sync = truth(name, value);
    } else if (name == "checksums") {
      result.checksums = truth(name, value);
    } else if (name == "format") {
      result.format = format(name, value);
    } else if (name == "track_order") {
      result.track_order = truth(name, value);
    } else if (!is_option(name)) {
      result.hints[name] = value;
    }
  }
  return result;
}

AppendOptions append_options(const stria_options* options) {
  CreateOptions of_new = create_options(options);
  return {.hints = std::move(of_new.hints), .sync = of_new.sync};
}

OpenOptions open_options(const stria_options* options) {
  OpenOptions result;
  for (const auto& [name, value] : values_of(options)) {
    if (name == "verify") {
      result.verify = truth(name, value);
    } else if (!is_option(name)) {
      result.hints[name] = value;
    }
  }
  return result;
}

// A file tells of hints that it doesn't know; to a dataset they can't be meant.
DatasetOptions dataset_options(const stria_options* options) {
  DatasetOptions result;
  for (const auto& [name, value] : values_of(options)) {
    if (name == "value_range") {
      result.value_range = truth(name, value);
    } else if (name == "big_endian") {
      result.big_endian = truth(name, value);
    } else if (name == "alignment") {
      result.alignment_bytes = number(name, value);
    } else if (name == "compress") {
      result.filters = filters(name, value);
    } else if (name == "fletcher32") {  // after "compress", since names are in order
      result.filters.fletcher32 = truth(name, value);
    } else if (name == "shuffle") {
      result.filters.shuffle = truth(name, value);
    } else if (name == "enumeration") {
      result.enumeration = members(name, value);
    } else if (name == "chunk") {
      result.chunk = numbers(name, value);
    } else if (name == "dimensions") {
      result.dimensions = words(value);
    } else if (name == "meaning") {
      result.meaning = meaning(name, value);
    } else if (name == "blank_padded") {
      result.blank_padded = truth(name, value);
    } else if (name == "unlimited") {
      result.unlimited = truth(name, value);
    } else if (name == "fill_value") {
      result.fill_value = fill_value(name, value);
    } else if (!is_option(name) && !is_known_hint(name)) {
      refuse_option(name);
    }
  }
  if (result.meaning == Meaning::kHalf && result.fill_value.is_given) {
    result.fill_value = bits_of_half(result.fill_value);
  }
  return result;
}

}  // namespace stria::c

using stria::c::given;
using stria::c::guarded;

const char* stria_error_message(void) {
  return stria::c::last_message().c_str();
}

const char* stria_code_name(int code) {
  return stria::error_code_name(static_cast<stria::ErrorCode>(code));
}

const char* stria_version(void) {
  return STRIA_VERSION;
}

int stria_options_new(stria_options** options) {
  return guarded([&] { given(options, "options") = (new stria_options)->handle.get(); });
}

int stria_options_set(stria_options* options, const char* name, const char* value) {
  return guarded([&] {
    const std::string option = &given(name, "name");
    stria_options checked;
    checked.values[option] = &given(value, "value");
    // Errors are reported here, so that no collective call has to report them.
    stria::c::create_options(checked.handle.get());
    stria::c::open_options(checked.handle.get());
    if (!stria::c::is_foreign_hint(option)) {
      stria::c::dataset_options(checked.handle.get());
    }
    given(options, "options").values[option] = checked.values[option];
  });
}

void stria_options_free(stria_options* options) {
  delete stria::c::take(options);
}

int stria_hint_problems(const stria_options* options, stria_list** problems) {
  return guarded(
      [&] { given(problems, "problems") = stria::c::new_list(stria::hint_problems(stria::c::create_options(options).hints)); });
}

int64_t stria_list_size(const stria_list* list) {
  return list == nullptr ? 0 : static_cast<int64_t>(list->strings.size());
}

const char* stria_list_at(const stria_list* list, int64_t index) {
  return index < 0 || index >= stria_list_size(list) ? nullptr : list->strings[static_cast<size_t>(index)].c_str();
}

void stria_list_free(stria_list* list) {
  delete list;
}
