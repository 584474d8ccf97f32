#include "base/hash.h"

#include "catch.h"

namespace hash_test {

using namespace simgrad;

TEST_CASE("a hash is XXH3-128 of the bytes") {
  // XXH3_128bits of these bytes by the packaged libxxhash, as `xxhsum -H2` prints it.
  CHECK(base::hash("x,y\n1,2\n") == "92fcd34ad9355cf42d2c2a90515d6184");
  CHECK(base::hash("x,y\n1,3\n") != base::hash("x,y\n1,2\n"));
}

}  // namespace hash_test
