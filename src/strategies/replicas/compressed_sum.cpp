#include "strategies/replicas/compressed_sum.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/units.h"
#include "cluster/ranks/local_groups.h"
#include "collectives/flat_exchange.h"
#include "collectives/ring.h"
#include "collectives/split.h"
#include "training/learning/learning.h"
#include "values/shapes.h"

namespace simgrad::strategies {

using cluster::Communicator;
using collectives::Split;
using collectives::Stretch;

namespace {

/// The sum of so many equally long codes that stand one after the other.
Tensor sum_of_codes(const Tensor& codes, std::int64_t count) {
  const std::int64_t length = codes.size() / count;
  const auto decoded = [&](std::int64_t i) { return values::decoded(values::slice(codes, i * length, length)); };
  if (values::is_shape_alone(codes)) return decoded(0);
  std::vector<Tensor> terms;
  for (std::int64_t i = 0; i < count; ++i) terms.push_back(decoded(i));
  return values::sum(std::move(terms));
}

/// Whether several members of a host send to other hosts through its NIC.
bool shares_nics(const Communicator& comm) {
  const std::size_t hosts = comm.local_groups().hosts.size();
  return hosts > 1 && hosts < static_cast<std::size_t>(comm.size());
}

constexpr std::array codes_ways{
    base::Choice{"gather", "every rank gets the codes of all ranks: (P-1) m bytes, for codes of m bytes"},
    base::Choice{"reduce_scatter",
                 "a rank gets the codes of one chunk from all ranks, and then all get the codes of the sums: 2 (P-1)/P "
                 "m bytes, but at least one number of each chunk"}};

}  // namespace

bool scatters_codes(const training::Compressor& compressor, CodesWay way) {
  return way == CodesWay::reduce_scatter && !compressor.sums() && !compressor.exact();
}

void describe_codes_way(base::Describer& d, CodesWay& way, const training::Compressor& compressor) {
  d.choice("codes", way, codes_ways, "how codes that cannot be summed become a sum on all ranks");
  if (compressor.sums() && way != CodesWay::gather)
    d.refuse(
        "codes",
        "codes says how codes that cannot be summed on their way become a sum, but those of this compression can be; "
        "leave codes out, or take int8, qsgd, sign or top_k");
}

Tensor CompressedSum::operator()(const Communicator& comm, Tensor x, std::int64_t first) {
  const training::Compressor& compressor = encoder_.compressor();
  if (compressor.exact() || comm.size() == 1) return algorithm_(comm, std::move(x));
  if (compressor.sums())
    return encoder_.sum(comm, x, first, [&](const Tensor& codes) { return algorithm_(comm, codes); });
  return way_ == CodesWay::gather ? gathered(comm, x, first) : scattered(comm, x, first);
}

Tensor CompressedSum::gathered(const Communicator& comm, const Tensor& x, std::int64_t first) {
  const std::int64_t n = x.size();
  const std::int64_t P = comm.size();
  const Tensor code = encoder_(comm, x, first);
  note_gathering(comm, code);
  const Tensor sum = collectives::gathered_sum(comm, code);
  encoder_.charge_decoding(comm, n, P, first);
  comm.charge_reduction(static_cast<double>(P - 1) * encoder_.add_flops(n, first));
  return encoder_.compressor().concluded(sum);
}

void CompressedSum::note_gathering(const Communicator& comm, const Tensor& code) {
  if (std::exchange(noted_, true) || rank_.rank() != 0) return;
  const double P = comm.size(), m = static_cast<double>(code.size_bytes());
  const double plain = 2.0 * (P - 1.0) / P * rank_.number_bytes().wire * static_cast<double>(code.size());
  const double gathers = (P - 1.0) * m;
  if (gathers <= plain) return;
  rank_.note(fmt::format(
      "compression: {} of codes come to each of {} ranks for a sum, and without compression {}; scattered "
      "codes (option codes) take {}",
      base::format_quantity(gathers, base::Unit::bytes), comm.size(), base::format_quantity(plain, base::Unit::bytes),
      base::format_quantity(2.0 * (P - 1.0) / P * m, base::Unit::bytes)));
}

Tensor CompressedSum::scattered(const Communicator& comm, const Tensor& x, std::int64_t first) {
  const training::Compressor& compressor = encoder_.compressor();
  const std::int64_t P = comm.size();
  const Split split(collectives::Extent(x.size()), comm.size());
  std::vector<std::int64_t> counts;
  for (int member = 0; member < split.chunks(); ++member) counts.push_back(split.chunk(member).count);
  const Tensor sent = encoder_.in_pieces(comm, x, first, counts);
  const Tensor received = collectives::flat_all_to_all(comm, sent);
  const Stretch own = split.chunk(comm.rank());
  const std::int64_t at = first + own.first;
  encoder_.charge_decoding(comm, own.count, P, at);
  comm.charge_reduction(static_cast<double>(P - 1) * encoder_.add_flops(own.count, at));
  const Tensor sum = compressor.concluded(sum_of_codes(received, P));
  // Codes of one length weigh the same, so that every member knows the others' bytes.
  const values::WireFormat format{values::Format::encoded,
                                  static_cast<double>(sent.size_bytes()) / static_cast<double>(sent.size())};
  const Tensor code = values::encoded(values::decoded(sums_(comm, sum, at)), format.bytes(own.count));
  const collectives::Extent whole(x.size(), format);
  const Tensor all =
      shares_nics(comm) ? collectives::all_gather(comm, code, whole) : collectives::flat_all_gather(comm, code, whole);
  encoder_.charge_decoding(comm, x.size(), 1, first);
  return values::decoded(all);
}

}  // namespace simgrad::strategies
