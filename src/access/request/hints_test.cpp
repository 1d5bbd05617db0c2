#include "access/request/hints.hpp"

#include <gtest/gtest.h>

#include "storage/first_server.hpp"

namespace stria::access {
namespace {

TEST(Hints, DefaultsComeBackUnderTheirNames) {
  std::vector<std::string> warnings;
  ResolvedHints defaults = resolve_hints({}, warnings);
  EXPECT_EQ(effective_hints(defaults)["stria_staging_size"], std::to_string(4 << 20));
  EXPECT_EQ(effective_hints(defaults)["cb_buffer_size"], "0") << "the planner's choice";
  EXPECT_EQ(effective_hints(defaults)["stria_driver"], "posix");
  EXPECT_TRUE(warnings.empty());
}

TEST(Hints, ValuesInEffectAreUnderstoodAgain) {
  std::vector<std::string> warnings;
  Hints given = {{"cb_nodes", "3"},
                 {"cb_buffer_size", "1048576"},
                 {"romio_cb_write", "enable"},
                 {"romio_cb_read", "disable"},
                 {"striping_unit", "1048576"},
                 {"stria_method", "two_phase"},
                 {"stria_staging_size", "65536"},
                 {"stria_direct", "enable"},
                 {"stria_driver", "memory"},
                 {"stria_shared_memory", "disable"},
                 {"stria_axes", "enable"},
                 {"stria_alignment", "512"},
                 {"cb_config_list", "node1:2,node2:0,*:*"},
                 {"romio_no_indep_rw", "false"},
                 {"romio_ds_read", "enable"},
                 {"romio_ds_write", "disable"},
                 {"ind_rd_buffer_size", "1000"},
                 {"ind_wr_buffer_size", "2000"},
                 {"striping_factor", "8"},
                 {"start_iodevice", "2"},
                 {"stria_file_domains", "even"},
                 {"stria_mimic_stripe", "4,65536"},
                 {"stria_async", "enable"},
                 {"stria_put_copies", "0"},
                 {"stria_parity", "2"},
                 {"stria_subfiles", "3"},
                 {"stria_part_places", "/nvme0:/nvme1/run"},
                 {"stria_home_every", "10"},
                 {"stria_put_check", "disable"},
                 {"stria_put_overlaps", "enable"}};
  ResolvedHints hints = resolve_hints(given, warnings);
  EXPECT_EQ(hints.aggregator_count, 3);
  EXPECT_EQ(hints.collective_write, Switch::kEnable);
  EXPECT_EQ(hints.collective_read, Switch::kDisable);
  EXPECT_EQ(hints.method, Method::kTwoPhase);
  EXPECT_EQ(hints.alignment_bytes, 512);
  EXPECT_EQ(effective_hints(hints), given);
  EXPECT_TRUE(warnings.empty());
}

TEST(Hints, ANamedServerGoesBeforeAChoice) {
  const auto first_server = [](const Hints& given) {
    std::vector<std::string> warnings;
    const ResolvedHints hints = resolve_hints(given, warnings);
    EXPECT_TRUE(warnings.empty());
    return hints.first_server;
  };
  const Hints by_load = {{"stria_first_server", "by_load"}};
  std::vector<std::string> warnings;
  EXPECT_EQ(first_server(by_load), storage::FirstServer::kByLoad);
  EXPECT_EQ(effective_hints(resolve_hints(by_load, warnings)).at("stria_first_server"), "by_load");
  EXPECT_EQ(first_server({{"stria_first_server", "in_turn"}}), storage::FirstServer::kInTurn);
  EXPECT_EQ(first_server({{"stria_first_server", "by_load"}, {"start_iodevice", "-1"}}), storage::FirstServer::kByLoad);
  EXPECT_EQ(first_server({{"stria_first_server", "by_load"}, {"start_iodevice", "3"}}), 3);
}

TEST(Hints, NoIndependentCallsMeansTwoPhaseBothWays) {
  std::vector<std::string> warnings;
  const ResolvedHints hints = resolve_hints({{"romio_no_indep_rw", "true"}, {"romio_cb_read", "disable"}}, warnings);
  EXPECT_TRUE(hints.no_independent_calls);
  EXPECT_EQ(hints.collective_write, Switch::kEnable);
  EXPECT_EQ(hints.collective_read, Switch::kEnable);
  EXPECT_EQ(effective_hints(hints).at("romio_no_indep_rw"), "true");
  EXPECT_TRUE(warnings.empty());
}

TEST(Hints, WhatHardlyIsMeantIsWarnedOf) {
  const auto warnings_of = [](const stria::Hints& given) {
    std::vector<std::string> warnings;
    resolve_hints(given, warnings);
    return warnings;
  };
  EXPECT_EQ(warnings_of({{"stria_staging_rate", "200"}}),
            std::vector<std::string>{"hint 'stria_staging_rate' is in bytes a second: 200 is less than 1 MB/s"});
  EXPECT_EQ(warnings_of({{"stria_staging_rate", "1000000"}}), std::vector<std::string>());
  EXPECT_EQ(warnings_of({{"stria_staging", "/near"}}), std::vector<std::string>());
  EXPECT_EQ(warnings_of({{"stria_staging", "/near"}, {"stria_subfiles", "2"}}).size(), 1U);
  EXPECT_EQ(warnings_of({{"stria_part_places", "/a:/b"}, {"stria_subfiles", "2"}}), std::vector<std::string>());
  EXPECT_EQ(warnings_of({{"stria_part_places", "/a:/b"}}).size(), 1U);
  EXPECT_EQ(warnings_of({{"stria_home_every", "2"}}).size(), 1U);
  EXPECT_EQ(warnings_of({{"stria_part_places", "/a:b"}, {"stria_subfiles", "2"}}).size(), 1U);
}

TEST(Hints, UnusableOnesAreReportedAndHaveNoEffect) {
  for (auto [name, value] : std::vector<std::pair<std::string, std::string>>{{"cb_nodes", "0"},
                                                                             {"cb_nodes", "-1"},
                                                                             {"cb_nodes", "two"},
                                                                             {"cb_nodes", ""},
                                                                             {"cb_nodes", "9999999999999"},
                                                                             {"cb_buffer_size", "4096"},
                                                                             {"cb_buffer_size", "1e6"},
                                                                             {"cb_buffer_size", "99999999999999999999"},
                                                                             {"cb_buffer_size", "1048576 "},
                                                                             {"romio_cb_write", "yes"},
                                                                             {"stria_method", "twophase"},
                                                                             {"stria_driver", "tape"},
                                                                             {"stria_alignment", "0"},
                                                                             {"striping_unit", "-1"},
                                                                             {"stria_direct", ""},
                                                                             {"romio_ds_write", "maybe"},
                                                                             {"romio_no_indep_rw", "1"},
                                                                             {"ind_rd_buffer_size", "0"},
                                                                             {"striping_factor", "0"},
                                                                             {"start_iodevice", "-2"},
                                                                             {"stria_first_server", "1"},
                                                                             {"cb_config_list", "host1:two"},
                                                                             {"cb_config_list", ""},
                                                                             {"cb_config_list", "host1:1,"},
                                                                             {"cb_config_list", ":3"},
                                                                             {"cb_config_list", "host1:-1"},
                                                                             {"cb_config_list", "*:0"},
                                                                             {"stria_file_domains", "odd"},
                                                                             {"stria_mimic_stripe", "4"},
                                                                             {"stria_mimic_stripe", "0,65536"},
                                                                             {"stria_mimic_stripe", "4,0"},
                                                                             {"Cb_nodes", "1"}}) {
    std::vector<std::string> warnings;
    ResolvedHints hints = resolve_hints({{name, value}}, warnings);
    ASSERT_EQ(warnings.size(), 1u) << name << "=" << value;
    EXPECT_NE(warnings[0].find("'" + name + "'"), std::string::npos) << warnings[0];
    EXPECT_EQ(effective_hints(hints), effective_hints(ResolvedHints())) << name << "=" << value;
  }
}

}  // namespace
}  // namespace stria::access
