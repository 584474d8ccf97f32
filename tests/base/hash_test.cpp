#include "base/hash.h"

#include "catch.h"

namespace hash_test {

using namespace simgrad;

TEST_CASE("a hash is XXH3-128 of the bytes") {
  // XXH3_128bits of these bytes by the packaged libxxhash, as `xxhsum -H2` prints it.
  CHECK(base::hash("x,y\n1,2\n") == "92fcd34ad9355cf42d2c2a90515d6184");
  CHECK(base::hash("x,y\n1,3\n") != base::hash("x,y\n1,2\n"));
}

TEST_CASE("hexadecimal digits are counted, and are those of hash()") {
  CHECK(base::is_hexadecimal(base::hash("anything"), 32));
  CHECK(base::is_hexadecimal("0123456789abcdef", 16));
  CHECK_FALSE(base::is_hexadecimal("0123456789abcdef", 15));
  CHECK_FALSE(base::is_hexadecimal("0123456789ABCDEF", 16));
  CHECK_FALSE(base::is_hexadecimal("0123456789abcdeg", 16));
  CHECK_FALSE(base::is_hexadecimal("", 1));
}

}  // namespace hash_test
