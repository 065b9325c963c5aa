import { InvalidArgumentError, Option, type Command } from 'commander';
import { pageLimit } from '@countersign/contracts';
import { formats, type Format } from '../output/format.ts';

export type ListOptions = { output: Format; limit: number; cursor?: string };

export function outputOption(unlessSaid: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'how it is written').choices([...formats]).default(unlessSaid);
}

/** What every list takes that goes on page by page. */
export function addListOptions(command: Command): Command {
  return addCountOptions(command.option('--cursor <text>', 'what the list before told to go on with'));
}

/** What a list takes that is whole. */
export function addCountOptions(command: Command): Command {
  return command
    .addOption(new Option('--limit <count>', 'how many').argParser(countUpTo(countMax)).default(pageLimit.default))
    .addOption(outputOption());
}

/** Of one list: more are asked for from its cursor on. */
const countMax = 100_000;

/** Reads a whole number from 1 on. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`);
  };
}
