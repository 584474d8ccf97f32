// Labels beside the points of a scatter chart: within the chart, and not on each other.

interface Box { x: number; y: number; width: number; height: number }
interface Labelled { dataIndex: number; rect: Box; labelRect: Box }

const apart = (a: Box, b: Box): boolean => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const [gap, edge] = [7, 3];

/** Returns the first place beside the point where the label is within the frame and clear of the others: right, left, above or below; null if there is none. */
export function placeBeside(point: Box, { width, height }: { width: number; height: number }, frame: { width: number; height: number }, taken: Box[]): Box | null {
  const [middle, centre] = [point.y + point.height / 2 - height / 2, point.x + point.width / 2 - width / 2];
  const [right, left] = [point.x + point.width + gap, point.x - gap - width];
  const [above, below] = [point.y - height - 3, point.y + point.height + 3];
  const places = [[right, middle], [left, middle], [right, above], [right, below], [left, above], [left, below], [centre, above], [centre, below]];
  for (const [x, y] of places) {
    const box = { x, y, width, height };
    const within = x >= edge && y >= edge && x + width <= frame.width - edge && y + height <= frame.height - edge;
    if (within && taken.every((other) => apart(box, other))) return box;
  }
  return null;
}

/** Returns the places that labels have taken in this layout. ECharts asks for each label once in a layout, in any order, so a label that comes again begins the next layout. */
function layouts(): (dataIndex: number) => Box[] {
  let taken: Box[] = [];
  const asked = new Set<number>();
  return (dataIndex) => {
    if (asked.has(dataIndex)) { asked.clear(); taken = []; }
    asked.add(dataIndex);
    return taken;
  };
}

/** Returns ECharts' labelLayout. Labels without a place are hidden; the tooltip has their text. */
export function beside(element: HTMLElement): (label: Labelled) => object {
  const takenAt = layouts();
  return ({ dataIndex, rect, labelRect }) => {
    const taken = takenAt(dataIndex);
    // Names of axes stand at the left upper corner and in the middle below, numbers at the left edge.
    const frame = { width: element.clientWidth, height: element.clientHeight - 46 };
    const box = placeBeside(rect, labelRect, frame, [...taken, { x: 0, y: 0, width: 240, height: 34 }, { x: 0, y: 0, width: 52, height: element.clientHeight }]);
    if (!box) return { x: -10000, y: -10000 };
    taken.push(box);
    return { x: box.x, y: box.y + box.height / 2, align: 'left', verticalAlign: 'middle' };
  };
}

const heightOfName = 14;

/** Returns the first place right of the point, or above or below that, where the label is within the frame and clear of the others; null if there is none. */
export function placeAtEnd(point: Box, { width }: { width: number }, frame: { width: number; height: number }, taken: Box[]): Box | null {
  const height = heightOfName;
  const middle = point.y + point.height / 2 - height / 2;
  for (const lines of [0, -0.5, 0.5, -1, 1, -1.5, 1.5, -2, 2, -2.5, 2.5, -3, 3]) {
    const box = { x: point.x + point.width + 6, y: middle + lines * heightOfName, width, height };
    if (box.y >= 22 && box.y + height <= frame.height && taken.every((other) => apart(box, other))) return box;
  }
  return null;
}

/** Returns ECharts' labelLayout for names at the ends of lines. A name without a place is hidden: the legend has it. */
export function atEnds(size: { width: number; height: number }): (label: Labelled) => object {
  const takenAt = layouts();
  return ({ dataIndex, rect, labelRect }) => {
    const taken = takenAt(dataIndex);
    const box = placeAtEnd(rect, labelRect, { width: size.width, height: size.height - 44 }, taken);
    if (!box) return { x: -10000, y: -10000 };
    taken.push(box);
    return { x: box.x, y: box.y + box.height / 2, align: 'left', verticalAlign: 'middle' };
  };
}
