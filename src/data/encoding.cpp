#include "data/encoding.h"

namespace simgrad::data {

Encoding plain_encoding(const Dataset& set, Task task) {
  Encoding encoding;
  encoding.task = task;
  if (task == Task::text)
    encoding.form = Encoding::Form::tokens;
  else if (set.sparse.any())
    encoding.form = Encoding::Form::sparse;
  else if (task == Task::recommendation)
    encoding.form = Encoding::Form::ratings;
  if (!set.sparse.any())
    for (const std::string& name : set.feature_names) encoding.columns.emplace_back().name = name;
  if (task != Task::clustering) encoding.target.name = set.target_name;
  return encoding;
}

}  // namespace simgrad::data
