// Objects that end in a checksum.
#include "outputs/sealed_text.h"

#include "base/hash.h"
#include "catch.h"

namespace sealed_text_test {

using namespace simgrad;
using namespace simgrad::outputs;

TEST_CASE("an object is read again as it was sealed, and any other contents are not") {
  const std::string object = R"({"id":"a","wall_s":1.5,"loss":0.25})", text = sealed(object);
  CHECK(text == R"({"id":"a","wall_s":1.5,"loss":0.25,"checksum":")" +
                    base::hash(R"({"id":"a","wall_s":,"loss":0.25})") + "\"}");
  CHECK(unsealed(text).object == object);
  for (std::size_t k = 0; k < text.size(); ++k) {
    std::string other = text;
    other[k] = static_cast<char>(other[k] ^ 1);
    INFO(other);
    const bool of_wall_s = k >= object.find("1.5") && k < object.find("1.5") + 3;
    CHECK(unsealed(other).object.has_value() == of_wall_s);
  }
}

TEST_CASE("a text without a checksum is told from one with another checksum") {
  for (const char* text : {"", "{}", R"({"checksum":"0"})", R"({"a":1})"}) {
    INFO(text);
    CHECK_FALSE(unsealed(text).has_checksum);
    CHECK_FALSE(unsealed(text).object);
  }
  const Unsealed other = unsealed(R"({"a":1,"checksum":"00000000000000000000000000000000"})");
  CHECK(other.has_checksum);
  CHECK_FALSE(other.object);
  CHECK_FALSE(unsealed(R"({"wall_s":,"checksum":"00000000000000000000000000000000"})").object);
}

}  // namespace sealed_text_test
