// Labels cut to the parts in which they differ. The default label is the kind with its options, "kind(a=1, b=2)", so that
// labels of one kind would look alike if a chart cut off their ends.

const long = 22;

/** Returns each label without the options that all labels of its kind share, and without a kind that all share. A short label stays whole, and so does one that would become equal to another. */
export function shortNames(labels: string[]): string[] {
  const split = labels.map((label) => {
    const match = /^([^(]+)\((.*)\)$/.exec(label);
    return match ? { kind: match[1], options: match[2].split(/, (?=[\w.]+=)/) } : { kind: label, options: [] };
  });
  const oneKind = new Set(split.map(({ kind }) => kind)).size === 1;
  const cut = split.map(({ kind, options }, i) => {
    if (labels[i].length <= long || options.length === 0) return labels[i];
    const others = split.filter((other) => other.kind === kind);
    const own = options.filter((option) => others.length < 2 || !others.every((other) => other.options.includes(option)));
    return own.length === 0 ? kind : oneKind ? own.join(', ') : `${kind}(${own.join(', ')})`;
  });
  return cut.map((name, i) => (cut.indexOf(name) === i && cut.lastIndexOf(name) === i ? name : labels[i]));
}

/** Returns the beginning and the end of a name that is too wide; the end is longer, for names differ there. */
function middle(name: string, width: (text: string) => number, most: number): string {
  if (width(name) <= most) return name;
  const letters = Array.from(name);
  const cut = (kept: number): string => letters.slice(0, Math.floor(0.4 * kept)).join('').trimEnd() + '…' + letters.slice(letters.length - Math.ceil(0.6 * kept)).join('').trimStart();
  let [low, high] = [1, letters.length];
  while (low < high) {
    const half = (low + high + 1) >> 1;
    if (width(cut(half)) <= most) low = half; else high = half - 1;
  }
  return cut(low);
}

/** Returns each name, cut in its middle where it is too wide. Different names stay different: those that would become equal get their place in the list. */
export function cutNames(names: string[], width: (text: string) => number, most: number): string[] {
  const cut = names.map((name) => middle(name, width, most));
  return cut.map((name, i) => {
    if (!cut.some((other, k) => other === name && names[k] !== names[i])) return name;
    const place = `${i + 1}: `;
    return place + middle(names[i], width, most - width(place));
  });
}

/** Returns a name in two lines of at most this many letters, cut at a space, bracket, = or _ if there is one. Of a rest that does not fit the end stays, for names differ there. */
export function twoLines(name: string, letters = 19): string {
  if (name.length <= letters) return name;
  const cuts = [...name.slice(0, letters).matchAll(/[ (=_]/g)].map(({ 0: sign, index }) => index! + (sign === '(' ? 0 : 1));
  const at = cuts.length > 0 && cuts[cuts.length - 1] > 3 ? cuts[cuts.length - 1] : letters;
  const rest = name.slice(at);
  return `${name.slice(0, at).trimEnd()}\n${rest.length <= letters ? rest : `…${rest.slice(1 - letters)}`}`;
}

/** Returns the names in at most two lines each. Different names stay different. */
export function twoLineNames(names: string[], letters = 19): string[] {
  const cut = names.map((name) => twoLines(name, letters));
  return cut.map((name, i) => (cut.some((other, k) => other === name && names[k] !== names[i]) ? twoLines(`${i + 1}: ${names[i]}`, letters) : name));
}
