// MPI's calls by which ranks tell each other how far they are.
//
// Problem: small writes are kept for a while, and small reads fetched ahead (small_access.hpp).
// MPI-IO allows that until a sync, but programs and libraries, HDF5 among them, write on one rank,
// pass a barrier and read on another.
// Method: before such a call, whatever it is, everything that is kept is written; after it, nothing
// that was fetched before is used. A rank that hears of a write can hear of it only by one of these
// calls on each side. Calls that wait for requests do so too (wait_calls.cpp).
// Cost: a look at two numbers in each call.
#include <mpi.h>

#include "mpiio/calls/ordering_list.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/transfer/small_access.hpp"

namespace {

template <typename Next, typename... Arguments>
int in_order(Next& next, Arguments... arguments) {
  const stria::mpiio::OrderingCall orders;
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
STRIA_ORDERS(Win_create, (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win), base, size,
             disp_unit, info, comm, win)
STRIA_ORDERS(Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win), size,
             disp_unit, info, comm, baseptr, win)
STRIA_ORDERS(Win_allocate_shared, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
             size, disp_unit, info, comm, baseptr, win)
STRIA_ORDERS(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), info, comm, win)
STRIA_ORDERS(Win_free, (MPI_Win * win), win)
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
STRIA_ORDERS(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm), comm, info, newcomm)
STRIA_ORDERS(Comm_idup, (MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request), comm, newcomm, request)
STRIA_ORDERS(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm), comm, split_type, key,
             info, newcomm)
STRIA_ORDERS(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm), comm, group, tag, newcomm)
STRIA_ORDERS(Intercomm_create,
             (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm* newintercomm),
             local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)
STRIA_ORDERS(Cart_create,
             (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart), comm_old,
             ndims, dims, periods, reorder, comm_cart)
STRIA_ORDERS(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm), comm, remain_dims, newcomm)
STRIA_ORDERS(Graph_create,
             (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* comm_graph), comm_old,
             nnodes, index, edges, reorder, comm_graph)
STRIA_ORDERS(Dist_graph_create,
             (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[], const int weights[],
              MPI_Info info, int reorder, MPI_Comm* comm_dist_graph),
             comm_old, n, sources, degrees, destinations, weights, info, reorder, comm_dist_graph)
STRIA_ORDERS(Dist_graph_create_adjacent,
             (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
              const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm* comm_dist_graph),
             comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, comm_dist_graph)
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
STRIA_ORDERS(Comm_join, (int fd, MPI_Comm* intercomm), fd, intercomm)
STRIA_ORDERS(Publish_name, (const char* service_name, MPI_Info info, const char* port_name), service_name, info, port_name)
STRIA_ORDERS(Unpublish_name, (const char* service_name, MPI_Info info, const char* port_name), service_name, info, port_name)
STRIA_ORDERS(Lookup_name, (const char* service_name, MPI_Info info, char* port_name), service_name, info, port_name)
STRIA_ORDERS(Comm_disconnect, (MPI_Comm * comm), comm)
STRIA_ORDERS(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newintracomm), intercomm, high, newintracomm)

STRIA_ORDERING_CALLS(STRIA_ORDERS, int, int)

#if MPI_VERSION >= 4
#define STRIA_ORDERS_LARGE(name, parameters, ...) STRIA_MPIIO_ADD_TO(name##_c, in_order, parameters, __VA_ARGS__)
STRIA_ORDERING_CALLS(STRIA_ORDERS_LARGE, MPI_Count, MPI_Aint)
#endif
