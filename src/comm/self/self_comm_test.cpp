#include "comm/self/self_comm.hpp"

#include <gtest/gtest.h>

#include "comm/conformance_test.hpp"

namespace stria {
namespace {

TEST(SelfComm, Conforms) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto comm = make_self_comm();
    testing::check_comm(*comm, {.seed = seed});
  }
}

}  // namespace
}  // namespace stria
