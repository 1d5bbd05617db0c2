#include "mpiio/representation/external32.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/checked.hpp"
#include "datatype/convert/convert.hpp"
#include "mpiio/types/basic_types.hpp"
#include "mpiio/types/pack_items.hpp"

namespace stria::mpiio {

namespace {

// A run of the signature, complex numbers as pairs of floating ones.
struct Run {
  Number number;
  int64_t count;
  int64_t memory_bytes() const { return number.memory_bytes * count; }
  int64_t file_bytes() const { return number.external32_bytes * count; }
};

Run run_of(const Number& number, int64_t count) {
  if (number.kind != NumberKind::kComplex && number.kind != NumberKind::kQuadComplex) {
    return {number, count};
  }
  const bool quad = number.kind == NumberKind::kQuadComplex;
  return {{quad ? NumberKind::kQuad : NumberKind::kFloating, number.memory_bytes / 2, number.external32_bytes / 2}, 2 * count};
}

#if defined(__x86_64__)
using Binary128 = __float128;
#else
using Binary128 = long double;  // already so
#endif

void long_double_to_file(const std::byte* memory, std::byte* file) {
  long double value = 0;
  std::memcpy(&value, memory, sizeof value);
  const auto wide = static_cast<Binary128>(value);
  std::byte bytes[sizeof wide];
  std::memcpy(bytes, &wide, sizeof wide);
  for (size_t i = 0; i < sizeof wide; ++i) {
    file[i] = bytes[std::endian::native == std::endian::little ? sizeof wide - 1 - i : i];
  }
}

void long_double_from_file(const std::byte* file, std::byte* memory) {
  Binary128 wide = 0;
  std::byte bytes[sizeof wide];
  for (size_t i = 0; i < sizeof wide; ++i) {
    bytes[std::endian::native == std::endian::little ? sizeof wide - 1 - i : i] = file[i];
  }
  std::memcpy(&wide, bytes, sizeof wide);
  const auto value = static_cast<long double>(wide);
  std::memset(memory, 0, sizeof value);
  std::memcpy(memory, &value, sizeof value);
}

// Converts integers of different sizes by way of 64 bits; the sign is kept where there is one.
uint64_t load(const std::byte* from, int64_t bytes, bool big_endian, bool with_sign) {
  uint64_t value = 0;
  for (int64_t i = 0; i < bytes; ++i) {
    const int64_t at = big_endian ? i : bytes - 1 - i;
    value = value << 8 | static_cast<uint64_t>(from[at]);
  }
  const int unused_bits = static_cast<int>(64 - 8 * bytes);
  if (with_sign && unused_bits > 0) {
    value = static_cast<uint64_t>(static_cast<int64_t>(value << unused_bits) >> unused_bits);
  }
  return value;
}

void store(uint64_t value, std::byte* to, int64_t bytes, bool big_endian) {
  for (int64_t i = 0; i < bytes; ++i) {
    to[big_endian ? bytes - 1 - i : i] = static_cast<std::byte>(value);
    value >>= 8;
  }
}

constexpr bool kNativeBig = std::endian::native == std::endian::big;

bool is_swappable(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

void run_to_file(const Run& run, const std::byte* memory, std::byte* file, int64_t count) {
  const Number& number = run.number;
  if (number.kind == NumberKind::kBytes || (kNativeBig && number.memory_bytes == number.external32_bytes)) {
    std::memcpy(file, memory, static_cast<size_t>(number.memory_bytes * count));
  } else if (number.memory_bytes == number.external32_bytes && is_swappable(number.memory_bytes)) {
    swap_elements(number.memory_bytes, memory, file, count);
  } else {
    for (int64_t i = 0; i < count; ++i, memory += number.memory_bytes, file += number.external32_bytes) {
      if (number.kind == NumberKind::kQuad) {
        std::reverse_copy(memory, memory + number.memory_bytes, file);
      } else if (number.kind == NumberKind::kFloating) {
        long_double_to_file(memory, file);
      } else {
        const bool with_sign = number.kind == NumberKind::kInteger;
        store(load(memory, number.memory_bytes, kNativeBig, with_sign), file, number.external32_bytes, true);
      }
    }
  }
}

void run_from_file(const Run& run, const std::byte* file, std::byte* memory, int64_t count) {
  const Number& number = run.number;
  if (number.kind == NumberKind::kBytes || (kNativeBig && number.memory_bytes == number.external32_bytes)) {
    std::memcpy(memory, file, static_cast<size_t>(number.memory_bytes * count));
  } else if (number.memory_bytes == number.external32_bytes && is_swappable(number.memory_bytes)) {
    swap_elements(number.memory_bytes, file, memory, count);
  } else {
    for (int64_t i = 0; i < count; ++i, memory += number.memory_bytes, file += number.external32_bytes) {
      if (number.kind == NumberKind::kQuad) {
        std::reverse_copy(file, file + number.memory_bytes, memory);
      } else if (number.kind == NumberKind::kFloating) {
        long_double_from_file(file, memory);
      } else {
        const bool with_sign = number.kind == NumberKind::kInteger;
        store(load(file, number.external32_bytes, true, with_sign), memory, number.memory_bytes, kNativeBig);
      }
    }
  }
}

class External32 : public Converter {
 public:
  External32(std::vector<Run> runs, Datatype memory_type) : runs_(std::move(runs)), memory_type_(std::move(memory_type)) {
    for (const Run& run : runs_) {
      item_bytes_ += run.file_bytes();
    }
  }

  int64_t memory_bytes(int64_t file_bytes) const override {
    if (item_bytes_ == 0) {
      return 0;
    }
    int64_t sum = file_bytes / item_bytes_ * memory_type_.size();
    int64_t left = file_bytes % item_bytes_;
    for (const Run& run : runs_) {
      const int64_t count = std::min(left / run.number.external32_bytes, run.count);
      sum += count * run.number.memory_bytes;
      left -= run.file_bytes();
      if (left <= 0) {
        break;
      }
    }
    return sum;
  }

  Outcome to_file(const void* memory, int64_t count, std::vector<std::byte>& stream) const override {
    STRIA_MPIIO_RETURN_IF_ERROR(check_count(count));
    STRIA_ASSIGN_OR_RETURN(const Datatype all, Datatype::contiguous(count, memory_type_));
    std::vector<std::byte> packed(static_cast<size_t>(all.size()));
    STRIA_MPIIO_RETURN_IF_ERROR(pack_items(all, memory, packed));
    stream.resize(static_cast<size_t>(item_bytes_ * count));
    const std::byte* from = packed.data();
    std::byte* to = stream.data();
    for_each_run(item_bytes_ * count, [&](const Run& run, int64_t elements) {
      run_to_file(run, from, to, elements);
      from += run.number.memory_bytes * elements;
      to += run.number.external32_bytes * elements;
    });
    return {};
  }

  Outcome from_file(const std::vector<std::byte>& stream, void* memory) const override {
    const auto file_bytes = static_cast<int64_t>(stream.size());
    if (item_bytes_ == 0 || file_bytes == 0) {
      return {};
    }
    std::vector<std::byte> packed(static_cast<size_t>(memory_bytes(file_bytes)));
    const std::byte* from = stream.data();
    std::byte* to = packed.data();
    for_each_run(file_bytes, [&](const Run& run, int64_t elements) {
      run_from_file(run, from, to, elements);
      from += run.number.external32_bytes * elements;
      to += run.number.memory_bytes * elements;
    });
    STRIA_ASSIGN_OR_RETURN(const Datatype all, Datatype::contiguous(file_bytes / item_bytes_ + 1, memory_type_));
    return unpack_items(all, memory, packed);
  }

 private:
  Outcome check_count(int64_t count) const {
    int64_t product = 0;
    return checked_multiply(count, item_bytes_, &product) ? Outcome()
                                                          : Outcome(MPI_ERR_COUNT, "more than 2^63 bytes in one call");
  }

  // Visits the runs of so many bytes of a stream; elements that are cut at its end are left out.
  template <typename Visit>
  void for_each_run(int64_t file_bytes, Visit visit) const {
    if (item_bytes_ > 0 && runs_.size() == 1) {
      visit(runs_[0], file_bytes / runs_[0].number.external32_bytes);
      return;
    }
    while (item_bytes_ > 0 && file_bytes > 0) {
      for (const Run& run : runs_) {
        const int64_t elements = std::clamp<int64_t>(file_bytes / run.number.external32_bytes, 0, run.count);
        visit(run, elements);
        file_bytes -= run.file_bytes();
        if (file_bytes <= 0) {
          break;
        }
      }
    }
  }

  std::vector<Run> runs_;
  Datatype memory_type_;
};

}  // namespace

Outcome make_external32_converter(std::shared_ptr<const Representation>, MPI_Datatype type, std::unique_ptr<Converter>& made) {
  STRIA_ASSIGN_OR_RETURN(Datatype memory_type, decode(type));
  STRIA_ASSIGN_OR_RETURN(const std::vector<SignatureRun> signature, signature_of(type));
  std::vector<Run> runs;
  for (const SignatureRun& run : signature) {
    const auto number = number_of(run.basic);
    if (!number) {
      return {MPI_ERR_CONVERSION, "external32 has no form for one of the datatype's elements"};
    }
    runs.push_back(run_of(*number, run.count));
  }
  made = std::make_unique<External32>(std::move(runs), std::move(memory_type));
  return {};
}

}  // namespace stria::mpiio
