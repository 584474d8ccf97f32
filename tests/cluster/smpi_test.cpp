// SMPI's own simulation of a ring of messages, where smpirun is installed, against protocol = "smpi".
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "catch.h"
#include "cluster/transfers.h"
#include "scratch.h"

namespace smpi_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

/// So many times 2 (P - 1) rounds in which each of P ranks sends a P-th of the bytes to its neighbour; prints the
/// seconds.
const char* const program = R"(
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, P;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  for (int a = 2; a < argc; ++a) {
    int m = atoi(argv[a]) / P;
    char* out = SMPI_SHARED_MALLOC(m + 1);
    char* in = SMPI_SHARED_MALLOC(m + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), all;
    for (int round = 0; round < 2 * (P - 1) * atoi(argv[1]); ++round)
      MPI_Sendrecv(out, m, MPI_BYTE, (rank + 1) % P, 0, in, m, MPI_BYTE, (rank + P - 1) % P, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    double mine = MPI_Wtime() - begin;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d %.12f\n", m, all);
  }
  MPI_Finalize();
  return 0;
}
)";

const char* const star = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="world" routing="Full">
<cluster id="c" prefix="h" suffix="" radical="0-31" speed="1Gf" bw="1.25GBps" lat="25us"/>
</zone></platform>
)";

/// The seconds of so many rings, by the bytes of a message.
std::map<double, double> rings_s(const Scratch& scratch, int P, int rings) {
  std::string hosts;
  for (int host = 0; host < P; ++host) hosts += "h" + std::to_string(host) + "\n";
  scratch.write("hosts", hosts);
  const std::string command = "cd '" + scratch.path() + "' && smpirun -np " + std::to_string(P) +
                              " -platform star.xml -hostfile hosts --cfg=smpi/simulate-computation:no"
                              " --cfg=network/crosstraffic:0 --log=root.thres:critical ./ring " +
                              std::to_string(rings) + " 1024 8192 65536 524288 4194304 100000000 > times 2> errors";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(scratch.path() + "/times");
  std::map<double, double> times;
  for (double bytes = 0.0, seconds = 0.0; file >> bytes >> seconds;) times[bytes] = seconds;
  return times;
}

}  // namespace

TEST_CASE("rings of 1 kB to 100 MB on 4 to 32 ranks take SMPI's time with its factors, within 3 %") {
  if (std::system("command -v smpirun smpicc > /dev/null 2>&1") != 0) {
    WARN("skipped: smpirun and smpicc are not installed");
    return;
  }
  const Scratch scratch;
  scratch.write("ring.c", program);
  scratch.write("star.xml", star);
  REQUIRE(std::system(("cd '" + scratch.path() + "' && smpicc -O1 ring.c -o ring > log 2>&1").c_str()) == 0);
  Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1.25e9, .latency_s = 50e-6};
  REQUIRE(options.protocol.choose("smpi"));
  for (const int P : {4, 8, 16, 32}) {
    // The second half of the rings, so that the barrier at the beginning does not count.
    const auto two = rings_s(scratch, P, 2), four = rings_s(scratch, P, 4);
    REQUIRE(two.size() >= 5);
    for (const auto& [bytes, seconds] : two) {
      const double ring_s = (four.at(bytes) - seconds) / 2.0;
      const double message_s = transfer_ends(options, 4, {{0, 1, static_cast<std::int64_t>(bytes / 8.0)}}).front();
      CAPTURE(P, bytes);
      CHECK(2.0 * (P - 1) * message_s == Approx(ring_s).epsilon(0.03));
    }
  }
}

}  // namespace smpi_test
