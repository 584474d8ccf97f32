#include "cluster/fabric/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace simgrad::cluster {

void ProtocolRow::describe(base::Describer& d) {
  d.quantity("from", from_bytes, base::Unit::bytes, "the smallest size of the messages that the row is for",
             base::Bounds::at_least(0));
  d.number("latency", latency, "the factor of the latency", base::Bounds::between(0, 1e6));
  d.number("bandwidth", bandwidth, "the factor of the bandwidth",
           base::Bounds{.least = 0.0, .most = 1e6, .positive = true});
}

ProtocolRow Protocol::at(double bytes) const {
  const std::span<const ProtocolRow> table = rows();
  const auto behind = std::ranges::upper_bound(table, bytes, {}, &ProtocolRow::from_bytes);
  return behind == table.begin() ? ProtocolRow() : *(behind - 1);
}

namespace {

struct NoProtocol final : Protocol {
  static constexpr base::About about{
      .kind = "none", .summary = "messages of all sizes are alike", .cost = "alpha + m / B", .source = ""};
  std::span<const ProtocolRow> rows() const override { return {}; }
};

/// A preset is a table of its own.
template <class Preset>
struct PresetProtocol : Protocol {
  std::span<const ProtocolRow> rows() const override {
    static const std::vector<ProtocolRow> table = Preset::table();
    return table;
  }
};

struct SmpiProtocol final : PresetProtocol<SmpiProtocol> {
  static constexpr base::About about{
      .kind = "smpi",
      .summary =
          "SMPI's factors: MPI over TCP and Gigabit Ethernet, measured in nine ranges of sizes; meant for the "
          "latency of such a network, tens of us, and not for one of a few us, which they would multiply just as much",
      .cost = "l(m) alpha + m / (b(m) B): l 1.6 to 3.5 below 64 KiB and 11.6 above, b 0.34 to 1.09",
      .source =
          "the defaults of smpi/lat-factor and smpi/bw-factor in SimGrid 3.32; P.-N. Clauss et al., Single Node "
          "On-Line Simulation of MPI Applications with SMPI, 2011"};
  static std::vector<ProtocolRow> table() {
    return {{0, 2.01467, 0.812084},    {257, 1.95341, 0.338112},   {732, 1.9503, 0.341987},
            {1426, 1.61075, 0.608902}, {3484, 1.88101, 0.77493},   {5776, 2.18796, 1.08739},
            {9376, 2.59299, 0.58729},  {15424, 3.48845, 0.697866}, {65472, 11.6436, 0.940694}};
  }
};

struct NcclProtocol final : PresetProtocol<NcclProtocol> {
  static constexpr base::About about{
      .kind = "nccl",
      .summary =
          "NCCL's LL up to 16 KiB (a flag of 4 bytes for each 4 of data), Simple above; meant for cluster.latency "
          "as LL has it between hosts, some 3 us",
      .cost = "alpha + 2 m / B up to 16 KiB, 5.19 alpha + m / B above",
      .source =
          "NVIDIA, NCCL: NCCL_LL_THRESHOLD = 16384 (user guide of 2.4); latencies of LL and Simple rings between "
          "hosts, 2.7 and 14.0 us (src/graph/tuning.cc)"};
  static std::vector<ProtocolRow> table() { return {{0, 1.0, 0.5}, {16385, 14.0 / 2.7, 1.0}}; }
};

struct TableProtocol final : Protocol {
  static constexpr base::About about{
      .kind = "table",
      .summary =
          "your own factors, as calibrate --network --protocol prints them; meant for the "
          "latency with which they were fitted",
      .cost = "l(m) alpha + m / (b(m) B)",
      .source = ""};
  std::vector<ProtocolRow> table;

  void describe(base::Describer& d) override {
    d.list("rows", table, "{ from, latency, bandwidth }, in ascending order of from, the first from = \"0B\"");
    if (table.empty())
      return d.refuse("rows", "a table needs rows; expected at least { from = \"0B\", latency, bandwidth }");
    if (table.front().from_bytes != 0.0)
      d.refuse("rows", fmt::format("the first row is from {}; expected from = \"0B\"",
                                   base::format_quantity(table.front().from_bytes, base::Unit::bytes)));
    for (std::size_t i = 1; i < table.size(); ++i)
      if (!(table[i].from_bytes > table[i - 1].from_bytes))
        return d.refuse("rows", fmt::format("row {} is from {}, behind one from {}; expected ascending sizes", i + 1,
                                            base::format_quantity(table[i].from_bytes, base::Unit::bytes),
                                            base::format_quantity(table[i - 1].from_bytes, base::Unit::bytes)));
  }
  std::span<const ProtocolRow> rows() const override { return table; }
};

}  // namespace

const base::Registry<Protocol>& protocols() {
  static const base::Registry<Protocol> table({
      base::entry<Protocol, NoProtocol>(),
      base::entry<Protocol, SmpiProtocol>(),
      base::entry<Protocol, NcclProtocol>(),
      base::entry<Protocol, TableProtocol>(),
  });
  return table;
}

}  // namespace simgrad::cluster
