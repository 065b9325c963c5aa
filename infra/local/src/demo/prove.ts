import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Exported } from './export-chain.ts';
import { DemoFailure, type Step } from './step.ts';

/** Writes export and keys, and has them verified, and then a tampered copy refused, by a process that never saw the server. */
export function proveOffline({ chain, keys, head }: Exported, folder: string): Step[] {
  const [exportFile, keysFile] = [join(folder, 'export.json'), join(folder, 'keys.json')];
  writeFileSync(exportFile, JSON.stringify(chain));
  writeFileSync(keysFile, JSON.stringify(keys));
  const tamperedFile = join(folder, 'tampered.json');
  writeFileSync(tamperedFile, withOneByteChanged(readFileSync(exportFile, 'utf8')));
  const pinned = ['--keys', keysFile, '--head', head];
  return [verified(verify([exportFile, ...pinned])), tampered(verify([tamperedFile, ...pinned]))];
}

type Answer = { status: number; text: string };

/** `countersign-verify` in a process of its own, with the keys that the reader pinned. */
function verify(args: string[]): Answer {
  const verifier = join(dirname(createRequire(import.meta.url).resolve('@countersign/verifier')), 'cli.js');
  try {
    const text = execFileSync(process.execPath, [verifier, ...args], { encoding: 'utf8' });
    return { status: 0, text: text.trim() };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string }; // what execFileSync throws for an exit status
    return { status, text: stdout.trim() };
  }
}

function verified({ status, text }: Answer): Step {
  const [headline = '', ...chains] = text.split('\n');
  if (status !== 0 || !headline.startsWith('VERIFIED')) throw new DemoFailure('Offline verification', 'VERIFIED', text);
  return {
    title: 'The server is stopped; a separate process verifies the exported chain',
    asked: 'countersign-verify export.json --keys keys.json --head sha256:…',
    verdict: 'VERIFIED',
    reasonCode: headline.replace('VERIFIED: ', ''),
    receiptId: null,
    explanation: 'Signatures, hashes, order and inclusion in the log, checked against pinned public keys alone.',
    details: chains.map((line) => ['chain', line.trim()]),
  };
}

function tampered({ status, text }: Answer): Step {
  if (status !== 1) throw new DemoFailure('Tampered copy', 'a refusal', text);
  const [code = '', ...rest] = text.split(': ');
  return {
    title: 'One byte of a copy is changed',
    asked: 'countersign-verify tampered.json --keys keys.json --head sha256:…',
    verdict: 'TAMPER',
    reasonCode: `refused: ${code}`,
    receiptId: null,
    explanation: `${rest.join(': ')}.`,
  };
}

/** Makes the agent of the first receipt somebody else: still well-formed JSON, one byte off. */
function withOneByteChanged(text: string): string {
  const at = text.indexOf('"principal_id":"demo-agent"') + '"principal_id":"d'.length;
  return `${text.slice(0, at)}a${text.slice(at + 1)}`;
}
