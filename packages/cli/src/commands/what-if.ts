import { setTimeout as pause } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { Verdict } from '@countersign/contracts';
import {
  compilePolicyDraft,
  createWhatIf,
  getPolicyDraft,
  getWhatIf,
  putPolicyDraft,
  reportedDecisionsMin,
  VerdictAgain,
  whatIfDecisionsMax,
  type Changed,
  type CompiledDraft,
  type WhatIfReport,
} from '@countersign/contracts/control-plane';
import { forTerminal, jsonForTerminal } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, workspaceOf, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { listText, type Column, type Format } from '../output/format.ts';
import { textOf } from './bundle-file.ts';
import { countUpTo, outputOption } from './options.ts';

const pollMs = 500;

type Options = { output: Format; from?: string; to?: string; limit: number; replaceDraft?: true };

export function addWhatIf(policy: Command, io: Io): void {
  policy
    .command('whatif')
    .description(
      'Replay sealed decisions of the workspace under its draft, and report the differences. A bundle in [file] becomes ' +
        'the draft first.',
    )
    .argument('[file]', 'a bundle, YAML or JSON')
    .option('--replace-draft', 'replace a draft of the workspace with another text')
    .option('--from <instant>', 'decisions at or after this time')
    .option('--to <instant>', 'decisions before this time')
    .addOption(
      new Option('--limit <count>', 'the maximum number of decisions, newest first')
        .argParser(countUpTo(whatIfDecisionsMax))
        .default(reportedDecisionsMin),
    )
    .addOption(outputOption())
    .action((file: string | undefined, options: Options) => whatIf(file ?? null, options, io));
}

async function whatIf(file: string | null, options: Options, io: Io): Promise<void> {
  const desk = deskOf(await connect(configFrom(io.env)));
  if (file !== null) await bringDraft(desk, textOf(file), options.replaceDraft === true);
  const report = await reportOn(desk, options, io);
  io.write(options.output === 'table' ? tableOf(report) : `${jsonForTerminal(report)}\n`);
  io.tell(`${summaryOf(report)}\n`);
}

type Desk = ReturnType<typeof deskOf>;

function deskOf(connection: Connection) {
  const routes = { getPolicyDraft, putPolicyDraft, compilePolicyDraft, createWhatIf, getWhatIf };
  return { connection, ...connection.ask(routes), params: { id: workspaceOf(connection) } };
}

/** Stores the text as the draft. Throws CommandFailed if this would overwrite the text of another draft. */
async function bringDraft(desk: Desk, text: string, isReplaced: boolean): Promise<void> {
  const { params } = desk;
  const { draft } = await answered(desk.connection, () => desk.getPolicyDraft({ params }));
  if (draft?.text === text) return;
  if (draft !== null && draft.state !== 'activated' && !isReplaced)
    throw new CommandFailed(
      `The workspace has a draft with another text, by ${draft.updated_by}. Review it, or pass --replace-draft`,
      1,
    );
  const headers = { 'if-match': `"${draft?.version ?? 0}"` };
  await answered(desk.connection, () => desk.putPolicyDraft({ params, body: { text }, headers }));
}

async function reportOn(desk: Desk, { from, to, limit }: Options, io: Io): Promise<WhatIfReport> {
  const { params } = desk;
  const { policy_hash } = compiledOr(await answered(desk.connection, () => desk.compilePolicyDraft({ params })));
  const span = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const body = { policy_hash, limit, ...span } as never; // the server validates instants
  let job = await answered(desk.connection, () => desk.createWhatIf({ params, body }));
  while (job.state === 'queued' || job.state === 'running') {
    await pause(pollMs, undefined, { signal: io.signal });
    const { decisions, report_id } = job;
    job = await answered(desk.connection, () => desk.getWhatIf({ params: { ...params, report_id } }));
    if (job.decisions > decisions) io.tell(`${job.decisions} of at most ${job.decisions_max} decisions\n`);
  }
  if (job.report === null) throw new CommandFailed(job.failure ?? 'The report failed. Run the command again', 1);
  return job.report;
}

function compiledOr({ policy_hash, diagnostics }: CompiledDraft) {
  if (policy_hash !== null) return { policy_hash };
  const messages = diagnostics.map(
    ({ line, code, message }) => `${line === null ? '' : `line ${line}: `}${message} (${code})`,
  );
  throw new CommandFailed(`The draft does not compile:\n${messages.join('\n')}`, 1);
}

const changedColumns: Column<Changed>[] = [
  { title: 'RECEIPT', of: ({ receipt_id: id }) => id },
  { title: 'TOOL', of: ({ tool, action }) => tool ?? action },
  { title: 'AGENT', of: ({ principal_id: id }) => id },
  { title: 'WAS', of: ({ before }) => before },
  { title: 'IS', of: ({ after }) => after },
  { title: 'BY', of: ({ rules }) => rules.join(', ') },
];

type Cells = { before: string; counts: Record<string, number> };

/** A table of the matrix, followed by each decision that becomes more permissive. */
function tableOf({ matrix, widened }: WhatIfReport): string {
  const columns: Column<Cells>[] = [
    { title: 'WAS', of: ({ before }) => before },
    ...VerdictAgain.options.map((after) => ({ title: after, of: ({ counts }: Cells) => String(counts[after] ?? 0) })),
  ];
  const items = Verdict.options.map((before) => ({ before, counts: matrix[before] }));
  const rows = listText({ items, columns, format: 'table' });
  return widened.length === 0
    ? rows
    : `${rows}\n${listText({ items: widened, columns: changedColumns, format: 'table' })}`;
}

function summaryOf({ decisions, is_whole, widened, unverifiable, report_hash }: WhatIfReport): string {
  const many = `${decisions} decisions${is_whole ? ' (all)' : ''}`;
  const unread = unverifiable.count === 0 ? '' : `; ${unverifiable.count} did not verify and were left out`;
  return forTerminal(`${many}; ${widened.length} become more permissive${unread}. Report ${report_hash}`);
}
