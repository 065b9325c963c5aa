import type { Listed } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import { listText, type Column, type Format } from './format.ts';

type Written<Item> = Listed<Item> & { columns: readonly Column<Item>[]; format: Format; ifNone: string };

/** Writes the list as data. In a table, a hint about the next page follows. */
export function writeList<Item>({ items, next, columns, format, ifNone }: Written<Item>, io: Io): void {
  io.write(listText({ items, columns, format }));
  if (items.length === 0) io.tell(`${ifNone}\n`);
  if (next !== null) io.tell(`More: --cursor ${next}\n`);
}
