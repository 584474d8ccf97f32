/// The gradient that a faulty worker hands over in place of the one that it has computed.
#include <array>
#include <bit>
#include <cmath>

#include "base/normals.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "training/learning/learning.h"
#include "training/session/session.h"
#include "training/worker.h"
#include "values/rounding.h"

namespace simgrad::training {

using values::Tensor;

namespace {

constexpr double faulty_seconds_per_number = 20e-9;

/// Rounds numbers to the format in which they travel.
void round_to(const values::WireFormat& wire, std::span<double> numbers) {
  if (!values::rounds(wire.format)) return;
  const double scale = std::ldexp(1.0, wire.exponent);
  for (double& number : numbers) number *= scale;
  values::round_numbers(wire.format, numbers, numbers);
  for (double& number : numbers) number /= scale;
}

}  // namespace

bool Worker::is_faulty() const {
  const cluster::World& world = session().world();
  return comm().size() > 1 &&
         world.cluster().options().faulty->concerns(world_rank(), world.workers(), learning().seed());
}

Tensor Worker::handed_over(const Tensor& g, std::int64_t step, std::int64_t rows) const {
  if (!faulty_) return g;
  const cluster::FaultyWorkers& faulty = *session().world().cluster().options().faulty;
  const double factor = faulty.factor();
  // The noise of all micro-batches of a step is one draw, so that their sum has the standard deviation of the whole.
  const double noise = faulty.noise() * static_cast<double>(rows) / static_cast<double>(batch());
  const base::Stream::Key draws{.seed = learning().seed(),
                                .purpose = base::Purpose::faulty,
                                .step = static_cast<std::uint64_t>(step),
                                .rank = static_cast<std::uint32_t>(world_rank())};
  const std::array key{std::bit_cast<std::uint64_t>(factor), std::bit_cast<std::uint64_t>(noise),
                       noise > 0.0 ? draws.step : 0, noise > 0.0 ? std::uint64_t{draws.rank} : 0};
  const values::WireFormat wire = g.wire_format();
  const values::Operation operation{.name = "faulty_gradient",
                                    .key = key,
                                    .seconds = faulty_seconds_per_number * static_cast<double>(g.size()),
                                    .wire_format = wire};
  return learning().dispatcher().dispatch(
      operation, g.size(), std::array{g},
      [factor, noise, draws, wire](std::span<const std::span<const double>> in, std::span<double> out) {
        if (noise > 0.0) {
          base::Stream stream(draws);
          base::fill_normals(stream, out);
        }
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = noise > 0.0 ? noise * out[i] : factor * in[0][i];
        round_to(wire, out);
      });
}

}  // namespace simgrad::training
