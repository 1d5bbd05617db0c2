// A server's objects in a directory of their own, and one of them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "server/cluster_test.hpp"
#include "server/objects/object.hpp"
#include "server/objects/objects.hpp"
#include "storage/conformance_test.hpp"

namespace stria::server::testing {

class OneObjectTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFile = 5;

  void SetUp() override {
    ASSERT_FALSE(directory_.empty());
    std::filesystem::create_directory(data());
    open();
  }
  void TearDown() override {
    object_ = nullptr;
    objects_ = nullptr;
    std::filesystem::remove_all(directory_);
  }
  /// Opens the object as a server does that starts.
  void open() {
    object_ = nullptr;
    objects_ = nullptr;
    objects_ = Objects::open(paths()).value();
    object_ = objects_->find(kFile, true).value();
  }
  std::string data() const { return directory_ + "/data"; }
  ObjectPaths paths() const { return {data(), directory_ + "/parts", directory_ + "/removed"}; }

  const std::string directory_ = make_directory(scratch_directory());
  std::unique_ptr<Objects> objects_;
  std::shared_ptr<Object> object_;
};

}  // namespace stria::server::testing
