/// The layers of a convolutional network, written down one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/model.h"

namespace simgrad::models {

/// Numbers between two layers: channels of size x size places each.
struct Image {
  std::int64_t channels = 3;
  std::int64_t size = 224;
  double numbers() const { return static_cast<double>(channels * size * size); }
};

struct Convolution {
  std::int64_t kernel = 3;  ///< k x k
  std::int64_t across = 0;  ///< the window's other side, k x across, padded to its own places; 0: k
  std::int64_t channels = 0;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool batch_norm = false;  ///< else biases
  bool relu = true;
};

/// A convolution is a product: m = places of the result, n = c_out, k = k^2 c_in; its parameters are (c_out x k^2
/// c_in), then biases, or gains and biases of a batch norm. Backward twice the forward flops; the first layer's images
/// need no gradient. Numbers read and written: 3 a batch norm's output (statistics, then the norm), 2 a relu's, 3 a
/// residual sum's; a pool reads its input and writes its output. Kept: a product's input, a batch norm's input, a
/// pool's input with 8 bytes an output (the place of the largest). A relu's output is the next layer's input. Left out:
/// masks of dropout.
class ConvolutionalLayers {
 public:
  explicit ConvolutionalLayers(Image image) : image_(image) {}

  const Image& image() const { return image_; }
  /// A new unit begins, whose parameters are gathered together.
  void begin_unit() { ++unit_; }

  /// Convolves `from`, by default the present image. Returns the result, which becomes the present image unless `from`
  /// is given: then the layer stands beside the others (the shortcut of a residual block).
  Image convolve(const std::string& name, const Convolution& shape, std::optional<Image> from = {});
  /// The next layers have that image, from which other branches go out too, or to which they have been joined.
  void go_on_from(Image image) { image_ = image; }
  /// Adds the residual sum and a relu to the last layer.
  void add_residual();
  /// Pools the last layer's image; max: else averages.
  void pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool max);
  /// Averages down to size x size places.
  void average_to(std::int64_t size);
  /// A dense layer on all numbers of the image.
  void dense(const std::string& name, std::int64_t outputs, bool relu);

  std::vector<Layer> take() { return std::move(layers_); }

 private:
  Layer& add(const std::string& name, std::int64_t rows, std::int64_t columns, std::int64_t others,
             const Product& product, double inputs);

  Image image_;
  std::int64_t unit_ = -1;
  std::vector<Layer> layers_;
};

}  // namespace simgrad::models
