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

#include "base/random.h"

namespace simgrad::training {

/// The multiple of its time that a gradient takes: log-normal with mean 1 and standard deviation `spread`; of a
/// worker's first gradient times a number that is uniform in [1/2, 3/2), which puts workers' phases a gradient apart.
double multiple_of_gradient(base::Stream& stream, double spread, bool first);

}  // namespace simgrad::training
