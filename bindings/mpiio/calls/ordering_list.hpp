// The calls of MPI that order ranks and have a form for large counts: name, parameters, arguments.
// ordering_calls.cpp includes this once for each form, with its own STRIA_ORDERS, STRIA_COUNT and
// STRIA_PLACE.
// NOLINTBEGIN: no guard, because it is included twice
STRIA_ORDERS(Send, (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count,
             datatype, dest, tag, comm)
STRIA_ORDERS(Bsend, (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count,
             datatype, dest, tag, comm)
STRIA_ORDERS(Ssend, (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count,
             datatype, dest, tag, comm)
STRIA_ORDERS(Rsend, (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), buf, count,
             datatype, dest, tag, comm)
STRIA_ORDERS(Isend,
             (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             buf, count, datatype, dest, tag, comm, request)
STRIA_ORDERS(Ibsend,
             (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             buf, count, datatype, dest, tag, comm, request)
STRIA_ORDERS(Issend,
             (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             buf, count, datatype, dest, tag, comm, request)
STRIA_ORDERS(Irsend,
             (const void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             buf, count, datatype, dest, tag, comm, request)
STRIA_ORDERS(Recv,
             (void* buf, STRIA_COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status), buf,
             count, datatype, source, tag, comm, status)
STRIA_ORDERS(Mrecv, (void* buf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status), buf, count,
             datatype, message, status)
STRIA_ORDERS(Sendrecv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
              STRIA_COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status),
             sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status)
STRIA_ORDERS(Sendrecv_replace,
             (void* buf, STRIA_COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
              MPI_Comm comm, MPI_Status* status),
             buf, count, datatype, dest, sendtag, source, recvtag, comm, status)
STRIA_ORDERS(Bcast, (void* buffer, STRIA_COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm), buffer, count, datatype,
             root, comm)
STRIA_ORDERS(Gather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
STRIA_ORDERS(Gatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
STRIA_ORDERS(Scatter,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
STRIA_ORDERS(Scatterv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE displs[], MPI_Datatype sendtype,
              void* recvbuf, STRIA_COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
             sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
STRIA_ORDERS(Allgather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
STRIA_ORDERS(Allgatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
STRIA_ORDERS(Alltoall,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
STRIA_ORDERS(Alltoallv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], MPI_Datatype sendtype,
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
STRIA_ORDERS(Alltoallw,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm),
             sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
STRIA_ORDERS(Reduce,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm),
             sendbuf, recvbuf, count, datatype, op, root, comm)
STRIA_ORDERS(Allreduce,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm), sendbuf,
             recvbuf, count, datatype, op, comm)
STRIA_ORDERS(Reduce_scatter,
             (const void* sendbuf, void* recvbuf, const STRIA_COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm),
             sendbuf, recvbuf, recvcounts, datatype, op, comm)
STRIA_ORDERS(Reduce_scatter_block,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
             sendbuf, recvbuf, recvcount, datatype, op, comm)
STRIA_ORDERS(Scan, (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
             sendbuf, recvbuf, count, datatype, op, comm)
STRIA_ORDERS(Exscan, (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
             sendbuf, recvbuf, count, datatype, op, comm)
STRIA_ORDERS(Neighbor_allgather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
STRIA_ORDERS(Neighbor_allgatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
STRIA_ORDERS(Neighbor_alltoall,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
STRIA_ORDERS(Neighbor_alltoallv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], MPI_Datatype sendtype,
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
             sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
STRIA_ORDERS(Neighbor_alltoallw,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const STRIA_COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm),
             sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
STRIA_ORDERS(Ibcast, (void* buffer, STRIA_COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request),
             buffer, count, datatype, root, comm, request)
STRIA_ORDERS(Igather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)
STRIA_ORDERS(Igatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request)
STRIA_ORDERS(Iscatter,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)
STRIA_ORDERS(Iscatterv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE displs[], MPI_Datatype sendtype,
              void* recvbuf, STRIA_COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request)
STRIA_ORDERS(Iallgather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)
STRIA_ORDERS(Iallgatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)
STRIA_ORDERS(Ialltoall,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)
STRIA_ORDERS(Ialltoallv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], MPI_Datatype sendtype,
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request)
STRIA_ORDERS(Ialltoallw,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request)
STRIA_ORDERS(Ireduce,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, recvbuf, count, datatype, op, root, comm, request)
STRIA_ORDERS(Iallreduce,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, recvbuf, count, datatype, op, comm, request)
STRIA_ORDERS(Ireduce_scatter,
             (const void* sendbuf, void* recvbuf, const STRIA_COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm, MPI_Request* request),
             sendbuf, recvbuf, recvcounts, datatype, op, comm, request)
STRIA_ORDERS(Ireduce_scatter_block,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, recvbuf, recvcount, datatype, op, comm, request)
STRIA_ORDERS(Iscan,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, recvbuf, count, datatype, op, comm, request)
STRIA_ORDERS(Iexscan,
             (const void* sendbuf, void* recvbuf, STRIA_COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, recvbuf, count, datatype, op, comm, request)
STRIA_ORDERS(Ineighbor_allgather,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)
STRIA_ORDERS(Ineighbor_allgatherv,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, const STRIA_COUNT recvcounts[],
              const STRIA_PLACE displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)
STRIA_ORDERS(Ineighbor_alltoall,
             (const void* sendbuf, STRIA_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, STRIA_COUNT recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)
STRIA_ORDERS(Ineighbor_alltoallv,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const STRIA_PLACE sdispls[], MPI_Datatype sendtype,
              void* recvbuf, const STRIA_COUNT recvcounts[], const STRIA_PLACE rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
              MPI_Request* request),
             sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request)
STRIA_ORDERS(Ineighbor_alltoallw,
             (const void* sendbuf, const STRIA_COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const STRIA_COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm, MPI_Request* request),
             sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request)
STRIA_ORDERS(Put,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Win win),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)
STRIA_ORDERS(Get,
             (void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Win win),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win)
STRIA_ORDERS(Accumulate,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win)
STRIA_ORDERS(Get_accumulate,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, void* result_addr,
              STRIA_COUNT result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
              STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
             origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp,
             target_count, target_datatype, op, win)
STRIA_ORDERS(Rput,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request)
STRIA_ORDERS(Rget,
             (void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request)
STRIA_ORDERS(Raccumulate,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
              MPI_Request* request),
             origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
             request)
STRIA_ORDERS(Rget_accumulate,
             (const void* origin_addr, STRIA_COUNT origin_count, MPI_Datatype origin_datatype, void* result_addr,
              STRIA_COUNT result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
              STRIA_COUNT target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
             origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp,
             target_count, target_datatype, op, win, request)
// NOLINTEND
