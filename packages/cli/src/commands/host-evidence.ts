import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  hostChainBytesMax,
  importHostChain,
  listHostDrift,
  type HostChainReport,
  type HostDrift,
  type HostReceiptReport,
} from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, outputOption, type ListOptions } from './options.ts';

const receiptColumns: Column<HostReceiptReport>[] = [
  { title: 'RECEIPT', of: ({ host_receipt_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'BECAUSE', of: ({ reasons }) => reasons.join(', ') || null },
  { title: 'COMPARED', of: ({ correlation, drift }) => drift?.kind ?? correlation },
  { title: 'DECISION', of: ({ decision_receipt_id: id }) => id },
];

const driftColumns: Column<HostDrift>[] = [
  { title: 'DRIFT', of: ({ drift_id: id }) => id },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'AT', of: ({ observed_at: at }) => at },
  { title: 'DESTINATION', of: ({ destination }) => destination },
  { title: 'BYTES', of: ({ bytes_sent: bytes }) => String(bytes) },
  { title: 'RECORDER', of: ({ host_receipt_state: state }) => state },
  { title: 'DECISION', of: ({ decision_receipt_id: id }) => id },
];

/** `countersign evidence host`: observations of recorders outside the boundary. */
export function addHostEvidence(evidence: Command, io: Io): void {
  const host = evidence
    .command('host')
    .description('Chains of recorders outside the boundary, and their drift from the receipts of the kernel.');
  host
    .command('import')
    .description('Import a chain of a recorder. Exit 1 if the chain shows drift or has a receipt that fails.')
    .argument('<file>', 'JSON with two members: chain, and keys with the public keys of the recorder')
    .addOption(outputOption())
    .action((file: string, { output }: { output: Format }) => importFile(file, output, io));
  addListOptions(host.command('drift').description('List Boundary Drift, newest first.'))
    .option('--kind <kind>', 'without_intent, after_deny, destination_mismatch or volume_exceeded')
    .option('--chain <id>', 'of one imported chain')
    .action((options: ListOptions & { kind?: string; chain?: string }) => list(options, io));
}

async function importFile(file: string, output: Format, io: Io): Promise<void> {
  const body = importHostChain.body?.safeParse(await readJson(file));
  if (body?.success !== true) {
    const [issue] = body?.error.issues ?? [];
    throw new CommandFailed(
      `${file} is not a chain of a recorder: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
      2,
    );
  }
  const connection = await connect(configFrom(io.env));
  const report = await answered(connection, () =>
    connection.ask({ importHostChain }).importHostChain({ query: {}, body: body.data }),
  );
  write(report, output, io);
  const { failed, drift } = report.counts;
  if (failed + drift > 0) throw new CommandFailed(`${drift} events are drift, and ${failed} receipts failed`, 1);
}

function write(report: HostChainReport, output: Format, io: Io): void {
  if (output !== 'table') return io.write(objectText(report, output));
  io.write(listText({ items: report.receipts, columns: receiptColumns, format: output }));
  const { verified, not_verified: unproven, failed } = report.counts;
  io.tell(`${report.host_chain_id}: ${verified} verified, ${unproven} not verified, ${failed} failed\n`);
  io.tell(`${report.notice}\n`);
}

async function list({ output: format, limit, cursor, kind, chain }: Listing, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const narrowed = {
    ...(kind === undefined ? {} : { kind }),
    ...(chain === undefined ? {} : { host_chain_id: chain }),
  };
  const listed = await readList(
    connection,
    { limit, ...(cursor === undefined ? {} : { cursor }) },
    (at) => connection.ask({ listHostDrift }).listHostDrift({ query: { ...narrowed, ...at } as never }), // read by the server
  );
  const ifNone = 'No imported chain shows drift.';
  writeList({ ...listed, columns: driftColumns, format, ifNone }, io);
}

type Listing = ListOptions & { kind?: string; chain?: string };

async function readJson(file: string): Promise<unknown> {
  const { size } = await stat(file).catch(() => {
    throw new CommandFailed(`${file} cannot be read. Name an existing file`, 2);
  });
  if (size > hostChainBytesMax)
    throw new CommandFailed(`${file} has ${size} bytes (limit ${hostChainBytesMax}). Import it in parts`, 2);
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw new CommandFailed(`${file} does not contain JSON`, 2);
  }
}
