// One set of names for the two flavours of p4est, so that one template serves
// quadtrees and octrees.
#pragma once

// The order matters: p4est's headers come before p8est's.
#include <p4est.h>
#include <p4est_bits.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <p8est.h>
#include <p8est_bits.h>
#include <p8est_extended.h>
#include <p8est_ghost.h>

#include <array>
#include <cstdint>

#include "mesh/leaf.hpp"

namespace stria::flash {

template <int Dim>
struct P4est;

template <>
struct P4est<2> {
  using Forest = p4est_t;
  using Tree = p4est_tree_t;
  using Quadrant = p4est_quadrant_t;
  using Ghost = p4est_ghost_t;
  using Connectivity = p4est_connectivity_t;
  static constexpr int kRootBits = P4EST_MAXLEVEL;
  static constexpr int kCorners = P4EST_CHILDREN;
  static constexpr auto kFull = P4EST_CONNECT_FULL;
  static constexpr auto create = &p4est_new_ext;
  static constexpr auto destroy = &p4est_destroy;
  static constexpr auto destroy_connectivity = &p4est_connectivity_destroy;
  static constexpr auto refine = &p4est_refine;
  static constexpr auto coarsen = &p4est_coarsen;
  static constexpr auto balance = &p4est_balance;
  static constexpr auto partition = &p4est_partition;
  static constexpr auto new_ghost = &p4est_ghost_new;
  static constexpr auto destroy_ghost = &p4est_ghost_destroy;

  static Connectivity* new_brick(const Domain& domain) {
    auto periodic = [&](int d) { return domain.boundary[d] == Boundary::kPeriodic ? 1 : 0; };
    return p4est_connectivity_new_brick(domain.root_count[0], domain.root_count[1], periodic(0), periodic(1));
  }
  static std::array<int64_t, 3> place(const Quadrant& q) { return {q.x, q.y, 0}; }
};

template <>
struct P4est<3> {
  using Forest = p8est_t;
  using Tree = p8est_tree_t;
  using Quadrant = p8est_quadrant_t;
  using Ghost = p8est_ghost_t;
  using Connectivity = p8est_connectivity_t;
  static constexpr int kRootBits = P8EST_MAXLEVEL;
  static constexpr int kCorners = P8EST_CHILDREN;
  static constexpr auto kFull = P8EST_CONNECT_FULL;
  static constexpr auto create = &p8est_new_ext;
  static constexpr auto destroy = &p8est_destroy;
  static constexpr auto destroy_connectivity = &p8est_connectivity_destroy;
  static constexpr auto refine = &p8est_refine;
  static constexpr auto coarsen = &p8est_coarsen;
  static constexpr auto balance = &p8est_balance;
  static constexpr auto partition = &p8est_partition;
  static constexpr auto new_ghost = &p8est_ghost_new;
  static constexpr auto destroy_ghost = &p8est_ghost_destroy;

  static Connectivity* new_brick(const Domain& domain) {
    auto periodic = [&](int d) { return domain.boundary[d] == Boundary::kPeriodic ? 1 : 0; };
    return p8est_connectivity_new_brick(domain.root_count[0], domain.root_count[1], domain.root_count[2], periodic(0),
                                        periodic(1), periodic(2));
  }
  static std::array<int64_t, 3> place(const Quadrant& q) { return {q.x, q.y, q.z}; }
};

}  // namespace stria::flash
