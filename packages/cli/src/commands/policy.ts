import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, lineOfPath, parsePolicyBundle, PolicyError } from '@countersign/policy';
import { forTerminal } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';

/** What the kernel would refuse, found before anybody asks it: the same parser, compiler and tests. */
export function addPolicy(program: Command, io: Io): void {
  const policy = program.command('policy').description('Policy bundles, by the very code that the kernel runs.');
  policy
    .command('lint')
    .description('Say whether a bundle compiles and passes its own tests, and where it does not.')
    .argument('<file>', 'a bundle, YAML or JSON')
    .action((file: string) => lint(file, io));
  policy
    .command('hash')
    .description('The hash under which the bundle stands in receipts.')
    .argument('<file>', 'a bundle, YAML or JSON')
    .action((file: string) => io.write(`${compiled(file).hash}\n`));
}

function lint(file: string, io: Io): void {
  const { bundle, hash } = compiled(file);
  io.write(`${forTerminal(file)}: ${bundle.rules.length} rules, ${bundle.tests.length} tests pass, ${hash}\n`);
}

function compiled(file: string) {
  const text = textOf(file);
  try {
    return compilePolicy(parsePolicyBundle(text), nodeProvider);
  } catch (cause) {
    if (!(cause instanceof PolicyError)) throw cause;
    const line = lineOfPath(text, cause.path);
    const place = line === null ? file : `${file}:${line}`;
    throw new CommandFailed(`${place}: ${cause.message} (${cause.code})`, 1, { cause });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be read`, 2, { cause });
  }
}
