import type { Command } from 'commander';
import { isAppError, RecordId, reasonCodes, type Digest } from '@countersign/contracts';
import { getActivePolicy, getPolicyVersion } from '@countersign/contracts/control-plane';
import {
  getRecord,
  PolicyBundle,
  type BoundaryRecord,
  type GateOutcome,
  type PolicyRule,
} from '@countersign/contracts/governance-kernel';
import { forTerminal } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, workspaceOf, type Connection } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { listText, objectText, type Column, type Format } from '../output/format.ts';
import { outputOption } from './options.ts';

const gateColumns: Column<GateOutcome>[] = [
  { title: 'GATE', of: ({ gate }) => gate },
  { title: 'OUTCOME', of: ({ outcome }) => outcome },
  { title: 'REASON', of: ({ reason_code: code }) => code ?? null },
];

/** Adds `countersign policy explain`, which shows how one call was decided. */
export function addExplain(policy: Command, io: Io): void {
  policy
    .command('explain')
    .description('Show how a call was decided: each gate, the matched rules, and what to do next.')
    .argument('<receipt_id>', 'the receipt of the decision')
    .addOption(outputOption())
    .action((id: string, { output }: { output: Format }) => explain(id, output, io));
}

async function explain(id: string, format: Format, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const client = connection.ask({ getRecord });
  const params = { record_id: recordIdOf(id) };
  const record = await answered(connection, () => client.getRecord({ params }));
  const rules = await rulesOf(connection, record);
  if (format !== 'table') return io.write(objectText({ record, rules }, format));
  io.write(textOf(record, rules));
}

/** A receipt, its decision and its record have the same ULID. */
function recordIdOf(id: string): RecordId {
  const { data } = RecordId.safeParse(id.replace(/^(rcp|dec)_/, 'rec_'));
  if (data !== undefined) return data;
  throw new CommandFailed(`${id} is not the ID of a receipt. Copy one from \`countersign receipts ls\``, 1);
}

/** The matched rules. `null` when their policy cannot be read any more. */
async function rulesOf(connection: Connection, record: BoundaryRecord): Promise<PolicyRule[] | null> {
  const { policy_hash: hash, policy_epoch: epoch, matched_rules: matched } = record;
  if (matched.length === 0 || hash === null) return [];
  const bundle = await findBundle(connection, { hash, epoch });
  return bundle === null ? null : bundle.rules.filter(({ id }) => matched.includes(id));
}

type Sought = { hash: Digest; epoch: number };

async function findBundle(connection: Connection, { hash, epoch }: Sought): Promise<PolicyBundle | null> {
  const client = connection.ask({ getActivePolicy, getPolicyVersion });
  const id = workspaceOf(connection);
  const active = await answered(connection, () => client.getActivePolicy({ params: { id } }));
  if (active.policy_hash === hash) return active.bundle;
  try {
    const { policy_hash, text } = (await client.getPolicyVersion({ params: { id, epoch: String(epoch) } })).body;
    return policy_hash === hash && text !== null ? PolicyBundle.parse(JSON.parse(text)) : null;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

function textOf(record: BoundaryRecord, rules: PolicyRule[] | null): string {
  const {
    verdict,
    reason_code: code,
    principal_id: by,
    created_at: at,
    matched_rules: matched,
    gates,
    intent,
  } = record;
  const { says, nextStep } = reasonCodes[code];
  const resource = intent.resource === null ? '' : ` on ${intent.resource}`;
  const lines = [
    `${verdict} ${code}: ${says}.`,
    `${by} requested ${intent.tool ?? intent.action}${resource} at ${at}.`,
    ...(matched.length === 0 ? ['No rule matched.'] : [`Matched rules: ${matched.join(', ')}`]),
    ...(rules ?? []).map((rule) => `  ${JSON.stringify(rule)}`),
    ...(rules === null ? [`  Their text is not available: policy ${String(record.policy_hash)} was replaced.`] : []),
  ];
  const steps = verdict === 'ALLOW' ? [] : [`Next step: ${nextStep}`];
  const shown = (texts: readonly string[]) => texts.map((line) => `${forTerminal(line)}\n`).join('');
  return shown(lines) + listText({ items: gates, columns: gateColumns, format: 'table' }) + shown(steps);
}
