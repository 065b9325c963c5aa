import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Exported } from './export-chain.ts';
import { DemoFailure, type Step } from './step.ts';

/**
 * Writes the export and the keys. Separate processes without access to the server then verify them, and refuse a
 * tampered copy.
 */
export function proveOffline({ chain, keys }: Exported, folder: string): Step[] {
  const [exportFile, keysFile] = [join(folder, 'export.ndjson'), join(folder, 'keys.json')];
  writeFileSync(exportFile, chain.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(keysFile, JSON.stringify(keys));
  const tamperedFile = join(folder, 'tampered.ndjson');
  writeFileSync(tamperedFile, withOneByteChanged(readFileSync(exportFile, 'utf8')));
  const pinned = ['--keys', keysFile];
  return [verified(verify([exportFile, ...pinned])), tampered(verify([tamperedFile, ...pinned]))];
}

type Answer = { status: number; text: string };

/** Runs `countersign-verify` as a separate process with the pinned keys. */
function verify(args: string[]): Answer {
  const verifier = join(dirname(createRequire(import.meta.url).resolve('@countersign/verifier')), 'cli.js');
  try {
    const text = execFileSync(process.execPath, [verifier, ...args], { encoding: 'utf8' });
    return { status: 0, text: text.trim() };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string }; // for any exit status but 0
    return { status, text: stdout.trim() };
  }
}

function verified({ status, text }: Answer): Step {
  const [headline = '', ...answers] = text.split('\n');
  if (status !== 0 || !headline.startsWith('VERIFIED')) throw new DemoFailure('Offline verification', 'VERIFIED', text);
  return {
    title: 'The server is stopped; a separate process verifies the exported chain',
    request: 'countersign-verify export.ndjson --keys keys.json',
    verdict: 'VERIFIED',
    reasonCode: headline.replace('VERIFIED: ', ''),
    receiptId: null,
    explanation: 'Signatures, hashes, order, completeness and time, checked against pinned public keys alone.',
    details: answers.map(answered),
  };
}

function answered(line: string): [string, string] {
  const [name = '', ...statement] = line.trim().split(/\s+/);
  return [name.replace(/:$/, ''), statement.join(' ')];
}

function tampered({ status, text }: Answer): Step {
  if (status !== 1) throw new DemoFailure('Tampered copy', 'a refusal', text);
  const [, code = '', ...rest] = (text.split('\n')[0] ?? '').split(': ');
  return {
    title: 'One byte of a copy is changed',
    request: 'countersign-verify tampered.ndjson --keys keys.json',
    verdict: 'TAMPER',
    reasonCode: `refused: ${code}`,
    receiptId: null,
    explanation: `${rest.join(': ')}.`,
  };
}

/** Changes one byte of the principal id in the first receipt. The text is still valid JSON. */
function withOneByteChanged(text: string): string {
  const at = text.indexOf('"principal_id":"demo-agent"') + '"principal_id":"d'.length;
  return `${text.slice(0, at)}a${text.slice(at + 1)}`;
}
