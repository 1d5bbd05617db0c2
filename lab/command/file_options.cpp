#include "file_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stria/filters.hpp"
#include "stria/status.hpp"

namespace stria::tool {

namespace {

constexpr Format kFormats[] = {Format::kHdf5, Format::kNetcdf, Format::kCdf1, Format::kCdf2, Format::kCdf5};

}  // namespace

void add_compress(Command command, std::string& how) {
  command
      .add_flag("--compress{deflate}", how,
                "the checkpoints: shuffle and deflate, or =zstd, =zfp_absolute:BOUND, =zfp_relative:BOUND")
      .check({[](const std::string& text) -> std::string {
                try {
                  Filters::from_text(text);
                  return {};
                } catch (const Error& error) {
                  return error.what();
                }
              },
              ""});
}

void add_format(Command command, Format& format) {
  std::vector<std::string> names;
  for (const Format one : kFormats) {
    names.emplace_back(format_name(one));
  }
  const auto take = [&format](const std::string& name) {
    format = *std::find_if(std::begin(kFormats), std::end(kFormats), [&](Format one) { return name == format_name(one); });
  };
  command.add_text_option("--format", take, "of the files").check(one_of(names)).shown_default(format_name(format));
}

const char* format_name(Format format) {
  constexpr const char* kNames[] = {"automatic", "hdf5", "netcdf", "cdf1", "cdf2", "cdf5"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace stria::tool
