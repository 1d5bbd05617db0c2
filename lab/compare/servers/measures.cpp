#include "measures.hpp"

#include <cstdio>
#include <cstdlib>

namespace stria::bench {

void stop(const std::string& what) {
  std::fprintf(stderr, "store_bench: %s\n", what.c_str());
  std::exit(2);
}

void need(const Status& status) {
  if (!status.ok()) {
    stop(status.message());
  }
}

void need(bool good, const char* what) {
  if (!good) {
    stop(what);
  }
}

void Figures::print() const {
  std::string out;
  for (const auto& [name, values] : values_) {
    out += (out.empty() ? "{\"" : ", \"") + name + "\": [";
    for (size_t i = 0; i < values.size(); ++i) {
      char text[40];
      std::snprintf(text, sizeof text, "%s%.9g", i == 0 ? "" : ", ", values[i]);
      out += text;
    }
    out += "]";
  }
  std::puts((out + "}").c_str());
}

std::unique_ptr<storage::File> create(storage::Driver& driver, const std::string& path) {
  storage::OpenOptions options;
  options.mode = storage::OpenOptions::Mode::kCreate;
  auto file = driver.open(path, options);
  need(file.status());
  return std::move(*file);
}

void fill(std::vector<std::byte>& data, int seed) {
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>((i * 2654435761u + static_cast<size_t>(seed)) >> 13);
  }
}

}  // namespace stria::bench
