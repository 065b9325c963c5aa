import type { Command } from 'commander';
import { getReceipt, listReceipts, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import { configFrom } from '../config.ts';
import { answered, connect } from '../connection/connection.ts';
import { readEvents } from '../connection/read-events.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addReceiptsExport } from './evidence.ts';
import { addListOptions, outputOption, type ListOptions } from './options.ts';

const columns: Column<StoredReceipt>[] = [
  { title: 'RECEIPT', of: ({ payload }) => payload.receipt_id },
  { title: 'ISSUED', of: ({ payload }) => payload.issued_at },
  { title: 'VERDICT', of: ({ payload }) => payload.verdict },
  { title: 'REASON', of: ({ payload }) => payload.reason_code },
  { title: 'TOOL', of: ({ payload }) => payload.tool ?? payload.action },
  { title: 'AGENT', of: ({ payload }) => payload.principal_id },
  { title: 'SESSION', of: ({ payload }) => payload.session_id },
];

type Filters = { session?: string; agent?: string; reason?: string };

export function addReceipts(program: Command, io: Io): void {
  const receipts = program
    .command('receipts')
    .description('The receipts of the workspace: decisions, outcomes, approvals and changes.');
  const ls = receipts
    .command('ls')
    .description('List receipts, newest first.')
    .option('--session <id>', 'of this session or run')
    .option('--agent <principal>', 'of the calls of this principal')
    .option('--verdict <verdict>', 'ALLOW, DENY or ESCALATE')
    .option('--tool <name>', 'of this tool')
    .option('--from <instant>', 'issued at or after this time, such as 2026-11-01T00:00:00.000Z')
    .option('--to <instant>', 'issued before this time')
    .option('--reason <code>', 'of this reason code')
    .option('--kind <kind>', 'of this kind, such as decision or outcome');
  addListOptions(ls).action((options: ListOptions & Filters) => list(options, io));
  addReceiptsExport(receipts, io);
  receipts
    .command('get')
    .description('Show one receipt.')
    .argument('<receipt_id>')
    .addOption(outputOption())
    .action((id: string, { output }: { output: Format }) => get(id, { output }, io));
  receipts
    .command('tail')
    .description('Follow new receipts. Stop with Ctrl-C.')
    .option('--session <id>', 'of this session or run')
    .option('--agent <principal>', 'of the calls of this principal')
    .addOption(outputOption('jsonl'))
    .action((options: Filters & { output: Format }) => follow(options, io));
}

async function list(options: ListOptions & Filters, io: Io): Promise<void> {
  const { output: format, session, reason, limit, cursor, ...filters } = options;
  const connection = await connect(configFrom(io.env));
  const { listReceipts: read } = connection.ask({ listReceipts });
  const named = {
    ...(session === undefined ? {} : { session_id: session }),
    ...(reason === undefined ? {} : { reason_code: reason }),
  };
  const query = (at: object) => ({ ...filters, ...named, ...at }) as never; // the server validates them
  const listed = await readList(connection, { limit, cursor }, (at) => read({ query: query(at) }));
  const ifNone = 'No matching receipts. Each call of an agent has a receipt, also a refused one.';
  writeList({ ...listed, columns, format, ifNone }, io);
}

async function get(id: string, { output }: { output: Format }, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const client = connection.ask({ getReceipt });
  const params = { receipt_id: id };
  io.write(objectText(await answered(connection, () => client.getReceipt({ params })), output));
}

async function follow({ session, agent, output: format }: Filters & { output: Format }, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const query = new URLSearchParams();
  if (session !== undefined) query.set('session_id', session);
  if (agent !== undefined) query.set('agent', agent);
  io.tell('Following new receipts. Stop with Ctrl-C.\n');
  for await (const { event, data } of readEvents(connection, `/api/v1/receipts/tail?${query.toString()}`, io.signal)) {
    if (event !== 'receipt') continue;
    const receipt = listReceipts.reply.parse({ data: [JSON.parse(data)], next_cursor: null }).data;
    io.write(format === 'jsonl' ? listText({ items: receipt, columns, format }) : objectText(receipt[0], format));
  }
}
