import { InvalidArgumentError, Option, type Command } from 'commander';
import { pageLimit } from '@countersign/contracts';
import { formats, type Format } from '../output/format.ts';

export type ListOptions = { output: Format; limit: number; cursor?: string };

export function outputOption(unlessSaid: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'how it is written').choices([...formats]).default(unlessSaid);
}

/** What every list takes. */
export function addListOptions(command: Command): Command {
  return command
    .option('--cursor <text>', 'what the list before told to go on with')
    .addOption(new Option('--limit <count>', 'how many').argParser(countOf).default(pageLimit.default))
    .addOption(outputOption());
}

/** Of one list: more are asked for from its cursor on. */
const countMax = 100_000;

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= countMax) return count;
  throw new InvalidArgumentError(`It is a whole number from 1 to ${countMax}.`);
}
