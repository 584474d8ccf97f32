// The picture of a cut model's mesh: its ranks in the boxes that cables join, the groups of a dimension, and the classes of links that its messages cross.
import { list, segments } from '../controls';
import type { DimensionLinks, MeshPicture, MeshRank } from '../data';
import { h, svg } from '../dom';
import { percent, whole } from '../format';
import { t } from '../language';
import { ramped } from '../palette';
import { whenNear } from '../plot';
import { onTheme, printing } from '../theme';
import { cellHeight, meshLayout, rankCell, type Cell } from './mesh_layout';

interface Shown { picture: MeshPicture; links: DimensionLinks[] }
interface Choice { dimension: string; rank: number }

const letter = (name: string): string => name[0];
const along = ({ dimensions }: MeshPicture, name: string): number => dimensions.findIndex((each) => each.name === name);

/** Returns the drawn ranks that differ from this one along the dimension alone, in its order. */
export function groupOf(picture: MeshPicture, rank: MeshRank, dimension: string): MeshRank[] {
  const k = along(picture, dimension);
  return picture.ranks.filter(({ places }) => places.every((place, i) => i === k || place === rank.places[i]))
    .sort((a, b) => a.places[k] - b.places[k]);
}

/** Returns "0, 8, 16", or "0 to 7". */
function numbers(ranks: MeshRank[]): string {
  const all = ranks.map(({ rank }) => rank).sort((a, b) => a - b);
  const last = all[all.length - 1];
  return all.length > 2 && last - all[0] + 1 === all.length ? t('{0} to {1}', whole(all[0]), whole(last)) : all.map((each) => whole(each)).join(', ');
}
const named = (ranks: MeshRank[]): string => (ranks.length === 1 ? t('rank {0}', numbers(ranks)) : t('ranks {0}', numbers(ranks)));

const together = (sentences: string[]): string => sentences.filter((each) => each !== '').reduce((a, b) => t('{0} {1}', a, b));

/** Returns the numbers of ranks that are drawn and left out, in words; empty where all are drawn. */
export function leftOut({ ranks, ranks_in_all: all, dimensions }: MeshPicture): string {
  if (ranks.length === all) return '';
  const out = dimensions.filter(({ drawn }) => !drawn);
  const values = [whole(ranks.length), whole(all), out.map(({ name }) => t(name)).join(', ')];
  const first = ranks.length * out.reduce((product, { size }) => product * size, 1) < all;
  if (out.length === 0) return t('{0} of {1} ranks are drawn: the first ones.', ...values);
  if (first) return t('{0} of {1} ranks are drawn: the first of those with place 0 along {2}.', ...values);
  return out.length === 1 && out[0].name === 'data' ? t('{0} of {1} ranks are drawn: one replica.', ...values) : t('{0} of {1} ranks are drawn: those with place 0 along {2}.', ...values);
}

/** Returns the sentence on the chosen dimension, with the numbers of the table of links. */
function crossed({ picture, links }: Shown, { dimension, rank }: Choice): string {
  const { size } = picture.dimensions[along(picture, dimension)];
  const its = links.filter((use) => use.dimension === dimension).map((use) =>
    t('{0} ({1} busy, the busiest link {2})', use.link_class, percent(use.utilisation), percent(use.utilisation_max)));
  const group = groupOf(picture, picture.ranks.find((each) => each.rank === rank)!, dimension);
  const all = picture.ranks.length === picture.ranks_in_all;
  // Stages may have unlike numbers of ranks.
  const alike = picture.ranks_in_all === picture.dimensions.reduce((product, each) => product * each.size, 1);
  const values = [t(dimension), whole(size), its.join(', ')];
  return together([
    its.length > 0 ? alike ? t('{0}: messages in groups of {1} ranks cross {2}.', ...values) : t('{0}: messages in groups of up to {1} ranks cross {2}.', ...values) : t('{0}: groups of {1} ranks send no messages over links.', t(dimension), whole(size)),
    group.length === size || all ? t('Marked: {0}.', named(group)) : t('Marked: {0}; the others of its group are not drawn.', named(group)),
  ]);
}

function boxesInWords({ levels, dimensions }: MeshPicture): string {
  const joined = levels.map(({ link_class: kind }, i) => {
    if (kind === '') return t('Boxes: ranks of one host.');
    const kinds = levels.slice(0, i + 1).map((each) => each.link_class).filter((each) => each !== '').join(', ');
    return i === 0 ? t('Boxes: ranks that links of class {0} join.', kinds) : t('Larger boxes: ranks that links of classes {0} join.', kinds);
  });
  const letters = dimensions.map(({ name }) => `${letter(name)} ${t(name)}`).join(', ');
  return together([...joined, t('Places: {0}.', letters), dimensions.some(({ name }) => name === 'pipeline') ? t('Colours: stages.') : '']);
}

/** Returns a curve between two cells, which passes beside those between them. */
function way(a: Cell, b: Cell, height: number): string {
  const [x, y, dx, dy] = [a.x + rankCell.width / 2, a.y + height / 2, b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = length > 1.5 * Math.max(rankCell.width, height) ? Math.min(36, 0.16 * length) : 0;
  return `M${x} ${y}q${dx / 2 + (bend * dy) / length} ${dy / 2 - (bend * Math.abs(dx)) / length} ${dx} ${dy}`;
}

/** Returns the colour of a stage, and the class of the text on it. */
function stageColour(stage: number, stages: number): { fill: string; text: string } {
  const share = stages > 1 ? (0.75 * stage) / (stages - 1) : 0.12;
  const fill = ramped(share);
  const [r, g, b] = fill.match(/\d+/g)!.map(Number);
  return { fill, text: 0.299 * r + 0.587 * g + 0.114 * b > 140 ? 'on-light' : 'on-dark' };
}

interface Drawing { element: SVGElement; mark: (choice: Choice) => void }

function draw({ picture }: Shown, room: number, choose: (rank: number) => void, over: (rank: number | null) => void): Drawing {
  const layout = meshLayout(picture, room);
  const height = cellHeight(picture.dimensions.length);
  const stages = Math.max(...picture.ranks.map(({ stage }) => stage)) + 1;
  const at = new Map(layout.cells.map((each) => [each.rank.rank, each]));
  const boxes = layout.boxes.map(({ level, x, y, width, height: tall }) => svg('rect', { class: 'box', 'data-level': level, x, y, width, height: tall, rx: 6 }));
  const titles = layout.boxes.map(({ ranks, x, y }) => {
    const text = svg('text', { class: 'title', x: x + 8, y: y + 17 });
    text.textContent = named(ranks);
    return text;
  });
  const cells = layout.cells.map(({ rank, x, y }) => {
    const { fill, text } = stageColour(rank.stage, stages);
    const lines: Element[] = [];
    for (let i = 0; i < picture.dimensions.length; i += 2) {
      const line = svg('text', { x: x + rankCell.width / 2, y: y + 4 + rankCell.line * (i / 2 + 0.78) });
      line.textContent = picture.dimensions.slice(i, i + 2).map(({ name }, k) => `${letter(name)}${rank.places[i + k]}`).join(' ');
      lines.push(line);
    }
    const group = svg('g', { class: `rank ${text}`, 'data-rank': rank.rank }, svg('rect', { x, y, width: rankCell.width, height, rx: 4, fill }), ...lines);
    group.addEventListener('click', () => choose(rank.rank));
    group.addEventListener('pointerenter', () => over(rank.rank));
    group.addEventListener('pointerleave', () => over(null));
    return group;
  });
  const ways = svg('g', { class: 'ways' });
  const element = svg('svg', { class: 'mesh', viewBox: `0 0 ${layout.width} ${layout.height}`, width: layout.width, height: layout.height, role: 'img' }, ...boxes, ways, ...titles, ...cells);
  const mark = ({ dimension, rank }: Choice): void => {
    const marked = new Set(groupOf(picture, picture.ranks.find((each) => each.rank === rank)!, dimension));
    cells.forEach((each, i) => each.classList.toggle('marked', marked.has(layout.cells[i].rank)));
    const k = along(picture, dimension);
    const paths = picture.ranks.filter(({ places }) => places[k] === 0).map((first) => {
      const group = groupOf(picture, first, dimension);
      const d = group.slice(1).map((each, i) => way(at.get(group[i].rank)!, at.get(each.rank)!, height)).join('');
      return { d, its: marked.has(first) };
    }).filter(({ d }) => d !== '').sort((a, b) => Number(a.its) - Number(b.its));
    ways.replaceChildren(...paths.map(({ d, its }) => svg('path', { d, class: its ? 'way marked' : 'way' })));
  };
  return { element, mark };
}

/** Returns the classes of links, each with a bar of every dimension that crosses it. */
function classes(links: DimensionLinks[], dimension: string): HTMLElement[] {
  const most = Math.max(...links.map((use) => use.utilisation_max)) || 1;
  return [...new Set(links.map((use) => use.link_class))].map((kind) => {
    const its = links.filter((use) => use.link_class === kind);
    return h('section', { class: its.some((use) => use.dimension === dimension) ? 'link-class crossed' : 'link-class', 'data-class': kind }, h('h3', {}, kind),
      ...its.map((use) => {
        const bar = h('i', {}, h('b', {}));
        bar.style.setProperty('--mean', `${(100 * use.utilisation) / most}%`);
        bar.style.setProperty('--most', `${(100 * use.utilisation_max) / most}%`);
        return h('p', { class: use.dimension === dimension ? 'use chosen' : 'use' }, h('span', {}, t(use.dimension)), bar,
          h('span', { class: 'number' }, t('{0}, at most {1}', percent(use.utilisation), percent(use.utilisation_max))));
      }));
  });
}

export interface Picture { element: HTMLElement; show: (shown: Shown | null) => void }

export function meshPicture(): Picture {
  const [controls, drawing, beside, told, hint] = [h('div', { class: 'controls' }), h('div', { class: 'drawn' }), h('div', { class: 'link-classes' }), h('p', { class: 'told', role: 'status' }), h('p', { class: 'hint' })];
  const element = h('div', { class: 'mesh-picture', hidden: true }, controls, h('div', { class: 'sides' }, drawing, beside), told, hint);
  const choice: Choice = { dimension: '', rank: 0 };
  let [now, drawn, near, width]: [Shown | null, Drawing | null, boolean, number] = [null, null, false, 0];
  let rankList: HTMLSelectElement | null = null;

  const tell = (rank: number | null = null): void => {
    if (!now) return;
    const its = { dimension: choice.dimension, rank: rank ?? choice.rank };
    drawn?.mark(its);
    drawn?.element.setAttribute('aria-label', crossed(now, its));
    told.textContent = crossed(now, its);
  };
  const set = (what: Partial<Choice>): void => {
    Object.assign(choice, what);
    if (rankList) rankList.value = String(choice.rank);
    if (now) beside.replaceChildren(...classes(now.links, choice.dimension));
    tell();
  };
  const redraw = (): void => {
    width = drawing.clientWidth;
    if (!now || !near || width === 0) return;
    drawn = draw(now, width, (rank) => set({ rank }), tell);
    drawing.replaceChildren(drawn.element);
    tell();
  };
  const show = (shown: Shown | null): void => {
    if (shown?.picture === now?.picture && shown?.links === now?.links) return;
    now = shown && shown.picture.dimensions.length > 0 ? shown : null;
    element.hidden = now === null;
    if (!now) return;
    const { picture, links } = now;
    const names = picture.dimensions.map(({ name }) => name);
    const busiest = [...links].filter(({ dimension }) => names.includes(dimension)).sort((a, b) => b.utilisation_max - a.utilisation_max)[0];
    if (!names.includes(choice.dimension)) choice.dimension = busiest?.dimension ?? names[0];
    if (!picture.ranks.some(({ rank }) => rank === choice.rank)) choice.rank = picture.ranks[0].rank;
    const ranks = list(t('Group of'), picture.ranks.map(({ rank }) => [String(rank), t('rank {0}', rank)]), String(choice.rank), (value) => set({ rank: Number(value) }));
    rankList = ranks.select;
    controls.replaceChildren(segments('Dimension', names.map((name) => [name, name]), choice.dimension, (dimension) => set({ dimension })), ranks.element);
    hint.textContent = together([leftOut(picture), boxesInWords(picture)]);
    set({});
    redraw();
  };
  whenNear(element, () => { near = true; redraw(); });
  onTheme(() => { near ||= printing(); redraw(); });
  new ResizeObserver(() => { if (drawing.clientWidth !== width) redraw(); }).observe(drawing);
  return { element, show };
}
