import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import type { Approval, BoundaryRecord, Budget, Checkpoint } from '@countersign/contracts/governance-kernel';
import { CommandFailed } from '../command-failed.ts';
import { registryPathOf } from '../config.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { addCountOptions, countUpTo, outputOption } from './options.ts';

type Names = { tenant: string; principal: string };
type Output = Names & { output: Format };
type Listing = Output & { limit: number };
type Boundary = Awaited<ReturnType<typeof open>>;
type Run = { io: Io; end(status: number): void };

/** Exit status for each verdict, so that scripts need not parse the output. */
const statusOfVerdict = { ALLOW: 0, DENY: 10, ESCALATE: 11 } as const;

/**
 * Standalone commands on the registry file. Each command is one process, and the file stores all state between them.
 */
export function addBoundary(program: Command, io: Io, end: (status: number) => void): void {
  const boundary = program
    .command('boundary')
    .description('A local boundary in the registry file, without a server (GOV_BOUNDARY_REGISTRY_PATH).');
  const run: Run = { io, end };
  addDecisions(boundary, run);
  addLists(boundary, run);
  addChanges(boundary, run);
  addProofs(boundary, run);
}

function addDecisions(boundary: Command, run: Run): void {
  named(boundary, 'policy', 'Activate a file as the policy of all tenants, or confirm it.')
    .argument('<file>')
    .action((file: string, names: Output) =>
      within(run, names, async (opened) => {
        const activated = await opened.activatePolicy(await readFile(file, 'utf8'));
        return activated ?? { move: 'stands' };
      }),
    );
  named(boundary, 'evaluate', 'Decide and seal one call. Ends with 0 for ALLOW, 10 for DENY and 11 for ESCALATE.')
    .requiredOption('--session <id>', 'the session')
    .option('--action <name>', 'the action', 'tool.call')
    .option('--tool <name>', 'the tool')
    .option('--resource <name>', 'the resource')
    .option('--args <json>', 'the arguments', '{}')
    .option('--effect <level>', 'E0 to E4')
    .option('--grant <approval_id>', 'the approval of exactly this call')
    .action((options: Evaluating) =>
      within(run, options, async (opened) => {
        const reply = await opened.evaluate(requestOf(options));
        run.end(statusOfVerdict[reply.verdict]);
        return reply;
      }),
    );
}

type Evaluating = Output & {
  session: string;
  action: string;
  tool?: string;
  resource?: string;
  args: string;
  effect?: string;
  grant?: string;
};

function requestOf({ session, action, tool, resource, args, effect, grant }: Evaluating): object {
  const members = { action, tool, resource, session_id: session, effect_level: effect, approval_grant: grant };
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(present), args: jsonOf('--args', args) };
}

function addLists(boundary: Command, run: Run): void {
  addCountOptions(base(boundary, 'records', 'List boundary records, newest first.'))
    .option('--session <id>', 'of this session')
    .action(({ session, ...options }: Listing & { session?: string }) =>
      listed(run, options, recordColumns, (opened) => opened.records({ limit: options.limit, session_id: session })),
    );
  addCountOptions(base(boundary, 'approvals', 'List approvals, newest first.')).action((options: Listing) =>
    listed(run, options, approvalColumns, (opened) => opened.approvals()),
  );
  addCountOptions(base(boundary, 'checkpoints', 'List checkpoints, newest first.')).action((options: Listing) =>
    listed(run, options, checkpointColumns, (opened) => opened.checkpoints()),
  );
  addCountOptions(base(boundary, 'budgets', 'List budgets with their use.')).action((options: Listing) =>
    listed(run, options, budgetColumns, (opened) => opened.budgets()),
  );
  addCountOptions(base(boundary, 'envelopes', 'List manifests of envelopes, newest first.')).action(
    (options: Listing) => listed(run, options, envelopeColumns, (opened) => opened.envelopes()),
  );
}

const recordColumns: Column<BoundaryRecord>[] = [
  { title: 'RECORD', of: ({ record_id: id }) => id },
  { title: 'VERDICT', of: ({ verdict }) => verdict },
  { title: 'REASON', of: ({ reason_code: code }) => code },
  { title: 'PRINCIPAL', of: ({ principal_id: principal }) => principal },
  { title: 'SESSION', of: ({ session_id: session }) => session },
  { title: 'CREATED', of: ({ created_at: at }) => at },
];
const approvalColumns: Column<Approval>[] = [
  { title: 'APPROVAL', of: ({ approval_id: id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'TOOL', of: ({ tool, action }) => tool ?? action },
  { title: 'REQUESTED BY', of: ({ requested_by: by }) => by },
  { title: 'EXPIRES', of: ({ expires_at: at }) => at },
  { title: 'ARGUMENTS', of: ({ args }) => (args === null ? null : JSON.stringify(args)) },
];
const checkpointColumns: Column<Checkpoint>[] = [
  { title: 'CHECKPOINT', of: ({ checkpoint_id: id }) => id },
  { title: 'RECEIPTS', of: ({ tree_size: size }) => String(size) },
  { title: 'ROOT', of: ({ root_hash: root }) => root },
  { title: 'CREATED', of: ({ created_at: at }) => at },
];
const budgetColumns: Column<Budget>[] = [
  { title: 'BUDGET', of: ({ budget_id: id }) => id },
  { title: 'FOR', of: ({ subject }) => subject },
  { title: 'WINDOW', of: ({ window }) => window },
  { title: 'CALLS', of: ({ used, tool_call_limit: most }) => `${used.tool_calls} of ${most ?? 'any'}` },
];
const envelopeColumns: Column<{ manifest_id: string; envelope: string; native_evidence_hash: string }>[] = [
  { title: 'ENVELOPE', of: ({ manifest_id: id }) => id },
  { title: 'FORM', of: ({ envelope }) => envelope },
  { title: 'EVIDENCE', of: ({ native_evidence_hash: hash }) => hash },
];

function addChanges(boundary: Command, run: Run): void {
  for (const action of ['approve', 'deny', 'revoke'] as const)
    named(
      boundary,
      action,
      `${action[0]?.toUpperCase()}${action.slice(1)} one call, as a principal other than its caller.`,
    )
      .argument('<approval_id>')
      .option('--reason <text>', 'why')
      .action((id: string, { reason, ...names }: Output & { reason?: string }) =>
        within(run, names, (opened) => opened.decide({ id, action, reason })),
      );
  named(boundary, 'set-budget', 'Create a budget, or replace its limits. The current use of a budget stays.')
    .argument('<budget_id>')
    .option('--for <subject>', 'tenant, principal:<name> or tool:<name>', 'tenant')
    .addOption(new Option('--window <window>', 'the window').choices(['1h', '24h', 'month', 'total']).default('24h'))
    .requiredOption('--calls <count>', 'the maximum number of calls in a window', countUpTo(1_000_000_000))
    .action(
      (
        id: string,
        { for: subject, window, calls, ...names }: Output & { for: string; window: string; calls: number },
      ) => within(run, names, (opened) => opened.setBudget(id, { subject, window, tool_call_limit: calls })),
    );
  named(boundary, 'envelope', 'Sign an envelope around a receipt, for other tools.')
    .argument('<receipt_hash>')
    .addOption(new Option('--form <form>', 'the form').choices(['dsse', 'jws', 'in-toto', 'sigstore']).default('dsse'))
    .action((hash: string, { form, ...names }: Output & { form: string }) =>
      within(run, names, (opened) => opened.createEnvelope({ envelope: form, native_evidence_hash: hash })),
    );
}

function addProofs(boundary: Command, run: Run): void {
  named(boundary, 'checkpoint', 'Sign a checkpoint over all receipts of the file.').action((names: Output) =>
    within(run, names, (opened) => opened.checkpoint()),
  );
  named(
    boundary,
    'verify',
    'Verify each receipt, record and checkpoint of the file. Ends with 1 when one is wrong.',
  ).action((names: Output) =>
    within(run, names, async (opened) => {
      const report = await opened.verify();
      if (report.problems.length > 0) run.end(1);
      return report;
    }),
  );
  named(boundary, 'keys', 'Print the public keys, for countersign verify --keys.').action((names: Output) =>
    within(run, names, async (opened) => opened.keys()),
  );
  base(boundary, 'export', 'Seal the end of a session and print its export, for countersign verify.')
    .argument('<session>')
    .action(async (session: string, names: Names) => {
      const opened = await open(run.io, names);
      for await (const lines of await opened.exportSession(session)) run.io.write(lines);
      await opened.close();
    });
}

function base(boundary: Command, name: string, about: string): Command {
  return boundary
    .command(name)
    .description(about)
    .option('--tenant <tenant>', 'the tenant', 'local')
    .option('--principal <name>', 'the principal', 'operator');
}

function named(boundary: Command, name: string, about: string): Command {
  return base(boundary, name, about).addOption(outputOption());
}

async function open(io: Io, { tenant, principal }: Names) {
  // Imported here, so that other commands do not load a kernel.
  const { openLocalBoundary } = await import('@countersign/governance-kernel/local-boundary');
  return await openLocalBoundary({ path: registryPathOf(io.env), tenant, principal });
}

async function within(
  { io }: Run,
  { output, ...names }: Output,
  work: (opened: Boundary) => Promise<unknown>,
): Promise<void> {
  const opened = await open(io, names);
  try {
    io.write(objectText(await work(opened), output));
  } catch (error) {
    throw refused(error);
  } finally {
    await opened.close();
  }
}

async function listed<Item>(
  { io }: Run,
  { output: format, limit, ...names }: Listing,
  columns: readonly Column<Item>[],
  read: (opened: Boundary) => Promise<readonly Item[]>,
): Promise<void> {
  const opened = await open(io, names);
  const items = (await read(opened)).slice(0, limit);
  await opened.close();
  io.write(listText({ items, columns, format }));
}

/** An error with a code, such as a refusal by the boundary, ends the command with status 1. */
function refused(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new CommandFailed(`${error.message} (${String(error.code)})`, 1, { cause: error });
}

function jsonOf(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandFailed(`${option} is not JSON`, 2, { cause: error });
  }
}
