// MPI's calls by which ranks tell each other how far they are.
//
// Problem: small writes are kept for a while, and small reads fetched ahead (small_access.hpp).
// MPI-IO allows that until a sync, but programs and libraries, HDF5 among them, write on one rank,
// pass a barrier and read on another.
// Method: before such a call, whatever it is, everything that is kept is settled. A rank that hears
// of a write can hear of it only by one of these calls on each side. Calls that wait for requests
// settle too (wait_calls.cpp).
// Cost: a look at one number in each call.
#include <mpi.h>

#include "mpiio/calls/ordering_list.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/transfer/small_access.hpp"

namespace {

template <typename Next, typename... Arguments>
int in_order(Next& next, Arguments... arguments) {
  stria::mpiio::settle_all_small();
  return next(arguments...);
}

}  // namespace

#define STRIA_ORDERS(name, parameters, ...) STRIA_MPIIO_ADD_TO(name, in_order, parameters, __VA_ARGS__)
STRIA_ORDERS(Start, (MPI_Request * request), request)
STRIA_ORDERS(Startall, (int count, MPI_Request array_of_requests[]), count, array_of_requests)
STRIA_ORDERS(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), source, tag, comm, status)
STRIA_ORDERS(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status), source, tag, comm, flag, status)
STRIA_ORDERS(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status), source, tag, comm, message,
             status)
STRIA_ORDERS(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status), source, tag,
             comm, flag, message, status)
STRIA_ORDERS(Barrier, (MPI_Comm comm), comm)
STRIA_ORDERS(Ibarrier, (MPI_Comm comm, MPI_Request* request), comm, request)
STRIA_ORDERS(Fetch_and_op,
             (const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
              MPI_Op op, MPI_Win win),
             origin_addr, result_addr, datatype, target_rank, target_disp, op, win)
STRIA_ORDERS(Compare_and_swap,
             (const void* origin_addr, const void* compare_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
              MPI_Aint target_disp, MPI_Win win),
             origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win)
STRIA_ORDERS(Win_fence, (int assert, MPI_Win win), assert, win)
STRIA_ORDERS(Win_start, (MPI_Group group, int assert, MPI_Win win), group, assert, win)
STRIA_ORDERS(Win_complete, (MPI_Win win), win)
STRIA_ORDERS(Win_post, (MPI_Group group, int assert, MPI_Win win), group, assert, win)
STRIA_ORDERS(Win_wait, (MPI_Win win), win)
STRIA_ORDERS(Win_test, (MPI_Win win, int* flag), win, flag)
STRIA_ORDERS(Win_lock, (int lock_type, int rank, int assert, MPI_Win win), lock_type, rank, assert, win)
STRIA_ORDERS(Win_lock_all, (int assert, MPI_Win win), assert, win)
STRIA_ORDERS(Win_unlock, (int rank, MPI_Win win), rank, win)
STRIA_ORDERS(Win_unlock_all, (MPI_Win win), win)
STRIA_ORDERS(Win_flush, (int rank, MPI_Win win), rank, win)
STRIA_ORDERS(Win_flush_all, (MPI_Win win), win)
STRIA_ORDERS(Win_flush_local, (int rank, MPI_Win win), rank, win)
STRIA_ORDERS(Win_flush_local_all, (MPI_Win win), win)
STRIA_ORDERS(Win_sync, (MPI_Win win), win)
STRIA_ORDERS(Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm), comm, newcomm)
STRIA_ORDERS(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm), comm, color, key, newcomm)
STRIA_ORDERS(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm), comm, group, newcomm)
STRIA_ORDERS(Comm_spawn,
             (const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* intercomm,
              int array_of_errcodes[]),
             command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes)
STRIA_ORDERS(Comm_spawn_multiple,
             (int count, char* array_of_commands[], char** array_of_argv[], const int array_of_maxprocs[],
              const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]),
             count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm,
             array_of_errcodes)
STRIA_ORDERS(Comm_accept, (const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm), port_name, info,
             root, comm, newcomm)
STRIA_ORDERS(Comm_connect, (const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm), port_name, info,
             root, comm, newcomm)
STRIA_ORDERS(Comm_disconnect, (MPI_Comm * comm), comm)
STRIA_ORDERS(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newintracomm), intercomm, high, newintracomm)

STRIA_ORDERING_CALLS(STRIA_ORDERS, int, int)

#if MPI_VERSION >= 4
#define STRIA_ORDERS_LARGE(name, parameters, ...) STRIA_MPIIO_ADD_TO(name##_c, in_order, parameters, __VA_ARGS__)
STRIA_ORDERING_CALLS(STRIA_ORDERS_LARGE, MPI_Count, MPI_Aint)
#endif
