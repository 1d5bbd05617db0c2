// A catalog as rank 0 sends it to the others.
#include "file/session/catalog_message.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace stria::file {
namespace {

TEST(CatalogMessage, HasWhyADatasetCantBeRead) {
  DatasetEntry entry;
  entry.spec.path = "dens";
  entry.spec.dims = {4, 5};
  entry.problem = Status::from_errno(ESTALE, "read the chunks");
  Catalog catalog;
  catalog.add(entry);
  const auto message = encode_catalog(Format::kHdf5, catalog, ChecksumIndex(), {});
  const auto decoded = decode_catalog(message);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->datasets.size(), 1);
  EXPECT_EQ(decoded->datasets[0].spec.dims, entry.spec.dims);
  EXPECT_EQ(decoded->datasets[0].problem.code(), entry.problem.code());
  EXPECT_EQ(decoded->datasets[0].problem.reason(), ErrorReason{ESTALE});
  EXPECT_EQ(decoded->datasets[0].problem.message(), entry.problem.message());
}

}  // namespace
}  // namespace stria::file
