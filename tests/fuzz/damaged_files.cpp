// Damages whole files in many ways and opens each in a process of its own: it may neither crash,
// nor take more than 10 seconds of the processor, nor more than 1 GiB of memory.
//
// Problem: behind the file's own checksums lies libhdf5, which no sanitizer sees into and which
// takes what it reads for true.
// Method: every folder of SEEDS is a file with its parts, the file itself the first by name. One
// round changes bits, bytes or blocks of one of them, or cuts it off, by the numbers of SEED and of
// the round alone. A child then lists, verifies and reads everything, and sometimes appends.
// Cost: some milliseconds a round.
//
// usage: damaged_files SEEDS WORK ROUNDS SEED [FIRST_ROUND]
// What failed is left in WORK/failed; exits 1 then.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<char>;

constexpr rlim_t kSecondsMax = 10;
constexpr unsigned kWallSecondsMax = 300;
constexpr int64_t kMemoryKibMax = 1 << 20;
constexpr int64_t kReadBytesMax = 8 << 20;  // a limit, since a dataset may say that it has any size

struct Seed {
  std::string name;
  std::vector<fs::path> files;
};

struct Damage {
  size_t file = 0;
  Bytes bytes;
  std::string what;
};

Bytes read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<Seed> read_seeds(const fs::path& folder) {
  std::vector<Seed> seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    Seed seed{entry.path().filename(), {}};
    for (const auto& file : fs::directory_iterator(entry.path())) {
      seed.files.push_back(file.path());
    }
    std::sort(seed.files.begin(), seed.files.end());
    seeds.push_back(std::move(seed));
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

class Damager {
 public:
  Damager(Bytes& bytes, std::mt19937_64& random) : bytes_(bytes), random_(random) {}

  std::string damage() {
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2:
        return flip_bits();
      case 3:
      case 4:
        return set_bytes();
      case 5:
      case 6:
        return set_number();
      case 7:
        return cut();
      case 8:
        return swap_blocks();
      default:
        return copy_block();
    }
  }

 private:
  size_t below(size_t limit) { return limit > 0 ? random_() % limit : 0; }
  /// Mostly not in a hole, of which most of a small file of ours consists.
  size_t place() {
    size_t at = below(bytes_.size());
    for (int tries = 0; tries < 64 && std::all_of(near(at), near(at) + 8, [](char byte) { return byte == 0; }); ++tries) {
      at = below(bytes_.size());
    }
    return at;
  }
  const char* near(size_t at) const { return bytes_.data() + std::min(at, bytes_.size() - 8); }

  std::string flip_bits() {
    std::string what = "bits";
    for (size_t left = 1 + below(3); left > 0; --left) {
      const size_t at = place();
      bytes_[at] = static_cast<char>(bytes_[at] ^ 1 << below(8));
      what += " " + std::to_string(at);
    }
    return what;
  }
  std::string set_bytes() {
    constexpr std::array<unsigned char, 6> kValues = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
    std::string what = "bytes";
    for (size_t left = 1 + below(4); left > 0; --left) {
      const size_t at = place();
      bytes_[at] = static_cast<char>(below(2) == 0 ? kValues[below(kValues.size())] : random_());
      what += " " + std::to_string(at);
    }
    return what;
  }
  std::string set_number() {
    const size_t width = size_t{2} << below(3);
    const size_t at = std::min(place() / width * width, bytes_.size() - width);
    const std::array<uint64_t, 8> values = {
        0, UINT64_MAX, 1, bytes_.size(), below(bytes_.size()) / 8 * 8, uint64_t{1} << (8 * width - 1), random_(), at};
    const uint64_t value = values[below(values.size())];
    std::memcpy(bytes_.data() + at, &value, width);
    return "number of " + std::to_string(width) + " at " + std::to_string(at);
  }
  std::string cut() {
    bytes_.resize(below(bytes_.size()));
    return "cut to " + std::to_string(bytes_.size());
  }
  std::pair<size_t, size_t> two_blocks(size_t* length) {
    *length = std::min(size_t{8} << below(10), bytes_.size() / 2);
    const size_t first = std::min(place() / 8 * 8, bytes_.size() - *length);
    return {first, std::min(place() / 8 * 8, bytes_.size() - *length)};
  }
  std::string swap_blocks() {
    size_t length = 0;
    const auto [a, b] = two_blocks(&length);
    length = std::min(length, a > b ? a - b : b - a);
    std::swap_ranges(bytes_.begin() + static_cast<std::ptrdiff_t>(a), bytes_.begin() + static_cast<std::ptrdiff_t>(a + length),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(b));
    return "swap of " + std::to_string(length) + " at " + std::to_string(a) + " and " + std::to_string(b);
  }
  std::string copy_block() {
    size_t length = 0;
    const auto [a, b] = two_blocks(&length);
    std::memmove(bytes_.data() + a, bytes_.data() + b, length);
    return "copy of " + std::to_string(length) + " from " + std::to_string(b) + " to " + std::to_string(a);
  }

  Bytes& bytes_;
  std::mt19937_64& random_;
};

Damage damaged(const Seed& seed, std::mt19937_64& random) {
  Damage damage;
  damage.file = random() % seed.files.size();
  damage.bytes = read_file(seed.files[damage.file]);
  damage.what = seed.files[damage.file].filename().string() + ": ";
  damage.what += Damager(damage.bytes, random).damage();
  return damage;
}

/// Any outcome is right, as long as there is one.
template <typename Call>
void attempt(Call&& call) {
  try {
    call();
  } catch (const stria::Error& error) {
    if (std::strlen(error.what()) == 0) {
      std::abort();
    }
  } catch (const std::bad_alloc&) {
  }
}

void read_attributes(stria::File& file, const std::string& object) {
  attempt([&] {
    for (const stria::AttributeInfo& info : file.attributes(object)) {
      attempt([&] { static_cast<void>(file.attribute<std::vector<double>>(object, info.name)); });
      attempt([&] { static_cast<void>(file.attribute<std::vector<std::string>>(object, info.name)); });
    }
  });
}

void read_dataset(stria::File& file, const std::string& path) {
  attempt([&] {
    stria::Dataset dataset = file.dataset(path);
    static_cast<void>(dataset.dimensions());
    static_cast<void>(dataset.stored_bytes());
    if (dataset.bytes() > kReadBytesMax) {
      return;
    }
    attempt([&] { static_cast<void>(dataset.read<double>()); });
    attempt([&] { static_cast<void>(file.read_strings(path)); });
    std::vector<stria::Column> columns;
    int64_t row_bytes = 0;
    attempt([&] { static_cast<void>(file.read_table(path, &columns, &row_bytes)); });
  });
}

void read_all(const std::string& path) {
  attempt([&] {
    stria::File file = stria::File::open(path);
    std::set<std::string> objects = {"/"};
    for (const std::string& dataset : file.datasets()) {
      read_dataset(file, dataset);
      objects.insert(dataset);
      for (size_t at = dataset.find('/'); at != std::string::npos; at = dataset.find('/', at + 1)) {
        objects.insert(dataset.substr(0, at));
      }
    }
    for (const std::string& object : objects) {
      read_attributes(file, object);
    }
    std::vector<std::string> remarks;
    attempt([&] { static_cast<void>(file.verify(&remarks)); });
  });
}

void append(const std::string& path) {
  attempt([&] {
    stria::File file = stria::File::append(path);
    file.set_attribute("/", "appended", 1.0);
    const double value = 3;
    file.create_dataset("appended", stria::ElementType::kFloat64, {1}).put({{0}, {1}}, stria::Memory(&value, 1));
    file.commit();
  });
}

[[noreturn]] void child(const std::string& path, bool appends) {
  const rlimit seconds{kSecondsMax, kSecondsMax};
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(kWallSecondsMax);
  read_all(path);
  if (appends) {
    append(path);
  }
  _exit(0);
}

/// Returns what went wrong in a child; empty: nothing.
std::string examine(const std::string& path, bool appends) {
  const pid_t process = fork();
  if (process == 0) {
    child(path, appends);
  }
  int status = 0;
  rusage usage{};
  if (process < 0 || wait4(process, &status, 0, &usage) != process) {
    return "no child";
  }
  if (WIFSIGNALED(status)) {
    return std::string(strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) {
    return "exit " + std::to_string(WEXITSTATUS(status));
  }
  return usage.ru_maxrss > kMemoryKibMax ? std::to_string(usage.ru_maxrss) + " KiB of memory" : std::string();
}

/// Tells whether a round of that number is well.
bool run_round(const std::vector<Seed>& seeds, const fs::path& work, uint64_t seed_number, uint64_t round) {
  std::seed_seq numbers{seed_number, round};
  std::mt19937_64 random(numbers);
  const Seed& seed = seeds[random() % seeds.size()];
  const Damage damage = damaged(seed, random);
  const bool appends = random() % 4 == 0;
  const fs::path folder = work / "case";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const fs::path& file : seed.files) {
    fs::copy_file(file, folder / file.filename());
  }
  write_file(folder / seed.files[damage.file].filename(), damage.bytes);
  const std::string trouble = examine(folder / seed.files[0].filename(), appends);
  if (trouble.empty()) {
    return true;
  }
  std::printf("round %llu, %s, %s%s: %s\n", static_cast<unsigned long long>(round), seed.name.c_str(), damage.what.c_str(),
              appends ? ", append" : "", trouble.c_str());
  std::fflush(stdout);
  const fs::path kept = work / "failed" / std::to_string(round);
  fs::create_directories(kept);
  for (const fs::path& file : seed.files) {
    fs::copy_file(file, kept / file.filename(), fs::copy_options::overwrite_existing);
  }
  write_file(kept / seed.files[damage.file].filename(), damage.bytes);
  return false;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 5) {
    std::fprintf(stderr, "usage: damaged_files SEEDS WORK ROUNDS SEED [FIRST_ROUND]\n");
    return 2;
  }
  const std::vector<Seed> seeds = read_seeds(arguments[1]);
  const uint64_t rounds = std::strtoull(arguments[3], nullptr, 10);
  const uint64_t seed_number = std::strtoull(arguments[4], nullptr, 10);
  const uint64_t first = argument_count > 5 ? std::strtoull(arguments[5], nullptr, 10) : 0;
  // Whole files must pass, too: what the rounds damage is read at all.
  uint64_t failures = 0;
  for (uint64_t round = first; round < first + rounds; ++round) {
    failures += run_round(seeds, arguments[2], seed_number, round) ? 0 : 1;
  }
  std::printf("%llu rounds, %llu failures\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(failures));
  return failures == 0 && !seeds.empty() ? 0 : 1;
}
