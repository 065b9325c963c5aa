import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { PackReplayReport, ReplayedReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { forTerminal, jsonForTerminal } from '@countersign/verifier';
import { readKeys, verifyLines } from '@countersign/verifier/run-cli';
import { PackReplay } from '@countersign/what-if';
import type { Io } from '../io.ts';
import { inBundle } from './bundle-file.ts';
import { withTrust, type TrustOptions } from './options.ts';

type Options = TrustOptions & { policy?: string; json?: true };

export function addReplay(program: Command, io: Io, end: (status: number) => void): void {
  withTrust(program.command('replay'))
    .description('Verify an evidence pack offline, and replay its decisions.')
    .argument('<pack>')
    .option('--policy <file>', 'replay with this policy instead of those of the pack')
    .option('--json', 'print the report as JSON')
    .action(async (pack: string, options: Options) => end(await replay(pack, options, io)));
}

async function replay(pack: string, { policy, json, ...named }: Options, io: Io): Promise<number> {
  const compile = (text: string) => compilePolicy(parsePolicyBundle(text), nodeProvider);
  const draft = policy === undefined ? null : inBundle(policy, compile);
  const expected = {};
  const replayed = new PackReplay({ trust: readKeys(named), provider: nodeProvider, expected, draft });
  const chunks = createReadStream(pack) as AsyncIterable<Buffer>; // no encoding is set
  const report = await verifyLines(chunks, replayed);
  io.write(json === true ? `${jsonForTerminal(report)}\n` : textOf(report));
  return statusOf(report);
}

/**
 * The exit status that countersign-verify would return. If a decision differs, the pack counts as not verified. If a
 * decision cannot be replayed, evidence counts as missing.
 */
function statusOf({ evidence, diverged, unreplayable }: PackReplayReport): number {
  if (evidence.verdict === 'UNDECIDABLE') return 4;
  if (evidence.verdict === 'NOT_VERIFIED' || diverged > 0) return 1;
  return evidence.verdict === 'INCOMPLETE' || unreplayable > 0 ? 3 : 0;
}

function textOf({ evidence, results, ...counts }: PackReplayReport): string {
  const { decisions, match, diverged, unreplayable } = counts;
  const fault = evidence.fault === null ? '' : `: ${evidence.fault.code} in line ${evidence.fault.line}`;
  const lines = [
    `evidence ${evidence.verdict}${fault}`,
    `${decisions} decisions: ${match} MATCH, ${diverged} DIVERGED, ${unreplayable} UNREPLAYABLE`,
    ...results.filter(({ outcome }) => outcome !== 'MATCH').map(resultText),
  ];
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}

function resultText({ receipt_id, outcome, recorded, replayed, missing }: ReplayedReceipt): string {
  const before = `${outcome} ${receipt_id}: ${recorded.verdict} ${recorded.reason_code}`;
  if (replayed === null) return `${before}, cannot be replayed without ${missing.join(', ')}`;
  return `${before}, now ${replayed.verdict} ${replayed.reason_code}`;
}
