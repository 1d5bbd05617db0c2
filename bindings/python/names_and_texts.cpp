#include "names_and_texts.hpp"

#include "calls.hpp"

namespace stria::python {

namespace {

/// Makes something by `make`. An error of this rank fails the next collective call on all ranks.
template <typename Make>
void define_names(stria_file* file, Make&& make) {
  check(c::guarded([&] {
    stria_file& of = c::given(file, "file");
    try {
      make(of.file);
    } catch (const Error& error) {
      c::Refusal::fail_next_call(of.file, error);
      throw;
    }
  }));
}

/// Returns what `call` says of a file that is read.
template <typename Value, typename Call>
Value told(stria_file* file, Call&& call) {
  Value value{};
  released([&] { return c::guarded([&] { value = call(c::given(file, "file").file); }); });
  return value;
}

// Texts end at a NUL in the file.
void check_nuls(const Texts& texts) {
  for (const std::string& text : texts) {
    static_cast<void>(chars(text));
  }
}

}  // namespace

void set_texts(stria_file* file, const AttributeName& attribute, const Texts& texts, bool list) {
  check_nuls(texts);
  const char* const object = chars(attribute.first);
  const char* const name = chars(attribute.second);
  define_names(file, [&](File& of) { list ? of.set_texts(object, name, texts) : of.set_text(object, name, texts.at(0)); });
}

void create_texts(stria_file* file, const TextArray& array) {
  check_nuls(array.texts);
  check_nuls(array.dimensions);
  const char* const name = chars(array.path);
  define_names(file, [&](File& of) { of.create_texts(name, array.dims, array.texts, array.dimensions); });
}

bool has_group(stria_file* file, const std::string& path) {
  return told<bool>(file, [&](const File& of) { return of.has_group(path); });
}

Texts members(stria_file* file, const std::string& group) {
  return told<Texts>(file, [&](const File& of) { return of.members(group); });
}

std::pair<std::string, std::string> link_to_file(stria_file* file, const std::string& path) {
  return told<std::pair<std::string, std::string>>(file, [&](const File& of) { return of.link_to_file(path); });
}

}  // namespace stria::python
