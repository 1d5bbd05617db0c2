// Held bytes that are written while the program goes on (files.hpp).
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "hdf5/defer/files.hpp"
#include "hdf5/defer/writing.hpp"

namespace stria::hdf5 {

DeferredFiles::Pause::Pause(DeferredFiles& files) : files_(files) {
  ++files_.pauses_;
  files_.changed_.wait(files_.mutex_, [this] { return files_.traveller_ == nullptr; });
}

DeferredFiles::Pause::~Pause() {
  --files_.pauses_;
  files_.changed_.notify_all();
}

bool DeferredFiles::touches(const DeferredFile& file, ByteRange place) const {
  return file.held.touches(place) || (traveller_ == &file && travelling_.touches(place));
}

DeferredFile* DeferredFiles::next_traveller() {
  for (const auto& file : files_) {
    if (file->descriptor >= 0 && !file->held.empty()) {
      return file.get();
    }
  }
  return nullptr;
}

void DeferredFiles::send() {
  if (!has_thread_) {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { travel(); }).detach();
      has_thread_ = true;
    } catch (const std::system_error&) {
      // Bytes wait for the flush, as without it.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed_.notify_all();
}

void DeferredFiles::travel() {
  auto here = lock();
  for (;;) {
    changed_.wait(mutex_, [this] { return pauses_ == 0 && next_traveller() != nullptr; });
    traveller_ = next_traveller();
    std::swap(travelling_, traveller_->held);
    travelling_.sort();
    here.unlock();
    const Written written = write_pieces(travelling_.pieces(), by_descriptor(traveller_->descriptor, traveller_->handle));
    here.lock();
    travelling_.clear();
    traveller_->held.add(written.left);  // nothing that is held touches them
    if (written.error != 0) {
      // The flush tries again by MPI, and tells why.
      close(std::exchange(traveller_->descriptor, -1));
    }
    traveller_ = nullptr;
    settle();
    changed_.notify_all();
  }
}

}  // namespace stria::hdf5
