export type Verdicts = ReadonlyMap<string, string>;

/** The verdict of each reason code (2.5), from the table of docs/reference/reason-codes.md. */
export function readReasonCodes(page: string): Verdicts {
  const rows = page.split('\n').filter((line) => /^\| `[A-Z_]+`/.test(line));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  return new Map(cells.map(([, code = '', , , verdict = '']) => [code.replaceAll('`', ''), verdict]));
}
