// The positions of a network's vertices: hosts on a rim, switches between the hosts that they join.
// Source: W. T. Tutte, "How to draw a graph", 1963 (each inner vertex in the middle of its neighbours).

export interface Place { x: number; y: number }

const natural = new Intl.Collator('en', { numeric: true });

/** Returns the neighbours of each vertex, without duplicates. */
export function neighbours(edges: { from: string; to: string }[]): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  const join = (a: string, b: string): void => void (all.get(a) ?? all.set(a, new Set()).get(a)!).add(b);
  for (const { from, to } of edges) if (from !== to) { join(from, to); join(to, from); }
  return all;
}

/** Returns whether a vertex is a host: by its name, or, if no vertex is named so, because it has a single cable. */
export function isHost(name: string, all: Map<string, Set<string>>): boolean {
  return [...all.keys()].some((each) => each.startsWith('host')) ? name.startsWith('host') : all.get(name)!.size === 1;
}

/** Returns the vertices of the rim: hosts in the order of their numbers; those of a ring in the order of the ring. */
function rim(all: Map<string, Set<string>>): string[] {
  const names = [...all.keys()].sort(natural.compare);
  const hosts = names.filter((name) => isHost(name, all));
  if (hosts.length >= 2 && hosts.length < names.length) return hosts;
  if (!names.every((name) => all.get(name)!.size === 2)) return names;
  const cycle = [names[0]];
  while (cycle.length < names.length) {
    const next = [...all.get(cycle[cycle.length - 1])!].find((name) => !cycle.includes(name));
    if (next === undefined) break;
    cycle.push(next);
  }
  return cycle.length === names.length ? cycle : names;
}

/** Moves vertices apart that lie on each other, the later ones around the first. */
function spread(places: Map<string, Place>, inner: string[], gap: number): void {
  for (let round = 0; round < 60; ++round)
    inner.forEach((a, i) => inner.slice(i + 1).forEach((b, k) => {
      const [p, q] = [places.get(a)!, places.get(b)!];
      let [dx, dy] = [q.x - p.x, q.y - p.y];
      if (dx * dx + dy * dy < 1e-12) { dx = Math.cos(2.4 * (i + k + 1)); dy = Math.sin(2.4 * (i + k + 1)); }
      const distance = Math.hypot(dx, dy);
      const push = Math.max(0, gap - distance) / 2 / distance;
      if (push === 0) return;
      p.x -= push * dx; p.y -= push * dy;
      q.x += push * dx; q.y += push * dy;
    }));
}

export function layout(edges: { from: string; to: string }[]): Map<string, Place> {
  const all = neighbours(edges);
  const outer = rim(all);
  const places = new Map<string, Place>();
  outer.forEach((name, i) => {
    const angle = (2 * Math.PI * (i + 0.5)) / outer.length - Math.PI / 2;
    places.set(name, { x: Math.cos(angle), y: Math.sin(angle) });
  });
  const inner = [...all.keys()].filter((name) => !places.has(name)).sort(natural.compare);
  for (const name of inner) places.set(name, { x: 0, y: 0 });
  for (let round = 0; round < 200; ++round)
    for (const name of inner) {
      const around = [...all.get(name)!].map((each) => places.get(each)!);
      places.set(name, { x: around.reduce((s, { x }) => s + x, 0) / around.length, y: around.reduce((s, { y }) => s + y, 0) / around.length });
    }
  if (inner.length > 1) spread(places, inner, Math.min(0.5, 1.6 / inner.length));
  return places;
}
