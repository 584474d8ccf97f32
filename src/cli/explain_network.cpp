#include "cli/explain_network.h"

#include <fmt/format.h>

#include "base/units.h"
#include "cluster/fabric/message_times.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"

namespace simgrad::cli {

void print_message_times(const cluster::Options& options, std::string_view whose) {
  const cluster::MessageTimes times =
      cluster::message_times(options, {1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000});
  const double alpha_s = times.latency_s;
  const double B = times.bandwidth_bytes_per_s;
  using outputs::tr;
  fmt::print(
      "\n{}\n{}\n\n", tr("One message alone on the links of {}, {}:", whose, outputs::translated(times.route)),
      tr("alpha = {}, B = {}; simulated, and as a multiple of alpha + n / B.",
         base::format_quantity(alpha_s, base::Unit::seconds), base::format_quantity(B, base::Unit::bytes_per_second)));
  fmt::print("{:>8}  {:>11}", "n", "alpha + n/B");
  for (const base::Choice& model : cluster::network_model_choices()) fmt::print("  {:>19}", model.name);
  fmt::print("\n");
  for (std::size_t i = 0; i < times.bytes.size(); ++i) {
    const auto n = static_cast<double>(times.bytes[i]);
    const double formula_s = alpha_s + n / B;
    fmt::print("{:>8}  {:>11}", outputs::byte_count(n), outputs::duration(formula_s));
    for (const std::vector<double>& seconds : times.seconds)
      fmt::print("  {:>10} {:>7.4f}x", outputs::duration(seconds[i]), seconds[i] / formula_s);
    fmt::print("\n");
  }
}

}  // namespace simgrad::cli
