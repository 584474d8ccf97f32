#include "models/profiles/convolutions.h"

#include <utility>

namespace simgrad::models {

namespace {

/// Places in a row of a window's results.
std::int64_t places(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

}  // namespace

Layer& ConvolutionalLayers::add(const std::string& name, std::int64_t rows, std::int64_t columns, std::int64_t others,
                                const Product& product, double inputs) {
  const bool first = layers_.empty();
  const bool begins = first || layers_.back().unit != unit_;
  Layer layer{.first = first ? 0 : layers_.back().first + layers_.back().count,
              .count = rows * columns + others,
              .forward_flops = product.flops(),
              .backward_flops = (first ? 1.0 : 2.0) * product.flops(),
              .rows = rows,
              .columns = columns};
  layer.name = name;
  layer.unit = unit_;
  layer.products = {product};
  layer.kept.numbers = inputs;
  layer.entrance = begins ? inputs : 0.0;
  return layers_.emplace_back(std::move(layer));
}

Image ConvolutionalLayers::convolve(const std::string& name, const Convolution& shape, std::optional<Image> from) {
  const Image in = from.value_or(image_);
  const Image out{shape.channels, places(in.size, shape.kernel, shape.stride, shape.padding)};
  const std::int64_t columns = shape.kernel * (shape.across > 0 ? shape.across : shape.kernel) * in.channels;
  Layer& layer = add(name, shape.channels, columns, (shape.batch_norm ? 2 : 1) * shape.channels,
                     {.m = static_cast<double>(out.size * out.size),
                      .n = static_cast<double>(shape.channels),
                      .k = static_cast<double>(columns)},
                     from ? 0.0 : in.numbers());  // a shortcut's input is kept already
  if (shape.batch_norm) {
    layer.elementwise += 3.0 * out.numbers();
    layer.kept.numbers += out.numbers();
  }
  if (shape.relu) layer.elementwise += 2.0 * out.numbers();
  if (!from) image_ = out;
  return out;
}

void ConvolutionalLayers::add_residual() { layers_.back().elementwise += (3.0 + 2.0) * image_.numbers(); }

void ConvolutionalLayers::pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool max) {
  const Image in = std::exchange(image_, {image_.channels, places(image_.size, kernel, stride, padding)});
  Layer& layer = layers_.back();
  layer.elementwise += in.numbers() + image_.numbers();
  if (!max) return;
  layer.kept.numbers += in.numbers();
  layer.kept.bytes += 8.0 * image_.numbers();
}

void ConvolutionalLayers::average_to(std::int64_t size) {
  const Image in = std::exchange(image_, {image_.channels, size});
  layers_.back().elementwise += in.numbers() + image_.numbers();
}

void ConvolutionalLayers::dense(const std::string& name, std::int64_t outputs, bool relu) {
  const std::int64_t inputs = image_.channels * image_.size * image_.size;
  Layer& layer = add(name, outputs, inputs, outputs,
                     {.m = 1.0, .n = static_cast<double>(outputs), .k = static_cast<double>(inputs)}, image_.numbers());
  image_ = {outputs, 1};
  if (relu) layer.elementwise += 2.0 * image_.numbers();
}

}  // namespace simgrad::models
