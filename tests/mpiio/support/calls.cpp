#include "mpiio/support/calls.hpp"

namespace mpiio {
namespace {

int wait(int code, MPI_Request* request, MPI_Status* status) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, status);
}

int explicit_blocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    if (call.collective) {
      return write ? MPI_File_write_at_all_c(file, t.offset, t.buffer, t.count, t.type, status)
                   : MPI_File_read_at_all_c(file, t.offset, t.buffer, t.count, t.type, status);
    }
    return write ? MPI_File_write_at_c(file, t.offset, t.buffer, t.count, t.type, status)
                 : MPI_File_read_at_c(file, t.offset, t.buffer, t.count, t.type, status);
  }
#endif
  if (call.collective) {
    return write ? MPI_File_write_at_all(file, t.offset, t.buffer, t.count, t.type, status)
                 : MPI_File_read_at_all(file, t.offset, t.buffer, t.count, t.type, status);
  }
  return write ? MPI_File_write_at(file, t.offset, t.buffer, t.count, t.type, status)
               : MPI_File_read_at(file, t.offset, t.buffer, t.count, t.type, status);
}

int explicit_nonblocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    if (call.collective) {
      return write ? MPI_File_iwrite_at_all_c(file, t.offset, t.buffer, t.count, t.type, request)
                   : MPI_File_iread_at_all_c(file, t.offset, t.buffer, t.count, t.type, request);
    }
    return write ? MPI_File_iwrite_at_c(file, t.offset, t.buffer, t.count, t.type, request)
                 : MPI_File_iread_at_c(file, t.offset, t.buffer, t.count, t.type, request);
  }
#endif
  if (call.collective) {
    return write ? MPI_File_iwrite_at_all(file, t.offset, t.buffer, t.count, t.type, request)
                 : MPI_File_iread_at_all(file, t.offset, t.buffer, t.count, t.type, request);
  }
  return write ? MPI_File_iwrite_at(file, t.offset, t.buffer, t.count, t.type, request)
               : MPI_File_iread_at(file, t.offset, t.buffer, t.count, t.type, request);
}

int explicit_split(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
  int code = MPI_SUCCESS;
#if MPI_VERSION >= 4
  if (call.large_count) {
    code = write ? MPI_File_write_at_all_begin_c(file, t.offset, t.buffer, t.count, t.type)
                 : MPI_File_read_at_all_begin_c(file, t.offset, t.buffer, t.count, t.type);
  } else
#endif
  {
    (void)call;
    code = write ? MPI_File_write_at_all_begin(file, t.offset, t.buffer, t.count, t.type)
                 : MPI_File_read_at_all_begin(file, t.offset, t.buffer, t.count, t.type);
  }
  if (code != MPI_SUCCESS) {
    return code;
  }
  return write ? MPI_File_write_at_all_end(file, t.buffer, status) : MPI_File_read_at_all_end(file, t.buffer, status);
}

int individual_blocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    if (call.collective) {
      return write ? MPI_File_write_all_c(file, t.buffer, t.count, t.type, status)
                   : MPI_File_read_all_c(file, t.buffer, t.count, t.type, status);
    }
    return write ? MPI_File_write_c(file, t.buffer, t.count, t.type, status)
                 : MPI_File_read_c(file, t.buffer, t.count, t.type, status);
  }
#endif
  if (call.collective) {
    return write ? MPI_File_write_all(file, t.buffer, t.count, t.type, status)
                 : MPI_File_read_all(file, t.buffer, t.count, t.type, status);
  }
  return write ? MPI_File_write(file, t.buffer, t.count, t.type, status)
               : MPI_File_read(file, t.buffer, t.count, t.type, status);
}

int individual_nonblocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    if (call.collective) {
      return write ? MPI_File_iwrite_all_c(file, t.buffer, t.count, t.type, request)
                   : MPI_File_iread_all_c(file, t.buffer, t.count, t.type, request);
    }
    return write ? MPI_File_iwrite_c(file, t.buffer, t.count, t.type, request)
                 : MPI_File_iread_c(file, t.buffer, t.count, t.type, request);
  }
#endif
  if (call.collective) {
    return write ? MPI_File_iwrite_all(file, t.buffer, t.count, t.type, request)
                 : MPI_File_iread_all(file, t.buffer, t.count, t.type, request);
  }
  return write ? MPI_File_iwrite(file, t.buffer, t.count, t.type, request)
               : MPI_File_iread(file, t.buffer, t.count, t.type, request);
}

int individual_split(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
  int code = MPI_SUCCESS;
#if MPI_VERSION >= 4
  if (call.large_count) {
    code = write ? MPI_File_write_all_begin_c(file, t.buffer, t.count, t.type)
                 : MPI_File_read_all_begin_c(file, t.buffer, t.count, t.type);
  } else
#endif
  {
    (void)call;
    code = write ? MPI_File_write_all_begin(file, t.buffer, t.count, t.type)
                 : MPI_File_read_all_begin(file, t.buffer, t.count, t.type);
  }
  if (code != MPI_SUCCESS) {
    return code;
  }
  return write ? MPI_File_write_all_end(file, t.buffer, status) : MPI_File_read_all_end(file, t.buffer, status);
}

int shared_blocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    if (call.collective) {
      return write ? MPI_File_write_ordered_c(file, t.buffer, t.count, t.type, status)
                   : MPI_File_read_ordered_c(file, t.buffer, t.count, t.type, status);
    }
    return write ? MPI_File_write_shared_c(file, t.buffer, t.count, t.type, status)
                 : MPI_File_read_shared_c(file, t.buffer, t.count, t.type, status);
  }
#endif
  if (call.collective) {
    return write ? MPI_File_write_ordered(file, t.buffer, t.count, t.type, status)
                 : MPI_File_read_ordered(file, t.buffer, t.count, t.type, status);
  }
  return write ? MPI_File_write_shared(file, t.buffer, t.count, t.type, status)
               : MPI_File_read_shared(file, t.buffer, t.count, t.type, status);
}

int shared_nonblocking(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (call.large_count) {
    return write ? MPI_File_iwrite_shared_c(file, t.buffer, t.count, t.type, request)
                 : MPI_File_iread_shared_c(file, t.buffer, t.count, t.type, request);
  }
#endif
  (void)call;
  return write ? MPI_File_iwrite_shared(file, t.buffer, t.count, t.type, request)
               : MPI_File_iread_shared(file, t.buffer, t.count, t.type, request);
}

int shared_split(const Call& call, bool write, MPI_File file, const Transfer& t, MPI_Status* status) {
  int code = MPI_SUCCESS;
#if MPI_VERSION >= 4
  if (call.large_count) {
    code = write ? MPI_File_write_ordered_begin_c(file, t.buffer, t.count, t.type)
                 : MPI_File_read_ordered_begin_c(file, t.buffer, t.count, t.type);
  } else
#endif
  {
    (void)call;
    code = write ? MPI_File_write_ordered_begin(file, t.buffer, t.count, t.type)
                 : MPI_File_read_ordered_begin(file, t.buffer, t.count, t.type);
  }
  if (code != MPI_SUCCESS) {
    return code;
  }
  return write ? MPI_File_write_ordered_end(file, t.buffer, status) : MPI_File_read_ordered_end(file, t.buffer, status);
}

}  // namespace

std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const bool large_count : {false, true}) {
    if (large_count && MPI_VERSION < 4) {
      continue;
    }
    for (const Pointer pointer : {Pointer::kExplicit, Pointer::kIndividual, Pointer::kShared}) {
      for (const bool collective : {false, true}) {
        calls.push_back({pointer, Waiting::kBlocking, collective, large_count});
        if (pointer != Pointer::kShared || !collective) {
          calls.push_back({pointer, Waiting::kNonblocking, collective, large_count});
        }
        if (collective) {
          calls.push_back({pointer, Waiting::kSplit, collective, large_count});
        }
      }
    }
  }
  return calls;
}

std::vector<Call> private_calls() {
  std::vector<Call> calls;
  for (const Call& call : all_calls()) {
    if (call.pointer != Pointer::kShared) {
      calls.push_back(call);
    }
  }
  return calls;
}

std::string call_name(const Call& call, bool write) {
  std::string name = call.waiting == Waiting::kNonblocking ? "i" : "";
  name += write ? "write" : "read";
  if (call.pointer == Pointer::kExplicit) {
    name += "_at";
  }
  if (call.pointer == Pointer::kShared) {
    name += call.collective ? "_ordered" : "_shared";
  } else if (call.collective) {
    name += "_all";
  }
  if (call.waiting == Waiting::kSplit) {
    name += "_begin/end";
  }
  return name + (call.large_count ? "_c" : "");
}

int perform(const Call& call, bool write, MPI_File file, const Transfer& transfer, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (call.pointer) {
    case Pointer::kExplicit:
      if (call.waiting == Waiting::kSplit) {
        return explicit_split(call, write, file, transfer, status);
      }
      return call.waiting == Waiting::kBlocking
                 ? explicit_blocking(call, write, file, transfer, status)
                 : wait(explicit_nonblocking(call, write, file, transfer, &request), &request, status);
    case Pointer::kIndividual:
      if (call.waiting == Waiting::kSplit) {
        return individual_split(call, write, file, transfer, status);
      }
      return call.waiting == Waiting::kBlocking
                 ? individual_blocking(call, write, file, transfer, status)
                 : wait(individual_nonblocking(call, write, file, transfer, &request), &request, status);
    case Pointer::kShared:
      break;
  }
  if (call.waiting == Waiting::kSplit) {
    return shared_split(call, write, file, transfer, status);
  }
  return call.waiting == Waiting::kBlocking ? shared_blocking(call, write, file, transfer, status)
                                            : wait(shared_nonblocking(call, write, file, transfer, &request), &request, status);
}

}  // namespace mpiio
