#include "outputs/text/chinese.h"

#include <vector>

namespace simgrad::outputs {

std::span<const Translation> translations() {
  static const std::vector<Translation> all = [] {
    std::vector<Translation> found;
    for (const auto& part : {words_in_chinese(), table_in_chinese(), sentences_in_chinese(), charts_in_chinese(),
                             plan_in_chinese(), capacity_in_chinese(), predict_in_chinese()})
      found.insert(found.end(), part.begin(), part.end());
    return found;
  }();
  return all;
}

}  // namespace simgrad::outputs
