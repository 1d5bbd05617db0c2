// Useful bytes per second of packing interleaved blocks with guard cells, unk(variable, x, y, z,
// block), into a staging buffer that is reused.
//
// For the same useful bytes it compares the Packer (with each instruction set), the naive loop that
// packs one variable at a time, MPI_Pack of one variable at a time, and memcpy of bytes that are
// packed already. One core; sizes as in the FLASH I/O benchmark.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "datatype/pack/pack.hpp"

namespace {

using stria::Datatype;
using stria::ElementType;
using stria::Packer;
using stria::PackOperand;
using stria::PackPart;
using stria::ValueRange;

constexpr int64_t kGuard = 4;
constexpr int64_t kStagingBytes = int64_t{3} << 19;
/// Streams that start a multiple of 4 KiB apart fall into the same sets of the first-level cache.
constexpr int64_t kStaggerBytes = 192;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(int64_t bytes) {
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<size_t>((bytes + 4095) / 4096 * 4096))));
  std::memset(memory.get(), 1, static_cast<size_t>(bytes));
  return memory;
}

/// Says what is packed: `wanted` of `variables` reals of `width_bytes` per cell, `blocks` blocks of
/// cells^3.
struct Case {
  const char* name;
  int64_t cells;
  int64_t blocks;
  int64_t variables;
  std::vector<int64_t> wanted;
  ElementType memory = ElementType::kFloat64;
  ElementType stored = ElementType::kFloat64;

  int64_t width_bytes() const { return stria::element_bytes(memory); }
  int64_t stored_bytes() const { return stria::element_bytes(stored); }
  int64_t side() const { return cells + 2 * kGuard; }
  int64_t cell_bytes() const { return variables * width_bytes(); }
  int64_t block_bytes() const { return side() * side() * side() * cell_bytes(); }
  int64_t block_cells() const { return cells * cells * cells; }
  int64_t useful_bytes() const { return static_cast<int64_t>(wanted.size()) * blocks * block_cells() * width_bytes(); }
  int64_t count() const { return static_cast<int64_t>(wanted.size()); }

  Datatype type() const {
    const Datatype cell = Datatype::resized(Datatype::bytes(width_bytes()), 0, cell_bytes()).value();
    const std::array<int64_t, 4> sizes{blocks, side(), side(), side()};
    const std::array<int64_t, 4> subsizes{blocks, cells, cells, cells};
    const std::array<int64_t, 4> starts{0, kGuard, kGuard, kGuard};
    return Datatype::subarray(sizes, subsizes, starts, stria::Order::kC, cell).value();
  }
  /// Blocks that fit into the staging buffer at a time.
  int64_t blocks_at_a_time() const { return std::max<int64_t>(1, kStagingBytes / (count() * block_cells() * width_bytes())); }
};

std::vector<int64_t> first_variables(int64_t count) {
  std::vector<int64_t> list(static_cast<size_t>(count));
  for (int64_t v = 0; v < count; ++v) {
    list[static_cast<size_t>(v)] = v;
  }
  return list;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int64_t cells : {8, 16}) {
    const int64_t blocks = cells == 8 ? 80 : 32;
    const bool is_small = cells == 8;
    const auto name = [is_small](const char* small, const char* large) { return is_small ? small : large; };
    const auto f64 = ElementType::kFloat64;
    const auto f32 = ElementType::kFloat32;
    cases.push_back({name("8^3/24of24", "16^3/24of24"), cells, blocks, 24, first_variables(24), f64, f64});
    cases.push_back(
        {name("8^3/24of24/cached", "16^3/24of24/cached"), cells, is_small ? 2 : 1, 24, first_variables(24), f64, f64});
    cases.push_back({name("8^3/10of10", "16^3/10of10"), cells, blocks * 2, 10, first_variables(10), f64, f64});
    cases.push_back({name("8^3/3of24", "16^3/3of24"), cells, blocks, 24, {1, 9, 20}, f64, f64});
    cases.push_back({name("8^3/1of24", "16^3/1of24"), cells, blocks, 24, {5}, f64, f64});
    cases.push_back({name("8^3/1of24/to_float", "16^3/1of24/to_float"), cells, blocks, 24, {5}, f64, f32});
    cases.push_back({name("8^3/1of24/floats", "16^3/1of24/floats"), cells, blocks * 2, 24, {5}, f32, f32});
    cases.push_back({name("8^3/1of1", "16^3/1of1"), cells, blocks * 8, 1, {0}, f64, f64});
    cases.push_back({name("8^3/2of2", "16^3/2of2"), cells, blocks * 6, 2, {0, 1}, f64, f64});
    cases.push_back({name("8^3/5of5", "16^3/5of5"), cells, blocks * 4, 5, first_variables(5), f64, f64});
    cases.push_back({name("8^3/24of24/to_float", "16^3/24of24/to_float"), cells, blocks, 24, first_variables(24), f64, f32});
    cases.push_back({name("8^3/3of24/to_float", "16^3/3of24/to_float"), cells, blocks, 24, {1, 9, 20}, f64, f32});
    cases.push_back({name("8^3/24of24/floats", "16^3/24of24/floats"), cells, blocks * 2, 24, first_variables(24), f32, f32});
  }
  return cases;
}

enum class Direction { kPack, kPackRange, kUnpack };

void report(benchmark::State& state, const Case& c) {
  state.SetBytesProcessed(state.iterations() * c.useful_bytes());
  state.counters["GB/s"] =
      benchmark::Counter(static_cast<double>(c.useful_bytes()) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void stria_packer(benchmark::State& state, const Case& c, Direction direction, stria::pack::Isa isa) {
  const Memory unk = allocate(c.blocks * c.block_bytes());
  const Memory staging =
      allocate(std::max(kStagingBytes, c.count() * c.block_cells() * c.width_bytes()) + c.count() * kStaggerBytes);
  std::vector<PackOperand> operands;
  for (const int64_t variable : c.wanted) {
    operands.push_back({unk.get() + variable * c.width_bytes(), c.type(), c.memory, c.stored, false});
  }
  const Packer packer = Packer::create(operands, isa).value();
  std::vector<ValueRange> ranges(direction == Direction::kPackRange ? operands.size() : 0);
  std::vector<PackPart> parts(operands.size());
  for (auto _ : state) {
    for (int64_t first = 0; first < c.blocks; first += c.blocks_at_a_time()) {
      const int64_t block_bytes = c.block_cells() * c.stored_bytes();
      const int64_t begin = first * block_bytes;
      const int64_t end = std::min(c.blocks, first + c.blocks_at_a_time()) * block_bytes;
      for (size_t k = 0; k < parts.size(); ++k) {
        parts[k] = {static_cast<int>(k), begin, end, staging.get() + static_cast<int64_t>(k) * (end - begin + kStaggerBytes)};
      }
      if (direction == Direction::kUnpack) {
        packer.unpack(parts);
      } else {
        packer.pack(parts, ranges);
      }
      benchmark::ClobberMemory();
    }
  }
  report(state, c);
}

/// Packs one variable of all blocks after the other, as applications do, into a buffer of staging
/// size.
template <typename From, typename To>
void naive_loops(const Case& c, std::byte* unk, std::byte* staging, bool is_unpack) {
  for (const int64_t variable : c.wanted) {
    To* packed = reinterpret_cast<To*>(staging);
    for (int64_t b = 0; b < c.blocks; ++b) {
      if (reinterpret_cast<std::byte*>(packed + c.block_cells()) > staging + kStagingBytes) {
        packed = reinterpret_cast<To*>(staging);
      }
      for (int64_t z = kGuard; z < kGuard + c.cells; ++z) {
        for (int64_t y = kGuard; y < kGuard + c.cells; ++y) {
          From* row = reinterpret_cast<From*>(unk + b * c.block_bytes()) +
                      ((z * c.side() + y) * c.side() + kGuard) * c.variables + variable;
          for (int64_t x = 0; x < c.cells; ++x) {
            if (is_unpack) {
              row[x * c.variables] = static_cast<From>(*packed++);
            } else {
              *packed++ = static_cast<To>(row[x * c.variables]);
            }
          }
        }
      }
      benchmark::ClobberMemory();
    }
  }
}

void naive(benchmark::State& state, const Case& c, bool is_unpack) {
  const Memory unk = allocate(c.blocks * c.block_bytes());
  const Memory staging = allocate(kStagingBytes);
  for (auto _ : state) {
    if (c.memory == ElementType::kFloat32) {
      naive_loops<float, float>(c, unk.get(), staging.get(), is_unpack);
    } else if (c.stored == ElementType::kFloat32) {
      naive_loops<double, float>(c, unk.get(), staging.get(), is_unpack);
    } else {
      naive_loops<double, double>(c, unk.get(), staging.get(), is_unpack);
    }
  }
  report(state, c);
}

MPI_Datatype mpi_type(const Case& c) {
  MPI_Datatype real;
  MPI_Datatype cell;
  MPI_Datatype block;
  MPI_Type_contiguous(static_cast<int>(c.width_bytes()), MPI_BYTE, &real);
  MPI_Type_create_resized(real, 0, c.cell_bytes(), &cell);
  const auto side = static_cast<int>(c.side());
  const auto cells = static_cast<int>(c.cells);
  const std::array<int, 3> sizes{side, side, side};
  const std::array<int, 3> subsizes{cells, cells, cells};
  const std::array<int, 3> starts{kGuard, kGuard, kGuard};
  MPI_Type_create_subarray(3, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, cell, &block);
  MPI_Type_commit(&block);
  MPI_Type_free(&real);
  MPI_Type_free(&cell);
  return block;
}

void mpi_pack(benchmark::State& state, const Case& c, bool is_unpack) {
  const Memory unk = allocate(c.blocks * c.block_bytes());
  const int64_t blocks = std::min(c.blocks, c.blocks_at_a_time() * c.count());
  const auto bytes = static_cast<int>(blocks * c.block_cells() * c.width_bytes());
  const Memory staging = allocate(bytes);
  MPI_Datatype type = mpi_type(c);
  for (auto _ : state) {
    for (const int64_t variable : c.wanted) {
      for (int64_t first = 0; first < c.blocks; first += blocks) {
        std::byte* memory = unk.get() + first * c.block_bytes() + variable * c.width_bytes();
        const auto count = static_cast<int>(std::min(blocks, c.blocks - first));
        int position = 0;
        if (is_unpack) {
          MPI_Unpack(staging.get(), bytes, &position, memory, count, type, MPI_COMM_SELF);
        } else {
          MPI_Pack(memory, count, type, staging.get(), bytes, &position, MPI_COMM_SELF);
        }
      }
    }
  }
  MPI_Type_free(&type);
  report(state, c);
}

/// Copies the same useful bytes, which lie packed in memory already, to (or from) a staging buffer.
void copy(benchmark::State& state, const Case& c, bool is_unpack) {
  const Memory packed = allocate(c.useful_bytes());
  const Memory staging = allocate(kStagingBytes);
  for (auto _ : state) {
    for (int64_t at = 0; at < c.useful_bytes(); at += kStagingBytes) {
      const auto bytes = static_cast<size_t>(std::min(kStagingBytes, c.useful_bytes() - at));
      std::memcpy(is_unpack ? packed.get() + at : staging.get(), is_unpack ? staging.get() : packed.get() + at, bytes);
      benchmark::ClobberMemory();
    }
  }
  report(state, c);
}

template <typename Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)->Unit(benchmark::kMillisecond);
}

void add_case(const Case& c) {
  using stria::pack::Isa;
  const std::string name = c.name;
  constexpr std::pair<Isa, const char*> kIsas[] = {
      {Isa::kAvx512, "avx512"}, {Isa::kAvx2, "avx2"}, {Isa::kPortable, "portable"}};
  for (const bool is_unpack : {false, true}) {
    const std::string verb = is_unpack ? "unpack/" : "pack/";
    for (const auto& [isa, isa_name] : kIsas) {
      if (stria::pack::is_supported(isa)) {
        const Direction direction = is_unpack ? Direction::kUnpack : Direction::kPack;
        add(verb + name + "/stria_" + isa_name, [c, direction, i = isa](auto& s) { stria_packer(s, c, direction, i); });
      }
    }
    add(verb + name + "/naive", [c, is_unpack](auto& s) { naive(s, c, is_unpack); });
    if (c.memory == c.stored) {
      add(verb + name + "/mpi", [c, is_unpack](auto& s) { mpi_pack(s, c, is_unpack); });
    }
    add(verb + name + "/memcpy", [c, is_unpack](auto& s) { copy(s, c, is_unpack); });
  }
  add(std::string("pack_range/").append(name).append("/stria"),
      [c](auto& s) { stria_packer(s, c, Direction::kPackRange, stria::pack::best_isa()); });
}

/// Adds every number of variables, all of them wanted: the Packer has to be at least as fast as the
/// naive loop everywhere.
void add_sweep() {
  constexpr auto kReal = ElementType::kFloat64;
  for (const int64_t cells : {8, 16}) {
    for (int64_t variables = 1; variables <= 32; ++variables) {
      const int64_t blocks = std::max<int64_t>(1, (cells == 8 ? 1200 : 360) / variables);
      const Case c{"", cells, blocks, variables, first_variables(variables), kReal, kReal};
      const std::string name = std::string(cells == 8 ? "sweep/8^3/" : "sweep/16^3/").append(std::to_string(variables));
      add(name + "/stria", [c](auto& s) { stria_packer(s, c, Direction::kPack, stria::pack::best_isa()); });
      add(name + "/naive", [c](auto& s) { naive(s, c, false); });
      add(name + "/stria_unpack", [c](auto& s) { stria_packer(s, c, Direction::kUnpack, stria::pack::best_isa()); });
      add(name + "/naive_unpack", [c](auto& s) { naive(s, c, true); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const Case& c : all_cases()) {
    add_case(c);
  }
  add_sweep();
  benchmark::Initialize(&argc, argv);
  if (!benchmark::ReportUnrecognizedArguments(argc, argv)) {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
  MPI_Finalize();
  return 0;
}
