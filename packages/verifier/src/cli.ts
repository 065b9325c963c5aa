#!/usr/bin/env node
/// <reference types="node" />
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Digest, Instant } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { assertOptions } from './assert-options.ts';
import { clipped } from './clipped.ts';
import { conformanceAnswerOfText, conformanceStatus, describeConformance, proofLimits } from './conformance-answer.ts';
import { describeAudit } from './describe-audit.ts';
import { cliProblem } from './cli-problem.ts';
import { EarlierPlaces } from './earlier-places.ts';
import { describeReport } from './describe-report.ts';
import { requirements } from './export-report.ts';
import type { ExportReport, Requirement } from './export-report.ts';
import { forTerminal, jsonForTerminal } from './for-terminal.ts';
import { lineBytesMax, LineTooLong, readLines } from './read-lines.ts';
import { readTrust } from './read-trust.ts';
import type { TrustedKey } from './trusted-keys.ts';
import { AuditVerification } from './verify-audit.ts';
import type { AuditOptions } from './verify-audit.ts';
import { ExportVerification } from './verify-export.ts';
import type { ExportOptions } from './verify-export.ts';
import { usageText } from './usage-text.ts';
import type { AskedConformance } from './verify-conformance.ts';

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
        trust: readKeys(asked),
        provider: nodeProvider,
      });
      write(asked.json ? `${jsonForTerminal(answer)}\n` : describeConformance(answer));
      return conformanceStatus(answer);
    }
    // Opened when it is read: an absent file must not fail without a listener.
    const chunks = () => (asked.file === '-' ? stdin : (createReadStream(asked.file) as AsyncIterable<Buffer>)); // no encoding is set
    if (asked.kind === 'audit') {
      const report = await verifyLines(chunks(), new AuditVerification({ ...asked.options, provider: nodeProvider }));
      write(asked.json ? `${jsonForTerminal(report)}\n` : describeAudit(report));
      return statuses[report.verdict];
    }
    const trust = readKeys(asked);
    const options = { ...asked.options, trust, provider: nodeProvider };
    const earlier = asked.beside === undefined ? undefined : await readEarlier(asked.beside, options);
    const report = await verifyLines(chunks(), new ExportVerification({ ...options, earlier }));
    if (report.period !== null) assertOptions('the export of a period', asked.given);
    if (report.pack !== null) assertOptions('an evidence pack', asked.given);
    write(asked.json ? `${jsonForTerminal(report)}\n` : describeReport(report));
    return statuses[report.verdict];
  } catch (error) {
    write(`${forTerminal(clipped(cliProblem(error)))}\n`);
    return 2;
  }
}

/**
 * The places of an earlier export. Throws when it is not verified itself: then it is nothing to compare with. Throws
 * when it is not verified itself: then it is nothing to compare with.
 */
async function readEarlier(file: string, { trust, provider, origin, tenant }: ExportOptions): Promise<EarlierPlaces> {
  const earlier = new EarlierPlaces();
  const options = { trust, provider, origin, tenant, places: earlier, require: ['integrity', 'signer'] as const };
  const chunks = createReadStream(file) as AsyncIterable<Buffer>; // no encoding is set
  const { verdict } = await verifyLines(chunks, new ExportVerification(options));
  if (verdict !== 'VERIFIED') throw new Error(`--beside ${file} is ${verdict} itself`);
  return earlier;
}

/** `keys` is the file of a key set, or of a trust list that `root` signed. */
type NamedTrust = { keys: string; root?: string | undefined; trustVersion?: number | undefined };

/** Says which of the two files it is that cannot be read. */
export function readKeys({ keys: file, root, trustVersion: versionMin }: NamedTrust): TrustedKey[] {
  try {
    return readTrust(parseStrictJson(readFileSync(file), keysLimits), { root, versionMin, provider: nodeProvider });
  } catch (cause) {
    // Stryker disable next-line ObjectLiteral: The command prints the message alone.
    throw new Error(`--keys ${cliProblem(cause, file)}`, { cause });
  }
}

type Verification<Report> = {
  take(line: Uint8Array): boolean;
  refuseLine(): void;
  endWithoutLineFeed?(): void;
  report(): Report;
};

export async function verifyLines<Report>(
  chunks: AsyncIterable<Uint8Array>,
  verification: Verification<Report>,
): Promise<Report> {
  try {
    const cut = () => verification.endWithoutLineFeed?.();
    for await (const line of readLines(chunks, lineBytesMax, cut)) if (!verification.take(line)) break;
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    verification.refuseLine();
  }
  return verification.report();
}

/** `given`: the options by their names, as often as they stand there. */
type Asked = { file: string; json: boolean; given: string[] } & (
  | (NamedTrust & {
      kind: 'export';
      beside: string | undefined;
      options: Omit<ExportOptions, 'trust' | 'provider'>;
    })
  | { kind: 'audit'; options: Omit<AuditOptions, 'provider'> }
  | (NamedTrust & { kind: 'conformance'; options: Pick<AskedConformance, 'origin' | 'vectorsHash'> })
);

/** A text is all there is to answer. */
function readArguments(argv: string[]): Asked | string {
  const { values, positionals, tokens } = parseArgs({
    args: argv,
    allowPositionals: true,
    tokens: true,
    options: {
      keys: { type: 'string' },
      root: { type: 'string' },
      'trust-version': { type: 'string' },
      tenant: { type: 'string' },
      session: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      origin: { type: 'string' },
      vectors: { type: 'string' },
      head: { type: 'string', multiple: true, default: [] },
      contains: { type: 'string', multiple: true, default: [] },
      sessions: { type: 'string' },
      beside: { type: 'string' },
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
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const [file, ...rest] = positionals;
  const { keys, json, partial, head: noted, origin, vectors, tenant, session, workspace } = values;
  if (values.audit) {
    assertOptions('an audit log', given);
    if (file === undefined || rest.length > 0)
      throw new Error('countersign-verify --audit takes one export; see --help');
    return { kind: 'audit', file, json, given, options: { heads: noted.map(headOf), workspace } };
  }
  assertOptions(values.conformance ? 'a conformance proof' : 'an export', given);
  if (file === undefined || rest.length > 0 || keys === undefined)
    throw new Error('countersign-verify takes one export and --keys; see --help');
  const named = { keys, root: values.root, trustVersion: versionOf(values['trust-version']) };
  if (values.conformance) {
    return { kind: 'conformance', file, ...named, json, given, options: { origin, vectorsHash: vectors } };
  }
  const required = values.require === undefined ? requirements : requirementsOf(values.require);
  const wants = [...noted, ...values.contains, values.sessions, values.beside].some((want) => want !== undefined);
  if (wants && !required.includes('completeness'))
    throw new Error('--head asks for completeness, which --require leaves out; see --help');
  const period = { from: instantOf('--from', values.from), to: instantOf('--to', values.to) };
  const wanted = { contains: values.contains.map(headOf), sessions: values.sessions?.split(',') };
  const options = { partial, heads: noted.map(headOf), wanted, tenant, session, ...period, require: required, origin };
  return { kind: 'export', file, ...named, json, given, options, beside: values.beside };
}

function versionOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const version = Number(value);
  if (!Number.isSafeInteger(version) || version < 1) throw new Error('--trust-version is a whole number from 1 on');
  return version;
}

function headOf(value: string): string {
  const head = Digest.safeParse(value);
  if (!head.success) throw new Error('--head is sha256: and 64 hexadecimal digits');
  return head.data;
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
