#include "data/blobs.h"
#include "data/click_log.h"
#include "data/csv.h"
#include "data/house_prices.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/logistic.h"
#include "data/markov.h"
#include "data/mixture.h"
#include "data/npy.h"
#include "data/ratings.h"
#include "data/source.h"
#include "data/text.h"

namespace simgrad::data {

const base::Registry<Source>& sources() {
  static const base::Registry<Source> registry(
      {base::entry<Source, HousePrices>(), base::entry<Source, Blobs>(), base::entry<Source, Logistic>(),
       base::entry<Source, Csv>(), base::entry<Source, Libsvm>(), base::entry<Source, Idx>(),
       base::entry<Source, Npy>(), base::entry<Source, Ratings>(), base::entry<Source, ClickLog>(),
       base::entry<Source, Text>(), base::entry<Source, Markov>(), base::entry<Source, Mixture>()});
  return registry;
}

const base::Registry<Source>& part_sources() {
  static const base::Registry<Source> registry({base::entry<Source, HousePrices>(), base::entry<Source, Blobs>(),
                                                base::entry<Source, Logistic>(), base::entry<Source, Csv>(),
                                                base::entry<Source, Idx>(), base::entry<Source, Npy>()});
  return registry;
}

}  // namespace simgrad::data
