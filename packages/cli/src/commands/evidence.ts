import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { exportEvidence, exportReceipts } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { packBytesMax, reportHtml, type ReportData } from '@countersign/report';
import { readTrust, verifyText, type ExportReport } from '@countersign/verifier';
import { runCli } from '@countersign/verifier/cli';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { connect } from '../connection/connection.ts';
import { openStream } from '../connection/open-stream.ts';
import type { Io } from '../io.ts';
import { progressOf } from '../output/progress.ts';
import { addHostEvidence } from './host-evidence.ts';
import { withTrust, type TrustOptions } from './options.ts';

type Scope = { session?: string[]; from?: string; to?: string; leaves?: string };
type Target = { file?: string };

/** A thousand keys. */
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
    .requiredOption('--file <path>', 'write the report to this new file')
    .action((pack: string, options: ReportOptions) => writeReport(pack, options, io));
  addHostEvidence(evidence, io);
}

type ReportOptions = TrustOptions & { file: string };

async function writeReport(packFile: string, { file, ...named }: ReportOptions, io: Io): Promise<void> {
  const [pack, keys] = await Promise.all([readText(packFile, packBytesMax), readText(named.keys, keySetBytesMax)]);
  const data = { pack, keys, ...(named.root === undefined ? {} : { root: named.root }) };
  const { verdict } = reportOn(data, named);
  await writeFile(file, reportHtml(data), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(error.code === 'EEXIST' ? `${file} exists. Name a new file` : error.message, 2);
  });
  io.tell(`${verdict}: ${file}\n`);
}

function reportOn(
  { pack, keys, root }: ReportData,
  { keys: file, trustVersion: versionMin }: TrustOptions,
): ExportReport {
  try {
    const trust = readTrust(JSON.parse(keys), { root, versionMin, provider: nodeProvider });
    return verifyText(pack, { trust, provider: nodeProvider });
  } catch (error) {
    throw new CommandFailed(`${file} is no key set: ${error instanceof Error ? error.message : ''}`, 2);
  }
}

async function readText(file: string, bytesMax: number): Promise<string> {
  const { size } = await stat(file).catch(() => {
    throw new CommandFailed(`${file} cannot be read. Name an existing file`, 2);
  });
  if (size > bytesMax)
    throw new CommandFailed(
      `${file} has ${size} bytes, and a report holds ${bytesMax}. Export the evidence in parts`,
      2,
    );
  return await readFile(file, 'utf8');
}

/** In the earlier formats: one session, or one period. */
export function addReceiptsExport(receipts: Command, io: Io): void {
  scoped(receipts.command('export'))
    .description(
      'Export the receipts of one session or period. For evidence of any scope: countersign evidence export.',
    )
    .action(async ({ session = [], from, to, file }: Scope & Target) => {
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

/** Returns the hash of what was saved. */
async function save(response: Response, { file }: Target, io: Io): Promise<string> {
  const hash = createHash('sha256');
  const out = file === undefined ? null : createWriteStream(file, { flags: 'wx' });
  const decoder = new TextDecoder();
  const progress = progressOf(io);
  const chunks = (response.body ?? []) as AsyncIterable<Uint8Array>; // the bytes of an answer
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
    .option('--from <instant>', 'issued then or later, such as 2026-11-01T00:00:00.000Z')
    .option('--to <instant>', 'issued earlier than then')
    .option('--file <path>', 'write it to this new file, and not to the standard output');
}

function rangeOf(text: string): { from: number; to?: number } {
  const [, from, to] = /^(\d+)\.\.(\d*)$/.exec(text) ?? [];
  if (from === undefined) throw new CommandFailed('--leaves is a range such as 0..5000, or 5000..', 2);
  return { from: Number(from), ...(to === undefined || to === '' ? {} : { to: Number(to) }) };
}
