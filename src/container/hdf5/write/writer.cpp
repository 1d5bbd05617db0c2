#include "container/hdf5/write/writer.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/hdf5/form/complex_form.hpp"
#include "container/hdf5/form/hidden_content.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/write/dimension_scales.hpp"
#include "container/hdf5/write/writer_impl.hpp"
#include "container/object_path.hpp"

namespace stria::container {

namespace {

using h5::ImageSpace;
using h5::Object;
using h5::Value;

std::string naming(const DatasetSpec& dataset) {
  return "cannot make dataset '" + dataset.path + "'";
}

}  // namespace

Result<int64_t> Hdf5Writer::Impl::place(const DatasetSpec& spec, int64_t bytes) {
  if (bytes == 0) {
    return h5::kNowhere;
  }
  if (spec.data_offset >= 0) {
    if (spec.data_offset < first_raw || spec.data_offset > planned_end || bytes > planned_end - spec.data_offset) {
      return Status(ErrorCode::kInternal, "a dataset's planned place is outside of the plan");
    }
    return spec.data_offset;
  }
  int64_t begin = 0;
  int64_t end = 0;
  if (!checked_add(raw_end, spec.alignment_bytes - 1, &begin) ||
      !checked_add(align_down(begin, spec.alignment_bytes), bytes, &end)) {
    return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
  }
  raw_end = end;
  return align_down(begin, spec.alignment_bytes);
}

Status Hdf5Writer::Impl::make_dataset(const DatasetSpec& spec, Value value, int64_t data_offset) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
  if (path.empty()) {
    return Status(ErrorCode::kInvalidArgument, "it has no name");
  }
  STRIA_RETURN_IF_ERROR(tree.look_for(path));
  if (tree.find(path) != nullptr) {
    return Status(ErrorCode::kAlreadyExists, "the name is taken");
  }
  STRIA_RETURN_IF_ERROR(tree.make_groups(path, path.size()));
  h5::Dataset dataset;
  dataset.value = std::move(value);
  dataset.alignment_bytes = spec.alignment_bytes;
  dataset.data_offset = data_offset;
  dataset.head_bytes = spec.is_hidden ? h5::kHiddenContentAt : 0;
  dataset.extendable = spec.extendable;
  dataset.elsewhere = spec.elsewhere;
  dataset.fill_value = spec.fill_value;
  dataset.dimension_names = spec.dimension_names;
  STRIA_ASSIGN_OR_RETURN(Object* const object, tree.add(path, std::move(dataset)));
  tree.note_order(*object, spec.order);
  return keep_cut(spec, *object->dataset());
}

// Keeps how chunks are cut in the terms of the file.
Status Hdf5Writer::Impl::keep_cut(const DatasetSpec& spec, h5::Dataset& dataset) {
  DatasetSpec stored = spec;
  STRIA_RETURN_IF_ERROR(h5::fold_complex(stored));
  dataset.number_bytes = spec.element.bytes;
  if (stored.chunking) {
    stored.chunking->shuffled_bytes = shuffled_bytes(spec);
  }
  dataset.chunking = std::move(stored.chunking);
  return Status();
}

Status Hdf5Writer::Impl::find_targets() {
  const size_t before = tree.objects().size();  // the old file's that are found come behind
  for (size_t i = 0; i < before; ++i) {
    for (h5::Attribute& attribute : tree.objects()[i].attributes) {
      Value& value = attribute.waits && attribute.otherwise ? *attribute.otherwise : attribute.value;
      for (h5::Reference& reference : value.references) {
        STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(reference.path));
        STRIA_RETURN_IF_ERROR(tree.look_for(path));
        reference.target = tree.find(path);
        if (reference.target == nullptr || reference.target->name_elsewhere() != nullptr) {
          return Status(ErrorCode::kNotFound,
                        "attribute '" + attribute.name + "' refers to '" + reference.path + "': no such object");
        }
      }
    }
  }
  return Status();
}

Result<Object*> Hdf5Writer::Impl::owner_of(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(attribute.object_path));
  STRIA_RETURN_IF_ERROR(tree.look_for(path));
  Object* object = tree.find(path);
  if (object == nullptr) {
    return Status(ErrorCode::kNotFound, "no such object");
  }
  if (const h5::NameElsewhere* const link = object->name_elsewhere()) {
    return Status(ErrorCode::kUnsupported, "it is a link; use the path of the object itself, '" + link->target + "'");
  }
  STRIA_RETURN_IF_ERROR(h5::check_attribute_replaceable(*object));
  STRIA_RETURN_IF_ERROR(tree.change(*object));
  return object;
}

std::vector<ByteRange> Hdf5Writer::Impl::table_places() const {
  std::vector<ByteRange> places;
  for (const Object& object : tree.objects()) {
    const h5::Dataset* const dataset = object.dataset();
    if (dataset != nullptr && dataset->value && !dataset->value->content.empty() && !dataset->value->element.varies) {
      places.push_back({dataset->data_offset + dataset->head_bytes, dataset->data_offset + dataset->value->bytes});
    }
  }
  return places;
}

Hdf5Writer::Hdf5Writer() : impl_(std::make_unique<Impl>(nullptr)) {}
Hdf5Writer::Hdf5Writer(const h5::OldFile& old_file) : impl_(std::make_unique<Impl>(&old_file)) {}
Hdf5Writer::~Hdf5Writer() = default;

int64_t Hdf5Writer::first_raw_offset() {
  return ImageSpace::kHeadBytes;
}

void Hdf5Writer::keep_order() {
  impl_->tree.keep_order();
}

Status Hdf5Writer::plan(int64_t end) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  if (impl_->raw_end > ImageSpace::kHeadBytes) {
    return Status(ErrorCode::kInternal, "the space for planned datasets is in use");
  }
  const bool is_new = impl_->old_file == nullptr;
  impl_->first_raw = is_new ? ImageSpace::kHeadBytes : 0;
  impl_->planned_end = impl_->raw_end = is_new ? std::max(end, ImageSpace::kHeadBytes) : end;
  return Status();
}

Status Hdf5Writer::create_group(const std::string& path, int64_t order) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->tree.look_for(name));
  STRIA_RETURN_IF_ERROR(impl_->tree.make_groups(name, name.size()));
  STRIA_RETURN_IF_ERROR(impl_->tree.make_group(name));
  impl_->tree.note_order(*impl_->tree.find(name), order);
  return Status();
}

Result<int64_t> Hdf5Writer::create_dataset(const DatasetSpec& wanted) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  DatasetSpec spec = wanted;
  h5::fold_hidden(spec);
  const auto make = [&]() -> Result<int64_t> {
    if (spec.alignment_bytes < 1) {
      return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
    }
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_value(spec.element, spec.dims));
    if (spec.chunking) {
      STRIA_RETURN_IF_ERROR(check_chunking(spec));
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t offset,
                           impl_->place(spec, spec.chunking || !spec.elsewhere.empty() ? 0 : value.bytes));
    STRIA_RETURN_IF_ERROR(impl_->make_dataset(spec, std::move(value), offset));
    return offset + (spec.is_hidden ? h5::kHiddenContentAt : 0);
  };
  auto made = make();
  return made.ok() ? made : made.status().with_context(naming(spec));
}

Status Hdf5Writer::create_link(const LinkSpec& link) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(link.path));
    STRIA_RETURN_IF_ERROR(impl_->tree.look_for(path));
    if (path.empty() || impl_->tree.find(path) != nullptr) {
      return Status(ErrorCode::kAlreadyExists, "the name is taken");
    }
    STRIA_RETURN_IF_ERROR(impl_->tree.make_groups(path, path.size()));
    STRIA_ASSIGN_OR_RETURN(Object* const made, impl_->tree.add(path, h5::NameElsewhere{link.target, link.file}));
    impl_->tree.note_order(*made, link.order);
    return Status();
  };
  return make().with_context("cannot make link '" + link.path + "'");
}

Status Hdf5Writer::place_chunks(const std::string& path, std::vector<StoredChunk> chunks) {
  STRIA_CHECK(
      std::adjacent_find(chunks.begin(), chunks.end(),
                         [](const StoredChunk& a, const StoredChunk& b) { return a.number >= b.number; }) == chunks.end(),
      path);
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  Object* const object = impl_->tree.find(name);
  h5::Dataset* const dataset = object == nullptr ? nullptr : object->dataset();
  if (dataset == nullptr || !dataset->chunking) {
    return Status(ErrorCode::kInternal, "'" + path + "' is no dataset in chunks");
  }
  dataset->chunks = std::move(chunks);
  return Status();
}

Status Hdf5Writer::create_table(const DatasetSpec& wanted, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  DatasetSpec spec = wanted;
  h5::fold_hidden(spec);
  const auto make = [&]() -> Status {
    if (spec.alignment_bytes < 1) {
      return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
    }
    if (spec.element.varies) {
      STRIA_ASSIGN_OR_RETURN(Value texts, h5::make_texts(spec.element, spec.dims, content));
      return impl_->make_dataset(spec, std::move(texts), h5::kNowhere);
    }
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_value(spec.element, spec.dims));
    STRIA_RETURN_IF_ERROR(spec.is_hidden ? h5::fill(value, h5::with_hidden_head(content)) : h5::fill(value, content));
    return impl_->make_dataset(spec, std::move(value), h5::kNowhere);
  };
  const Status made = make();
  return made.ok() ? made : made.with_context(naming(spec));
}

Status Hdf5Writer::take_up_connected() {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  return impl_->take_up_connected();
}

Result<SparseImage> Hdf5Writer::finish() {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  impl_->finished = true;
  const bool is_new = impl_->old_file == nullptr;
  ImageSpace space(impl_->raw_end, is_new);
  if (is_new) {
    STRIA_RETURN_IF_ERROR(space.reserve(h5::kSuperblockBytes, 1).status());
  }
  STRIA_RETURN_IF_ERROR(impl_->find_targets());
  STRIA_RETURN_IF_ERROR(impl_->take_up_connected());
  h5::DimensionScales scales;
  const auto find_scale = [&](const std::string& path, int64_t length, bool extendable) {
    return impl_->find_scale(path, length, extendable);
  };
  STRIA_RETURN_IF_ERROR(scales.attach(impl_->tree.objects(), find_scale, space));
  impl_->tree.put_links_in_order();
  // The values go first, so that the metadata between tables, which have sums of their own, are one
  // stretch.
  for (Object& object : impl_->tree.objects()) {
    if (!is_new && object.value() != nullptr && object.value()->texts.empty()) {
      STRIA_RETURN_IF_ERROR(h5::place_content(*object.dataset(), space));
    }
  }
  STRIA_RETURN_IF_ERROR(h5::place_texts(impl_->tree.objects(), space));
  STRIA_RETURN_IF_ERROR(h5::place_mappings(impl_->tree.objects(), space));
  for (Object& object : impl_->tree.objects()) {
    if (object.group() == nullptr) {
      STRIA_RETURN_IF_ERROR(h5::place_object(object, space));
    }
  }
  // The order is reversed, so that members come before their group.
  for (auto group = impl_->tree.objects().rbegin(); group != impl_->tree.objects().rend(); ++group) {
    if (group->group() != nullptr) {
      STRIA_RETURN_IF_ERROR(h5::place_object(*group, space));
    }
  }
  for (Object& object : impl_->tree.objects()) {
    h5::fill_addresses(object, space);
  }
  scales.finish(space);
  const int64_t root = impl_->tree.root().address;
  if (is_new) {
    space.write(0, h5::superblock(space.file_bytes(), root));
  }
  SparseImage image = space.take();
  image.superblock = {0, h5::kSuperblockBytes};
  if (!is_new) {
    image.switch_over = impl_->old_file->superblock(image.file_bytes, root);
  }
  image.tables = impl_->table_places();
  return image;
}

}  // namespace stria::container
