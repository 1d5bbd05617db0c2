#include "mpiio/types/kept_types.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "base/held.hpp"
#include "mpiio/types/committed.hpp"
#include "mpiio/types/decode.hpp"
#include "mpiio/types/type_contents.hpp"

namespace stria::mpiio {

namespace {

// There are few basic types. Those beyond these places are decoded every time.
constexpr size_t kBasicTypes = 32;

struct Kept {
  std::mutex mutex;
  std::array<std::pair<MPI_Datatype, Datatype>, kBasicTypes> basic;
  std::atomic<size_t> basic_count{0};  // entries before it never change
  int keyval = MPI_KEYVAL_INVALID;
  std::atomic<uint64_t> types_gone{0};  // the kept types that have gone
};

// They are never destroyed: MPI deletes attributes late.
Kept& kept() {
  static Kept* instance = new Kept;
  return *instance;
}

int forget(MPI_Datatype, int, void* value, void*) {
  kept().types_gone.fetch_add(1);
  delete static_cast<Datatype*>(value);
  return MPI_SUCCESS;
}

const Datatype* find_basic(MPI_Datatype type) {
  const size_t count = kept().basic_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    if (kept().basic[i].first == type) {
      return &kept().basic[i].second;
    }
  }
  return nullptr;
}

// \pre `held` is a lock of the mutex, and the type is not basic
const Datatype* find_derived(const Held& held, MPI_Datatype type) {
  STRIA_ASSERT(holds(held, kept().mutex) && !is_basic(combiner_of(type)));
  if (kept().keyval == MPI_KEYVAL_INVALID) {
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &kept().keyval, nullptr);
  }
  void* value = nullptr;
  int found = 0;
  MPI_Type_get_attr(type, kept().keyval, &value, &found);
  return found != 0 ? static_cast<const Datatype*>(value) : nullptr;
}

}  // namespace

Result<Datatype> decode_and_keep(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) {
    return decode(type);
  }
  if (const Datatype* known = find_basic(type)) {
    return *known;
  }
  const bool basic = is_basic(combiner_of(type));
  std::unique_lock lock(kept().mutex);
  const Datatype* known = basic ? find_basic(type) : find_derived(lock, type);
  if (known != nullptr) {
    return *known;
  }
  if (!is_committed(type)) {
    return Status(ErrorCode::kInvalidArgument, "the datatype has not been committed: call MPI_Type_commit");
  }
  STRIA_ASSIGN_OR_RETURN(Datatype decoded, decode(type));
  if (!basic) {
    MPI_Type_set_attr(type, kept().keyval, new Datatype(decoded));
  } else if (const size_t count = kept().basic_count.load(); count < kBasicTypes) {
    kept().basic[count] = {type, decoded};
    kept().basic_count.store(count + 1, std::memory_order_release);
  }
  return decoded;
}

int64_t contiguous_bytes(MPI_Datatype type) {
  struct Last {
    MPI_Datatype type{};
    uint64_t types_gone = 0;
    int64_t bytes = 0;
  };
  static constinit thread_local Last last __attribute__((tls_model("initial-exec"))) = {};
  const uint64_t types_gone = kept().types_gone.load(std::memory_order_acquire);
  if (type == last.type && types_gone == last.types_gone) {
    return last.bytes;
  }
  const auto decoded = decode_and_keep(type);
  const int64_t bytes = decoded.ok() && decoded->is_contiguous() ? decoded->size() : 0;
  last = {decoded.ok() ? type : MPI_Datatype{}, types_gone, bytes};
  return bytes;
}

}  // namespace stria::mpiio
