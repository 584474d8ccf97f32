// Files of measured collectives: their forms, the times between and beyond their rows, and their refusals.
#include "cluster/computed/measured.h"

#include <cmath>
#include <string>

#include "base/errors.h"
#include "catch.h"
#include "scratch.h"

namespace measured_test {

using namespace simgrad;
using cluster::Measured;
using cluster::MeasuredCollectives;

namespace {

MeasuredCollectives read(const std::string& text, std::optional<std::int64_t> ranks = {}) {
  const tests::Scratch scratch;
  return cluster::read_measured(scratch.write("measured.txt", text), ranks);
}

void check_refused(const std::string& text, const std::string& where_and_why, std::optional<std::int64_t> ranks = {}) {
  CAPTURE(text);
  try {
    read(text, ranks);
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    const std::string told = error.what();
    CAPTURE(told);
    CHECK(told.find("measured.txt:" + where_and_why) != std::string::npos);
  }
}

const std::string table = R"(ranks,bytes,seconds
2,1000,1e-5
2,100000,1e-4
8,1000,4e-5
8,100000,2e-4
)";

// Lines as nccl-tests print them, with made-up numbers.
const std::string nccl = R"(# nThread 1 nGpus 4 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   7001 on     host-a device  0 [0x07] NVIDIA A100
#  Rank  1 Group  0 Pid   7001 on     host-a device  1 [0x0a] NVIDIA A100
#  Rank  2 Group  0 Pid   7001 on     host-a device  2 [0x47] NVIDIA A100
#  Rank  3 Group  0 Pid   7001 on     host-a device  3 [0x4d] NVIDIA A100
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    16.50    0.00    0.00      0    16.10    0.00    0.00      0
      524288        131072     float     sum      -1    26.00   20.16   30.25      0    25.80   20.32   30.48      0
     1048576        262144     float     sum      -1    40.00   26.21   39.32      0    39.50   26.55   39.82      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 23.19
)";

const std::string osu = R"(# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
4                       3.50
1024                    7.00
)";

}  // namespace

TEST_CASE("a measured time is that of its row, and a power law between two sizes and two numbers of ranks") {
  const MeasuredCollectives times = read(table);
  CHECK(times.seconds(Measured::allreduce, 2, 1000) == 1e-5);
  CHECK(times.seconds(Measured::allreduce, 8, 100'000) == 2e-4);
  // Half-way between 1e3 and 1e5 in the logarithm: the geometric mean of 1e-5 and 1e-4.
  CHECK(times.seconds(Measured::allreduce, 2, 10'000) == Approx(std::sqrt(1e-9)).epsilon(1e-12));
  // Half-way between 2 and 8 ranks is 4.
  CHECK(times.seconds(Measured::allreduce, 4, 1000) == Approx(2e-5).epsilon(1e-12));
  CHECK(times.seconds(Measured::allreduce, 4, 100'000) == Approx(std::sqrt(1e-4 * 2e-4)).epsilon(1e-12));
  CHECK(times.notes().empty());
}

TEST_CASE("beyond the largest size a measured time goes on by latency and bandwidth, and notes say so") {
  const MeasuredCollectives times = read(table);
  CHECK(times.seconds(Measured::allreduce, 2, 200'000) == Approx(1e-4 + 9e-5 / 99'000 * 100'000).epsilon(1e-12));
  CHECK(times.notes().size() == 1);
  CHECK(times.seconds(Measured::allreduce, 2, 10) == 1e-5);
  CHECK(times.seconds(Measured::allreduce, 32, 1000) ==
        Approx(16e-5).epsilon(1e-12));  // twice as long for twice as many
  CHECK(times.seconds(Measured::allreduce, 64, 1000) == Approx(32e-5).epsilon(1e-12));
  CHECK(times.notes().size() == 4);
  const MeasuredCollectives one = read("bytes,ranks,seconds\n1000,4,1e-5\n");
  CHECK(one.seconds(Measured::allreduce, 4, 3000) == Approx(3e-5).epsilon(1e-12));
  CHECK_THROWS_WITH(one.seconds(Measured::allreduce, 8, 1000), ContainsSubstring("among 4 ranks, but 8 call it"));
}

TEST_CASE("the output of nccl-tests is read as it is") {
  const MeasuredCollectives times = read(nccl);
  CHECK(times.seconds(Measured::allreduce, 4, 8) == Approx(16.5e-6).epsilon(1e-12));
  CHECK(times.seconds(Measured::allreduce, 4, 1 << 20) == Approx(40e-6).epsilon(1e-12));
  CHECK(!times.has(Measured::all_gather));
}

TEST_CASE("outputs of several programs may stand in one file") {
  std::string gathers = nccl;
  gathers.insert(0, "# nccl-tests version 2.17.2 all_gather_perf\n");
  const MeasuredCollectives times = read(nccl + gathers + "# ranks: 16\n" + osu);
  CHECK(times.seconds(Measured::all_gather, 4, 1 << 19) == Approx(26e-6).epsilon(1e-12));
  CHECK(times.seconds(Measured::allreduce, 16, 1024) == Approx(7e-6).epsilon(1e-12));
  CHECK(times.seconds(Measured::allreduce, 4, 1 << 19) == Approx(26e-6).epsilon(1e-12));
}

TEST_CASE("the output of OSU's benchmarks is read as it is, with the ranks from the scenario") {
  CHECK(read(osu, 32).seconds(Measured::allreduce, 32, 4) == Approx(3.5e-6).epsilon(1e-12));
  std::string gathers = osu;
  gathers.replace(gathers.find("Allreduce"), 9, "Allgather");
  CHECK(read(gathers, 8).seconds(Measured::all_gather, 8, 8 * 1024) == Approx(7e-6).epsilon(1e-12));  // of one rank's
  check_refused(osu, "4: the output does not say the number of ranks; expected collectives.ranks");
}

TEST_CASE("a table names its collectives, and is refused with line, fault and remedy") {
  const MeasuredCollectives times =
      read("collective, ranks, bytes, seconds  # by hand\nall_reduce,4,8,1\nreduce_scatter,4,8,2\nallgather,4,8,3\n");
  CHECK(times.seconds(Measured::allreduce, 4, 8) == 1.0);
  CHECK(times.seconds(Measured::reduce_scatter, 4, 8) == 2.0);
  CHECK(times.seconds(Measured::all_gather, 4, 8) == 3.0);
  check_refused("ranks,bytes,seconds\n4,100,1\n4,50,2\n", "3: 50 bytes after 100 bytes for allreduce among 4 ranks");
  check_refused("ranks,bytes,seconds\n4,100,-1\n", "2: -1 seconds; expected more than 0");
  check_refused("ranks,bytes,seconds\n1,100,1\n", "2: \"1\" ranks; expected a whole number of at least 2");
  check_refused("ranks,bytes,seconds\n4,100\n", "2: 2 cells; expected 3");
  check_refused("ranks,bytes,seconds\n4,many,1\n", "2: \"many\" is no number of bytes");
  check_refused("ranks,bytes,seconds\n", "1: no row of measured times");
  check_refused("", "0: no row of measured times");
  check_refused("ranks,bytes\n4,100\n", "1: 0 columns \"seconds\"; expected the columns");
  check_refused("ranks,bytes,time\n4,100,1\n", "1: \"time\" in the first line");
  check_refused("ranks,bytes,seconds,collective\n4,100,1,broadcast\n",
                "2: collective \"broadcast\"; expected allreduce");
  check_refused("# alltoall_perf\n" + nccl, "1: collective \"alltoall\"; expected allreduce");
  std::string unnamed = nccl;
  while (unnamed.find("39.32") != std::string::npos) unnamed.replace(unnamed.find("39.32"), 5, "19.66");
  check_refused(unnamed, "12: the output does not name its collective");
  check_refused(nccl + "  100 200\n", "17: 2 columns; expected the line of columns");
}

}  // namespace measured_test
