import { InvalidArgumentError, Option, type Command } from 'commander';
import { pageLimit } from '@countersign/contracts';
import { formats, type Format } from '../output/format.ts';

export type ListOptions = { output: Format; limit: number; cursor?: string };

export function outputOption(unlessSaid: Format = 'table'): Option {
  return new Option('-o, --output <format>', 'the format of the output').choices([...formats]).default(unlessSaid);
}

export type OutputOptions = { output: Format; json?: true };

/** Options of a command that returns one object or a short list. */
export function withOutput(command: Command): Command {
  return command.addOption(outputOption()).option('--json', 'the same as --output json');
}

export function formatOf({ output, json }: OutputOptions): Format {
  return json === true ? 'json' : output;
}

/** Options of a list with pages. */
export function addListOptions(command: Command): Command {
  return addCountOptions(command.option('--cursor <text>', 'the cursor that the previous page printed'));
}

/** Options of a list without pages. */
export function addCountOptions(command: Command): Command {
  return command
    .addOption(new Option('--limit <count>', 'how many').argParser(countUpTo(countMax)).default(pageLimit.default))
    .addOption(outputOption());
}

/** Maximum number of items that one command lists. Its cursor leads to further items. */
const countMax = 100_000;

/** Parses a whole number of at least 1. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`The value must be a whole number from 1 to ${max}.`);
  };
}

/** `keys` is the file with the trusted keys. If it is a trust list, `root` is the key that signed the list. */
export type TrustOptions = { keys: string; root?: string; trustVersion?: number };

export function withTrust(command: Command): Command {
  return command
    .requiredOption('--keys <file>', 'your trusted keys: a key set from /api/v1/trust/keys, or trust.json')
    .option('--root <key>', 'the root key that you pinned and that signed trust.json')
    .addOption(
      new Option('--trust-version <n>', 'refuse an earlier version of trust.json').argParser(
        countUpTo(Number.MAX_SAFE_INTEGER),
      ),
    );
}
