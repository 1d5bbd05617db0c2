#include "container/hdf5/hdf5_format.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "container/dimension_names.hpp"
#include "container/hdf5/copy/hdf5_copy.hpp"
#include "container/hdf5/form/complex_form.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/form/hidden_content.hpp"
#include "container/hdf5/grow/hdf5_growth.hpp"
#include "container/hdf5/read/reader.hpp"
#include "container/hdf5/write/element_format.hpp"
#include "container/hdf5/write/objects.hpp"
#include "container/hdf5/write/writer.hpp"

namespace stria::container {

namespace {

/// Datasets' raw data lie one behind another.
class InOrder : public Layout {
 public:
  Status prepare(DatasetSpec& spec) const override {
    STRIA_RETURN_IF_ERROR(check_meaning(spec).with_context("dataset '" + spec.path + "'"));
    return NamedDimensions::complete(spec, lengths_of(spec));
  }
  Status note_table(const DatasetSpec& spec) override { return dimensions_.add(spec, spec.dims); }
  Status note_attribute(const AttributeSpec& attribute) override { return h5::check_attribute(attribute); }
  Status note_link(const LinkSpec& /*link*/) override { return Status(); }
  Result<int64_t> place(const DatasetSpec& spec) override {
    STRIA_RETURN_IF_ERROR(dimensions_.add(spec, lengths_of(spec)));
    STRIA_ASSIGN_OR_RETURN(const int64_t bytes, dataset_bytes(spec));
    const int64_t head_bytes = h5::hides_content(spec) ? h5::kHiddenContentAt : 0;
    STRIA_ASSIGN_OR_RETURN(const int64_t offset, place_bytes(spec, spec.chunking ? 0 : head_bytes + bytes));
    return offset < 0 ? offset : offset + head_bytes;
  }
  Result<int64_t> place_chunks(const DatasetSpec& spec, int64_t bytes) override { return place_bytes(spec, bytes); }
  int64_t end() const override { return end_; }
  void begin_behind(int64_t old_end) override { end_ = align_up(old_end, kPageBytes); }

 private:
  static Status check_meaning(const DatasetSpec& spec) {
    const bool is_record = spec.element.kind == ElementSpec::Kind::kCompound;
    if (!is_record && spec.element.meaning == Meaning::kNumber && spec.element.enumeration.empty()) {
      return Status();
    }
    DatasetSpec stored = spec;
    STRIA_RETURN_IF_ERROR(h5::fold_complex(stored));
    return h5::datatype_bytes(stored.element).status();
  }
  // Returns the lengths of the dimensions that other programs see, of a spec that check_meaning()
  // has found well.
  static std::vector<int64_t> lengths_of(const DatasetSpec& spec) {
    std::vector<int64_t> lengths = spec.dims;
    lengths.resize(spec.dims.size() - (spec.element.meaning == Meaning::kComplex ? 1 : 0));
    if (spec.extendable) {
      lengths[0] = NamedDimensions::kNoLimit;
    }
    return lengths;
  }
  Result<int64_t> place_bytes(const DatasetSpec& spec, int64_t bytes) {
    if (bytes == 0) {
      return int64_t{-1};
    }
    int64_t begin = 0;
    int64_t end = 0;
    if (!checked_add(end_, spec.alignment_bytes - 1, &begin) ||
        !checked_add(align_down(begin, spec.alignment_bytes), bytes, &end)) {
      return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
    }
    end_ = end;
    return align_down(begin, spec.alignment_bytes);
  }

  static constexpr int64_t kPageBytes = 4096;

  int64_t end_ = Hdf5Writer::first_raw_offset();
  NamedDimensions dimensions_;
};

}  // namespace

Result<bool> Hdf5Format::recognises(storage::File& file) {
  std::array<char, h5::kSignature.size()> begin{};
  const storage::ReadSegment segment{0, reinterpret_cast<std::byte*>(begin.data()), begin.size()};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file.read({&segment, 1}));
  return read == segment.bytes && std::string_view(begin.data(), begin.size()) == h5::kSignature;
}

std::unique_ptr<Layout> Hdf5Format::make_layout() const {
  return std::make_unique<InOrder>();
}

Result<std::unique_ptr<Writer>> Hdf5Format::make_writer(const Layout& layout) const {
  auto writer = std::make_unique<Hdf5Writer>();
  STRIA_RETURN_IF_ERROR(writer->plan(layout.end()));
  return std::unique_ptr<Writer>(std::move(writer));
}

Result<std::unique_ptr<Reader>> Hdf5Format::open(storage::File& file) const {
  STRIA_ASSIGN_OR_RETURN(auto reader, Hdf5Reader::open(file));
  return std::unique_ptr<Reader>(std::move(reader));
}

Result<std::unique_ptr<Growth>> Hdf5Format::open_growth(storage::File& file) const {
  STRIA_ASSIGN_OR_RETURN(auto growth, Hdf5Growth::open(file));
  return std::unique_ptr<Growth>(std::move(growth));
}

Result<std::unique_ptr<Copy>> Hdf5Format::open_copy(storage::File& from, storage::File& to,
                                                    std::span<const PlacedData> elsewhere) const {
  return Hdf5Copy::open(from, to, elsewhere);
}

}  // namespace stria::container
