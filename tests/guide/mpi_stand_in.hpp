// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_GUIDE_MPI_STAND_IN_HPP
#define KASTOR_TESTS_GUIDE_MPI_STAND_IN_HPP

/// The little of MPI (version 4.0, sections 6.4 and 6.9) that docs/linking.md uses, for machines
/// without it: one process that is alone.
enum MPI_Comm { MPI_COMM_WORLD };
enum MPI_Datatype { MPI_DOUBLE };
enum MPI_Op { MPI_MAX };
inline const void* const MPI_IN_PLACE = nullptr;

inline int MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return 0; }

#endif
