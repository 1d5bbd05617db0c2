#include "storage/registry/registry.hpp"

#include <cstdlib>
#include <utility>

#include "storage/fault/fault_calls.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/memory/memory_driver.hpp"
#include "storage/posix/posix_driver.hpp"
#include "storage/registry/routed_driver.hpp"
#include "storage/traced/traced_driver.hpp"
#include "storage/uring/uring_driver.hpp"

namespace stria::storage {

namespace {

Result<std::shared_ptr<Driver>> make_local_driver(const std::string& name, SystemCalls& calls) {
  if (name == "posix") {
    return std::shared_ptr<Driver>(std::make_shared<PosixDriver>(calls));
  }
  if (name == "uring") {
    return UringDriver::make(calls);
  }
  if (name == "memory") {
    static const std::shared_ptr<Driver> shared = std::make_shared<MemoryDriver>();
    return shared;
  }
  return Status(ErrorCode::kInvalidArgument, "no storage driver is called '" + name + "'; there are posix, uring and memory");
}

Result<std::shared_ptr<Driver>> make_plain_driver(const std::string& name, SystemCalls& calls) {
  STRIA_ASSIGN_OR_RETURN(std::shared_ptr<Driver> local, make_local_driver(name, calls));
  return make_routed_driver(std::move(local));
}

/// Returns the script of STRIA_FAULT. Each process reads it once, so that its counts go on from one
/// driver to the next. Null without faults.
Result<std::shared_ptr<FaultScript>> environment_script(int rank) {
  const char* text = std::getenv("STRIA_FAULT");
  if (text == nullptr || *text == '\0') {
    return std::shared_ptr<FaultScript>();
  }
  static const Result<std::shared_ptr<FaultScript>> script = FaultScript::parse(text, rank);
  return script.ok() ? script : Result<std::shared_ptr<FaultScript>>(script.status().with_context("STRIA_FAULT"));
}

}  // namespace

Result<std::shared_ptr<Driver>> make_driver(const std::string& name, int rank) {
  STRIA_ASSIGN_OR_RETURN(const std::shared_ptr<FaultScript> script, environment_script(rank));
  STRIA_ASSIGN_OR_RETURN(std::shared_ptr<Driver> driver,
                         script == nullptr ? make_plain_driver(name, real_system_calls()) : make_fault_driver(name, script));
  return make_traced_driver(std::move(driver));
}

Result<std::shared_ptr<Driver>> make_fault_driver(const std::string& name, std::shared_ptr<FaultScript> script) {
  const auto calls = std::make_shared<FaultCalls>(script);
  STRIA_ASSIGN_OR_RETURN(std::shared_ptr<Driver> driver, make_plain_driver(name, *calls));
  return std::shared_ptr<Driver>(std::make_shared<FaultDriver>(std::move(driver), std::move(script), calls));
}

}  // namespace stria::storage
