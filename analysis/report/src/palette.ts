// Colours that colour-blind readers can distinguish, and a second sign for each colour: a dash, a marker, a hatch.
// Source: M. Okabe, K. Ito, "Color Universal Design", 2008. On white its lighter colours are darkened until they have a
// contrast of 3 (WCAG 2.2, 1.4.11), on black its darker ones are lightened.
import { dark } from './theme';

const light = ['#0072b2', '#d55e00', '#008f68', '#b8508e', '#c77f00', '#2b8fc9', '#333a45', '#938200'];
const bright = ['#4aa3e0', '#f0803c', '#2fc296', '#d98bbd', '#f0b232', '#7cc8f2', '#d6dce5', '#e5d94c'];

const channels = (text: string): number[] => [0, 1, 2].map((i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16));
/** Returns the colour at a share of the way from one to the other. */
function mixed(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)];
  return `#${a.map((x, i) => Math.round(x + share * (b[i] - x)).toString(16).padStart(2, '0')).join('')}`;
}

/** The ninth to the sixteenth strategy have the same hues nearer to the ink, the next eight nearer still; the grey one goes the other way. */
const nearer = [0, 0.38, 0.66];

/** Returns the colours of the first 24 strategies; further ones begin again, with other dashes and markers. */
export function strategyColours(onDark: boolean): string[] {
  const grey = 6;
  return nearer.flatMap((share) => (onDark ? bright : light).map((base, i) =>
    i === grey ? mixed(base, onDark ? '#6f7b8c' : '#8b97a8', share * 1.4) : mixed(base, onDark ? '#ffffff' : '#101418', share * (onDark ? 1 : 0.95))));
}
const all = [strategyColours(false), strategyColours(true)];

/** Returns the colour of a strategy in the present theme. */
export const colour = (strategy: number): string => all[dark() ? 1 : 0][strategy % all[0].length];

const dashes: (number[] | 'solid')[] = ['solid', [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [9, 3, 2, 3, 2, 3], [1, 2]];
/** Returns the dash of a strategy. From the ninth strategy on, hues repeat with other dashes. */
export const dash = (strategy: number): number[] | 'solid' => dashes[(strategy + Math.floor(strategy / light.length)) % dashes.length];
/** Markers as SVG paths in a box from -5 to 5: disc, square, triangle, diamond, cross, triangle on its tip, star, hexagon. */
const outlines = [
  'M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0 -8.8 0Z', 'M-3.9-3.9H3.9V3.9H-3.9Z', 'M0-4.6L5 4H-5Z', 'M0-5.2L5.2 0L0 5.2L-5.2 0Z',
  'M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z', 'M-5-4H5L0 4.6Z',
  'M0-5.4L1.5-1.8L5.2-1.7L2.4 0.8L3.3 4.6L0 2.5L-3.3 4.6L-2.4 0.8L-5.2-1.7L-1.5-1.8Z', 'M-2.5-4.4H2.5L5 0L2.5 4.4H-2.5L-5 0Z',
];
export const outline = (strategy: number): string => outlines[(strategy + Math.floor(strategy / light.length)) % outlines.length];
/** Returns the marker in the form that ECharts reads. */
export const symbol = (strategy: number): string => `path://${outline(strategy)}`;

/** Compute, communicate, wait, down: hues that no strategy has. */
export const activityColours = (onDark: boolean): string[] => (onDark ? ['#9d92f0', '#f5e08a', '#4d5765', '#e0506a'] : ['#6a5acd', '#f2d75c', '#c3cad4', '#8f1f3f']);
export const partColours = (): string[] => activityColours(dark());

/** The parts of the four, in the order of record/time_part.h: five of computing, four of communicating, nine of waiting, down; then three parts of gradients on a device. */
const detailLight = ['#6a5acd', '#8f83dc', '#b5acea', '#463a9e', '#d4cff3', '#f2d75c', '#c9a63c', '#a8882a', '#7d641c',
  '#7f95b2', '#a8b8cc', '#b089b3', '#dcc49c', '#8fbfae', '#cbc58a', '#dba9b8', '#d39a83', '#d5dae1', '#8f1f3f', '#3f51b5', '#8e44ad', '#64b5f6'];
const detailBright = ['#9d92f0', '#b7aef5', '#d2ccf9', '#6f62c9', '#e4e0fc', '#f5e08a', '#d6bd62', '#b59a3c', '#8a742c',
  '#6c84a5', '#506179', '#86608a', '#85704c', '#4f7d6d', '#77713f', '#8c5b68', '#965c4a', '#414a57', '#e0506a', '#7986e8', '#c586e0', '#90caf9'];
export const detailColours = (): string[] => (dark() ? detailBright : detailLight);
/** The parts of a rank's memory, in the order of record/memory.h. */
const memoryLight = ['#4b5fa5', '#d39a83', '#8f1f3f', '#f2d75c', '#7f95b2', '#8fbfae', '#c3cad4'];
const memoryBright = ['#8fa0e6', '#965c4a', '#e0506a', '#f5e08a', '#6c84a5', '#4f7d6d', '#4d5765'];
export const memoryColours = (): string[] => (dark() ? memoryBright : memoryLight);

/** The passes of a pipeline's stages: forward, backward, weights, recompute; shades of computing. */
const passesLight = ['#b5acea', '#8e44ad', '#332878', '#8fb0e0'];
const passesBright = ['#d8d2fb', '#c586e0', '#7a6dd6', '#8fb4e8'];
export const passColours = (): string[] => (dark() ? passesBright : passesLight);

/** The colour of reading and writing, in the timeline. */
export const storageColour = (): string => detailColours()[7];

/** Hatches of the four parts; the first has none. */
export function decal(part: number): object | undefined {
  const ink = dark() ? 'rgba(0,0,0,0.38)' : 'rgba(255,255,255,0.6)';
  const shade = dark() ? 'rgba(255,255,255,0.22)' : 'rgba(60,70,85,0.28)';
  switch (part) {
    case 1: return { symbol: 'rect', color: ink, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4 };
    case 2: return { symbol: 'circle', color: shade, symbolSize: 0.55, dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0] };
    case 3: return { symbol: 'rect', color: ink, dashArrayX: [1, 0], dashArrayY: [3, 3], rotation: Math.PI / 4 };
    default: return undefined;
  }
}

/** Colours from small to large values. Lightness alone gives the order, also in grey. */
export const ramp = (): string[] =>
  dark() ? ['#2b384a', '#2b5480', '#2f7da0', '#48b39a', '#b5de5e', '#fdf0a0'] : ['#d5dfe9', '#aacde6', '#6bb0d8', '#2f86bb', '#1a5793', '#26245e'];

/** Returns the colour of the ramp at a share of its length. */
export function ramped(share: number): string {
  const colours = ramp();
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const below = Math.min(Math.floor(at), colours.length - 2);
  const channel = (text: string, i: number): number => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => {
    const from = channel(colours[below], i);
    return Math.round(from + (at - below) * (channel(colours[below + 1], i) - from));
  });
  return `rgb(${mixed.join(',')})`;
}
