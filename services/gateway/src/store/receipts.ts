import { instantOf, RunId, TaskId } from '@countersign/contracts';
import type { GovernanceReceipt } from '@countersign/contracts/gateway';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptFaultModel, ReceiptModel, RefusedReceiptModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

export type ReceiptPlace = {
  workspaceId: string;
  /** These three are null for the decision on a call of an API key. */
  taskId: string | null;
  runId: string | null;
  stepId: string | null;
};

type NewReceipt = ReceiptPlace & { receipt: StoredReceipt };

/** Stores a verified receipt once per workspace and decision, since a replayed answer contains the same receipt. */
export async function recordReceipt(tx: Tx, { receipt, ...place }: NewReceipt, now: Date): Promise<void> {
  const { workspaceId, taskId, runId, stepId } = place;
  const { decision_id: decisionId, receipt_id: receiptId } = receipt.payload;
  const content = { decisionId, receiptId, document: receipt, verification: 'verified' };
  const data = { workspaceId, taskId, runId, stepId, ...content, verifiedAt: now, receivedAt: now };
  await tx.receipt.createMany({ data, skipDuplicates: true });
}

/** Stores a receipt that failed verification. It gets a new id, since it may claim the id of any other receipt. */
export async function insertRefusedReceipt(
  tx: Tx,
  { receipt, fault, ...place }: NewReceipt & { fault: string },
  now: Date,
): Promise<void> {
  const { workspaceId, taskId, runId, stepId } = place;
  const content = { decisionId: receipt.payload.decision_id, document: receipt, fault, receivedAt: now };
  await tx.refusedReceipt.create({ data: { id: newId('rcp'), workspaceId, taskId, runId, stepId, ...content } });
}

/** `true` when the decision was already used for another step, so an old answer was replayed. */
export async function isReceiptOfOtherStep(
  tx: Tx,
  { workspaceId, decisionId, stepId }: { workspaceId: string; decisionId: string; stepId: string },
): Promise<boolean> {
  return (await tx.receipt.count({ where: { workspaceId, decisionId, stepId: { not: stepId } } })) > 0;
}

/** Verified and failed receipts, merged in order. */
export async function listReceiptsOf(
  reader: Reader,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<GovernanceReceipt>> {
  const take = request.limit + 1;
  const kept = await reader.receipt.findMany({
    where: { workspaceId, receiptId: olderThan(request) },
    orderBy: { receiptId: 'desc' },
    take,
  });
  const refused = await reader.refusedReceipt.findMany({
    where: { workspaceId, id: olderThan(request) },
    orderBy: { id: 'desc' },
    take,
  });
  const faults = await findFaults(reader, workspaceId, kept);
  const rows = [
    ...kept.map((row) => ({ key: row.receiptId, shown: keptOf(row, faults.get(row.decisionId)) })),
    ...refused.map((row) => ({ key: row.id, shown: refusedOf(row) })),
  ].sort((a, b) => (a.key < b.key ? 1 : -1));
  return pageOf(rows.slice(0, take), request, { item: ({ shown }) => shown.view, key: ({ key }) => key });
}

type ShownReceipt = { view: GovernanceReceipt; receipt: StoredReceipt };

/** The verified receipt of a decision, or else the first refused receipt that claimed the id of the decision. */
export async function findReceipt(
  reader: Reader,
  workspaceId: string,
  decisionId: string,
): Promise<(GovernanceReceipt & { receipt: StoredReceipt }) | null> {
  const shown =
    (await findKept(reader, workspaceId, decisionId)) ?? (await findRefused(reader, workspaceId, decisionId));
  return shown === null ? null : { ...shown.view, receipt: shown.receipt };
}

async function findKept(reader: Reader, workspaceId: string, decisionId: string): Promise<ShownReceipt | null> {
  const row = await reader.receipt.findUnique({ where: { workspaceId_decisionId: { workspaceId, decisionId } } });
  if (row === null) return null;
  return keptOf(row, (await findFaults(reader, workspaceId, [row])).get(decisionId));
}

async function findRefused(reader: Reader, workspaceId: string, decisionId: string): Promise<ShownReceipt | null> {
  const row = await reader.refusedReceipt.findFirst({ where: { workspaceId, decisionId }, orderBy: { id: 'asc' } });
  return row === null ? null : refusedOf(row);
}

async function findFaults(
  reader: Reader,
  workspaceId: string,
  rows: readonly ReceiptModel[],
): Promise<ReadonlyMap<string, ReceiptFaultModel>> {
  if (rows.length === 0) return new Map();
  const where = { workspaceId, decisionId: { in: rows.map(({ decisionId }) => decisionId) } };
  const faults = await reader.receiptFault.findMany({ where });
  return new Map(faults.map((fault) => [fault.decisionId, fault]));
}

function keptOf(row: ReceiptModel, later: ReceiptFaultModel | undefined): ShownReceipt {
  if (later !== undefined) return shownAs(row, { fault: later.fault, verifiedAt: later.foundAt });
  return shownAs(row, { fault: null, verifiedAt: row.verifiedAt });
}

function refusedOf(row: RefusedReceiptModel): ShownReceipt {
  return shownAs(row, { fault: row.fault, verifiedAt: row.receivedAt });
}

type Row = Pick<ReceiptModel, 'document' | 'taskId' | 'runId' | 'receivedAt'>;

function shownAs(row: Row, { fault, verifiedAt }: { fault: string | null; verifiedAt: Date }): ShownReceipt {
  const receipt = StoredReceipt.parse(row.document);
  const { payload, signature } = receipt;
  const view: GovernanceReceipt = {
    decisionId: payload.decision_id,
    receiptId: payload.receipt_id,
    receiptHash: receipt.receipt_hash,
    taskId: TaskId.nullable().parse(row.taskId),
    runId: RunId.nullable().parse(row.runId),
    verdict: payload.verdict,
    reasonCode: payload.reason_code,
    action: payload.action,
    tool: payload.tool,
    effectLevel: payload.effect_level,
    principal: payload.principal_id,
    policyHash: payload.policy_hash,
    keyId: signature.key_id,
    verification: fault === null ? 'verified' : 'failed',
    fault,
    verifiedAt: instantOf(verifiedAt),
    receivedAt: instantOf(row.receivedAt),
  };
  return { view, receipt };
}
