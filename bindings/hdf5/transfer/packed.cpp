#include "hdf5/transfer/packed.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/available_memory.hpp"
#include "hdf5/settings/settings.hpp"

namespace stria::hdf5 {

namespace {

constexpr int64_t kKeptBytes = 64 << 20;
constexpr std::align_val_t kAlignment{4096};
// Nobody asks how much memory is left for less than this.
constexpr int64_t kLargeBytes = 64 << 20;
// Asking for types takes longer than what knowing them saves where there are fewer bytes than
// these.
constexpr int64_t kLeastScatteredBytes = 4 << 10;
constexpr int64_t kLeastContiguousBytes = 32 << 10;
constexpr int64_t kDoublesAtATime = 2048;

struct Kept {
  std::byte* data = nullptr;
  int64_t capacity_bytes = 0;

  ~Kept() { ::operator delete(data, kAlignment); }
};

Kept& kept() {
  static thread_local Kept instance;
  return instance;
}

bool is_chunked(const Library& library, hid_t dataset) {
  const hid_t creation = library.H5Dget_create_plist(dataset);
  const int layout = creation < 0 ? -1 : library.H5Pget_layout(creation);
  if (creation >= 0) {
    library.H5Pclose(creation);
  }
  return layout == kChunkedLayout;
}

/// Returns what is selected in the file, where it is one block: HDF5 then moves whole rows into
/// chunks, because both selections have the same shape. Empty where it isn't.
std::vector<Steps> box_of(const Library& library, hid_t file_space) {
  auto steps = regular_steps(library, file_space);
  const bool is_box =
      steps && std::all_of(steps->begin(), steps->end(), [](const Steps& along) { return along.is_one_block(); });
  return is_box ? std::move(*steps) : std::vector<Steps>();
}

}  // namespace

bool is_collective(const Library& library, hid_t transfer) {
  int mode = 0;
  return transfer != kDefault && library.H5Pget_dxpl_mpio != nullptr && library.H5Pget_dxpl_mpio(transfer, &mode) >= 0 &&
         mode == kCollectiveTransfer;
}

bool has_place(const Library& library, hid_t dataset) {
  if (!library.knows_places) {
    return false;
  }
  bool is_native = !library.has_connectors;
  if (library.H5VLobject_is_native != nullptr && library.H5VLobject_is_native(dataset, &is_native) < 0) {
    return false;
  }
  return is_native && library.H5Dget_offset(dataset) != kNoAddress;
}

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

std::optional<Reason> Packed::plan(const Library& library, const Arguments& arguments, std::byte* memory, Use use,
                                   bool must_be_whole) {
  if (!library.is_usable) {
    return Reason::kOldLibrary;
  }
  if (is_turned_off()) {
    return Reason::kTurnedOff;
  }
  auto reason = plan_packing(library, arguments, memory, use);
  if (!reason && packer_) {
    reason = divide(library, arguments, must_be_whole);
  }
  if (reason) {
    close_type(library);  // now, because HDF5's own call may leave reasons behind
  }
  return reason;
}

std::optional<Reason> Packed::describe_memory(const Library& library, const Arguments& arguments, std::byte* memory, Use use) {
  const auto is_space = [&](hid_t id) { return library.H5Iget_type(id) == kDataspaceId; };
  // Memory that has no dataspace of its own is an array like the file's, with the same selection.
  const hid_t given_space = arguments.memory_space == kAll ? arguments.file_space : arguments.memory_space;
  if (library.H5Iget_type(arguments.dataset) != kDatasetId || library.H5Iget_type(arguments.type) != kDatatypeId ||
      (arguments.file_space != kAll && !is_space(arguments.file_space)) || (given_space != kAll && !is_space(given_space))) {
    return Reason::kUnknown;
  }
  const OwnSpace whole(library, given_space == kAll ? library.H5Dget_space(arguments.dataset) : -1);
  const hid_t memory_space = given_space == kAll ? whole.get() : given_space;
  const auto element_bytes = static_cast<int64_t>(library.H5Tget_size(arguments.type));
  if (element_bytes == 0) {
    return Reason::kUnknown;
  }
  auto selected = selected_memory(library, memory_space, element_bytes, use);
  if (!selected.ok() || (memory == nullptr && selected->type.size() > 0)) {
    return Reason::kUnknown;
  }
  type_ = std::move(selected->type);
  memory_ = memory == nullptr ? nullptr : memory + selected->base_bytes;
  elements_ = type_.size() / element_bytes;
  return std::nullopt;
}

std::optional<Reason> Packed::plan_packing(const Library& library, const Arguments& arguments, std::byte* memory, Use use) {
  if (const auto reason = describe_memory(library, arguments, memory, use)) {
    return reason;
  }
  const bool is_scattered = type_.piece_count() > 1;
  if (elements_ == 0 ? is_collective(library, arguments.transfer)
                     : type_.size() >= (is_scattered ? kLeastScatteredBytes : kLeastContiguousBytes)) {
    choose_conversion(library, arguments, use);
  } else if (is_scattered) {
    is_allocated_ = has_place(library, arguments.dataset);
  }
  if (!is_scattered && !converts()) {
    return elements_ == 0 ? Reason::kNothing : Reason::kContiguous;
  }
  if (elements_ == 0) {
    return std::nullopt;  // all ranks give the same type, so that HDF5 moves their bytes together
  }
  if (!make_packer().ok()) {
    return Reason::kUnknown;
  }
  return choose_shape(library, arguments);
}

std::optional<Reason> Packed::plan_stream(const Library& library, const Arguments& arguments, std::byte* memory) {
  if (const auto reason = describe_memory(library, arguments, memory, Use::kToFile)) {
    return reason;
  }
  conversion_ = conversion_of(library, arguments.dataset, arguments.type, true);
  if (conversion_.kind == Conversion::Kind::kUnknown) {
    return Reason::kUnknown;
  }
  if (conversion_.stored_type >= 0) {
    library.H5Tclose(std::exchange(conversion_.stored_type, -1));
  }
  return elements_ > 0 && !make_packer().ok() ? std::optional(Reason::kUnknown) : std::nullopt;
}

void Packed::choose_conversion(const Library& library, const Arguments& arguments, Use use) {
  is_allocated_ = has_place(library, arguments.dataset);
  conversion_ = conversion_of(library, arguments.dataset, arguments.type, use == Use::kToFile);
  if (use == Use::kFromFile) {
    is_replaced_ = is_allocated_ && conversion_.kind != Conversion::Kind::kUnknown;
    if (converts() && !is_replaced_) {
      close_type(library);
    }
  }
}

void Packed::close_type(const Library& library) {
  if (conversion_.stored_type >= 0) {
    library.H5Tclose(conversion_.stored_type);
  }
  conversion_ = Conversion();
}

Status Packed::make_packer() {
  std::vector<PackOperand> operands(1);
  operands[0].memory = memory_;
  operands[0].type = type_;
  if (converts()) {
    operands[0].memory_element = conversion_.memory;
    operands[0].stored_element = conversion_.stored;
    operands[0].swap_bytes = conversion_.swaps;
  }
  auto packer = Packer::create(std::move(operands));
  if (packer.ok()) {
    bytes_ = packer->stream_bytes(0);
    packer_ = std::move(*packer);
  }
  return packer.status();
}

std::optional<Reason> Packed::choose_shape(const Library& library, const Arguments& arguments) {
  // A dataset in one piece takes its elements from any dataspace. One that is small need not be
  // looked at to be cut.
  const bool takes_any = is_allocated_ && bytes_ <= most_buffer_bytes();
  const OwnSpace whole(library, arguments.file_space == kAll ? library.H5Dget_space(arguments.dataset) : -1);
  const hid_t file_space = arguments.file_space == kAll ? whole.get() : arguments.file_space;
  if (library.H5Sget_select_npoints(file_space) != elements_) {
    return Reason::kUnknown;
  }
  if (!takes_any) {
    steps_ = box_of(library, file_space);
    for (const Steps& along : steps_) {
      lengths_.push_back(along.elements());
    }
  }
  if (!lengths_.empty()) {
    return std::nullopt;
  }
  const hid_t memory_space = arguments.memory_space == kAll ? file_space : arguments.memory_space;
  if (!is_allocated_ && library.H5Sselect_shape_same != nullptr && is_chunked(library, arguments.dataset) &&
      library.H5Sselect_shape_same(memory_space, file_space) > 0) {
    return Reason::kSameShape;
  }
  lengths_ = {static_cast<hsize_t>(elements_)};
  return std::nullopt;
}

std::optional<Reason> Packed::divide(const Library& library, const Arguments& arguments, bool must_be_whole) {
  const int64_t most_bytes = most_buffer_bytes();
  int64_t buffer_bytes = bytes_;
  if (bytes_ > most_bytes) {
    // All ranks of a collective transfer make the same number of calls.
    if (steps_.empty() || must_be_whole || is_collective(library, arguments.transfer)) {
      return Reason::kLarge;
    }
    rows_ = static_cast<int64_t>(lengths_[0]);
    const int64_t row_bytes = bytes_ / rows_;
    piece_rows_ = std::max<int64_t>(most_bytes / row_bytes, 1);
    buffer_bytes = piece_rows_ * row_bytes;
  }
  staging_ = Staging::of_bytes(buffer_bytes);
  return staging_.data() == nullptr ? std::optional(Reason::kNoMemory) : std::nullopt;
}

std::optional<Piece> Packed::begin(const Library& library, const Arguments& arguments, int64_t number) {
  Piece piece;
  std::vector<hsize_t> lengths = lengths_;
  piece.type = arguments.type;
  piece.memory_space = arguments.memory_space;
  piece.file_space = arguments.file_space;
  piece.range = {0, bytes_};
  if (piece_count() > 1) {
    const int64_t first = number * piece_rows_;
    const int64_t rows = std::min(piece_rows_, rows_ - first);
    const int64_t row_bytes = bytes_ / rows_;
    piece.range = {first * row_bytes, (first + rows) * row_bytes};
    lengths[0] = static_cast<hsize_t>(rows);
    std::vector<hsize_t> start;
    for (const Steps& along : steps_) {
      start.push_back(along.start);
    }
    start[0] += static_cast<hsize_t>(first);
    piece.file_space =
        arguments.file_space == kAll ? library.H5Dget_space(arguments.dataset) : library.H5Scopy(arguments.file_space);
    piece.owns_file_space = piece.file_space >= 0;
    if (!piece.owns_file_space ||
        library.H5Sselect_hyperslab(piece.file_space, kSelectSet, start.data(), nullptr, lengths.data(), nullptr) < 0) {
      return std::nullopt;
    }
  }
  if (packer_) {
    piece.memory_space = library.H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr);
    piece.owns_memory_space = piece.memory_space >= 0;
    if (!piece.owns_memory_space) {
      return std::nullopt;
    }
  }
  if (converts()) {
    piece.type =
        conversion_.stored_type >= 0 ? std::exchange(conversion_.stored_type, -1) : library.H5Dget_type(arguments.dataset);
    piece.owns_type = piece.type >= 0;
    if (!piece.owns_type) {
      return std::nullopt;
    }
  }
  return piece;
}

void Packed::pack(const Piece& piece) const {
  if (!is_replaced_) {
    pack_into(staging_.data(), piece.range);
  }
}

void Packed::pack_into(std::byte* to, ByteRange range) const {
  if (!packer_) {
    return;
  }
  const PackPart part{0, range.begin, range.end, to};
  packer_->pack({&part, 1});
  if (conversion_.is_double_in_memory_only() && has_largest_float(to, range.size() / 4)) {
    pack_doubles(to, range);
  }
}

void Packed::pack_doubles(std::byte* floats, ByteRange range) const {
  std::vector<PackOperand> operands(1);
  operands[0].memory = memory_;
  operands[0].type = type_;
  const auto packer = Packer::create(std::move(operands));
  if (!packer.ok()) {
    return;  // it was made for this memory before
  }
  std::vector<double> doubles(kDoublesAtATime);
  const int64_t end = range.end / 4;
  for (int64_t at = range.begin / 4; at < end; at += kDoublesAtATime) {
    const int64_t count = std::min(kDoublesAtATime, end - at);
    const PackPart part{0, at * 8, (at + count) * 8, reinterpret_cast<std::byte*>(doubles.data())};
    packer->pack({&part, 1});
    narrow_as_hdf5(doubles.data(), floats + (at * 4 - range.begin), count);
  }
}

void Packed::unpack(const Piece& piece) const {
  if (!packer_) {
    return;
  }
  if (conversion_.is_double_in_file_only()) {
    mend_beyond_float(staging_.data(), piece.range.size() / 8);
  }
  const PackPart part{0, piece.range.begin, piece.range.end, staging_.data()};
  packer_->unpack({&part, 1});
}

void Packed::end(const Library& library, const Piece& piece, herr_t outcome) {
  if (outcome < 0) {
    return;
  }
  if (piece.owns_type) {
    library.H5Tclose(piece.type);
  }
  if (piece.owns_memory_space) {
    library.H5Sclose(piece.memory_space);
  }
  if (piece.owns_file_space) {
    library.H5Sclose(piece.file_space);
  }
}

}  // namespace stria::hdf5
