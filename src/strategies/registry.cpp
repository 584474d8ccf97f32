#include "strategies/ad_psgd.h"
#include "strategies/allreduce.h"
#include "strategies/async_broadcast.h"
#include "strategies/byteps.h"
#include "strategies/d2.h"
#include "strategies/data_parallel.h"
#include "strategies/easgd.h"
#include "strategies/federated_averaging.h"
#include "strategies/gossip.h"
#include "strategies/gradient_tracking.h"
#include "strategies/hogwild.h"
#include "strategies/local_sgd.h"
#include "strategies/mapreduce.h"
#include "strategies/multitask.h"
#include "strategies/parameter_server.h"
#include "strategies/sgp.h"
#include "strategies/single.h"
#include "strategies/sparse_parameter_server.h"

namespace simgrad::strategies {

const base::Registry<Strategy>& registry() {
  static const base::Registry<Strategy> table({
      base::entry<Strategy, Single>(),
      base::entry<Strategy, MapReduce>(),
      base::entry<Strategy, ParameterServer>(),
      base::entry<Strategy, Allreduce>(),
      base::entry<Strategy, DataParallel>(),
      base::entry<Strategy, Gossip>(),
      base::entry<Strategy, BytePs>(),
      base::entry<Strategy, Easgd>(),
      base::entry<Strategy, Hogwild>(),
      base::entry<Strategy, LocalSgd>(),
      base::entry<Strategy, FederatedAveraging>(),
      base::entry<Strategy, Multitask>(),
      base::entry<Strategy, D2>(),
      base::entry<Strategy, GradientTracking>(),
      base::entry<Strategy, AdPsgd>(),
      base::entry<Strategy, Sgp>(),
      base::entry<Strategy, AsyncBroadcast>(),
      base::entry<Strategy, SparseParameterServer>(),
  });
  return table;
}

}  // namespace simgrad::strategies
