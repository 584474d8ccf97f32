// The width of text, as the canvas will draw it.
import { variable } from './theme';

/** Returns the room that the widest of these labels needs beside its bar [pixels]. */
export const roomFor = (labels: string[], size = 11): number => 14 + Math.max(0, ...labels.map(measure(size)));

let context: CanvasRenderingContext2D | null = null;

/** Returns a function that measures text of this size [pixels]. */
export function measure(size: number): (text: string) => number {
  context ??= document.createElement('canvas').getContext('2d')!;
  const drawn = context;
  return (text) => {
    drawn.font = `${size}px ${variable('font')}`;
    return drawn.measureText(text).width;
  };
}
