import type { Command } from 'commander';
import { listInboxApprovals } from '@countersign/contracts/control-plane';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { forTerminal } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, workspaceOf } from '../connection/connection.ts';
import { readList } from '../connection/read-list.ts';
import type { Io } from '../io.ts';
import { approvalSentence } from '../output/approval-sentence.ts';
import { objectText, type Column, type Format } from '../output/format.ts';
import { writeList } from '../output/write-list.ts';
import { addListOptions, outputOption, type ListOptions } from './options.ts';

const columns: Column<Approval>[] = [
  { title: 'APPROVAL', of: ({ approval_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'EFFECT', of: ({ effect_level: effect }) => effect },
  { title: 'TOOL', of: ({ tool, action }) => tool ?? action },
  { title: 'ASKED BY', of: ({ requested_by: by }) => by },
  { title: 'EXPIRES', of: ({ expires_at: at }) => at },
  { title: 'ARGUMENTS', of: ({ args }) => (args === null ? null : JSON.stringify(args)) },
];

export function addApprovals(program: Command, io: Io): void {
  const approvals = program.command('approvals').description('Calls of agents that need an approval.');
  const ls = approvals
    .command('ls')
    .description('List approvals, newest first.')
    .option('--state <state>', 'pending, approved, denied, expired, revoked or consumed')
    .option('--session <id>', 'of this session or run');
  addListOptions(ls).action((options: Listing) => list(options, io));
  approvals
    .command('show')
    .description(
      'Show one waiting call, and the address where you decide. You decide in a browser, so that no agent in this terminal can.',
    )
    .argument('<approval_id>')
    .addOption(outputOption())
    .action((id: string, { output }: { output: Format }) => show(id, output, io));
}

type Listing = ListOptions & { session?: string };

async function list({ output: format, session, limit, cursor, ...filters }: Listing, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const { listInboxApprovals: read } = connection.ask({ listInboxApprovals });
  const params = { id: workspaceOf(connection) };
  const named = session === undefined ? {} : { session_id: session };
  const query = (at: object) => ({ ...filters, ...named, ...at }) as never; // the server validates them
  const listed = await readList(connection, { limit, cursor }, (at) => read({ params, query: query(at) }));
  writeList({ ...listed, columns, format, ifNone: 'No matching approvals.' }, io);
}

async function show(id: string, output: Format, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const client = connection.ask({ listInboxApprovals });
  const params = { id: workspaceOf(connection) };
  const { data } = await answered(connection, () => client.listInboxApprovals({ params, query: { approval_id: id } }));
  const [approval] = data;
  if (approval === undefined) throw new CommandFailed('The tenant has no approval with this ID (NOT_FOUND)', 1);
  io.write(objectText(approval, output));
  const sentence = approvalSentence(approval);
  if (sentence !== null) io.tell(`${forTerminal(sentence)}\n`);
  if (approval.state === 'pending') io.tell(`Decide: ${new URL(`/console/inbox/${id}`, connection.url).href}\n`);
}
