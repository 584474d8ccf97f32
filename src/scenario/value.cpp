#include "scenario/document.h"
#include "scenario/json.h"

namespace simgrad::scenario {

nlohmann::ordered_json json_of(const Value& value) {
  return json(value.node ? *value.node : parse_value(value.toml, value.position));
}

}  // namespace simgrad::scenario
