import { z } from 'zod';
import { readText } from '../architecture/repository.ts';

const units = {
  bytes: bytesText,
  characters: (value: number) => `${countText(value)} characters`,
  count: countText,
  days: (value: number) => `${countText(value)} days`,
  instructions: (value: number) => `${countText(value)} instructions`,
  levels: (value: number) => `${countText(value)} levels`,
  ms: durationText,
  perMinute: (value: number) => `${countText(value)} a minute`,
  s: (value: number) => durationText(value * 1_000),
  units: (value: number) => `${countText(value)} units`,
} as const;

const LimitRow = z.strictObject({
  limit: z.string().min(1),
  file: z.string(),
  /** The name of a constant, or the path of a member below it: `pageLimit.max`, `rules.max`. */
  constant: z.string(),
  unit: z.enum(Object.keys(units) as [keyof typeof units]), // the names of `units`
});
type LimitRow = z.infer<typeof LimitRow>;

/** The constant behind each limit of `docs/limits.md`. */
export const documentedLimits: readonly LimitRow[] = readRows();

/** The value of a limit, as the page shows it. */
export function valueText({ file, constant, unit }: LimitRow, read: (path: string) => string = readText): string {
  return units[unit](valueIn(read(file), constant, `${constant} in ${file}`));
}

/**
 * Reads the number from the source text. Most limits are private to their module, and an unused export is an error. The
 * factors of a product can be other constants of the file.
 */
function valueIn(text: string, constant: string, where: string): number {
  const names = constant.split('.');
  const last = names.pop() ?? '';
  let rest = text;
  for (const name of names) rest = rest.slice(found(new RegExp(`\\b${name} ?[:=]`).exec(rest), where).index);
  const value = String.raw`([\w *]+?) ?[,;\n})]`;
  const pattern =
    last === 'max' ? String.raw`(?:\.max\(|\bmax: )${value}` : `\\b${last}(?:: [A-Za-z]+)? ?(?:[:=]|\\?\\?) ${value}`;
  const factors = found(new RegExp(pattern).exec(rest), where)[1]?.split('*') ?? [];
  return factors
    .map((factor) => numberOf(factor.trim(), { text, where }))
    .reduce((product, factor) => product * factor);
}

function numberOf(factor: string, { text, where }: { text: string; where: string }): number {
  return /^\d/.test(factor) ? Number(factor.replaceAll('_', '').replace(/n$/, '')) : valueIn(text, factor, where);
}

function found(match: RegExpExecArray | null, where: string): RegExpExecArray {
  if (match === null)
    throw new Error(`There is no ${where}. Correct tests/spec/documented-limits.tsv and docs/limits.md`);
  return match;
}

function countText(value: number): string {
  return value.toLocaleString('en-US');
}

function bytesText(value: number): string {
  if (value % 1_048_576 === 0) return `${countText(value / 1_048_576)} MiB`;
  return value % 1_024 === 0 ? `${countText(value / 1_024)} KiB` : `${countText(value)} bytes`;
}

function durationText(ms: number): string {
  const day = 86_400_000;
  if (ms % day === 0 && ms > day) return `${countText(ms / day)} days`;
  if (ms % 3_600_000 === 0) return `${countText(ms / 3_600_000)} h`;
  if (ms % 60_000 === 0) return `${countText(ms / 60_000)} min`;
  return ms % 1_000 === 0 ? `${countText(ms / 1_000)} s` : `${countText(ms)} ms`;
}

function readRows(): LimitRow[] {
  const [header = '', ...lines] = readText('tests/spec/documented-limits.tsv').trim().split('\n');
  const columns = header.split('\t');
  return lines.map((line) => {
    const cells = line.split('\t');
    return LimitRow.parse(Object.fromEntries(columns.map((column, index) => [column, cells[index]])));
  });
}
