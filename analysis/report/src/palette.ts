// Colours that colour-blind readers can distinguish, and a second sign for each colour: a dash, a marker, a hatch.
// Source: M. Okabe, K. Ito, "Color Universal Design", 2008. On white its lighter colours are darkened until they have a
// contrast of 3 (WCAG 2.2, 1.4.11), on black its darker ones are lightened.
import { dark } from './theme';

const light = ['#0072b2', '#d55e00', '#008f68', '#b8508e', '#c77f00', '#2b8fc9', '#333a45', '#938200'];
const bright = ['#4aa3e0', '#f0803c', '#2fc296', '#d98bbd', '#f0b232', '#7cc8f2', '#d6dce5', '#e5d94c'];

/** Returns the colour of a strategy in the present theme. */
export const colour = (strategy: number): string => (dark() ? bright : light)[strategy % light.length];

const dashes: (number[] | 'solid')[] = ['solid', [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [9, 3, 2, 3, 2, 3], [1, 2]];
/** Returns the dash of a strategy. From the ninth strategy on, colours repeat with other dashes. */
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

/** Compute, communicate, wait, down. */
const partsLight = ['#0072b2', '#e08a00', '#c3cad4', '#9c2f10'];
const partsBright = ['#3d97d6', '#f0a830', '#4d5765', '#e2643a'];
export const partColours = (): string[] => (dark() ? partsBright : partsLight);

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
