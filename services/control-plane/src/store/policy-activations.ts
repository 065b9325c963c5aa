import { DecisionId, Digest, ReceiptId, WorkspaceId, type UserId, type WhatIfId } from '@countersign/contracts';
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

/** It is proposed anew, under a key of its own. */
export async function proposeAnew(tx: Tx, { id, attempt }: Pick<StoredActivation, 'id' | 'attempt'>): Promise<void> {
  const data = { state: 'deciding', attempt: attempt + 1, decisionId: null, decisionReceiptId: null };
  await tx.policyActivation.updateMany({ where: { id, attempt, state: { in: ['deciding', 'decided'] } }, data });
}

/** True for whoever notes it first. What was in force before is not kept fresh any more. */
export async function noteInForce(
  tx: Tx,
  { id, workspaceId }: Pick<StoredActivation, 'id' | 'workspaceId'>,
  now: Date,
): Promise<boolean> {
  const others = { workspaceId, state: 'active', NOT: { id } };
  await tx.policyActivation.updateMany({ where: others, data: { state: 'replaced' } });
  const data = { state: 'active', confirmedAt: now };
  return (await tx.policyActivation.updateMany({ where: { id, state: 'decided' }, data })).count === 1;
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
    decided:
      decisionId === null || decisionReceiptId === null
        ? null
        : { decisionId: DecisionId.parse(decisionId), receiptId: ReceiptId.parse(decisionReceiptId) },
  };
}
