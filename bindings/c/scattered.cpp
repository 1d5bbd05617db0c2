// Rows dealt to the ranks, and single elements.
#include <span>

#include "handles.hpp"

using stria::c::given;
using stria::c::guarded;

namespace {

stria_rows rows_of(const stria::Rows& rows) {
  return {rows.first, rows.count, rows.total};
}

/// Puts or gets whole rows.
template <typename Call>
int rows_transfer(stria_dataset* dataset, const stria_rows* rows, const Call& call) {
  return guarded([&] {
    stria::c::record(dataset, [&](stria::Dataset& of) {
      const stria_rows& which = given(rows, "rows");
      int64_t elements = which.count;
      for (size_t i = 1; i < of.dims().size(); ++i) {
        if (elements < 0 || __builtin_mul_overflow(elements, of.dims()[i], &elements)) {
          stria::c::refuse("the number of rows is negative or too large");
        }
      }
      call(of, stria::Rows{which.first, which.count, which.total}, elements);
    });
  });
}

/// One number for each element of a map.
struct Numbers {
  const void* data;
  int element;
};

/// Puts or gets single elements.
template <typename Call>
int elements_transfer(stria_dataset* dataset, const stria_elements* elements, const Numbers& numbers, const Call& call) {
  return guarded([&] {
    stria::c::record(dataset, [&](stria::Dataset& of) {
      const stria::Elements& map = given(elements, "elements").elements;
      call(of, map, stria::c::memory_of(numbers.data, nullptr, numbers.element, map.count()));
    });
  });
}

}  // namespace

int stria_place_rows(stria_file* file, int64_t count, stria_rows* rows) {
  return guarded([&] {
    const stria::Rows placed = given(file, "file").file.place_rows(count);
    given(rows, "rows") = rows_of(placed);
  });
}

int stria_share_rows(const stria_file* file, int64_t total, stria_rows* rows) {
  return guarded([&] { given(rows, "rows") = rows_of(given(file, "file").file.share_rows(total)); });
}

int stria_put_rows(stria_dataset* dataset, const stria_rows* rows, const void* data, const stria_type* type, int element) {
  return rows_transfer(dataset, rows, [&](stria::Dataset& of, const stria::Rows& which, int64_t elements) {
    of.put_rows(which, stria::c::memory_of(data, type, element, elements));
  });
}

int stria_put_rows_copy(stria_dataset* dataset, const stria_rows* rows, const void* data, const stria_type* type, int element) {
  return rows_transfer(dataset, rows, [&](stria::Dataset& of, const stria::Rows& which, int64_t elements) {
    of.put_rows(which, stria::c::memory_of(data, type, element, elements).copied());
  });
}

int stria_get_rows(stria_dataset* dataset, const stria_rows* rows, void* data, const stria_type* type, int element) {
  return rows_transfer(dataset, rows, [&](stria::Dataset& of, const stria::Rows& which, int64_t elements) {
    of.get_rows(which, stria::c::memory_of(data, type, element, elements));
  });
}

int stria_append_own_rows(stria_file* file, const char* path, int64_t count, const void* data, const stria_type* type,
                          int element, stria_dataset** dataset) {
  stria_rows rows{};
  stria_dataset* made = nullptr;
  int code = stria_place_rows(file, count, &rows);
  if (code == STRIA_OK) {
    code = stria_append_rows(file, path, rows.total, &made);
  }
  if (code == STRIA_OK) {
    code = stria_put_rows(made, &rows, data, type, element);
  }
  if (dataset != nullptr) {
    *dataset = code == STRIA_OK ? made : nullptr;
  }
  return code;
}

int stria_elements_new(int64_t count, const int64_t* offsets, stria_elements** elements) {
  return guarded([&] {
    given(elements, "elements") = nullptr;
    if (count < 0) {
      stria::c::refuse("the number of elements is negative");
    }
    const int64_t* first = count == 0 ? nullptr : &given(offsets, "offsets");
    auto* made = new stria_elements{stria::Elements(std::span(first, static_cast<size_t>(count)))};
    *elements = made->handle.get();
  });
}

void stria_elements_free(stria_elements* elements) {
  delete stria::c::take(elements);
}

int stria_put_elements(stria_dataset* dataset, const stria_elements* elements, const void* data, int element) {
  return elements_transfer(
      dataset, elements, {data, element},
      [](stria::Dataset& of, const stria::Elements& map, const auto& memory) { of.put_elements(map, memory); });
}

int stria_put_elements_copy(stria_dataset* dataset, const stria_elements* elements, const void* data, int element) {
  return elements_transfer(
      dataset, elements, {data, element},
      [](stria::Dataset& of, const stria::Elements& map, const auto& memory) { of.put_elements(map, memory.copied()); });
}

int stria_get_elements(stria_dataset* dataset, const stria_elements* elements, void* data, int element) {
  return elements_transfer(
      dataset, elements, {data, element},
      [](stria::Dataset& of, const stria::Elements& map, const auto& memory) { of.get_elements(map, memory); });
}
