#include "file/session/session_case_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "access/random_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {

namespace {

constexpr int64_t kBlocks = 37;

// Uneven parts of [0, total) for the ranks, some empty; the same on every rank.
ByteRange part_of(int64_t total, int rank, int ranks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> cuts = {0, total};
  for (int i = 1; i < ranks; ++i) {
    cuts.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(total + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  return {cuts[static_cast<size_t>(rank)], cuts[static_cast<size_t>(rank) + 1]};
}

// A slab and the elements that it holds, in order.
struct Piece {
  Hyperslab slab;
  std::vector<int64_t> elements;
};

Piece piece_of(std::vector<int64_t> start, std::vector<int64_t> count, std::vector<int64_t> stride, const Content& content) {
  Piece piece{{start, count, stride}, {0}};
  for (size_t dim = 0; dim < content.dims.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t outer : piece.elements) {
      for (int64_t i = 0; i < count[dim]; ++i) {
        next.push_back(outer * content.dims[dim] + start[dim] + i * (stride.empty() ? 1 : stride[dim]));
      }
    }
    piece.elements = std::move(next);
  }
  return piece;
}

// Returns what a rank puts in one of the steps between flushes.
std::vector<Piece> pieces_of(const Content& content, const Setting& setting, int rank, int step) {
  int steps = setting.flushes + 1;
  std::vector<int64_t> start(content.dims.size(), 0);
  if (content.split == Content::Split::kRoot) {
    return rank == 0 && step == 0 ? std::vector<Piece>{piece_of(start, content.dims, {}, content)} : std::vector<Piece>();
  }
  size_t dim = content.split == Content::Split::kColumns ? 1 : 0;
  std::vector<int64_t> count = content.dims;
  std::vector<int64_t> stride;
  if (content.split == Content::Split::kStrided) {
    stride.assign(content.dims.size(), 1);
    stride[0] = setting.ranks;
    start[0] = std::min<int64_t>(rank, content.dims[0]);
    count[0] = (content.dims[0] - start[0] + setting.ranks - 1) / setting.ranks;
    if (step > 0) {
      return {};
    }
  } else {
    ByteRange mine = part_of(content.dims[dim], rank, setting.ranks, setting.seed);
    ByteRange now = part_of(mine.size(), step, steps, setting.seed + static_cast<uint64_t>(rank));
    start[dim] = mine.begin + now.begin;
    count[dim] = now.size();
  }
  return {piece_of(start, count, stride, content)};
}

// Memory for a piece: every second double, so that it must be packed, or contiguous numbers
// of another type.
struct Buffer {
  std::vector<double> spread;
  std::vector<int64_t> dense;
  Memory memory{nullptr, Datatype(), ElementType::kFloat64};

  Buffer(const Piece& piece, bool integers) {
    auto count = static_cast<int64_t>(piece.elements.size());
    if (integers) {
      dense.resize(piece.elements.size(), -1);
      memory = Memory(dense.data(), count);
    } else {
      spread.resize(piece.elements.size() * 2, -1);
      memory = Memory(spread.data(), Datatype::hvector(count, 1, 16, Datatype::bytes(8)).value(), ElementType::kFloat64);
    }
  }
  double value(size_t i) const { return dense.empty() ? spread[2 * i] : static_cast<double>(dense[i]); }
  void set(size_t i, double value) {
    if (dense.empty()) {
      spread[2 * i] = value;
    } else {
      dense[i] = static_cast<int64_t>(value);
    }
  }
};

bool is_integer(ElementType type) {
  return type != ElementType::kFloat32 && type != ElementType::kFloat64;
}

void add_lists(WriteSession& session, int rank) {
  container::DatasetSpec names;
  names.path = "unknown names";
  names.element = container::ElementSpec::of_string(4, true);
  names.dims = {2, 1};
  const char text[] =
      "dens"
      "h1  ";
  auto bytes = std::as_bytes(std::span(text, 8));
  EXPECT_TRUE(create_table(session, names, rank == 0 ? Bytes(bytes.begin(), bytes.end()) : Bytes()).ok());
  container::DatasetSpec table;
  table.path = "lists/scalars";
  using Member = container::ElementSpec::Member;
  table.element =
      container::ElementSpec::of_compound(16, {Member{"n", 0, container::ElementSpec::of_number(ElementType::kInt32)},
                                               Member{"x", 8, container::ElementSpec::of_number(ElementType::kFloat64)}});
  table.dims = {3};
  EXPECT_TRUE(create_table(session, table, rank == 0 ? Bytes(48, std::byte{7}) : Bytes()).ok());
  double value = 2.5;
  auto number = std::as_bytes(std::span(&value, 1));
  EXPECT_TRUE(
      set_attribute(session,
                    {"/", "time", container::ElementSpec::of_number(ElementType::kFloat64), {}, {number.begin(), number.end()}})
          .ok());
}

// Every second case has each put copy its memory, which is gone then; the others copy nothing.
bool makes_copies(const Setting& setting) {
  return setting.seed % 2 == 0;
}

Status put_all(WriteSession& session, const Setting& setting, const std::vector<Content>& all, int step,
               std::vector<std::unique_ptr<Buffer>>& kept) {
  for (size_t d = 0; d < all.size(); ++d) {
    for (const Piece& piece : pieces_of(all[d], setting, session.file().comm().rank(), step)) {
      kept.push_back(std::make_unique<Buffer>(piece, is_integer(all[d].stored)));
      for (size_t i = 0; i < piece.elements.size(); ++i) {
        kept.back()->set(i, all[d].value(piece.elements[i]));
      }
      const Memory& memory = kept.back()->memory;
      STRIA_RETURN_IF_ERROR(session.record(static_cast<int>(d), piece.slab, makes_copies(setting) ? memory.copied() : memory));
    }
  }
  if (makes_copies(setting)) {
    kept.clear();
  }
  return Status();
}

}  // namespace

int64_t Content::element_count() const {
  int64_t count = 1;
  for (int64_t size : dims) {
    count *= size;
  }
  return count;
}

double Content::value(int64_t element) const {
  auto salt = static_cast<int64_t>(path.size()) * 17;
  return static_cast<double>((element * 7919 + salt) % (stored == ElementType::kInt8 ? 100 : 30000)) -
         (stored == ElementType::kInt8 ? 50 : 5000);
}

std::vector<Content> contents(const Setting& setting) {
  using Split = Content::Split;
  std::vector<Content> all = {
      {"dens", ElementType::kFloat64, {kBlocks, 4, 4, 4}, {.value_range = true}},
      {"pres", ElementType::kFloat32, {kBlocks, 4, 8, 4}, {.value_range = true}},
      {"velx", ElementType::kFloat64, {kBlocks, 4, 4, 4}},
      {"group/deep/h1  ", ElementType::kFloat64, {kBlocks, 64}, {.alignment_bytes = 1}},
      {"long", ElementType::kInt16, {5, 700}, {.alignment_bytes = 512}},
      {"big", ElementType::kInt64, {kBlocks, 80}, {.big_endian = true}},
  };
  if (!setting.only_whole_rows) {
    all.push_back({"ids", ElementType::kInt32, {kBlocks, 3}});
    all.push_back({"bytes", ElementType::kInt8, {kBlocks, 7}, {.alignment_bytes = 1}});
    all.push_back({"swapped", ElementType::kFloat32, {kBlocks, 5}, {.big_endian = true}});
    all.push_back({"columns", ElementType::kFloat64, {20, 70}, {.value_range = true}, Split::kColumns});
    all.push_back({"strided", ElementType::kInt32, {kBlocks, 130}, {}, Split::kStrided});
    all.push_back({"nothing", ElementType::kFloat64, {0, 5}});
    all.push_back({"scalar", ElementType::kFloat64, {}, {.value_range = true}, Split::kRoot});
  }
  for (size_t i = 0; setting.compressed && i < all.size(); ++i) {
    all[i].options.filters = setting.filters;
    if (i % 2 == 0 && all[i].element_count() > 1) {
      for (const int64_t size : all[i].dims) {
        all[i].options.chunk.push_back((size * 2 + 2) / 3);
      }
    }
  }
  return all;
}

Environment environment_of(Comm& comm, std::shared_ptr<storage::Driver> driver, const access::ResolvedHints& hints) {
  Environment environment;
  environment.comm = std::shared_ptr<Comm>(std::shared_ptr<void>(), &comm);
  environment.driver = std::move(driver);
  environment.hints = hints;
  return environment;
}

std::shared_ptr<storage::Driver> borrow(storage::Driver& driver) {
  return std::shared_ptr<storage::Driver>(std::shared_ptr<void>(), &driver);
}

Status commit_and_wait(WriteSession& session) {
  STRIA_ASSIGN_OR_RETURN(const auto commit, session.commit_async());
  if (commit == nullptr) {
    return Status(ErrorCode::kInternal, "it has ended in the call");
  }
  // The simulated ranks share the thread that waits.
  session.file().comm().barrier();
  return commit->wait();
}

Status write_file(const Setting& setting, Comm& comm, std::shared_ptr<storage::Driver> driver,
                  const std::function<Status(WriteSession&)>& commit) {
  CreateOptions options;
  options.checksums = setting.checksums;
  access::ResolvedHints hints = setting.hints;
  hints.put_copies_bytes = 0;
  STRIA_ASSIGN_OR_RETURN(auto session,
                         WriteSession::create(environment_of(comm, std::move(driver), hints), setting.path, options));
  std::vector<Content> all = contents(setting);
  for (const Content& content : all) {
    container::DatasetSpec spec;
    spec.path = content.path;
    spec.element = container::ElementSpec::of_number(content.stored);
    spec.dims = content.dims;
    STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, content.options).status());
  }
  add_lists(*session, comm.rank());
  std::vector<std::unique_ptr<Buffer>> kept;
  for (int step = 0; step <= setting.flushes; ++step) {
    STRIA_RETURN_IF_ERROR(put_all(*session, setting, all, step, kept));
    STRIA_RETURN_IF_ERROR(step < setting.flushes ? session->flush() : commit(*session));
    kept.clear();
  }
  return Status();
}

std::string compare_file(const Setting& setting, Comm& comm, std::shared_ptr<storage::Driver> driver,
                         const OpenOptions& options) {
  auto session = ReadSession::open(environment_of(comm, std::move(driver), setting.hints), setting.path, options);
  if (!session.ok()) {
    return session.status().message();
  }
  std::vector<Content> all = contents(setting);
  std::vector<std::pair<const Content*, Piece>> wanted;
  std::vector<std::unique_ptr<Buffer>> kept;
  for (const Content& content : all) {
    std::vector<Piece> pieces = pieces_of(content, setting, comm.rank(), 0);
    if (comm.rank() == comm.size() - 1) {  // This rank gets all of it, too, in one piece.
      pieces.push_back(piece_of(std::vector<int64_t>(content.dims.size(), 0), content.dims, {}, content));
    }
    for (Piece& piece : pieces) {
      kept.push_back(std::make_unique<Buffer>(piece, kept.size() % 2 == 1));
      auto number = (*session)->find(content.path);
      Status status = number.ok() ? (*session)->record(*number, piece.slab, kept.back()->memory) : number.status();
      if (!status.ok()) {
        return status.message();
      }
      wanted.emplace_back(&content, std::move(piece));
    }
  }
  if (Status status = (*session)->commit(); !status.ok()) {
    return status.message();
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    const auto& [content, piece] = wanted[k];
    for (size_t i = 0; i < piece.elements.size(); ++i) {
      if (kept[k]->value(i) != content->value(piece.elements[i])) {
        return content->path + " element " + std::to_string(piece.elements[i]) + " is " + std::to_string(kept[k]->value(i));
      }
    }
  }
  return "";
}

void on_ranks(const Setting& setting, const std::function<void(Comm&)>& body) {
  SimulationOptions options;
  options.ranks = setting.ranks;
  options.ranks_per_node = setting.ranks_per_node;
  options.seed = setting.seed;
  options.stack_bytes = 2 << 20;
  auto report = run_simulated(options, body);
  ASSERT_TRUE(report.ok()) << report.status().message();
}

int64_t write_with_failure(const Setting& setting, const std::function<Status(WriteSession&)>& commit,
                           storage::MemoryDriver& memory, int rank, int nth, std::vector<Status>& statuses) {
  int64_t operations = 0;
  on_ranks(setting, [&](Comm& comm) {
    const bool fails = comm.rank() == rank;
    const std::string fault = "any:nth=" + std::to_string(fails ? nth : 100000) + ":errno=EIO";
    const auto script = storage::FaultScript::parse(fault, comm.rank()).value();
    const auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
    statuses[static_cast<size_t>(comm.rank())] = write_file(setting, comm, driver, commit);
    operations = fails ? script->operation_count() : operations;
  });
  return operations;
}

void fail_every_operation(const Setting& setting, const std::function<Status(WriteSession&)>& commit, const Bytes& before,
                          const std::function<void(const Status& failure, const Bytes& after)>& check) {
  constexpr int kMostOperations = 200;
  for (int rank = 0; rank < setting.ranks; ++rank) {
    int failures = 0;
    bool was_there = true;
    for (int nth = 1; was_there && nth < kMostOperations; ++nth) {
      SCOPED_TRACE("operation " + std::to_string(nth) + " of rank " + std::to_string(rank));
      storage::MemoryDriver memory;
      access::test::set_content(memory, setting.path, before);
      std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
      was_there = write_with_failure(setting, commit, memory, rank, nth, statuses) >= nth;
      for (const Status& status : statuses) {
        ASSERT_EQ(status.code(), statuses[0].code()) << status.message() << " and " << statuses[0].message();
        ASSERT_EQ(status.message(), statuses[0].message());
      }
      if (!statuses[0].ok()) {
        ++failures;
        ASSERT_EQ(statuses[0].code(), ErrorCode::kIo) << statuses[0].message();
        ASSERT_NE(statuses[0].message().find("rank " + std::to_string(rank)), std::string::npos) << statuses[0].message();
        ASSERT_FALSE(*memory.exists(partial_path(setting.path)));
        check(statuses[0], access::test::content_of(memory, setting.path));
      }
    }
    EXPECT_GT(failures, 1);
  }
}

}  // namespace stria::file::test
