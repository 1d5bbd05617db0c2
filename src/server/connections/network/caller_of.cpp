#include "server/connections/network/caller_of.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <vector>

namespace stria::server {

namespace {

using wire::ClaimKind;

/// Root, and the user whose directory holds the store's bytes.
bool is_super(const wire::User& user) {
  return user.uid == 0 || user.uid == geteuid();
}

/// A client that says nothing but its name is who the kernel says, where the kernel knows. Without
/// a key of our own we can't check what else it claims.
bool kernel_tells(const wire::Key* key, const std::optional<wire::User>& peer, const wire::Claim& claim) {
  return peer.has_value() && (key == nullptr || claim.kind == ClaimKind::kWord);
}

}  // namespace

std::optional<wire::User> peer_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t bytes = sizeof family;
  ucred peer = {};
  socklen_t peer_bytes = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &bytes) != 0 || family != AF_UNIX ||
      getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) != 0) {
    return std::nullopt;
  }
  wire::User user{peer.uid, peer.gid, {}};
  std::vector<gid_t> groups(wire::kMaxGroups);
  auto group_bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &group_bytes) == 0) {
    user.groups.assign(groups.begin(), groups.begin() + static_cast<ptrdiff_t>(group_bytes / sizeof(gid_t)));
  }
  return user;
}

std::string name_of_peer(int socket) {
  sockaddr_storage place = {};
  socklen_t bytes = sizeof place;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&place), &bytes) != 0) {
    return "gone";
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (place.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&place);
    inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (place.ss_family == AF_INET6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&place);
    inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto user = peer_of(socket);
  return user ? "unix, user " + std::to_string(user->uid) : "unix";
}

wire::ProofKind wanted_proof(const wire::Key* key, const wire::Munge* munge, const std::optional<wire::User>& peer,
                             const wire::Claim& claim) {
  if (kernel_tells(key, peer, claim)) {
    return wire::ProofKind::kNone;
  }
  if (munge != nullptr && (key == nullptr || claim.kind == ClaimKind::kWord)) {
    return wire::ProofKind::kMunge;
  }
  return key != nullptr ? wire::ProofKind::kKey : wire::ProofKind::kNone;
}

Result<Caller> caller_of(const wire::Munge& munge, const std::string& credential, const wire::Proof& proof) {
  STRIA_ASSIGN_OR_RETURN(wire::User user, munge.open(credential, proof));
  user.groups = wire::groups_of(user.uid, user.gid);
  return Caller{user, is_super(user), is_super(user)};
}

Result<Caller> caller_of(const wire::Key* key, const std::optional<wire::User>& peer, const wire::Claim& claim) {
  if (kernel_tells(key, peer, claim)) {
    return Caller{*peer, is_super(*peer), is_super(*peer)};
  }
  const bool is_users = key != nullptr && claim.kind == ClaimKind::kUserKey;
  if (is_users && claim.until_s < static_cast<uint64_t>(std::time(nullptr))) {
    return Status(ErrorCode::kPermissionDenied, "the key of user " + std::to_string(claim.user.uid) + " is over");
  }
  return Caller{claim.user, !is_users, is_super(claim.user)};
}

}  // namespace stria::server
