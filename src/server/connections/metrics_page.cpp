#include "server/connections/metrics_page.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>

#include "server/connections/counters.hpp"
#include "server/connections/network/stream.hpp"

namespace stria::server {

namespace {

constexpr std::chrono::milliseconds kAtMost{2000};
constexpr std::chrono::milliseconds kNoTimeout{0};  // a timer of its own ends it
constexpr size_t kMostRequestBytes = 4096;
constexpr std::chrono::milliseconds kAfterFailedPageAccept{50};

std::string response(const char* status, const std::string& type, const std::string& body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

std::string answer_to(std::string_view request, const SharedState& shared) {
  constexpr std::string_view kHead = "HEAD ";
  if (request.starts_with(kHead)) {
    const std::string all = answer_to("GET " + std::string(request.substr(kHead.size())), shared);
    return all.substr(0, all.find("\r\n\r\n") + 4);
  }
  if (request.starts_with("GET /metrics ") || request.starts_with("GET / ")) {
    return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics_text(figures_of(shared)));
  }
  return response("404 Not Found", "text/plain", "there is only /metrics here\n");
}

asio::awaitable<void> answer(const SharedState& shared, Stream& stream) {
  std::string request;
  std::array<std::byte, 1> byte{};
  while (!request.ends_with("\r\n\r\n") && request.size() < kMostRequestBytes) {
    co_await stream.read(byte, kNoTimeout);
    request += static_cast<char>(byte[0]);
  }
  const std::string text = answer_to(request, shared);
  const asio::const_buffer part(text.data(), text.size());
  co_await stream.write({&part, 1}, kNoTimeout);
}

asio::awaitable<void> serve(const SharedState& shared, int socket) {
  const auto executor = co_await asio::this_coro::executor;
  const auto stream = std::make_shared<Stream>(Stream::wrap(executor, AF_INET, socket));
  asio::steady_timer timer(executor, kAtMost);
  timer.async_wait([stream](const asio::error_code& cancelled) {
    if (!cancelled) {
      stream->close();
    }
  });
  co_await answer(shared, *stream);
  stream->close();
}

}  // namespace

// Serves readers one after another: each takes a millisecond, and a slow one is cut off.
asio::awaitable<void> serve_metrics(std::shared_ptr<SharedState> shared, asio::posix::stream_descriptor& door) {
  const auto executor = co_await asio::this_coro::executor;
  asio::error_code error;
  while (!error) {
    co_await door.async_wait(asio::posix::stream_descriptor::wait_read, asio::redirect_error(asio::use_awaitable, error));
    const int socket = error ? -1 : accept4(door.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      try {
        co_await serve(*shared, socket);
      } catch (const std::exception&) {
        // The reader has gone, or was slow, or there was no memory for it.
      }
    } else if (!error && errno != EAGAIN) {
      // The reader stays at the door where there are no descriptors.
      asio::steady_timer pause(executor, kAfterFailedPageAccept);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }
}

}  // namespace stria::server
