#include "store/mounted_session.hpp"

#include <fuse3/fuse_lowlevel.h>

#if !defined(FUSE_CAP_HANDLE_KILLPRIV_V2) && FUSE_VERSION >= FUSE_MAKE_VERSION(3, 13)
#define STRIA_COMPLETES_INIT
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#endif

namespace stria::tool {

#ifdef STRIA_COMPLETES_INIT
namespace {

/// The kernel's first request. Nothing else is asked before its answer.
struct FirstRequest {
  std::atomic<bool> was_asked = false;
  std::atomic<bool> was_answered = false;
  std::atomic<bool> offers = false;  // the kernel knows of privileges that the file system takes
  std::atomic<uint64_t> number = 0;
};

FirstRequest& first_request() {
  static FirstRequest request;
  return request;
}

ssize_t read_request(int descriptor, void* to, size_t bytes, void*) {
  const ssize_t got = read(descriptor, to, bytes);
  FirstRequest& first = first_request();
  if (first.was_answered || got < static_cast<ssize_t>(sizeof(fuse_in_header))) {
    return got;
  }
  fuse_in_header header;
  std::memcpy(&header, to, sizeof header);
  if (header.opcode == FUSE_INIT) {
    fuse_init_in asked = {};
    std::memcpy(&asked, static_cast<const char*>(to) + sizeof header,
                std::min(sizeof asked, static_cast<size_t>(got) - sizeof header));
    first.offers = (asked.flags & FUSE_HANDLE_KILLPRIV_V2) != 0;
    first.number = header.unique;
    first.was_asked = true;
  }
  return got;
}

/// Sends the answer, and that privileges are taken; libfuse sends it as a head and a body.
ssize_t answer_first(int descriptor, const iovec* parts, const FirstRequest& first) {
  fuse_init_out answer = {};
  std::memcpy(&answer, parts[1].iov_base, std::min(sizeof answer, parts[1].iov_len));
  answer.flags |= first.offers ? FUSE_HANDLE_KILLPRIV_V2 : 0;
  const iovec completed[] = {parts[0], {&answer, parts[1].iov_len}};
  return writev(descriptor, completed, 2);
}

ssize_t write_answer(int descriptor, iovec* parts, int count, void*) {
  FirstRequest& first = first_request();
  if (first.was_answered || !first.was_asked || count != 2 || parts[0].iov_len != sizeof(fuse_out_header) ||
      parts[1].iov_len > sizeof(fuse_init_out)) {
    return writev(descriptor, parts, count);
  }
  fuse_out_header header;
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  if (header.unique != first.number || header.error != 0) {
    return writev(descriptor, parts, count);
  }
  first.was_answered = true;
  return answer_first(descriptor, parts, first);
}

}  // namespace

void offer_to_take_privileges(fuse* session) {
  static constexpr fuse_custom_io kCalls = {
      .writev = write_answer, .read = read_request, .splice_receive = nullptr, .splice_send = nullptr};
  fuse_session* const low = fuse_get_session(session);
  // A failure leaves the session as it was: the kernel goes on to ask.
  static_cast<void>(fuse_session_custom_io(low, &kCalls, fuse_session_fd(low)));
}

bool leaves_privileges(fuse_conn_info*) {
  return first_request().offers;
}
#else
void offer_to_take_privileges(fuse*) {}

bool leaves_privileges(fuse_conn_info* connection) {
#ifdef FUSE_CAP_HANDLE_KILLPRIV_V2
  // The older form leaves all to the file system as well, but spares no question.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_HANDLE_KILLPRIV);
  if ((connection->capable & FUSE_CAP_HANDLE_KILLPRIV_V2) != 0) {
    connection->want |= FUSE_CAP_HANDLE_KILLPRIV_V2;
    return true;
  }
#else
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_HANDLE_KILLPRIV);
#endif
  return false;
}
#endif

}  // namespace stria::tool
