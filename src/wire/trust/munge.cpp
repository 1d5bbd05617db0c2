#include "wire/trust/munge.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/optional_library.hpp"

struct munge_ctx;

namespace stria::wire {

// The functions of munge.h of libmunge.so.2; their results are numbers of errors.
struct Munge::Functions {
  int (*encode)(char** credential, munge_ctx* context, const void* data, int bytes);
  int (*decode)(const char* credential, munge_ctx* context, void** data, int* bytes, uid_t* uid, gid_t* gid);
  munge_ctx* (*create)();
  void (*destroy)(munge_ctx* context);
  int (*set)(munge_ctx* context, int option, ...);
  const char* (*context_error)(munge_ctx* context);
  const char* (*error)(int number);
};

namespace {

constexpr int kSuccess = 0;
constexpr int kNoMemory = 5;
constexpr int kNoDaemon = 6;
constexpr int kSocketOption = 8;

Result<Munge::Functions> load_functions() {
  OptionalLibrary library("libmunge.so.2", "this machine has no libmunge (Debian: libmunge2)");
  Munge::Functions functions{};
  library.find("munge_encode", functions.encode);
  library.find("munge_decode", functions.decode);
  library.find("munge_ctx_create", functions.create);
  library.find("munge_ctx_destroy", functions.destroy);
  library.find("munge_ctx_set", functions.set);
  library.find("munge_ctx_strerror", functions.context_error);
  library.find("munge_strerror", functions.error);
  STRIA_RETURN_IF_ERROR(library.status());
  return functions;
}

/// Says what libmunge is told for one call, and what it tells of its failure.
class Context {
 public:
  Context(const Munge::Functions& functions, const std::string& socket)
      : functions_(functions), socket_(socket), context_(functions.create()) {
    if (context_ != nullptr && !socket.empty()) {
      functions_.set(context_, kSocketOption, socket.c_str());
    }
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { functions_.destroy(context_); }

  munge_ctx* get() const { return context_; }
  Status error(int number) const {
    const char* detail = context_ == nullptr ? nullptr : functions_.context_error(context_);
    const std::string why = detail == nullptr ? functions_.error(number) : detail;
    if (number == kNoDaemon) {
      return Status(ErrorCode::kUnsupported, "munged doesn't answer (" + why + "): start it" +
                                                 (socket_.empty() ? ", or name its socket by STRIA_MUNGE_SOCKET" : ""));
    }
    return Status(number == kNoMemory ? ErrorCode::kResourceExhausted : ErrorCode::kPermissionDenied, "MUNGE: " + why);
  }

 private:
  const Munge::Functions& functions_;
  const std::string& socket_;
  munge_ctx* context_;
};

}  // namespace

Result<std::shared_ptr<const Munge>> Munge::load() {
  static const Result<Functions> functions = load_functions();
  STRIA_RETURN_IF_ERROR(functions.status());
  const char* socket = std::getenv("STRIA_MUNGE_SOCKET");
  return std::shared_ptr<const Munge>(std::make_shared<Munge>(*functions, socket == nullptr ? "" : socket));
}

const Key& Munge::greeting_key() {
  static constexpr std::string_view kKnown = "a greeting that MUNGE seals";
  static const Key key(std::as_bytes(std::span(kKnown)));
  return key;
}

Result<std::string> Munge::seal(const Proof& proof) const {
  const Context context(functions_, socket_);
  char* made = nullptr;
  const int failed = functions_.encode(&made, context.get(), proof.data(), static_cast<int>(proof.size()));
  if (failed != kSuccess) {
    return context.error(failed);
  }
  std::string credential(made);
  std::free(made);
  return credential;
}

Result<User> Munge::open(const std::string& credential, const Proof& proof) const {
  const Context context(functions_, socket_);
  void* sealed = nullptr;
  int bytes = 0;
  User user;
  const int failed = functions_.decode(credential.c_str(), context.get(), &sealed, &bytes, &user.uid, &user.gid);
  Proof found{};
  const bool whole = failed == kSuccess && sealed != nullptr && bytes == static_cast<int>(found.size());
  if (whole) {
    std::copy_n(static_cast<const std::byte*>(sealed), found.size(), found.begin());
  }
  std::free(sealed);
  if (failed != kSuccess) {
    return context.error(failed);
  }
  if (!whole || !same_proof(found, proof)) {
    return Status(ErrorCode::kPermissionDenied, "MUNGE: the credential was made for another connection");
  }
  return user;
}

Status Munge::check() const {
  Proof proof;
  randomise(proof);
  STRIA_ASSIGN_OR_RETURN(const std::string credential, seal(proof));
  return open(credential, proof).status();
}

}  // namespace stria::wire
