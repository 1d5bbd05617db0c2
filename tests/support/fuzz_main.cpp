// main of a fuzz target in builds without libFuzzer: runs each kept input once. Takes files and
// folders; ignores options.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

/// Runs one input; false when it cannot be read. A defect ends the process, as under libFuzzer.
bool run_input(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int input_count = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("-")) {
      continue;
    }
    if (!std::filesystem::is_directory(argv[i])) {
      if (!run_input(argv[i])) {
        return EXIT_FAILURE;
      }
      ++input_count;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) {
        if (!run_input(entry.path())) {
          return EXIT_FAILURE;
        }
        ++input_count;
      }
    }
  }
  std::printf("%d inputs\n", input_count);
  return input_count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
