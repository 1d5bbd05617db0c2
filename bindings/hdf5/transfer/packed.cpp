#include "hdf5/transfer/packed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/available_memory.hpp"

namespace stria::hdf5 {

namespace {

constexpr int64_t kKeptBytes = 64 << 20;
constexpr std::align_val_t kAlignment{4096};
// Below this, nobody asks how much memory is left.
constexpr int64_t kLargeBytes = 64 << 20;

struct Kept {
  std::byte* data = nullptr;
  int64_t capacity_bytes = 0;

  ~Kept() { ::operator delete(data, kAlignment); }
};

Kept& kept() {
  static thread_local Kept instance;
  return instance;
}

bool is_turned_off() {
  const char* const text = std::getenv("STRIA_HDF5");
  return text != nullptr && std::strcmp(text, "off") == 0;
}

/// A dataspace that was made for a question.
class OwnSpace {
 public:
  OwnSpace(const Library& library, hid_t space) : library_(library), space_(space) {}
  OwnSpace(const OwnSpace&) = delete;
  OwnSpace& operator=(const OwnSpace&) = delete;
  ~OwnSpace() {
    if (space_ >= 0) {
      library_.H5Sclose(space_);
    }
  }
  hid_t get() const { return space_; }

 private:
  const Library& library_;
  hid_t space_;
};

bool is_chunked(const Library& library, hid_t dataset) {
  const hid_t creation = library.H5Dget_create_plist(dataset);
  const int layout = creation < 0 ? -1 : library.H5Pget_layout(creation);
  if (creation >= 0) {
    library.H5Pclose(creation);
  }
  return layout == kChunkedLayout;
}

/// What is selected in the file as a box of its own, where it is one block: HDF5 then moves whole
/// rows into chunks, because both selections have the same shape. Empty where it isn't.
std::vector<hsize_t> box_of(const Library& library, hid_t file_space) {
  const auto steps = regular_steps(library, file_space);
  if (!steps || steps->empty() || !std::all_of(steps->begin(), steps->end(), [](const Steps& s) { return s.is_one_block(); })) {
    return {};
  }
  std::vector<hsize_t> lengths;
  for (const Steps& along : *steps) {
    lengths.push_back(along.elements());
  }
  return lengths;
}

}  // namespace

Staging Staging::of_bytes(int64_t bytes) noexcept {
  Staging made;
  if (kept().capacity_bytes >= bytes) {
    made.data_ = std::exchange(kept().data, nullptr);
    made.capacity_bytes_ = std::exchange(kept().capacity_bytes, 0);
    return made;
  }
  if (bytes < kLargeBytes || bytes < available_memory()) {
    made.data_ = static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kAlignment, std::nothrow));
    made.capacity_bytes_ = made.data_ == nullptr ? 0 : bytes;
  }
  return made;
}

Staging::Staging(Staging&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), capacity_bytes_(std::exchange(other.capacity_bytes_, 0)) {}

Staging& Staging::operator=(Staging&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_bytes_, other.capacity_bytes_);
  return *this;
}

Staging::~Staging() {
  if (capacity_bytes_ <= kKeptBytes && capacity_bytes_ > kept().capacity_bytes) {
    std::swap(data_, kept().data);
    kept().capacity_bytes = capacity_bytes_;
  }
  ::operator delete(data_, kAlignment);
}

std::optional<Reason> Packed::plan(const Library& library, const Arguments& arguments, std::byte* memory, Use use) {
  if (!library.is_usable) {
    return Reason::kOldLibrary;
  }
  if (is_turned_off()) {
    return Reason::kTurnedOff;
  }
  const auto is_space = [&](hid_t id) { return library.H5Iget_type(id) == kDataspaceId; };
  if (memory == nullptr || library.H5Iget_type(arguments.dataset) != kDatasetId ||
      library.H5Iget_type(arguments.type) != kDatatypeId || (arguments.file_space != kAll && !is_space(arguments.file_space))) {
    return Reason::kUnknown;
  }
  // Without a dataspace of its own, memory is an array like the file's, with the same selection.
  const hid_t memory_space = arguments.memory_space == kAll ? arguments.file_space : arguments.memory_space;
  if (memory_space == kAll || !is_space(memory_space)) {
    return Reason::kContiguous;
  }
  const hssize_t elements = library.H5Sget_select_npoints(memory_space);
  const auto element_bytes = static_cast<int64_t>(library.H5Tget_size(arguments.type));
  if (elements <= 0 || element_bytes == 0) {
    return elements == 0 ? Reason::kNothing : Reason::kUnknown;
  }
  const auto type = selected_memory(library, memory_space, element_bytes, use);
  if (!type.ok() || type->size() != elements * element_bytes) {
    return Reason::kUnknown;
  }
  if (type->piece_count() == 1) {
    return Reason::kContiguous;
  }
  const OwnSpace whole(library, arguments.file_space == kAll ? library.H5Dget_space(arguments.dataset) : -1);
  const hid_t file_space = arguments.file_space == kAll ? whole.get() : arguments.file_space;
  if (library.H5Sget_select_npoints(file_space) != elements) {
    return Reason::kUnknown;
  }
  std::vector<hsize_t> lengths = box_of(library, file_space);
  if (lengths.empty()) {
    if (library.H5Sselect_shape_same != nullptr && is_chunked(library, arguments.dataset) &&
        library.H5Sselect_shape_same(memory_space, file_space) > 0) {
      return Reason::kSameShape;
    }
    lengths = {static_cast<hsize_t>(elements)};
  }
  auto packer = Packer::create({{.memory = memory, .type = *type}});
  if (!packer.ok()) {
    return Reason::kUnknown;
  }
  staging_ = Staging::of_bytes(type->size());
  if (staging_.data() == nullptr) {
    return Reason::kNoMemory;
  }
  space_ = library.H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr);
  if (space_ < 0) {
    return Reason::kUnknown;
  }
  packer_ = std::move(*packer);
  bytes_ = type->size();
  return std::nullopt;
}

void Packed::pack() const {
  const PackPart all{0, 0, bytes_, staging_.data()};
  packer_->pack({&all, 1});
}

void Packed::unpack() const {
  const PackPart all{0, 0, bytes_, staging_.data()};
  packer_->unpack({&all, 1});
}

void Packed::release(const Library& library, herr_t outcome) {
  if (outcome >= 0) {
    library.H5Sclose(space_);
  }
}

}  // namespace stria::hdf5
