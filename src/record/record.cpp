#include "record/record.h"

namespace simgrad::record {

std::string_view name(Status status) {
  switch (status) {
    case Status::reached:
      return "reached";
    case Status::stopped:
      return "stopped";
    case Status::diverged:
      return "diverged";
    case Status::failed:
      return "failed";
  }
  return "failed";
}

}  // namespace simgrad::record
