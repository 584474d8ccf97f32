#include "strategies/gossip/ad_psgd.h"
#include "strategies/gossip/async_broadcast.h"
#include "strategies/gossip/d2.h"
#include "strategies/gossip/gossip.h"
#include "strategies/gossip/gradient_tracking.h"
#include "strategies/gossip/sgp.h"
#include "strategies/mapreduce/mapreduce.h"
#include "strategies/operators/operators.h"
#include "strategies/replicas/allreduce.h"
#include "strategies/replicas/block_sync.h"
#include "strategies/replicas/data_parallel.h"
#include "strategies/replicas/diloco.h"
#include "strategies/replicas/hogwild.h"
#include "strategies/replicas/local_sgd.h"
#include "strategies/replicas/multitask.h"
#include "strategies/servers/byteps.h"
#include "strategies/servers/easgd.h"
#include "strategies/servers/federated_averaging.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/servers/sparse_parameter_server.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "strategies/single.h"

namespace simgrad::strategies {

const base::Registry<Strategy>& registry() {
  static const base::Registry<Strategy> table({
      base::entry<Strategy, Single>(),
      base::entry<Strategy, MapReduce>(),
      base::entry<Strategy, ParameterServer>(),
      base::entry<Strategy, Allreduce>(),
      base::entry<Strategy, DataParallel>(),
      base::entry<Strategy, Zero>(),
      base::entry<Strategy, Fsdp>(),
      base::entry<Strategy, Gossip>(),
      base::entry<Strategy, BytePs>(),
      base::entry<Strategy, Easgd>(),
      base::entry<Strategy, Hogwild>(),
      base::entry<Strategy, LocalSgd>(),
      base::entry<Strategy, DiLoCo>(),
      base::entry<Strategy, BlockSync>(),
      base::entry<Strategy, FederatedAveraging>(),
      base::entry<Strategy, Multitask>(),
      base::entry<Strategy, D2>(),
      base::entry<Strategy, GradientTracking>(),
      base::entry<Strategy, AdPsgd>(),
      base::entry<Strategy, Sgp>(),
      base::entry<Strategy, AsyncBroadcast>(),
      base::entry<Strategy, SparseParameterServer>(),
      base::entry<Strategy, Operators>(),
  });
  return table;
}

}  // namespace simgrad::strategies
