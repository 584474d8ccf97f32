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

/** Returns a name in two lines of at most this many letters, cut at a space or bracket if there is one; a rest that does not fit becomes dots. */
export function twoLines(name: string, letters = 19): string {
  if (name.length <= letters) return name;
  const cuts = [...name.slice(0, letters).matchAll(/[ (]/g)].map(({ 0: sign, index }) => index! + (sign === ' ' ? 1 : 0));
  const at = cuts.length > 0 && cuts[cuts.length - 1] > 3 ? cuts[cuts.length - 1] : letters;
  const rest = name.slice(at);
  return `${name.slice(0, at).trimEnd()}\n${rest.length <= letters ? rest : `${rest.slice(0, letters - 1)}…`}`;
}
