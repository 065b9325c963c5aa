// Computes the report from the results of mutants.

const killed = new Set(['Killed', 'Timeout']);

/** Rooms with their counts, and the survivors. */
export function resultOf({ all, chosen, results, options }) {
  const run = chosen.map((mutant) => ({ ...mutant, ...results.get(mutant.key) }));
  const rooms = options.rooms.map((room) => ({
    room,
    ...countsOf({
      all: all.filter((mutant) => mutant.room === room),
      run: run.filter((mutant) => mutant.room === room),
    }),
  }));
  return {
    seed: options.seed,
    rooms,
    total: { room: 'total', ...countsOf({ all, run }) },
    isEnough: shareOf(run) >= options.target,
    target: options.target,
    survivors: run.filter(({ status }) => !killed.has(status)).map(survivorOf),
  };
}

function countsOf({ all, run }) {
  const count = (status) => run.filter((mutant) => mutant.status === status).length;
  return {
    mutants: all.length,
    ignored: all.filter(({ isIgnored }) => isIgnored).length,
    sampled: run.length,
    killed: count('Killed'),
    timedOut: count('Timeout'),
    survived: count('Survived'),
    notReached: count('NoCoverage'),
    share: shareOf(run),
  };
}

function shareOf(mutants) {
  if (mutants.length === 0) return 1;
  return mutants.filter(({ status }) => killed.has(status)).length / mutants.length;
}

function survivorOf({ file, line, lineText, mutator, from, to, status }) {
  return { file, line, lineText, mutator, from, to, status };
}

const columns = ['mutants', 'ignored', 'sampled', 'killed', 'timedOut', 'survived', 'notReached'];

/** The result as a text for people. */
export function describeResult({ rooms, total, survivors, leftOut, isEnough, target }) {
  const header = ['room'.padEnd(14), ...columns.map((name) => name.padStart(11)), 'killed'.padStart(9)].join('');
  const line = (counts) =>
    [
      counts.room.padEnd(14),
      ...columns.map((name) => String(counts[name]).padStart(11)),
      `${(counts.share * 100).toFixed(1)} %`.padStart(9),
    ].join('');
  const pieces = [
    [header, ...rooms.map(line), line(total)],
    titled('Survivors', survivors.map(describeSurvivor)),
    titled('Left out, since they fail without a mutant on this machine', leftOut),
    [isEnough ? `At least ${target * 100} % are killed.` : `Fewer than ${target * 100} % are killed.`],
  ];
  return `${pieces
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function titled(title, lines) {
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

function describeSurvivor({ file, line, from, to, status }) {
  const unreached = status === 'NoCoverage' ? ' (no test reaches it)' : '';
  return `  ${file}:${line}  ${cut(from)}  →  ${cut(to)}${unreached}`;
}

function cut(text) {
  const charactersMax = 100;
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
