#include "mpiio/representation/registered_converter.hpp"

#include <algorithm>
#include <limits>

#include "mpiio/types/pack_items.hpp"

namespace stria::mpiio {

namespace {

// The functions count items with an int; more items take several calls.
constexpr int64_t kMostItems = std::numeric_limits<int>::max();

class Registered : public Converter {
 public:
  Registered(std::shared_ptr<const Representation> representation, MPI_Datatype type, Datatype memory_type, int64_t item_bytes)
      : representation_(std::move(representation)), memory_type_(std::move(memory_type)) {
    item_bytes_ = item_bytes;
    // The program may free its handle while a nonblocking call is still under way.
    MPI_Type_dup(type, &type_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
      MPI_Type_free(&type_);
    }
  }

  int64_t memory_bytes(int64_t file_bytes) const override {
    return item_bytes_ == 0 ? 0 : file_bytes / item_bytes_ * memory_type_.size();
  }

  Outcome to_file(const void* memory, int64_t count, std::vector<std::byte>& stream) const override {
    stream.resize(static_cast<size_t>(item_bytes_ * count));
    return convert(const_cast<void*>(memory), count, stream.data(), true);
  }

  Outcome from_file(const std::vector<std::byte>& stream, void* memory) const override {
    const int64_t count = item_bytes_ == 0 ? 0 : static_cast<int64_t>(stream.size()) / item_bytes_;
    return convert(memory, count, const_cast<std::byte*>(stream.data()), false);
  }

 private:
  Outcome convert(void* memory, int64_t count, std::byte* stream, bool writing) const {
    for (int64_t done = 0; done < count;) {
      const int64_t now = std::min(count - done, kMostItems);
      const int code = call(memory, now, stream + done * item_bytes_, done, writing);
      if (code != MPI_SUCCESS) {
        return {MPI_ERR_CONVERSION, "data representation '" + representation_->name + "': its " + (writing ? "write" : "read") +
                                        " conversion function failed with code " + std::to_string(code)};
      }
      done += now;
    }
    return {};
  }

  int call(void* memory, int64_t count, std::byte* stream, int64_t position, bool writing) const {
#if MPI_VERSION >= 4
    if (auto* large = writing ? representation_->write_large : representation_->read_large) {
      return large(memory, type_, count, stream, position, representation_->state);
    }
#endif
    if (auto* function = writing ? representation_->write : representation_->read) {
      return function(memory, type_, static_cast<int>(count), stream, position, representation_->state);
    }
    return copy(memory, count, stream, position, writing);
  }

  // The file holds the elements as memory does where there is no function.
  int copy(void* memory, int64_t count, std::byte* stream, int64_t position, bool writing) const {
    auto all = Datatype::contiguous(count, memory_type_);
    if (!all.ok()) {
      return MPI_ERR_COUNT;
    }
    auto* first = static_cast<std::byte*>(memory) + position * memory_type_.extent();
    const auto bytes = static_cast<size_t>(std::min(all->size(), item_bytes_ * count));
    Status status = writing ? pack_items(*all, first, {stream, bytes}) : unpack_items(*all, first, {stream, bytes});
    return status.ok() ? MPI_SUCCESS : MPI_ERR_CONVERSION;
  }

  std::shared_ptr<const Representation> representation_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Datatype memory_type_;
};

}  // namespace

Outcome make_registered_converter(std::shared_ptr<const Representation> representation, MPI_Datatype type,
                                  std::unique_ptr<Converter>& made) {
  STRIA_ASSIGN_OR_RETURN(Datatype memory_type, decode(type));
  STRIA_ASSIGN_OR_RETURN(const std::vector<SignatureRun> signature, signature_of(type));
  int64_t item_bytes = 0;
  for (const SignatureRun& run : signature) {
    STRIA_ASSIGN_OR_RETURN(const int64_t bytes, representation->element_bytes(run.basic));
    item_bytes += bytes * run.count;
  }
  made = std::make_unique<Registered>(std::move(representation), type, std::move(memory_type), item_bytes);
  return {};
}

}  // namespace stria::mpiio
