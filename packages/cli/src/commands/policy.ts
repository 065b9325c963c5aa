import type { Command } from 'commander';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, failedTests, lineOfPath, parsePolicyBundle, type CompiledPolicy } from '@countersign/policy';
import { forTerminal } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';
import { listText, type Column, type Format } from '../output/format.ts';
import { inBundle } from './bundle-file.ts';
import { outputOption } from './options.ts';
import { addExplain } from './policy-explain.ts';
import { addWhatIf } from './what-if.ts';

/** Adds `countersign policy`. It checks bundles offline, with the code of the kernel, and explains decisions. */
export function addPolicy(program: Command, io: Io): void {
  const policy = program
    .command('policy')
    .description('Check policy bundles with the code of the kernel, and explain decisions.');
  const ofBundle = (name: string, says: string) =>
    policy.command(name).description(says).argument('<file>', 'a bundle, YAML or JSON');
  ofBundle(
    'lint',
    'Check that a bundle compiles and passes its own tests. Faults are reported with their line.',
  ).action((file: string) => lint(file, io));
  ofBundle('test', 'Run the tests of a bundle, and list their results.')
    .addOption(outputOption())
    .action((file: string, { output }: { output: Format }) => test(file, output, io));
  ofBundle('hash', 'Print the hash of the bundle, as receipts contain it.').action((file: string) =>
    io.write(`${compiled(file).hash}\n`),
  );
  addWhatIf(policy, io);
  addExplain(policy, io);
}

function lint(file: string, io: Io): void {
  const { bundle, hash } = compiled(file);
  io.write(`${forTerminal(file)}: ${bundle.rules.length} rules, ${bundle.tests.length} tests pass, ${hash}\n`);
}

type Tested = { test: string; passes: boolean; line: number | null; failure: string | null };

const columns: Column<Tested>[] = [
  { title: '', of: ({ passes }) => (passes ? 'ok' : 'FAILED') },
  { title: 'TEST', of: ({ test: name }) => name },
  { title: 'LINE', of: ({ line }) => line?.toString() ?? null },
  { title: 'WHY', of: ({ failure }) => failure },
];

function test(file: string, format: Format, io: Io): void {
  const items = inBundle(file, (text): Tested[] => {
    const bundle = parsePolicyBundle(text);
    const untested = compilePolicy({ ...bundle, tests: [] }, nodeProvider);
    return bundle.tests.map((each, nth) => {
      const [failure] = failedTests(untested, [each]);
      const line = lineOfPath(text, `/tests/${nth}`);
      return { test: each.name, passes: failure === undefined, line, failure: failure?.message ?? null };
    });
  });
  io.write(listText({ items, columns, format }));
  const failed = items.filter(({ passes }) => !passes).length;
  if (failed > 0) throw new CommandFailed(`${failed} of ${items.length} tests failed`, 1);
  io.tell(items.length === 0 ? 'The policy has no tests. Add a test for a call that it must never allow.\n' : '');
}

function compiled(file: string): CompiledPolicy {
  return inBundle(file, (text) => compilePolicy(parsePolicyBundle(text), nodeProvider));
}
