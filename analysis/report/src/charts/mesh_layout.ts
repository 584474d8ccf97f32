// The positions of a mesh's ranks in its picture: boxes in boxes, each filled row by row.
import type { MeshPicture, MeshRank } from '../data';

export interface Box { level: number; ranks: MeshRank[]; x: number; y: number; width: number; height: number }
export interface Cell { rank: MeshRank; x: number; y: number }
export interface MeshLayout { width: number; height: number; boxes: Box[]; cells: Cell[] }

export const rankCell = { width: 48, line: 13, gap: 9 };
export const cellHeight = (dimensions: number): number => 8 + rankCell.line * Math.max(1, Math.ceil(dimensions / 2));
const [pad, title] = [8, 17];

interface Piece { width: number; height: number; place(x: number, y: number, layout: MeshLayout): void }

/** Puts pieces side by side, and into further rows where there is no room. */
function flow(pieces: Piece[], room: number, gap: number): Piece {
  const at: { x: number; y: number }[] = [];
  let [x, y, below, width] = [0, 0, 0, 0];
  for (const piece of pieces) {
    if (x > 0 && x + piece.width > room) [x, y] = [0, below + gap];
    at.push({ x, y });
    below = Math.max(below, y + piece.height);
    width = Math.max(width, x + piece.width);
    x += piece.width + gap;
  }
  return { width, height: below, place: (left, top, layout) => pieces.forEach((piece, i) => piece.place(left + at[i].x, top + at[i].y, layout)) };
}

const step = rankCell.width + rankCell.gap;
const fitting = (room: number): number => Math.max(1, Math.floor((room + rankCell.gap) / step));

function boxed(ranks: MeshRank[], level: number, height: number, room: number, columns: number): Piece {
  if (level < 0) {
    const cells = ranks.map((rank): Piece => ({ width: rankCell.width, height, place: (x, y, layout) => void layout.cells.push({ rank, x, y }) }));
    return flow(cells, Math.min(columns, fitting(room)) * step - rankCell.gap, rankCell.gap);
  }
  const groups = new Map<number, MeshRank[]>();
  for (const rank of ranks) groups.set(rank.boxes[level], [...(groups.get(rank.boxes[level]) ?? []), rank]);
  return flow([...groups.values()].map((its): Piece => {
    const inside = boxed(its, level - 1, height, room - 2 * pad, columns);
    const [width, tall] = [Math.max(inside.width, 84) + 2 * pad, inside.height + 2 * pad + title];
    return { width, height: tall, place: (x, y, layout) => {
      layout.boxes.push({ level, ranks: its, x, y, width, height: tall });
      inside.place(x + pad, y + pad + title, layout);
    } };
  }), room, 10);
}

/** Of the numbers of ranks side by side in a box, the one that makes the picture the lowest is chosen; the largest of several. */
export function meshLayout({ ranks, levels, dimensions }: MeshPicture, room: number): MeshLayout {
  const layout: MeshLayout = { width: 0, height: 0, boxes: [], cells: [] };
  const made = (columns: number): Piece => boxed(ranks, levels.length - 1, cellHeight(dimensions.length), room - 2, columns);
  let whole = made(fitting(room));
  for (let columns = fitting(room) - 1; columns > 0; --columns) {
    const next = made(columns);
    if (next.height < whole.height - 0.5) whole = next;
  }
  whole.place(1, 1, layout);
  return Object.assign(layout, { width: whole.width + 2, height: whole.height + 2 });
}
