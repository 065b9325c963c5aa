import { InvalidArgumentError, Option, type Command } from 'commander';
import { pageLimit } from '@countersign/contracts';
import { formats, type Format } from '../output/format.ts';

export type ListOptions = { output: Format; limit: number; cursor?: string };

export function outputOption(unlessSaid: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'how it is written').choices([...formats]).default(unlessSaid);
}

/** The options of every list with pages. */
export function addListOptions(command: Command): Command {
  return addCountOptions(command.option('--cursor <text>', 'what the list before told to go on with'));
}

/** The options of a list without pages. */
export function addCountOptions(command: Command): Command {
  return command
    .addOption(new Option('--limit <count>', 'how many').argParser(countUpTo(countMax)).default(pageLimit.default))
    .addOption(outputOption());
}

/** The most items of one list: more are requested from its cursor on. */
const countMax = 100_000;

/** Reads a whole number from 1 on. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`);
  };
}

/** The keys that a person trusts, and the root that signed them if they are a trust list. */
export type TrustOptions = { keys: string; root?: string; trustVersion?: number };

export function withTrust(command: Command): Command {
  return command
    .requiredOption(
      '--keys <file>',
      'the keys that you trust: a key set as /api/v1/trust/keys serves it, or trust.json',
    )
    .option('--root <key>', 'the root key that signed trust.json, which you pinned')
    .addOption(
      new Option('--trust-version <n>', 'refuse an earlier version of trust.json').argParser(
        countUpTo(Number.MAX_SAFE_INTEGER),
      ),
    );
}
