import { forTerminal, jsonForTerminal } from '@countersign/verifier';

export const formats = ['table', 'json', 'jsonl'] as const;
export type Format = (typeof formats)[number];

export type Column<Item> = { title: string; of(item: Item): string | null };

type Shown<Item> = { items: readonly Item[]; columns: readonly Column<Item>[]; format: Format };

/** Text of a list. JSON formats contain the server's own objects. A table makes control characters visible. */
export function listText<Item>({ items, columns, format }: Shown<Item>): string {
  switch (format) {
    case 'json':
      return `${jsonForTerminal(items)}\n`;
    case 'jsonl':
      return items.map((item) => `${jsonForTerminal(item)}\n`).join('');
    case 'table':
      return tableText(items, columns);
    default:
      return format satisfies never;
  }
}

/** Text of one object: indented for reading, or one line for programs. */
export function objectText(value: unknown, format: Format): string {
  if (format !== 'table') return `${jsonForTerminal(value)}\n`;
  const text = JSON.stringify(value, null, 2);
  return `${text.split('\n').map(forTerminal).join('\n')}\n`;
}

function tableText<Item>(items: readonly Item[], columns: readonly Column<Item>[]): string {
  const rows = [
    columns.map(({ title }) => title),
    ...items.map((item) => columns.map(({ of }) => forTerminal(of(item) ?? '-'))),
  ];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
