// Datasets, and what is put into them and got from them.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "handles.hpp"

using stria::Datatype;
using stria::ElementType;
using stria::Hyperslab;
using stria::Memory;
using stria::c::find;
using stria::c::given;
using stria::c::guarded;
using stria::c::keep;
using stria::c::Refusal;
using stria::c::text;

namespace {

std::vector<int64_t> sizes(const int64_t* values, size_t rank, const char* what) {
  return rank == 0 ? std::vector<int64_t>() : std::vector<int64_t>(&given(values, what), values + rank);
}

std::vector<int64_t> sizes_or_none(const int64_t* values, size_t rank) {
  return values == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(values, values + rank);
}

bool is_element(int value) {
  return value >= STRIA_BYTE && value <= STRIA_FLOAT64;
}

/// Returns a region that no dataset has.
Hyperslab nowhere(const stria::Dataset& dataset) {
  return {std::vector<int64_t>(dataset.dims().size() + 1, -1), {}};
}

enum class Way { kPut, kPutCopy, kGet };

void transfer(stria::Dataset& of, Way way, const Hyperslab& slab, const Memory& memory) {
  if (way == Way::kGet) {
    of.get(slab, memory);
  } else {
    of.put(slab, way == Way::kPutCopy ? memory.copied() : memory);
  }
}

/// Memory as C describes it.
struct Described {
  const void* data;
  const stria_type* type;  // null: one element behind the other
  int element;
};

Hyperslab region_of(const stria_dataset& dataset, const stria_slab* slab) {
  const size_t rank = dataset.dataset.dims().size();
  const stria_slab& of = given(slab, "slab");
  return {sizes(of.start, rank, "start"), sizes(of.count, rank, "count"), sizes_or_none(of.stride, rank),
          sizes_or_none(of.block, rank)};
}

int64_t elements_of(const Hyperslab& slab) {
  int64_t elements = 1;
  for (const std::vector<int64_t>* factors : {&slab.count, &slab.block}) {
    for (const int64_t factor : *factors) {
      if (factor < 0 || __builtin_mul_overflow(elements, factor, &elements)) {
        stria::c::refuse("a count or block is negative, or the region has more than 2^63 elements");
      }
    }
  }
  return elements;
}

std::pair<Hyperslab, Memory> understood(const stria_dataset& dataset, const stria_slab* place, const Described& memory) {
  Hyperslab slab = region_of(dataset, place);
  Memory data = stria::c::memory_of(memory.data, memory.type, memory.element, elements_of(slab));
  return {std::move(slab), std::move(data)};
}

int plain_transfer(stria_dataset* dataset, Way way, const stria_slab* place, const Described& memory) {
  return guarded([&] {
    stria::c::record(dataset, [&](stria::Dataset& of) {
      const auto [slab, data] = understood(given(dataset, "dataset"), place, memory);
      transfer(of, way, slab, data);
    });
  });
}

int box_transfer(stria_dataset* dataset, Way way, const stria_slab* place, const stria_box* box, const Described& memory) {
  return guarded([&] {
    stria::c::record(dataset, [&](stria::Dataset& of) {
      const Hyperslab slab = region_of(given(dataset, "dataset"), place);
      const size_t rank = slab.start.size();
      const auto whole = sizes(given(box, "box").sizes, rank, "the box's sizes");
      const auto start = sizes(box->start, rank, "the box's start");
      std::vector<int64_t> count = slab.count;
      for (size_t i = 0; i < slab.block.size(); ++i) {
        count[i] *= slab.block[i];
      }
      const Datatype one = Datatype::bytes(stria::element_bytes(stria::c::element(memory.element)));
      const stria_type bytes{Datatype::subarray(whole, count, start, stria::Order::kC, one).value()};
      const Memory data = stria::c::memory_of(memory.data, &bytes, memory.element, 0);
      transfer(of, way, slab, data);
    });
  });
}

}  // namespace

stria_dataset* stria::c::keep(stria_file& file, const Dataset& dataset) {
  const std::lock_guard lock(file.keeping);
  auto& kept = file.datasets[dataset.path()];
  if (kept == nullptr) {
    kept.reset(new stria_dataset{
        .dataset = dataset,
        .path = dataset.path(),
        .type_name = dataset.type_name(),
        .filters = dataset.filters(),
        .dimensions = dataset.dimensions(),
        .meaning = meaning_name(dataset.meaning()),
        .can_grow = dataset.can_grow(),
        .rank = static_cast<int>(dataset.dims().size()),
        .element = static_cast<int>(dataset.element()),
    });
  }
  return kept->handle.get();
}

Memory stria::c::memory_of(const void* data, const stria_type* type, int element, int64_t elements) {
  const ElementType number = stria::c::element(element);
  const Datatype one = Datatype::bytes(element_bytes(number));
  Datatype bytes = type == nullptr ? Datatype::contiguous(elements, one).value() : type->type;
  if (data == nullptr && bytes.size() > 0) {
    refuse("data is NULL");
  }
  Memory memory(data, std::move(bytes), number);
  memory.columns = type == nullptr ? nullptr : type->columns;
  return memory;
}

int stria_create_dataset(stria_file* file, const char* path, int element, int rank, const int64_t* dims,
                         const stria_options* options, stria_dataset** dataset) {
  return guarded([&] {
    given(dataset, "dataset") = nullptr;
    stria_file& opened = given(file, "file");
    stria::File& of = opened.file;
    try {
      const ElementType number = stria::c::element(element);
      if (rank < 0) {
        stria::c::refuse("the rank of '" + text(path) + "' is negative");
      }
      const auto shape = sizes(dims, static_cast<size_t>(rank), "dims");
      *dataset = keep(opened, of.create_dataset(text(path), number, shape, stria::c::dataset_options(options)));
    } catch (const stria::Error& error) {
      Refusal::fail_next_call(of, error);
      throw;
    }
  });
}

int stria_append_rows(stria_file* file, const char* path, int64_t rows, stria_dataset** dataset) {
  return guarded([&] {
    given(dataset, "dataset") = nullptr;
    stria_file& of = given(file, "file");
    *dataset = keep(of, of.file.append_rows(text(path), rows));
  });
}

int stria_update(stria_file* file, const char* path, stria_dataset** dataset) {
  return guarded([&] {
    given(dataset, "dataset") = nullptr;
    stria_file& of = given(file, "file");
    *dataset = keep(of, of.file.update(text(path)));
  });
}

int stria_find_dataset(stria_file* file, const char* path, stria_dataset** dataset) {
  return guarded([&] {
    given(dataset, "dataset") = nullptr;
    stria_file& of = given(file, "file");
    *dataset = keep(of, of.file.dataset(text(path)));
  });
}

int stria_datasets(stria_file* file, stria_list** paths) {
  return guarded([&] { given(paths, "paths") = stria::c::new_list(given(file, "file").file.datasets()); });
}

int stria_dataset_rank(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? 0 : of->rank;
}

int stria_dataset_dims(const stria_dataset* dataset, int64_t* dims) {
  return guarded([&] {
    const auto& shape = given(dataset, "dataset").dataset.dims();
    std::copy(shape.begin(), shape.end(), shape.empty() ? dims : &given(dims, "dims"));
  });
}

int stria_dataset_element(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? STRIA_BYTE : of->element;
}

const char* stria_dataset_type_name(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? "" : of->type_name.c_str();
}

const char* stria_dataset_path(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? "" : of->path.c_str();
}

const char* stria_dataset_meaning(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? "" : of->meaning;
}

const char* stria_dataset_filters(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of == nullptr ? "" : of->filters.c_str();
}

int stria_dataset_enumeration(const stria_dataset* dataset, stria_list** members) {
  return guarded([&] {
    std::vector<std::string> list;
    for (const stria::NamedNumber& member : given(dataset, "dataset").dataset.enumeration()) {
      list.push_back(member.name + "=" + std::to_string(member.value));
    }
    given(members, "members") = stria::c::new_list(std::move(list));
  });
}

const char* stria_dataset_dimension(const stria_dataset* dataset, int dimension) {
  const stria_dataset* of = find(dataset);
  const bool is_there = of != nullptr && dimension >= 0 && static_cast<size_t>(dimension) < of->dimensions.size();
  return is_there ? of->dimensions[static_cast<size_t>(dimension)].c_str() : "";
}

int stria_dataset_can_grow(const stria_dataset* dataset) {
  const stria_dataset* of = find(dataset);
  return of != nullptr && of->can_grow ? 1 : 0;
}

int stria_dataset_chunk(const stria_dataset* dataset, int64_t* chunk) {
  return guarded([&] {
    const stria::Dataset& of = given(dataset, "dataset").dataset;
    std::vector<int64_t> lengths = of.chunk();
    lengths.resize(of.dims().size());
    std::copy(lengths.begin(), lengths.end(), lengths.empty() ? chunk : &given(chunk, "chunk"));
  });
}

int stria_dataset_fill_value(const stria_dataset* dataset, void* value, int* is_given) {
  return guarded([&] {
    const stria::FillValue found = given(dataset, "dataset").dataset.fill_value();
    given(is_given, "given") = found.is_given ? 1 : 0;
    if (found.is_given) {
      std::memcpy(&given(static_cast<std::byte*>(value), "value"), found.bytes.data(),
                  static_cast<size_t>(stria::element_bytes(found.element)));
    }
  });
}

int stria_dataset_bytes(const stria_dataset* dataset, int64_t* bytes, int64_t* stored_bytes) {
  return guarded([&] {
    const stria::Dataset& of = given(dataset, "dataset").dataset;
    if (bytes != nullptr) {
      *bytes = of.bytes();
    }
    if (stored_bytes != nullptr) {
      *stored_bytes = of.stored_bytes();
    }
  });
}

int stria_dataset_is_contiguous(const stria_dataset* dataset, int* contiguous) {
  return guarded([&] { given(contiguous, "contiguous") = given(dataset, "dataset").dataset.is_contiguous() ? 1 : 0; });
}

int64_t stria_element_bytes(int element) {
  return is_element(element) ? stria::element_bytes(static_cast<ElementType>(element)) : 0;
}

const char* stria_element_name(int element) {
  return is_element(element) ? stria::element_type_name(static_cast<ElementType>(element)) : "";
}

int stria_put(stria_dataset* dataset, const int64_t* start, const int64_t* count, const void* data, const stria_type* type,
              int element) {
  const stria_slab slab{start, count, nullptr, nullptr};
  return plain_transfer(dataset, Way::kPut, &slab, {data, type, element});
}

int stria_put_copy(stria_dataset* dataset, const int64_t* start, const int64_t* count, const void* data, const stria_type* type,
                   int element) {
  const stria_slab slab{start, count, nullptr, nullptr};
  return plain_transfer(dataset, Way::kPutCopy, &slab, {data, type, element});
}

int stria_get(stria_dataset* dataset, const int64_t* start, const int64_t* count, void* data, const stria_type* type,
              int element) {
  const stria_slab slab{start, count, nullptr, nullptr};
  return plain_transfer(dataset, Way::kGet, &slab, {data, type, element});
}

int stria_put_slab(stria_dataset* dataset, const stria_slab* slab, const void* data, const stria_type* type, int element) {
  return plain_transfer(dataset, Way::kPut, slab, {data, type, element});
}

int stria_put_slab_copy(stria_dataset* dataset, const stria_slab* slab, const void* data, const stria_type* type, int element) {
  return plain_transfer(dataset, Way::kPutCopy, slab, {data, type, element});
}

int stria_get_slab(stria_dataset* dataset, const stria_slab* slab, void* data, const stria_type* type, int element) {
  return plain_transfer(dataset, Way::kGet, slab, {data, type, element});
}

int stria_refuse_transfer(stria_dataset* dataset, const char* message) {
  return guarded([&] {
    const stria::Error error(stria::ErrorCode::kInvalidArgument, text(message));
    Refusal::fail_next_call(given(dataset, "dataset").dataset, error);
    throw error;
  });
}

// Whatever this rank does wrong, the others are met; its own words come first.
int stria_read_slab(stria_dataset* dataset, const stria_slab* slab, void* data, const stria_type* type, int element) {
  return guarded([&] {
    stria::Dataset& of = given(dataset, "dataset").dataset;
    std::optional<stria::Error> wrong;
    std::pair<Hyperslab, Memory> known(nowhere(of), Memory(nullptr, Datatype(), ElementType::kByte));
    try {
      known = understood(given(dataset, "dataset"), slab, {data, type, element});
    } catch (const stria::Error& error) {
      Refusal::fail_next_call(of, error);
      wrong = error;
    }
    try {
      of.read(known.first, known.second);
    } catch (const stria::Error& error) {
      throw wrong ? *wrong : error;
    }
  });
}

int stria_read(stria_dataset* dataset, const int64_t* start, const int64_t* count, void* data, const stria_type* type,
               int element) {
  const stria_slab slab{start, count, nullptr, nullptr};
  return stria_read_slab(dataset, &slab, data, type, element);
}

int stria_put_box(stria_dataset* dataset, const stria_slab* place, const stria_box* box, const void* data, int element) {
  return box_transfer(dataset, Way::kPut, place, box, {data, nullptr, element});
}

int stria_put_box_copy(stria_dataset* dataset, const stria_slab* place, const stria_box* box, const void* data, int element) {
  return box_transfer(dataset, Way::kPutCopy, place, box, {data, nullptr, element});
}

int stria_get_box(stria_dataset* dataset, const stria_slab* place, const stria_box* box, void* data, int element) {
  return box_transfer(dataset, Way::kGet, place, box, {data, nullptr, element});
}
