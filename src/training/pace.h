/// The pace of workers that wait for nobody: phases and a spread of their gradients' times.
///
/// Equal workers of an asynchronous server that begin together, and whose gradients all take exactly as long, meet at
/// the server's links for ever: each waits for the messages of all. Nothing real stays in phase so. With independent
/// times a server is a closed queueing network, whose rate mean value analysis gives (M. Reiser, S. S. Lavenberg,
/// "Mean-Value Analysis of Closed Multichain Queuing Networks", Journal of the ACM 27, 1980). Links that are shared
/// fairly are processor-sharing stations, for which it holds whatever the distribution of the messages' sizes
/// (F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, "Open, Closed, and Mixed Networks of Queues with Different
/// Classes of Customers", Journal of the ACM 22, 1975).
#pragma once

#include <cstdint>

#include "base/random.h"

namespace simgrad::training {

/// The multiple of its time that a gradient takes: log-normal with mean 1 and standard deviation `spread`; of a
/// worker's first gradient times a number that is uniform in [1/2, 3/2), which puts workers' phases a gradient apart.
double multiple_of_gradient(base::Stream& stream, double spread, bool first);

/// The spread of a gradient's time by which a worker's rounds vary by `spread` of their longer part: of the gradients,
/// or of the messages and the waiting between them. At most 1, and at least `spread`. So phases drift apart within as
/// many rounds where links or servers take the time as where gradients do. elapsed_s: since the worker's first gradient
/// began; computed_s: of that, in gradients.
double spread_of_gradient(double spread, double elapsed_s, double computed_s);

/// The multiple that is drawn for the gradient of a step, and what the worker's rounds have been until then.
struct Pace {
  std::int64_t step = -1;
  std::uint32_t given_up = 0;
  double multiple = 1.0;
  double since = 0.0;       ///< when the first gradient began
  double computed_s = 0.0;  ///< in gradients, since then
};

}  // namespace simgrad::training
