// Labels at the ends of lines: overlapping labels are moved up and down.

/** A label: the left end, the vertical middle and the width [pixels, y downwards]. */
export interface Label { x: number; y: number; width: number }

const beside = (a: Label, b: Label): boolean => a.x < b.x + b.width && b.x < a.x + a.width;

/** Returns how far to move each label so that labels in one column are a line's height apart and above bottom; at most three lines' heights. */
export function nudges(labels: Label[], height: number, bottom = Infinity): number[] {
  const order = labels.map((_, i) => i).sort((a, b) => labels[a].y - labels[b].y);
  const y = labels.map((label) => label.y);
  for (let round = 0; round < 20; ++round)
    order.forEach((a, i) => order.slice(i + 1).forEach((b) => {
      const missing = height - (y[b] - y[a]);
      if (missing <= 0.01 || !beside(labels[a], labels[b])) return;
      y[a] -= missing / 2;
      y[b] += missing / 2;
      const below = Math.max(0, y[b] - bottom);
      y[a] -= below;
      y[b] -= below;
    }));
  return labels.map((label, i) => Math.max(-3 * height, Math.min(3 * height, y[i] - label.y)));
}

/** Returns whether the moved labels keep this distance from all labels in their column. */
export function parted(labels: Label[], moved: number[], height: number): boolean {
  return labels.every((a, i) => labels.slice(i + 1).every((b, k) =>
    !beside(a, b) || Math.abs(a.y + moved[i] - b.y - moved[i + 1 + k]) >= height - 0.1));
}
