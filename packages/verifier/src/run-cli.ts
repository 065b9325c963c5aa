/// <reference types="node" />
import { createReadStream, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Digest, Instant } from '@countersign/contracts';
import { parseStrictJson, utf8Text } from '@countersign/crypto';
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
import { parseLogPolicy, type LogPolicy } from './log-policy.ts';
import { readTrust } from './read-trust.ts';
import type { TrustedKey } from './trusted-keys.ts';
import { AuditVerification } from './verify-audit.ts';
import type { AuditOptions } from './verify-audit.ts';
import { ExportVerification } from './verify-export.ts';
import type { ExportOptions } from './verify-export.ts';
import { usageText } from './usage-text.ts';
import type { AskedConformance } from './verify-conformance.ts';

/** The version of the package, which is released together with the command. */
const formatVersion = '0.1.0';
const keysLimits = { bytesMax: 1_048_576, depthMax: 16 };
const statuses: Record<ExportReport['verdict'], number> = {
  VERIFIED: 0,
  NOT_VERIFIED: 1,
  INCOMPLETE: 3,
  UNDECIDABLE: 4,
};

type Streams = { write(text: string): void; stdin: AsyncIterable<Uint8Array> };

/**
 * Runs the whole command: reads the files in `argv` and writes the answer. Resolves to the exit status, and never
 * rejects.
 */
export async function runCli(argv: string[], { write, stdin }: Streams): Promise<number> {
  try {
    const query = readArguments(argv);
    if (typeof query === 'string') {
      write(query);
      return 0;
    }
    if (query.kind === 'conformance') {
      // Reads at most one byte more than the limit, which shows that the proof is too large.
      const text = await buffer(createReadStream(query.file, { end: proofLimits.bytesMax }));
      const answer = conformanceAnswerOfText(text, {
        ...query.options,
        trust: readKeys(query),
        provider: nodeProvider,
      });
      write(query.json ? `${jsonForTerminal(answer)}\n` : describeConformance(answer));
      return conformanceStatus(answer);
    }
    // Opened lazily, since a missing file must not fail without a listener.
    const chunks = () => (query.file === '-' ? stdin : (createReadStream(query.file) as AsyncIterable<Buffer>)); // no encoding is set
    if (query.kind === 'audit') {
      const report = await verifyLines(chunks(), new AuditVerification({ ...query.options, provider: nodeProvider }));
      write(query.json ? `${jsonForTerminal(report)}\n` : describeAudit(report));
      return statuses[report.verdict];
    }
    const trust = readKeys(query);
    const options = { ...query.options, trust, provider: nodeProvider };
    const earlier = query.beside === undefined ? undefined : await readEarlier(query.beside, options);
    const report = await verifyLines(
      chunks(),
      new ExportVerification({ ...options, earlier, policy: readPolicy(query.policy) }),
    );
    if (report.period !== null) assertOptions('the export of a period', query.inputs);
    if (report.pack !== null) assertOptions('an evidence pack', query.inputs);
    write(query.json ? `${jsonForTerminal(report)}\n` : describeReport(report));
    return statuses[report.verdict];
  } catch (error) {
    write(`${forTerminal(clipped(cliProblem(error)))}\n`);
    return 2;
  }
}

/**
 * The places of an earlier export. Throws when that export does not verify, since nothing can then be compared with it.
 */
async function readEarlier(file: string, { trust, provider, origin, tenant }: ExportOptions): Promise<EarlierPlaces> {
  const earlier = new EarlierPlaces();
  const options = { trust, provider, origin, tenant, places: earlier, require: ['integrity', 'signer'] as const };
  const chunks = createReadStream(file) as AsyncIterable<Buffer>; // no encoding is set
  const { verdict } = await verifyLines(chunks, new ExportVerification(options));
  if (verdict !== 'VERIFIED') throw new Error(`--beside ${file} does not verify: ${verdict}`);
  return earlier;
}

/** `keys` is the file of a key set, or of a trust list that `root` signed. */
type NamedTrust = { keys: string; root?: string | undefined; trustVersion?: number | undefined };

/** Throws an error that names the file that cannot be read. */
export function readKeys({ keys: file, root, trustVersion: versionMin }: NamedTrust): TrustedKey[] {
  try {
    return readTrust(parseStrictJson(readFileSync(file), keysLimits), { root, versionMin, provider: nodeProvider });
  } catch (cause) {
    // Stryker disable next-line ObjectLiteral: The command prints the message alone.
    throw new Error(`--keys ${cliProblem(cause, file)}`, { cause });
  }
}

/** The policy of the witnesses that the caller trusts. The error names the file that cannot be read. */
function readPolicy(file: string | undefined): LogPolicy | undefined {
  if (file === undefined) return undefined;
  try {
    return parseLogPolicy(utf8Text(readFileSync(file)), nodeProvider);
  } catch (cause) {
    throw new Error(`--policy ${cliProblem(cause, file)}`, { cause });
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

/** `inputs`: the options by name, with all their values. */
type Input = { file: string; json: boolean; inputs: string[] } & (
  | (NamedTrust & {
      kind: 'export';
      beside: string | undefined;
      policy: string | undefined;
      options: Omit<ExportOptions, 'trust' | 'provider'>;
    })
  | { kind: 'audit'; options: Omit<AuditOptions, 'provider'> }
  | (NamedTrust & { kind: 'conformance'; options: Pick<AskedConformance, 'origin' | 'vectorsHash'> })
);

/** Parses the arguments. Returns a text if that text is already the whole answer of the command. */
function readArguments(argv: string[]): Input | string {
  const { values, positionals, tokens } = parseArgs({
    args: withJoinedRoot(argv),
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
      policy: { type: 'string' },
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
  const inputs = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const [file, ...rest] = positionals;
  const { keys, json, partial, head: noted, origin, vectors, tenant, session, workspace } = values;
  if (values.audit) {
    assertOptions('an audit log', inputs);
    if (file === undefined || rest.length > 0)
      throw new Error('countersign-verify --audit needs exactly one export; see --help');
    return { kind: 'audit', file, json, inputs, options: { heads: noted.map(headOf), workspace } };
  }
  assertOptions(values.conformance ? 'a conformance proof' : 'an export', inputs);
  if (file === undefined || rest.length > 0 || keys === undefined)
    throw new Error('countersign-verify needs exactly one export or proof, and --keys; see --help');
  const named = { keys, root: values.root, trustVersion: versionOf(values['trust-version']) };
  if (values.conformance) {
    return { kind: 'conformance', file, ...named, json, inputs, options: { origin, vectorsHash: vectors } };
  }
  const required = values.require === undefined ? requirements : requirementsOf(values.require);
  const wants = [...noted, ...values.contains, values.sessions, values.beside].some((want) => want !== undefined);
  if (wants && !required.includes('completeness'))
    throw new Error('--head, --contains, --sessions and --beside need completeness in --require; see --help');
  if (values.policy !== undefined && !required.includes('time'))
    throw new Error('--policy needs time in --require; see --help');
  const period = { from: instantOf('--from', values.from), to: instantOf('--to', values.to) };
  const wanted = { contains: values.contains.map(headOf), sessions: values.sessions?.split(',') };
  const options = { partial, heads: noted.map(headOf), wanted, tenant, session, ...period, require: required, origin };
  return { kind: 'export', file, ...named, json, inputs, options, beside: values.beside, policy: values.policy };
}

/** `--root KEY` as one argument. A key in base64url can begin with a dash, which would be read as an option. */
function withJoinedRoot(argv: string[]): string[] {
  const at = argv.indexOf('--root');
  const key = argv[at + 1];
  const isKey = at !== -1 && key !== undefined && /^-[A-Za-z0-9_-]{42}$/.test(key);
  return isKey ? argv.toSpliced(at, 2, `--root=${key}`) : argv;
}

function versionOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const version = Number(value);
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Error('--trust-version must be a whole number of at least 1');
  return version;
}

function headOf(value: string): string {
  const head = Digest.safeParse(value);
  if (!head.success) throw new Error('--head and --contains must be sha256: and 64 hexadecimal digits');
  return head.data;
}

function instantOf(option: string, value: string | undefined): Instant | undefined {
  const instant = Instant.optional().safeParse(value);
  if (!instant.success) throw new Error(`${option} must be an instant such as 2026-11-01T00:00:00.000Z`);
  return instant.data;
}

function requirementsOf(list: string): Requirement[] {
  return list.split(',').map((name) => {
    const existing = requirements.find((requirement) => requirement === name);
    if (existing === undefined)
      throw new Error(`--require has the unknown value ${name}. Use ${requirements.join(', ')}`);
    return existing;
  });
}
