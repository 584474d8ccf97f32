/* MPI's collectives, one after the other, each at a time of its own so that none meets the one before.
 *
 *     mpi_collectives <collective> <numbers> [<collective> <numbers> ...]
 *
 * The last rank is a server, which takes part in broadcasts alone, and is their root; all the others are workers. The
 * numbers, of 8 bytes each, are those of a rank's whole vector: what is added up or handed out, what all_gather leaves
 * on every rank, or the blocks of all_to_all for all ranks. Ranks begin together; each of them prints "<place in the
 * list> <seconds>" when it is through, so that the last one's time is that of the collective.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double period_s = 1000.0;

static void wait_until(double time_s) {
  const double left_s = time_s - MPI_Wtime();
  const struct timespec pause = {(time_t)left_s, (long)(1e9 * (left_s - (double)(time_t)left_s))};
  nanosleep(&pause, NULL);
}

static void call(const char* what, int n, MPI_Comm workers, const double* in, double* out) {
  int P;
  MPI_Comm_size(workers, &P);
  int counts[P]; /* of equal chunks: n is a multiple of P */
  for (int r = 0; r < P; ++r) counts[r] = n / P;
  if (!strcmp(what, "all_reduce")) MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, workers);
  if (!strcmp(what, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, workers);
  if (!strcmp(what, "all_gather")) MPI_Allgather(in, n / P, MPI_DOUBLE, out, n / P, MPI_DOUBLE, workers);
  if (!strcmp(what, "all_to_all")) MPI_Alltoall(in, n / P, MPI_DOUBLE, out, n / P, MPI_DOUBLE, workers);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, most = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm workers, server_first;
  MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1 ? MPI_UNDEFINED : 0, rank, &workers);
  MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + 1) % ranks, &server_first);
  for (int a = 2; a < argc; a += 2) most = atoi(argv[a]) > most ? atoi(argv[a]) : most;
  /* One memory for all ranks: the sums do not matter. */
  double *in = SMPI_SHARED_MALLOC(most * sizeof(double)), *out = SMPI_SHARED_MALLOC(most * sizeof(double));
  for (int a = 1; a + 1 < argc; a += 2) {
    const double begin_s = period_s * (a + 1) / 2;
    wait_until(begin_s);
    if (!strcmp(argv[a], "broadcast"))
      MPI_Bcast(out, atoi(argv[a + 1]), MPI_DOUBLE, 0, server_first);
    else if (workers != MPI_COMM_NULL)
      call(argv[a], atoi(argv[a + 1]), workers, in, out);
    printf("%d %.12f\n", a / 2, MPI_Wtime() - begin_s);
  }
  MPI_Finalize();
  return 0;
}
