import type { Command } from 'commander';
import { configFrom } from '../config.ts';
import { connect, type Connection } from '../connection/connection.ts';
import { readList, type PageOf } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import type { Column } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addCountOptions, addListOptions, type ListOptions } from './options.ts';

/** The query of a list request. Filters are passed unchanged, and the server validates them. */
type Query = { limit: number; cursor?: string };

type List<Item> = {
  /** The command before `ls`. */
  name: string;
  /** The description of the listed objects. */
  about: string;
  /** The description of `ls`. */
  says: string;
  /** Set when the server returns the whole list, without pages. */
  isWhole?: true;
  /** Options of `ls` that filter the list, with their descriptions. */
  filters?: Readonly<Record<string, string>>;
  /** The first column names the object. */
  columns: readonly Column<Item>[];
  ifNone: string;
  read: (connection: Connection, query: Query) => Promise<{ body: PageOf<Item> }>;
};

/** Adds `countersign <name> ls`, and returns `<name>` for further commands. */
export function addList<Item>(program: Command, io: Io, list: List<Item>): Command {
  const { name, about, says, isWhole = false, filters = {}, columns, ifNone, read } = list;
  const group = program.command(name).description(about);
  const ls = group.command('ls').description(says);
  for (const [flags, narrows] of Object.entries(filters)) ls.option(flags, narrows);
  const options = isWhole ? addCountOptions(ls) : addListOptions(ls);
  options.action(async ({ output: format, limit, cursor, ...narrowed }: ListOptions) => {
    const connection = await connect(configFrom(io.env));
    const listed = await readList(connection, { limit, cursor }, (at) => read(connection, { ...narrowed, ...at }));
    writeList({ ...listed, columns, format, ifNone }, io);
  });
  return group;
}
