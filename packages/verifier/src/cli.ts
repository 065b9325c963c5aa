#!/usr/bin/env node
/// <reference types="node" />
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CryptoError, parseStrictJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { verifyExport } from './verify-export.ts';
import type { ExportReport } from './verify-export.ts';

const USAGE = `Usage: countersign-verify <export.json> --keys <keys.json> [--json] [--partial] [--head <sha256:…>]… [--origin <log>]
Exit status: 0 verified, 1 not verified, 2 could not run.`;
const LIMITS = { bytesMax: 512 * 1024 * 1024, depthMax: 64 };

// Package managers start the command through a link; importing this module starts nothing.
const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  process.exitCode = runCli(process.argv.slice(2), (text) => process.stdout.write(text));
}

/** The whole command: reads the files that `argv` names and writes its answer. Returns the exit status; never throws. */
export function runCli(argv: string[], write: (text: string) => void): number {
  try {
    const { file, keys, json, options } = readArguments(argv);
    const trust = parseKeySet(parseStrictJson(readFileSync(keys), LIMITS));
    const report = verifyFile(file, { ...options, trust, provider: nodeProvider });
    write(json ? `${JSON.stringify(report)}\n` : describe(report));
    return report.verdict === 'VERIFIED' ? 0 : 1;
  } catch (error) {
    write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

function readArguments(argv: string[]) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      keys: { type: 'string' },
      json: { type: 'boolean', default: false },
      partial: { type: 'boolean', default: false },
      head: { type: 'string', multiple: true, default: [] },
      origin: { type: 'string' },
    },
  });
  const [file, ...rest] = positionals;
  const { keys, json, partial, head: heads, origin } = values;
  if (file === undefined || rest.length > 0 || keys === undefined) throw new Error(USAGE);
  return { file, keys, json, options: { partial, heads, ...(origin === undefined ? {} : { origin }) } };
}

// An export that is no JSON is not verified; only what the caller chose (paths, keys) makes the run itself fail.
function verifyFile(file: string, options: Parameters<typeof verifyExport>[1]): ExportReport {
  const bytes = readFileSync(file);
  try {
    return verifyExport(parseStrictJson(bytes, LIMITS), options);
  } catch (error) {
    if (!(error instanceof CryptoError) && !(error instanceof VerificationError)) throw error;
    return {
      verdict: 'NOT_VERIFIED',
      code: 'MALFORMED',
      message: error.message,
      receipts: 0,
      records: 0,
      proofs: 0,
      chains: [],
    };
  }
}

function describe(report: ExportReport): string {
  const counts = `${report.receipts} receipts, ${report.records} records, ${report.proofs} inclusion proofs`;
  if (report.verdict !== 'VERIFIED') {
    const place = report.first_broken?.index ?? null;
    return `${report.code ?? 'NOT_VERIFIED'}: ${report.message ?? ''}${place === null ? '' : ` (receipt ${place + 1} of the export)`}\n`;
  }
  const chains = report.chains.map(
    ({ tenant_id, session_id, first, last, start, end }) =>
      `  ${tenant_id}/${session_id}: ${first}–${last}, START_${start}, END_${end}\n`,
  );
  return `VERIFIED: ${counts}\n${chains.join('')}`;
}
