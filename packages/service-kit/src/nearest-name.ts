/** The known name closest to a misspelt one. `null` when none is close. */
export function nearestName(name: string, names: readonly string[]): string | null {
  const distances = names.map((each) => ({ each, distance: distanceBetween(name, each) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  // A name with more than a third of different letters is another word.
  return nearest !== undefined && nearest.distance <= name.length / 3 ? nearest.each : null;
}

/** A known name behind an additional first word counts as the closest. */
function distanceBetween(name: string, candidate: string): number {
  return name.endsWith(`_${candidate}`) ? 0 : editDistance(name, candidate);
}

/** The number of letters to insert, delete, replace or swap with their neighbour, as in typing errors. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) row.push(cheapestStep({ rows, row, from, to, i, j }));
    rows.push(row);
  }
  return rows[from.length]?.[to.length] ?? Infinity;
}

type Step = { rows: readonly number[][]; row: readonly number[]; from: string; to: string; i: number; j: number };

function cheapestStep({ rows, row, from, to, i, j }: Step): number {
  const at = (line: readonly number[] | undefined, column: number) => line?.[column] ?? Infinity;
  const isSame = from[i - 1] === to[j - 1];
  const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
  return Math.min(
    at(rows[i - 1], j) + 1,
    at(row, j - 1) + 1,
    at(rows[i - 1], j - 1) + (isSame ? 0 : 1),
    isSwapped ? at(rows[i - 2], j - 2) + 1 : Infinity,
  );
}
