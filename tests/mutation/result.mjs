// From the results of mutants to what is told about them.

const killed = new Set(['Killed', 'Timeout']);

/** Rooms with their counts, the survivors that no entry explains, and the entries that no longer say what is so. */
export function resultOf({ all, chosen, results, knownSurvivors, options }) {
  const entryOf = (mutant) => knownSurvivors.find((entry) => isOf(entry, mutant));
  const known = chosen.map((mutant) => ({ ...mutant, ...results.get(mutant.key), known: entryOf(mutant) }));
  const counted = known.filter((mutant) => mutant.known?.kind !== 'equivalent');
  const survivors = known.filter(({ status }) => !killed.has(status));
  const rooms = options.rooms.map((room) => ({
    room,
    ...countsOf({
      all: all.filter((mutant) => mutant.room === room),
      known: known.filter((mutant) => mutant.room === room),
    }),
  }));
  return {
    seed: options.seed,
    rooms,
    total: { room: 'total', ...countsOf({ all, known }) },
    isEnough: shareOf(counted) >= options.target,
    target: options.target,
    unexplained: survivors.filter(({ known: entry }) => entry === undefined).map(survivorOf),
    explained: survivors.filter(({ known: entry }) => entry !== undefined).map(survivorOf),
    stale: staleOf({ all, known, knownSurvivors }),
  };
}

function countsOf({ all, known }) {
  const count = (status) => known.filter((mutant) => mutant.status === status).length;
  const equivalent = known.filter((mutant) => mutant.known?.kind === 'equivalent').length;
  return {
    mutants: all.length,
    forPeople: all.filter(({ isForPeople }) => isForPeople).length,
    sampled: known.length,
    killed: count('Killed'),
    timedOut: count('Timeout'),
    survived: count('Survived'),
    notReached: count('NoCoverage'),
    equivalent,
    share: shareOf(known.filter((mutant) => mutant.known?.kind !== 'equivalent')),
  };
}

function shareOf(mutants) {
  if (mutants.length === 0) return 1;
  return mutants.filter(({ status }) => killed.has(status)).length / mutants.length;
}

function isOf(entry, { file, lineText, before, from, to }) {
  const isThere = entry.file === file && entry.line === lineText && before.endsWith(entry.before ?? '');
  return isThere && entry.from === from && entry.to === to;
}

/** An entry is good while its mutant exists and lives. Only of the rooms that were asked for is that known. */
function staleOf({ all, known, knownSurvivors }) {
  const files = new Set(all.map(({ file }) => file));
  const gone = knownSurvivors
    .filter((entry) => files.has(entry.file) && !all.some((mutant) => isOf(entry, mutant)))
    .map((entry) => `${entry.file}: no such mutant: ${entry.from} → ${entry.to} in: ${entry.line}`);
  const dead = known
    .filter((mutant) => mutant.known !== undefined && killed.has(mutant.status))
    .map((mutant) => `${placeOf(mutant)}: is killed now: ${mutant.from} → ${mutant.to}`);
  return [...gone, ...dead];
}

function survivorOf(mutant) {
  const { file, line, lineText, mutator, from, to, status, known } = mutant;
  return { file, line, lineText, mutator, from, to, status, ...(known && { kind: known.kind, why: known.why }) };
}

function placeOf({ file, line }) {
  return `${file}:${line}`;
}

const columns = ['mutants', 'forPeople', 'sampled', 'killed', 'timedOut', 'survived', 'notReached', 'equivalent'];

/** The result for eyes. */
export function describeResult({ rooms, total, unexplained, explained, stale, leftOut, isEnough, target }) {
  const header = ['room'.padEnd(14), ...columns.map((name) => name.padStart(11)), 'killed'.padStart(9)].join('');
  const line = (counts) =>
    [
      counts.room.padEnd(14),
      ...columns.map((name) => String(counts[name]).padStart(11)),
      `${(counts.share * 100).toFixed(1)} %`.padStart(9),
    ].join('');
  const parts = [
    [header, ...rooms.map(line), line(total)],
    titled('Survivors', unexplained.map(describeSurvivor)),
    titled('Survivors that are explained', explained.map(describeSurvivor)),
    titled('Left out, since they fail without a mutant on this machine', leftOut),
    titled('Entries of known-survivors.mjs that are not so', stale),
    [isEnough ? `At least ${target * 100} % are killed.` : `Fewer than ${target * 100} % are killed.`],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function titled(title, lines) {
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

function describeSurvivor(survivor) {
  const { from, to, status, why } = survivor;
  const unreached = status === 'NoCoverage' ? ' (no test reaches it)' : '';
  return `  ${placeOf(survivor)}  ${cut(from)}  →  ${cut(to)}${unreached}${why ? `\n      ${why}` : ''}`;
}

function cut(text) {
  const charactersMax = 100;
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
