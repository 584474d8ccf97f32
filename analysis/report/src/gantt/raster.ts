// Rectangles set pixel by pixel: twenty thousand take a millisecond or two; fill() of a path takes two hundred.

/** Returns "#rrggbb" as an opaque pixel of ImageData (all machines that run browsers are little-endian). */
export function pixel(colour: string): number {
  const rgb = parseInt(colour.slice(1), 16);
  return ((0xff << 24) | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/** A transparent layer of the size of a canvas, drawn onto the canvas in one call. All sizes are in device pixels. */
export class Raster {
  private readonly layer = document.createElement('canvas');
  private image: ImageData | null = null;
  private pixels = new Uint32Array();

  clear(width: number, height: number): void {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.layer.width = width;
      this.layer.height = height;
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
  }

  /** Fills columns [left, right) of rows [top, bottom). */
  fill(left: number, right: number, top: number, bottom: number, colour: number): void {
    const width = this.layer.width;
    for (let row = top * width; row < bottom * width; row += width) this.pixels.fill(colour, row + left, row + right);
  }

  onto(context: CanvasRenderingContext2D): void {
    if (!this.image) return;
    this.layer.getContext('2d')!.putImageData(this.image, 0, 0);
    context.save();
    context.resetTransform();
    context.drawImage(this.layer, 0, 0);
    context.restore();
  }
}
