// The calls of MPI that order ranks and have a form for large counts.
//
// STRIA_ORDERING_CALLS(CALL, COUNT, PLACE) is CALL(name, parameters, arguments…) for each of them,
// with these types of counts and of places in memory.
#pragma once

// clang-format off
#define STRIA_ORDERING_CALLS(CALL, COUNT, PLACE) \
  CALL(Send, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count, \
    datatype, dest, tag, comm) \
  CALL(Bsend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count, \
    datatype, dest, tag, comm) \
  CALL(Ssend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count, \
    datatype, dest, tag, comm) \
  CALL(Rsend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count, \
    datatype, dest, tag, comm) \
  CALL(Isend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* \
    request), buf, count, datatype, dest, tag, comm, request) \
  CALL(Ibsend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* \
    request), buf, count, datatype, dest, tag, comm, request) \
  CALL(Issend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* \
    request), buf, count, datatype, dest, tag, comm, request) \
  CALL(Irsend, (const void* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* \
    request), buf, count, datatype, dest, tag, comm, request) \
  CALL(Recv, (void* buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status), \
    buf, count, datatype, source, tag, comm, status) \
  CALL(Mrecv, (void* buf, COUNT count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status), buf, count, \
    datatype, message, status) \
  CALL(Sendrecv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, \
    COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status), sendbuf, \
    sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status) \
  CALL(Sendrecv_replace, (void* buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, \
    MPI_Comm comm, MPI_Status* status), buf, count, datatype, dest, sendtag, source, recvtag, comm, status) \
  CALL(Bcast, (void* buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm), buffer, count, datatype, \
    root, comm) \
  CALL(Gather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, int root, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, \
    comm) \
  CALL(Gatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT recvcounts[], \
    const PLACE displs[], MPI_Datatype recvtype, int root, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, \
    recvcounts, displs, recvtype, root, comm) \
  CALL(Scatter, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, int root, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, \
    comm) \
  CALL(Scatterv, (const void* sendbuf, const COUNT sendcounts[], const PLACE displs[], MPI_Datatype sendtype, void* \
    recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm), sendbuf, sendcounts, displs, sendtype, \
    recvbuf, recvcount, recvtype, root, comm) \
  CALL(Allgather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  CALL(Allgatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT \
    recvcounts[], const PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, \
    recvcounts, displs, recvtype, comm) \
  CALL(Alltoall, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  CALL(Alltoallv, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype, void* \
    recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm), sendbuf, \
    sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) \
  CALL(Alltoallw, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], const MPI_Datatype sendtypes[], \
    void* recvbuf, const COUNT recvcounts[], const PLACE rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm), \
    sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) \
  CALL(Reduce, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm \
    comm), sendbuf, recvbuf, count, datatype, op, root, comm) \
  CALL(Allreduce, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm), \
    sendbuf, recvbuf, count, datatype, op, comm) \
  CALL(Reduce_scatter, (const void* sendbuf, void* recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op, \
    MPI_Comm comm), sendbuf, recvbuf, recvcounts, datatype, op, comm) \
  CALL(Reduce_scatter_block, (const void* sendbuf, void* recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op, \
    MPI_Comm comm), sendbuf, recvbuf, recvcount, datatype, op, comm) \
  CALL(Scan, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm), \
    sendbuf, recvbuf, count, datatype, op, comm) \
  CALL(Exscan, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm), \
    sendbuf, recvbuf, count, datatype, op, comm) \
  CALL(Neighbor_allgather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  CALL(Neighbor_allgatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT \
    recvcounts[], const PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, \
    recvcounts, displs, recvtype, comm) \
  CALL(Neighbor_alltoall, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  CALL(Neighbor_alltoallv, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype, \
    void* recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm), sendbuf, \
    sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) \
  CALL(Neighbor_alltoallw, (const void* sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype \
    sendtypes[], void* recvbuf, const COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], \
    MPI_Comm comm), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) \
  CALL(Ibcast, (void* buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request), \
    buffer, count, datatype, root, comm, request) \
  CALL(Igather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, \
    recvcount, recvtype, root, comm, request) \
  CALL(Igatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT recvcounts[], \
    const PLACE displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, \
    sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request) \
  CALL(Iscatter, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, \
    recvcount, recvtype, root, comm, request) \
  CALL(Iscatterv, (const void* sendbuf, const COUNT sendcounts[], const PLACE displs[], MPI_Datatype sendtype, void* \
    recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request), sendbuf, \
    sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request) \
  CALL(Iallgather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, recvcount, \
    recvtype, comm, request) \
  CALL(Iallgatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT \
    recvcounts[], const PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, \
    sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) \
  CALL(Ialltoall, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, recvcount, \
    recvtype, comm, request) \
  CALL(Ialltoallv, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype, void* \
    recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* \
    request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request) \
  CALL(Ialltoallw, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], const MPI_Datatype \
    sendtypes[], void* recvbuf, const COUNT recvcounts[], const PLACE rdispls[], const MPI_Datatype recvtypes[], \
    MPI_Comm comm, MPI_Request* request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, \
    recvtypes, comm, request) \
  CALL(Ireduce, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm \
    comm, MPI_Request* request), sendbuf, recvbuf, count, datatype, op, root, comm, request) \
  CALL(Iallreduce, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, \
    MPI_Request* request), sendbuf, recvbuf, count, datatype, op, comm, request) \
  CALL(Ireduce_scatter, (const void* sendbuf, void* recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op, \
    MPI_Comm comm, MPI_Request* request), sendbuf, recvbuf, recvcounts, datatype, op, comm, request) \
  CALL(Ireduce_scatter_block, (const void* sendbuf, void* recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op, \
    MPI_Comm comm, MPI_Request* request), sendbuf, recvbuf, recvcount, datatype, op, comm, request) \
  CALL(Iscan, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, \
    MPI_Request* request), sendbuf, recvbuf, count, datatype, op, comm, request) \
  CALL(Iexscan, (const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, \
    MPI_Request* request), sendbuf, recvbuf, count, datatype, op, comm, request) \
  CALL(Ineighbor_allgather, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT \
    recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, \
    recvcount, recvtype, comm, request) \
  CALL(Ineighbor_allgatherv, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const COUNT \
    recvcounts[], const PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, \
    sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) \
  CALL(Ineighbor_alltoall, (const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request), sendbuf, sendcount, sendtype, recvbuf, recvcount, \
    recvtype, comm, request) \
  CALL(Ineighbor_alltoallv, (const void* sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype \
    sendtype, void* recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm, \
    MPI_Request* request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, \
    request) \
  CALL(Ineighbor_alltoallw, (const void* sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype \
    sendtypes[], void* recvbuf, const COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], \
    MPI_Comm comm, MPI_Request* request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, \
    recvtypes, comm, request) \
  CALL(Put, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint \
    target_disp, COUNT target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count, \
    origin_datatype, target_rank, target_disp, target_count, target_datatype, win) \
  CALL(Get, (void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, \
    COUNT target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count, origin_datatype, \
    target_rank, target_disp, target_count, target_datatype, win) \
  CALL(Accumulate, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint \
    target_disp, COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win), origin_addr, origin_count, \
    origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win) \
  CALL(Get_accumulate, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, void* result_addr, \
    COUNT result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, COUNT target_count, \
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win), origin_addr, origin_count, origin_datatype, result_addr, \
    result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win) \
  CALL(Rput, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint \
    target_disp, COUNT target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request), origin_addr, \
    origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) \
  CALL(Rget, (void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint \
    target_disp, COUNT target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request), origin_addr, \
    origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) \
  CALL(Raccumulate, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, \
    MPI_Aint target_disp, COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* \
    request), origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, \
    win, request) \
  CALL(Rget_accumulate, (const void* origin_addr, COUNT origin_count, MPI_Datatype origin_datatype, void* result_addr, \
    COUNT result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, COUNT target_count, \
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request), origin_addr, origin_count, \
    origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, \
    target_datatype, op, win, request)
// clang-format on
