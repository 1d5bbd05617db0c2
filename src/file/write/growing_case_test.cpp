#include "file/write/growing_case_test.hpp"

#include <algorithm>
#include <numeric>

#include "container/formats/formats.hpp"

namespace stria::file::test {

namespace {

using Random = std::mt19937_64;

constexpr double kFillValue = -77;

int64_t pick(Random& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

int64_t product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Returns the elements of a box, in order.
std::vector<int64_t> elements_of(const std::vector<int64_t>& dims, const BoxPut& box) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    std::vector<int64_t> next;
    for (const int64_t outer : elements) {
      for (int64_t i = 0; i < box.count[dim]; ++i) {
        next.push_back(outer * dims[dim] + box.start[dim] + i);
      }
    }
    elements = std::move(next);
  }
  return elements;
}

// Cuts a box into parts of several ranks; some of it stays without.
void cut(Random& random, const BoxPut& box, int depth, Addition& addition) {
  const auto dim = static_cast<size_t>(pick(random, 0, static_cast<int64_t>(box.start.size()) - 1));
  if (depth == 0 || box.count[dim] < 2) {
    if (pick(random, 0, 5) > 0) {
      BoxPut& put = addition.puts.emplace_back(box);
      put.rank = static_cast<int>(pick(random, 0, addition.ranks - 1));
      put.step = static_cast<int>(pick(random, 0, addition.flushes));
    }
    return;
  }
  const int64_t at = pick(random, 1, box.count[dim] - 1);
  BoxPut first = box;
  BoxPut second = box;
  first.count[dim] = at;
  second.start[dim] += at;
  second.count[dim] -= at;
  cut(random, first, depth - 1, addition);
  cut(random, second, depth - 1, addition);
}

// Puts all rows from `first_row` on, by several ranks.
void put_rows(Random& random, const std::string& path, int64_t first_row, ModelDataset& dataset, Addition& addition) {
  if (dataset.dims[0] == first_row) {
    return;
  }
  BoxPut box{.path = path, .start = std::vector<int64_t>(dataset.dims.size(), 0), .count = dataset.dims};
  box.start[0] = first_row;
  box.count[0] -= first_row;
  const size_t before = addition.puts.size();
  cut(random, box, static_cast<int>(pick(random, 0, 4)), addition);
  for (size_t i = before; i < addition.puts.size(); ++i) {
    for (const int64_t element : elements_of(dataset.dims, addition.puts[i])) {
      dataset.values[static_cast<size_t>(element)] = static_cast<double>((element * 7919 + static_cast<int64_t>(i)) % 100000);
    }
  }
}

ModelDataset random_dataset(Random& random) {
  ModelDataset made;
  const auto dimensions = static_cast<size_t>(pick(random, 1, 3));
  const int64_t longest[] = {900, 70, 17};
  for (size_t dim = 0; dim < dimensions; ++dim) {
    made.dims.push_back(pick(random, 1, longest[dimensions - 1]));
  }
  made.extendable = pick(random, 0, 1) == 0;
  made.stored = pick(random, 0, 1) == 0 ? ElementType::kFloat64 : ElementType::kInt32;
  made.options.value_range = pick(random, 0, 2) == 0;
  made.options.big_endian = pick(random, 0, 5) == 0;
  if (made.extendable || pick(random, 0, 2) == 0) {
    for (size_t dim = 0; dim < dimensions && pick(random, 0, 3) > 0; ++dim) {
      made.options.chunk.push_back(pick(random, 1, dim == 0 ? std::min<int64_t>(made.dims[0], 9) : made.dims[dim]));
    }
    if (made.options.chunk.size() != dimensions) {
      made.options.chunk.clear();
    }
    made.options.filters = {.shuffle = pick(random, 0, 1) == 0, .deflate = pick(random, 0, 1) == 0};
    made.options.filters.zstd = !made.options.filters.deflate && pick(random, 0, 1) == 0;
  }
  if (pick(random, 0, 1) == 0) {
    made.options.fill_value = static_cast<int32_t>(kFillValue);
  }
  if (pick(random, 0, 1) == 0) {  // the growing ones share a dimension
    made.options.dimensions.resize(dimensions);
    made.options.dimensions[0] = made.extendable ? "steps" : "";
  }
  return made;
}

void append_at_random(Random& random, Model& model, Addition& addition) {
  for (auto& [path, dataset] : model.datasets) {
    if (!dataset.extendable || pick(random, 0, 2) == 0) {
      continue;
    }
    const int64_t before = dataset.dims[0];
    const int64_t rows = pick(random, 0, 20);
    addition.appended.emplace_back(path, rows);
    dataset.dims[0] += rows;
    dataset.values.resize(static_cast<size_t>(product(dataset.dims)), dataset.unwritten());
    put_rows(random, path, before, dataset, addition);
  }
}

}  // namespace

double ModelDataset::unwritten() const {
  return options.fill_value.is_given ? kFillValue : 0;
}

int64_t ModelDataset::row_elements() const {
  return std::accumulate(dims.begin() + 1, dims.end(), int64_t{1}, std::multiplies<>());
}

Addition add_at_random(uint64_t seed, Model& model) {
  Random random(seed);
  Addition addition;
  addition.seed = seed;
  addition.ranks = static_cast<int>(pick(random, 1, 4));
  addition.ranks_per_node = static_cast<int>(pick(random, 1, addition.ranks));
  addition.flushes = static_cast<int>(pick(random, 0, 1));
  const char* groups[] = {"", "mesh/", "mesh/fine/", "probes/"};
  for (int64_t left = pick(random, 1, 4); left > 0; --left) {
    const std::string path = groups[pick(random, 0, 3)] + std::string("d") + std::to_string(model.datasets.size());
    ModelDataset made = random_dataset(random);
    if (made.extendable) {
      made.dims[0] = 0;
    }
    made.values.assign(static_cast<size_t>(product(made.dims)), made.unwritten());
    addition.created.emplace_back(path, made);
    put_rows(random, path, 0, model.datasets[path] = made, addition);
  }
  append_at_random(random, model, addition);
  for (int64_t left = pick(random, 0, 3); left > 0; --left) {
    auto object = model.datasets.begin();
    std::advance(object, pick(random, 0, static_cast<int64_t>(model.datasets.size()) - 1));
    const std::string path = pick(random, 0, 2) == 0 ? "/" : object->first;
    const std::pair key(path, "a" + std::to_string(pick(random, 0, 2)));
    model.attributes[key] = addition.attributes[key] = static_cast<double>(pick(random, 0, 1000));
  }
  addition.in_background = pick(random, 0, 1) == 1;
  return addition;
}

Status carry_out(const Addition& addition, const Model& model, bool is_new, Comm& comm,
                 std::shared_ptr<storage::Driver> driver) {
  Environment environment = environment_of(comm, std::move(driver), {});
  STRIA_ASSIGN_OR_RETURN(
      auto session, is_new ? WriteSession::create(std::move(environment), kGrowingPath, {.track_order = addition.seed % 2 == 0})
                           : WriteSession::append(std::move(environment), kGrowingPath, {}));
  for (const auto& [path, dataset] : addition.created) {
    container::DatasetSpec spec;
    spec.path = path;
    spec.element = container::ElementSpec::of_number(dataset.stored);
    spec.dims = dataset.dims;
    spec.dims[0] = dataset.extendable ? kUnlimited : spec.dims[0];
    STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, dataset.options).status());
  }
  for (const auto& [path, rows] : addition.appended) {
    STRIA_RETURN_IF_ERROR(append_rows(*session, path, rows).status());
  }
  for (const auto& [key, value] : addition.attributes) {
    container::AttributeSpec attribute{key.first, key.second, container::ElementSpec::of_number(ElementType::kFloat64), {}, {}};
    attribute.value.resize(sizeof value);
    std::memcpy(attribute.value.data(), &value, sizeof value);
    STRIA_RETURN_IF_ERROR(set_attribute(*session, std::move(attribute)));
  }
  std::vector<std::vector<double>> kept;
  for (int step = 0; step <= addition.flushes; ++step) {
    for (const BoxPut& put : addition.puts) {
      if (put.rank != comm.rank() || put.step != step) {
        continue;
      }
      const ModelDataset& dataset = model.datasets.at(put.path);
      std::vector<double>& values = kept.emplace_back();
      for (const int64_t element : elements_of(dataset.dims, put)) {
        values.push_back(dataset.values[static_cast<size_t>(element)]);
      }
      STRIA_ASSIGN_OR_RETURN(const int number, session->find(put.path));
      STRIA_RETURN_IF_ERROR(
          session->record(number, {put.start, put.count}, Memory(values.data(), static_cast<int64_t>(values.size()))));
    }
    if (step < addition.flushes) {
      STRIA_RETURN_IF_ERROR(session->flush());
    }
  }
  return addition.in_background ? commit_and_wait(*session) : session->commit();
}

namespace {

// Compares by libhdf5, on one rank.
std::string compare_through_library(const Model& model, storage::Driver& driver) {
  auto file = driver.open(kGrowingPath, {});
  auto reader = file.ok() ? container::open_file(**file) : Result<std::unique_ptr<container::Reader>>(file.status());
  if (!reader.ok()) {
    return reader.status().message();
  }
  for (const auto& [path, dataset] : model.datasets) {
    const auto info = (*reader)->dataset(path);
    if (!info.ok() || info->spec.dims != dataset.dims) {
      return path + ": " + (info.ok() ? "another shape for libhdf5" : info.status().message());
    }
    if (dataset.options.filters.zstd) {
      continue;  // libhdf5 has no such filter
    }
    const auto bytes = static_cast<size_t>(element_bytes(dataset.stored));
    Bytes content(dataset.values.size() * bytes);
    const std::vector<int64_t> start(dataset.dims.size(), 0);
    if (const Status read = (*reader)->read_hyperslab(path, start, dataset.dims, content); !read.ok()) {
      return path + ": " + read.message();
    }
    for (size_t i = 0; i < dataset.values.size(); ++i) {
      double real = 0;
      int32_t whole = 0;
      std::memcpy(dataset.stored == ElementType::kInt32 ? static_cast<void*>(&whole) : &real, content.data() + i * bytes,
                  bytes);
      if (dataset.values[i] != real + whole) {
        return path + ": libhdf5 reads another element " + std::to_string(i);
      }
    }
  }
  return "";
}

}  // namespace

std::string compare_with(const Model& model, Comm& comm, std::shared_ptr<storage::Driver> driver) {
  auto opened = ReadSession::open(environment_of(comm, driver, {}), kGrowingPath, {.hints = {}, .verify = true});
  if (!opened.ok()) {
    return opened.status().message();
  }
  ReadSession& session = **opened;
  if (dataset_paths(session).value().size() != model.datasets.size()) {
    return "the file has " + std::to_string(dataset_paths(session).value().size()) + " datasets";
  }
  std::map<std::string, std::vector<double>> got;
  for (const auto& [path, dataset] : model.datasets) {
    const auto number = session.find(path);
    if (!number.ok() || session.file().catalog[*number].spec.dims != dataset.dims) {
      return path + " is missing, or has another shape";
    }
    std::vector<double>& values = got[path];
    values.assign(dataset.values.size(), -1);
    Status status = session.record(*number, {std::vector<int64_t>(dataset.dims.size(), 0), dataset.dims},
                                   Memory(values.data(), static_cast<int64_t>(values.size())));
    if (!status.ok()) {
      return path + ": " + status.message();
    }
  }
  if (const Status read = session.commit(); !read.ok()) {
    return read.message();
  }
  for (const auto& [path, dataset] : model.datasets) {
    if (got[path] != dataset.values) {
      const auto [wrong, right] = std::mismatch(got[path].begin(), got[path].end(), dataset.values.begin());
      return path + ": element " + std::to_string(wrong - got[path].begin()) + " is " + std::to_string(*wrong) + ", not " +
             std::to_string(*right);
    }
  }
  for (const auto& [key, value] : model.attributes) {
    const auto read = read_number_attribute(session, key.first, key.second);
    if (!read.ok() || *read != value) {
      return "attribute " + key.second + " of " + key.first + " " + read.status().message();
    }
  }
  std::vector<std::string> remarks;
  const auto damages = session.verify(&remarks);
  if (!damages.ok() || !damages->empty()) {
    return "verify: " + (damages.ok() ? "damage in '" + damages->front().dataset + "'" : damages.status().message());
  }
  for (const std::string& remark : remarks) {
    if (remark.find("nobody put it") == std::string::npos) {
      return "verify: " + remark;
    }
  }
  return comm.rank() == 0 ? compare_through_library(model, *driver) : "";
}

}  // namespace stria::file::test
