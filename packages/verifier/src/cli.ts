#!/usr/bin/env node
/// <reference types="node" />
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Instant } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { conformanceAnswerOfText, conformanceStatus, describeConformance, proofLimits } from './conformance-answer.ts';
import { describeAudit } from './describe-audit.ts';
import { describeReport } from './describe-report.ts';
import { requirements } from './export-report.ts';
import type { ExportReport, Requirement } from './export-report.ts';
import { forTerminal, jsonForTerminal } from './for-terminal.ts';
import { lineBytesMax, LineTooLong, readLines } from './read-lines.ts';
import { parseKeySet } from './trusted-keys.ts';
import type { TrustedKey } from './trusted-keys.ts';
import { AuditVerification } from './verify-audit.ts';
import type { AuditOptions } from './verify-audit.ts';
import { ExportVerification } from './verify-export.ts';
import type { ExportOptions } from './verify-export.ts';
import type { AskedConformance } from './verify-conformance.ts';

const usageText = `Usage: countersign-verify <export> --keys <keys.json> [options]
       countersign-verify --audit <export> [--workspace <id>] [--head <sha256:…>] [--json]
       countersign-verify --conformance <proof> --keys <keys.json> [--vectors <sha256:…>] [--origin <line>] [--json]

Verifies offline the export of a session (countersign/chain-export.v2) or of a period (countersign/period-export.v1), the audit log of a
workspace or a person (countersign/audit-export.v1 and v2), or what a conformance run left (countersign/conformance-proof.v1). <export> is a file, or - for
the standard input; <proof> is a file.

  --keys <file>       the keys you trust, as /api/v1/trust/keys serves them; keep your own copy
  --tenant <id>       refuse receipts of any other tenant
  --session <id>      refuse receipts of any other session
  --from <instant>    refuse what is not the export of a period that begins then, such as 2026-11-01T00:00:00.000Z
  --to <instant>      the same for the end of the period
  --origin <line>     refuse checkpoints of any other log
  --head <sha256:…>   a chain must end with this receipt, or a session's part of a period; may be repeated
  --partial           the export is a part of a session: it may begin late and end early
  --require <list>    what VERIFIED must say, of ${requirements.join(',')}; all unless given
  --audit             the export is an audit log; --head then names an entry that was noted earlier
  --workspace <id>    refuse the audit log of any other workspace or person
  --conformance       it is the proof of a conformance run
  --vectors <sha256>  refuse a run of any other vectors
  --json              print the report as JSON
  --help, --version

Exit status: 0 all that was required is verified, 1 not verified, 2 could not run, 3 nothing is wrong and something is missing,
4 undecidable: a key is unknown, or a line or proof too large. Of a conformance run: 0 it passed, and that is proven.
`;
/** That of the package; the command is released with it. */
const formatVersion = '0.1.0';
const keysLimits = { bytesMax: 1_048_576, depthMax: 16 };
const statuses: Record<ExportReport['verdict'], number> = {
  VERIFIED: 0,
  NOT_VERIFIED: 1,
  INCOMPLETE: 3,
  UNDECIDABLE: 4,
};

type Streams = { write(text: string): void; stdin: AsyncIterable<Uint8Array> };

// Package managers start the command through a link; importing this module starts nothing.
const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  const write = (text: string) => process.stdout.write(text);
  process.exitCode = await runCli(process.argv.slice(2), { write, stdin: process.stdin });
}

/** The whole command: reads what `argv` names and writes its answer. Resolves to the exit status; never rejects. */
export async function runCli(argv: string[], { write, stdin }: Streams): Promise<number> {
  try {
    const asked = readArguments(argv);
    if (typeof asked === 'string') {
      write(asked);
      return 0;
    }
    if (asked.kind === 'conformance') {
      // One byte more shows that it is too large, and no file is read beyond that.
      const text = await buffer(createReadStream(asked.file, { end: proofLimits.bytesMax }));
      const answer = conformanceAnswerOfText(text, {
        ...asked.options,
        trust: readKeys(asked.keys),
        provider: nodeProvider,
      });
      write(asked.json ? `${jsonForTerminal(answer)}\n` : describeConformance(answer));
      return conformanceStatus(answer);
    }
    // Opened when it is read: a file that is absent must not fail while nobody listens.
    const chunks = () => (asked.file === '-' ? stdin : (createReadStream(asked.file) as AsyncIterable<Buffer>)); // no encoding is set
    if (asked.kind === 'audit') {
      const report = await verifyLines(chunks(), new AuditVerification({ ...asked.options, provider: nodeProvider }));
      write(asked.json ? `${jsonForTerminal(report)}\n` : describeAudit(report));
      return statuses[report.verdict];
    }
    const trust = readKeys(asked.keys);
    const report = await verifyLines(
      chunks(),
      new ExportVerification({ ...asked.options, trust, provider: nodeProvider }),
    );
    write(asked.json ? `${jsonForTerminal(report)}\n` : describeReport(report));
    return statuses[report.verdict];
  } catch (error) {
    write(`${forTerminal(error instanceof Error ? error.message : String(error))}\n`);
    return 2;
  }
}

/** Says which of the two files it is that cannot be read. */
function readKeys(file: string): TrustedKey[] {
  try {
    return parseKeySet(parseStrictJson(readFileSync(file), keysLimits));
  } catch (cause) {
    throw new Error(`--keys ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

type Verification<Report> = { take(line: Uint8Array): boolean; refuseLine(): void; report(): Report };

async function verifyLines<Report>(
  chunks: AsyncIterable<Uint8Array>,
  verification: Verification<Report>,
): Promise<Report> {
  try {
    for await (const line of readLines(chunks, lineBytesMax)) if (!verification.take(line)) break;
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    verification.refuseLine();
  }
  return verification.report();
}

type Asked = { file: string; json: boolean } & (
  | { kind: 'chain'; keys: string; options: Omit<ExportOptions, 'trust' | 'provider'> }
  | { kind: 'audit'; options: Omit<AuditOptions, 'provider'> }
  | { kind: 'conformance'; keys: string; options: Pick<AskedConformance, 'origin' | 'vectorsHash'> }
);

/** A text is all there is to answer. */
function readArguments(argv: string[]): Asked | string {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      keys: { type: 'string' },
      tenant: { type: 'string' },
      session: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      origin: { type: 'string' },
      vectors: { type: 'string' },
      head: { type: 'string', multiple: true, default: [] },
      require: { type: 'string' },
      audit: { type: 'boolean', default: false },
      conformance: { type: 'boolean', default: false },
      workspace: { type: 'string' },
      json: { type: 'boolean', default: false },
      partial: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
    },
  });
  if (values.help) return usageText;
  if (values.version) return `countersign-verify ${formatVersion}\n`;
  const [file, ...rest] = positionals;
  const { keys, json, partial, head: heads, origin, vectors, tenant, session, workspace } = values;
  if (values.audit) {
    if (file === undefined || rest.length > 0)
      throw new Error('countersign-verify --audit takes one export; see --help');
    return { kind: 'audit', file, json, options: { heads, workspace } };
  }
  if (file === undefined || rest.length > 0 || keys === undefined)
    throw new Error('countersign-verify takes one export and --keys; see --help');
  const ofLog = origin === undefined ? {} : { origin };
  if (values.conformance) {
    const options = { ...ofLog, ...(vectors === undefined ? {} : { vectorsHash: vectors }) };
    return { kind: 'conformance', file, keys, json, options };
  }
  const required = values.require === undefined ? requirements : requirementsOf(values.require);
  const period = { from: instantOf('--from', values.from), to: instantOf('--to', values.to) };
  const options = { partial, heads, tenant, session, ...period, require: required, ...ofLog };
  return { kind: 'chain', file, keys, json, options };
}

function instantOf(option: string, value: string | undefined): Instant | undefined {
  const instant = Instant.optional().safeParse(value);
  if (!instant.success) throw new Error(`${option} is an instant such as 2026-11-01T00:00:00.000Z`);
  return instant.data;
}

function requirementsOf(list: string): Requirement[] {
  return list.split(',').map((name) => {
    const known = requirements.find((requirement) => requirement === name);
    if (known === undefined) throw new Error(`--require knows ${requirements.join(', ')}`);
    return known;
  });
}
