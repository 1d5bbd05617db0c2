// A client whose server answers as it likes: greeting, manager and I/O servers. Every call ends,
// with an outcome that can be.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/frames_of_input.hpp"
#include "storage/striped/file_state.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_file.hpp"
#include "wire/messages.hpp"

namespace {

using namespace stria;
using testing::FramesOfInput;
using testing::PlannedFrame;
using testing::require;
using wire::Kind;

constexpr const char* kPatienceSeconds = "0.03";
constexpr size_t kMostSlots = 4;

/// Gives the input's frames as answers, one a request and those that belong to it, and then errors.
/// kOther: the frame's own kind; kPlain: another request's number. After raw bytes, or in the
/// middle of an answer when no frame is left, the connection ends.
class FakeServer {
 public:
  FakeServer() {
    std::string pattern = "/tmp/stria-fuzz-XXXXXX";
    require(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern + "/socket";
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::strncpy(place.sun_path, path_.c_str(), sizeof place.sun_path - 1);
    door_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(bind(door_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 && listen(door_, 64) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ends_ = true;
    thread_.join();
    ::close(door_);
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  std::string address() const { return "unix:" + path_; }
  void set_input(std::span<const std::byte> input) {
    const std::lock_guard lock(mutex_);
    greets_too_ = !input.empty() && input[0] == std::byte{0xff};
    input_.assign(input.begin() + (greets_too_ ? 1 : 0), input.end());
    frames_ = FramesOfInput(input_);
  }

 private:
  struct Guest {
    explicit Guest(int accepted) : socket(accepted) {}
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    ~Guest() { ::close(socket); }
    int socket;
    std::vector<std::byte> come;
  };

  void serve() {
    constexpr int kLookMs = 20;
    while (!ends_) {
      std::vector<pollfd> entries{{door_, POLLIN, 0}};
      for (const Guest& guest : guests_) {
        entries.push_back({guest.socket, POLLIN, 0});
      }
      if (poll(entries.data(), entries.size(), kLookMs) <= 0) {
        continue;
      }
      size_t place = 1;
      for (auto guest = guests_.begin(); guest != guests_.end(); ++place) {
        const bool stays = entries[place].revents == 0 || hear(*guest);
        guest = stays ? std::next(guest) : guests_.erase(guest);
      }
      if (entries[0].revents != 0) {
        guests_.emplace_back(accept4(door_, nullptr, nullptr, SOCK_CLOEXEC));
      }
    }
  }

  /// False when the guest is to go.
  bool hear(Guest& guest) {
    std::vector<std::byte> some(1 << 16);
    const ssize_t now = recv(guest.socket, some.data(), some.size(), MSG_DONTWAIT);
    if (now <= 0) {
      return false;
    }
    guest.come.insert(guest.come.end(), some.begin(), some.begin() + now);
    while (guest.come.size() >= wire::kHeaderBytes) {
      const auto header = wire::decode_header(std::span(guest.come).first<wire::kHeaderBytes>());
      require(header.ok());
      const size_t whole = wire::kHeaderBytes + header->body_bytes + header->payload_bytes;
      if (guest.come.size() < whole) {
        break;
      }
      guest.come.erase(guest.come.begin(), guest.come.begin() + static_cast<ptrdiff_t>(whole));
      if (header->kind != Kind::kData) {
        asked_ = header->kind;
      }
      if (!header->more && !answer(guest, asked_, header->request)) {
        return false;
      }
    }
    return true;
  }

  bool answer(Guest& guest, Kind asked, uint64_t request) {
    const std::lock_guard lock(mutex_);
    if ((asked == Kind::kHello || asked == Kind::kProof) && !greets_too_) {
      const auto body = asked == Kind::kHello ? wire::encode(wire::Challenge()) : std::vector<std::byte>();
      return tell(guest, PlannedFrame().bytes(wire::reply_to(asked), request, body));
    }
    PlannedFrame frame;
    Kind kind = wire::reply_to(asked);
    for (bool first = true, goes_on = true; goes_on; first = false) {
      if (!frames_.next(frame)) {
        greets_too_ = false;
        const wire::Failure enough{ErrorCode::kPermissionDenied, "enough"};
        return first && tell(guest, PlannedFrame().bytes(Kind::kError, request, wire::encode(enough)));
      }
      if (frame.is(testing::kRaw)) {
        static_cast<void>(tell(guest, {frame.body.begin(), frame.body.end()}));
        return false;
      }
      const Kind as = frame.is(testing::kOther) ? own_kind(frame.kind) : kind;
      if (!tell(guest, frame.bytes(as, request + (frame.is(testing::kPlain) ? 1 : 0)))) {
        return false;
      }
      goes_on = frame.is(testing::kMore) || as == Kind::kWorking;
      kind = as == Kind::kWorking ? kind : Kind::kData;
    }
    return true;
  }

  static Kind own_kind(uint8_t number) {
    switch (number) {
      case 0xff:
        return Kind::kError;
      case 0xfe:
        return Kind::kWorking;
      case 0x03:
        return Kind::kData;
      default:
        return wire::reply_to(static_cast<Kind>(number));
    }
  }

  static bool tell(Guest& guest, const std::vector<std::byte>& bytes) {
    return send(guest.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  std::string path_;
  int door_ = -1;
  std::list<Guest> guests_;
  Kind asked_ = Kind::kError;  // by the request whose data come
  std::mutex mutex_;
  std::vector<std::byte> input_;
  FramesOfInput frames_{{}};
  bool greets_too_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

/// Returns what the manager told, at our own address; or a file when it told none.
wire::Opened open_file(storage::Store& store, const std::string& address, uint64_t* handle) {
  wire::Open request;
  request.path = "/f";
  request.mode = wire::OpenMode::kReadWrite;
  const auto told = store.open(request);
  *handle = request.handle;
  wire::Opened opened;
  opened.file = 2;
  opened.stripe_bytes = wire::kMinStripeBytes;
  opened.slots.resize(2);
  if (told.ok()) {
    opened = *told;
  }
  opened.ticket_ms = std::max<uint64_t>(opened.ticket_ms, 60000);
  opened.slots.resize(std::min(opened.slots.size(), kMostSlots));
  for (wire::ServerPlace& slot : opened.slots) {
    slot.address = address;
  }
  return opened;
}

void use_file(storage::StripedFile& file) {
  std::vector<std::byte> memory(100000);
  const auto bytes = static_cast<int64_t>(memory.size());
  const std::vector<storage::ReadSegment> reads{{5, memory.data(), bytes - 10}, {bytes, memory.data() + bytes - 10, 10}};
  const auto size = file.size();
  require(!size.ok() || *size >= 0);
  const auto read = file.read(reads);
  require(!read.ok() || (*read >= 0 && *read <= bytes));
  const std::vector<storage::WriteSegment> writes{{5, memory.data(), bytes}};
  static_cast<void>(file.write(writes));
  static_cast<void>(file.resize(bytes));
  {
    const auto lock = file.try_lock({0, bytes}, storage::LockMode::kExclusive);
    static_cast<void>(file.is_locked_elsewhere({0, bytes}));
  }
  static_cast<void>(file.sync());
  const auto again = file.read(reads);
  require(!again.ok() || (*again >= 0 && *again <= bytes));
  static_cast<void>(file.close());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FakeServer server;
  static const int ready = setenv("STRIA_SERVER_TIMEOUT", kPatienceSeconds, 1);
  require(ready == 0);
  server.set_input(std::as_bytes(std::span(data, size)));
  const auto store = std::make_shared<storage::Store>(wire::parse_addresses(server.address()).value(), nullptr);
  uint64_t handle = 0;
  const wire::Opened opened = open_file(*store, server.address(), &handle);
  const auto state = storage::state_of_file(store, opened);
  require(!state.ok() || state->bytes >= 0);
  {
    storage::StripedFile file(store, "/f", opened, {handle, true});
    use_file(file);
  }
  const auto listed = store->ask_manager(Kind::kList, wire::encode(wire::List{"/", ""}));
  if (listed.ok()) {
    static_cast<void>(wire::decode<wire::Listed>(*listed));
  }
  static_cast<void>(store->number());
  return 0;
}
