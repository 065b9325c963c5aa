import { DecisionId, Digest, instantOf, ReceiptId, UserId, WhatIfId, WorkspaceId } from '@countersign/contracts';
import { PolicyVersion } from '@countersign/contracts/control-plane';
import { isUniqueViolation } from '@countersign/database';
import type { PolicyActivation as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type Allowance = { decisionId: DecisionId; receiptId: ReceiptId };

/**
 * The progress of an activation. `decided`: the kernel has allowed it, and may have signed it and put it into force.
 */
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

/** The activation of this policy, with this report and epoch. Repeated requests return the same one. */
export async function beginActivation(tx: Tx, begun: Begun): Promise<StoredActivation> {
  await tx.policyActivation.createMany({ data: { ...begun, state: 'deciding' }, skipDuplicates: true });
  const { workspaceId, epoch, policyHash, reportId } = begun;
  return activationOf(
    await tx.policyActivation.findFirstOrThrow({ where: { workspaceId, epoch, policyHash, reportId } }),
  );
}

/** The activation with these terms that the kernel has allowed, in force or not. */
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

/** Proposes the activation again, under a new key. */
export async function proposeAnew(tx: Tx, { id, attempt }: Pick<StoredActivation, 'id' | 'attempt'>): Promise<void> {
  const data = { state: 'deciding', attempt: attempt + 1, decisionId: null, decisionReceiptId: null };
  await tx.policyActivation.updateMany({ where: { id, attempt, state: { in: ['deciding', 'decided'] } }, data });
}

/**
 * `overtaken`: another activation already has this epoch. If both are recorded at once, the database aborts one of
 * them.
 */
type NotedInForce = 'noted' | 'known' | 'overtaken';

/** Records that a policy is in force. The previous policy is no longer confirmed. */
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

/** Whether the database aborted this transaction because another activation recorded the epoch first. */
export function isOvertaken(error: unknown): boolean {
  return isUniqueViolation(error, 'policy_activations_one_of_an_epoch');
}

/** Activations of a period that the kernel has allowed, and that are not recorded as in force. Newest first. */
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

/** Active policies that were last confirmed before then, oldest first. */
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

/** The policy of a workspace that was activated here and is confirmed regularly. */
export async function findActive(reader: Reader, workspaceId: WorkspaceId): Promise<StoredActivation | null> {
  const row = await reader.policyActivation.findFirst({ where: { workspaceId, state: 'active' } });
  return row === null ? null : activationOf(row);
}

/** The states of an activation that was put into force. */
const versionStates = ['active', 'replaced'];
type VersionPage = { limit: number; below: number | undefined };

/** The policies that were put into force in a workspace, newest first. */
export async function listVersions(
  reader: Reader,
  workspaceId: WorkspaceId,
  { limit, below }: VersionPage,
): Promise<PolicyVersion[]> {
  const rows = await reader.policyActivation.findMany({
    where: { workspaceId, state: { in: versionStates }, ...(below === undefined ? {} : { epoch: { lt: below } }) },
    orderBy: { epoch: 'desc' },
    take: limit,
  });
  return rows.map(versionOf);
}

export async function findVersion(
  reader: Reader,
  workspaceId: WorkspaceId,
  epoch: number,
): Promise<PolicyVersion | null> {
  const row = await reader.policyActivation.findFirst({ where: { workspaceId, epoch, state: { in: versionStates } } });
  return row === null ? null : versionOf(row);
}

function versionOf(row: Row): PolicyVersion {
  return {
    epoch: row.epoch,
    policy_hash: Digest.parse(row.policyHash),
    state: PolicyVersion.shape.state.parse(row.state),
    base_hash: Digest.parse(row.baseHash),
    requested_by: UserId.parse(row.askedBy),
    requested_at: instantOf(row.createdAt),
    report_id: WhatIfId.parse(row.reportId),
    receipt_id: ReceiptId.parse(row.decisionReceiptId),
  };
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
