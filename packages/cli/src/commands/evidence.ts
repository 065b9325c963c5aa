import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { exportEvidence, exportReceipts } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { packBytesMax, reportHtml, type ReportData } from '@countersign/report';
import { parseLogPolicy, readTrust, verifyText, type ExportReport } from '@countersign/verifier';
import { runCli } from '@countersign/verifier/run-cli';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { connect } from '../connection/connection.ts';
import { openStream } from '../connection/open-stream.ts';
import type { Io } from '../io.ts';
import { progressOf } from '../output/progress.ts';
import { addHostEvidence } from './host-evidence.ts';
import { withTrust, type TrustOptions } from './options.ts';
import { addReceiptProof } from './receipt-proof.ts';

type Scope = { session?: string[]; from?: string; to?: string; leaves?: string };
type Target = { file?: string };

/** Maximum size of a key set. It has room for about a thousand keys. */
const keySetBytesMax = 1_048_576;

export function addEvidence(program: Command, io: Io, end: (status: number) => void): void {
  const evidence = program.command('evidence').description('Evidence packs, which verify offline.');
  scoped(evidence.command('export'))
    .description('Export an evidence pack: everything of the workspace, or a part of it.')
    .option('--leaves <range>', 'a range of the log, such as 0..5000')
    .action((options: Scope & Target) => exportPack(options, io));
  evidence
    .command('verify')
    .description('Verify evidence offline: countersign-verify, with its options (countersign evidence verify --help).')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[arguments...]')
    .action(async (_arguments: string[], _options: object, command: Command) => end(await runCli(command.args, io)));
  withTrust(evidence.command('report'))
    .description('Write a pack and its verifier as one HTML file, which a browser opens without network.')
    .argument('<pack>', 'the file of an evidence pack')
    .option('--policy <file>', 'the witnesses that you trust, as a C2SP tlog-policy')
    .requiredOption('--file <path>', 'write the report to this new file')
    .action((pack: string, options: ReportOptions) => writeReport(pack, options, io));
  addReceiptProof(evidence, io);
  addHostEvidence(evidence, io);
}

type ReportOptions = TrustOptions & { file: string; policy?: string };

/** The maximum size of a policy of witnesses: 512 lines. */
const policyBytesMax = 65_536;

async function writeReport(packFile: string, { file, ...named }: ReportOptions, io: Io): Promise<void> {
  const [pack, keys] = await Promise.all([readText(packFile, packBytesMax), readText(named.keys, keySetBytesMax)]);
  const data = {
    ...{ pack, keys },
    ...(named.root !== undefined && { root: named.root }),
    ...(named.policy !== undefined && { policy: await readText(named.policy, policyBytesMax) }),
  };
  const { verdict } = reportOn(data, named);
  await writeFile(file, reportHtml(data), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(error.code === 'EEXIST' ? `${file} exists. Name a new file` : error.message, 2);
  });
  io.tell(`${verdict}: ${file}\n`);
}

function reportOn(
  { pack, keys, root, policy }: ReportData,
  { keys: file, trustVersion: versionMin, policy: policyFile }: Omit<ReportOptions, 'file'>,
): ExportReport {
  const provider = nodeProvider;
  const trust = usable(`${file} is not a key set`, () => readTrust(JSON.parse(keys), { root, versionMin, provider }));
  if (policy === undefined) return verifyText(pack, { trust, provider });
  const witnesses = usable(`${policyFile ?? ''} is not a policy of witnesses`, () => parseLogPolicy(policy, provider));
  return verifyText(pack, { trust, provider, policy: witnesses });
}

function usable<Value>(problem: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new CommandFailed(`${problem}: ${error instanceof Error ? error.message : ''}`, 2);
  }
}

async function readText(file: string, bytesMax: number): Promise<string> {
  const { size } = await stat(file).catch(() => {
    throw new CommandFailed(`${file} cannot be read. Name an existing file`, 2);
  });
  if (size > bytesMax)
    throw new CommandFailed(`${file} has ${size} bytes (limit ${bytesMax}). Export the evidence in parts`, 2);
  return await readFile(file, 'utf8');
}

/** Exports one session or one period in the formats of earlier versions. */
export function addReceiptsExport(receipts: Command, io: Io): void {
  scoped(receipts.command('export'))
    .description(
      'Export the receipts of one session or period. For evidence of any scope: countersign evidence export.',
    )
    .action(async ({ session = [], from, to, file }: Scope & Target) => {
      if (session.length > 1)
        throw new CommandFailed('This exports one session. For several, use countersign evidence export', 2);
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries({ session_id: session[0], from, to }))
        if (value !== undefined) query.set(name, value);
      const { path } = exportReceipts;
      const connection = await connect(configFrom(io.env));
      await save(
        await openStream(connection, { path: `${path}?${query.toString()}`, signal: io.signal }),
        { file },
        io,
      );
    });
}

async function exportPack({ session, from, to, leaves, file }: Scope & Target, io: Io): Promise<void> {
  const body = {
    ...(session === undefined ? {} : { sessions: session }),
    ...(from === undefined && to === undefined ? {} : { issued: { from, to } }),
    ...(leaves === undefined ? {} : { leaves: rangeOf(leaves) }),
  };
  const connection = await connect(configFrom(io.env));
  const response = await openStream(connection, { path: exportEvidence.path, body, signal: io.signal });
  const stated = response.headers.get('x-gov-evidence-hash');
  const hash = await save(response, { file }, io);
  if (hash !== stated) throw new CommandFailed(`The export was cut or changed: its hash is ${hash}, not ${stated}`, 1);
  io.tell(`${hash}\n`);
}

/** Saves a response, and returns the hash of its bytes. */
async function save(response: Response, { file }: Target, io: Io): Promise<string> {
  const hash = createHash('sha256');
  const out = file === undefined ? null : createWriteStream(file, { flags: 'wx' });
  const decoder = new TextDecoder();
  const progress = progressOf(io);
  const chunks = (response.body ?? []) as AsyncIterable<Uint8Array>; // the bytes of a response
  for await (const chunk of chunks) {
    hash.update(chunk);
    progress.add(chunk.length);
    if (out === null) io.write(decoder.decode(chunk, { stream: true }));
    else if (!out.write(chunk)) await once(out, 'drain');
  }
  progress.end();
  if (out !== null) {
    out.end();
    await once(out, 'finish');
  }
  return `sha256:${hash.digest('hex')}`;
}

function scoped(command: Command): Command {
  return command
    .option('--session <id...>', 'of these sessions or runs')
    .option('--from <instant>', 'issued at or after this time, such as 2026-11-01T00:00:00.000Z')
    .option('--to <instant>', 'issued before this time')
    .option('--file <path>', 'write to this new file instead of the standard output');
}

function rangeOf(text: string): { from: number; to?: number } {
  const [, from, to] = /^(\d+)\.\.(\d*)$/.exec(text) ?? [];
  if (from === undefined) throw new CommandFailed('--leaves is a range such as 0..5000, or 5000..', 2);
  return { from: Number(from), ...(to === undefined || to === '' ? {} : { to: Number(to) }) };
}
