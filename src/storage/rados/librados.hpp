// The functions of librados.
//
// Problem: a program linked with librados loads some forty libraries at its start, and needs all of
// them installed, whether it uses Ceph or not.
// Method: they are loaded when a path rados:// is used first; librados' header gives the types.
#pragma once

#include <rados/librados.h>

#include "stria/status.hpp"

// clang-format off
#define STRIA_LIBRADOS_FUNCTIONS(of) \
  of(create)                         \
  of(conf_read_file)                 \
  of(conf_parse_env)                 \
  of(conf_set)                       \
  of(connect)                        \
  of(shutdown)                       \
  of(cluster_fsid)                   \
  of(get_instance_id)                \
  of(mon_command)                    \
  of(pool_list)                      \
  of(buffer_free)                    \
  of(ioctx_create)                   \
  of(ioctx_destroy)                  \
  of(ioctx_get_id)                   \
  of(ioctx_set_namespace)            \
  of(set_pool_full_try)              \
  of(aio_create_completion2)         \
  of(aio_get_return_value)           \
  of(aio_release)                    \
  of(create_write_op)                \
  of(release_write_op)               \
  of(write_op_create)                \
  of(write_op_assert_exists)         \
  of(write_op_omap_cmp2)             \
  of(write_op_omap_set2)             \
  of(write_op_omap_rm_keys2)         \
  of(write_op_write)                 \
  of(write_op_truncate)              \
  of(write_op_remove)                \
  of(write_op_operate)               \
  of(aio_write_op_operate)           \
  of(create_read_op)                 \
  of(release_read_op)                \
  of(read_op_omap_get_vals2)         \
  of(read_op_read)                   \
  of(read_op_operate)                \
  of(aio_read_op_operate)            \
  of(omap_get_next2)                 \
  of(omap_get_end)                   \
  of(aio_watch2)                     \
  of(unwatch2)                       \
  of(watch_flush)                    \
  of(aio_notify)                     \
  of(notify_ack)                     \
  of(decode_notify_response)         \
  of(free_notify_response)
// clang-format on

namespace stria::storage {

struct Librados {
#define STRIA_LIBRADOS_MEMBER(name) decltype(&::rados_##name) name = nullptr;
  STRIA_LIBRADOS_FUNCTIONS(STRIA_LIBRADOS_MEMBER)
#undef STRIA_LIBRADOS_MEMBER

  /// Loads the library on the first call. kUnsupported where it isn't installed, or too old.
  static Result<const Librados*> load();
};

}  // namespace stria::storage
