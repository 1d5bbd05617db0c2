#include "mpiio/representation/representation.hpp"

#include <map>
#include <mutex>

#include "mpiio/representation/external32.hpp"
#include "mpiio/representation/registered_converter.hpp"
#include "mpiio/types/basic_types.hpp"

namespace stria::mpiio {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Representation>> known;
};

Registry& registry() {
  static Registry* instance = [] {
    auto* made = new Registry;  // never destroyed: programs close files late
    for (const char* name : {"native", "internal"}) {
      auto native = std::make_shared<Representation>();
      native->name = name;
      made->known.emplace(name, native);
    }
    auto external = std::make_shared<Representation>();
    external->name = "external32";
    external->kind = Representation::Kind::kExternal32;
    made->known.emplace(external->name, external);
    return made;
  }();
  return *instance;
}

}  // namespace

Result<int64_t> Representation::element_bytes(MPI_Datatype basic) const {
  if (kind == Kind::kRegistered && extent != nullptr) {
    MPI_Aint bytes = 0;
    if (extent(basic, &bytes, state) != MPI_SUCCESS || bytes < 0) {
      return Status(ErrorCode::kFormat, "data representation '" + name + "': its extent function failed");
    }
    return static_cast<int64_t>(bytes);
  }
  if (kind == Kind::kExternal32) {
    const auto number = number_of(basic);
    if (!number) {
      return Status(ErrorCode::kUnsupported, "external32 has no form for one of the datatype's elements");
    }
    return number->external32_bytes;
  }
  MPI_Count bytes = 0;
  MPI_Type_size_x(basic, &bytes);
  return static_cast<int64_t>(bytes);
}

Outcome find_representation(const std::string& name, std::shared_ptr<const Representation>& found) {
  std::lock_guard lock(registry().mutex);
  auto entry = registry().known.find(name);
  if (entry == registry().known.end()) {
    return {MPI_ERR_UNSUPPORTED_DATAREP,
            "data representation '" + name + "' is not known; register it with MPI_Register_datarep"};
  }
  found = entry->second;
  return {};
}

Outcome register_representation(Representation made) {
  if (made.name.empty() || made.name.size() > MPI_MAX_DATAREP_STRING) {
    return {MPI_ERR_ARG,
            "the name of a data representation has 1 to " + std::to_string(MPI_MAX_DATAREP_STRING) + " characters"};
  }
  std::lock_guard lock(registry().mutex);
  std::string name = made.name;
  made.kind = Representation::Kind::kRegistered;
  if (!registry().known.emplace(name, std::make_shared<Representation>(std::move(made))).second) {
    return {MPI_ERR_DUP_DATAREP, "data representation '" + name + "' is known already"};
  }
  return {};
}

Outcome Converter::create(std::shared_ptr<const Representation> representation, MPI_Datatype type,
                          std::unique_ptr<Converter>& made) {
  return representation->kind == Representation::Kind::kExternal32
             ? make_external32_converter(std::move(representation), type, made)
             : make_registered_converter(std::move(representation), type, made);
}

}  // namespace stria::mpiio
