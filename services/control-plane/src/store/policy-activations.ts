import { DecisionId, Digest, ReceiptId, UserId, WorkspaceId, type WhatIfId } from '@countersign/contracts';
import { isUniqueViolation } from '@countersign/database';
import type { PolicyActivation as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type Allowance = { decisionId: DecisionId; receiptId: ReceiptId };

/** How far an activation came. `decided`: the kernel has allowed it, and may have signed it and put it into force. */
export type StoredActivation = {
  id: string;
  workspaceId: WorkspaceId;
  policyHash: Digest;
  reportHash: Digest;
  baseHash: Digest;
  epoch: number;
  state: string;
  attempt: number;
  askedBy: UserId;
  decided: Allowance | null;
};

type Begun = {
  id: string;
  workspaceId: WorkspaceId;
  policyHash: Digest;
  reportId: WhatIfId;
  reportHash: Digest;
  baseHash: Digest;
  epoch: number;
  askedBy: UserId;
  createdAt: Date;
};

/** The activation of this policy, by this report, under this epoch: there is one, however often it is asked for. */
export async function beginActivation(tx: Tx, begun: Begun): Promise<StoredActivation> {
  await tx.policyActivation.createMany({ data: { ...begun, state: 'deciding' }, skipDuplicates: true });
  const { workspaceId, epoch, policyHash, reportId } = begun;
  return activationOf(
    await tx.policyActivation.findFirstOrThrow({ where: { workspaceId, epoch, policyHash, reportId } }),
  );
}

/** The one that was allowed from this base, whether it is in force yet or not. */
export async function findInterrupted(
  reader: Reader,
  where: { workspaceId: WorkspaceId; policyHash: Digest; reportId: WhatIfId; epoch: number },
): Promise<StoredActivation | null> {
  const row = await reader.policyActivation.findFirst({ where: { ...where, state: { in: ['decided', 'active'] } } });
  return row === null ? null : activationOf(row);
}

export async function noteAllowed(tx: Tx, { id }: Pick<StoredActivation, 'id'>, decided: Allowance): Promise<void> {
  const data = { state: 'decided', decisionId: decided.decisionId, decisionReceiptId: decided.receiptId };
  await tx.policyActivation.updateMany({ where: { id, state: 'deciding' }, data });
}

/** It is proposed again, under a key of its own. */
export async function proposeAnew(tx: Tx, { id, attempt }: Pick<StoredActivation, 'id' | 'attempt'>): Promise<void> {
  const data = { state: 'deciding', attempt: attempt + 1, decisionId: null, decisionReceiptId: null };
  await tx.policyActivation.updateMany({ where: { id, attempt, state: { in: ['deciding', 'decided'] } }, data });
}

/** `overtaken`: another one has come to this epoch first. Ends the transaction where both are noted at once. */
type NotedInForce = 'noted' | 'known' | 'overtaken';

/** The policy that was in force before is no longer kept fresh. */
export async function noteInForce(
  tx: Tx,
  { id, workspaceId, epoch }: Pick<StoredActivation, 'id' | 'workspaceId' | 'epoch'>,
  now: Date,
): Promise<NotedInForce> {
  const came = { workspaceId, epoch, state: { in: ['active', 'replaced'] } };
  const first = await tx.policyActivation.findFirst({ where: came, select: { id: true } });
  if (first !== null) return first.id === id ? 'known' : 'overtaken';
  const others = { workspaceId, state: 'active', epoch: { lt: epoch } };
  await tx.policyActivation.updateMany({ where: others, data: { state: 'replaced' } });
  const data = { state: 'active', confirmedAt: now };
  const noted = await tx.policyActivation.updateMany({ where: { id, state: 'decided' }, data });
  return noted.count === 1 ? 'noted' : 'known';
}

/** Both were noted at once, and the other one was first. */
export function isOvertaken(error: unknown): boolean {
  return isUniqueViolation(error, 'policy_activations_one_of_an_epoch');
}

/** Activations of a period that the kernel has allowed, and that are not recorded as in force. The newest first. */
export async function listUnnoted(
  reader: Reader,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<StoredActivation[]> {
  const rows = await reader.policyActivation.findMany({
    where: { state: 'decided', createdAt: { gte: from, lt: to } },
    orderBy: { createdAt: 'desc' },
    take: limit,
  });
  return rows.map(activationOf);
}

type Stale = { id: string; workspaceId: WorkspaceId; decisionId: DecisionId };

/** Those in force that were last confirmed before then, the oldest first. */
export async function listUnconfirmed(reader: Reader, before: Date, limit: number): Promise<Stale[]> {
  const rows = await reader.policyActivation.findMany({
    where: { state: 'active', confirmedAt: { lt: before } },
    orderBy: { confirmedAt: 'asc' },
    take: limit,
  });
  return rows.map(({ id, workspaceId, decisionId }) => ({
    id,
    workspaceId: WorkspaceId.parse(workspaceId),
    decisionId: DecisionId.parse(decisionId),
  }));
}

/** The one of a workspace that was put into force here and is kept fresh. */
export async function findActive(reader: Reader, workspaceId: WorkspaceId): Promise<StoredActivation | null> {
  const row = await reader.policyActivation.findFirst({ where: { workspaceId, state: 'active' } });
  return row === null ? null : activationOf(row);
}

export async function noteConfirmed(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.policyActivation.updateMany({ where: { id, state: 'active' }, data: { confirmedAt: now } });
}

export async function noteReplaced(tx: Tx, id: string): Promise<void> {
  await tx.policyActivation.updateMany({ where: { id, state: 'active' }, data: { state: 'replaced' } });
}

function activationOf(row: Row): StoredActivation {
  const { id, epoch, state, attempt, decisionId, decisionReceiptId } = row;
  return {
    ...{ id, epoch, state, attempt },
    workspaceId: WorkspaceId.parse(row.workspaceId),
    policyHash: Digest.parse(row.policyHash),
    reportHash: Digest.parse(row.reportHash),
    baseHash: Digest.parse(row.baseHash),
    askedBy: UserId.parse(row.askedBy),
    decided:
      decisionId === null || decisionReceiptId === null
        ? null
        : { decisionId: DecisionId.parse(decisionId), receiptId: ReceiptId.parse(decisionReceiptId) },
  };
}
