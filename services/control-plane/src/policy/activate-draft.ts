import { AppError, type Digest, type WhatIfId } from '@countersign/contracts';
import type { PolicyInForce } from '@countersign/contracts/governance-kernel';
import { requireMatch } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newActivationId } from '../ids.ts';
import { beginActivation, findInterrupted, type StoredActivation } from '../store/policy-activations.ts';
import { findDraft } from '../store/policy-drafts.ts';
import { findJob } from '../store/what-if-jobs.ts';
import { compileAgain, compileDraft } from './compile-draft.ts';
import { missingAtGate, widens } from './gate.ts';
import { getInForce } from './in-force.ts';
import { ownersOf } from './owners.ts';
import { putIntoForce } from './put-into-force.ts';

type Asked = {
  policy_hash: Digest;
  report_id: WhatIfId;
  acknowledge_widened?: number | undefined;
  tags: readonly string[] | null;
  requestId: string;
  signal: AbortSignal;
};

/** Puts the draft into force, if it passes the gate and the kernel allows it; or goes on with what was begun before. */
export async function activateDraft(context: Context, asked: Asked, caller: WorkspaceCaller) {
  const { workspaceId } = caller;
  const { reader } = context.database;
  const inForce = await getInForce(context, workspaceId);
  const job = await findJob(reader, workspaceId, asked.report_id);
  if (job === null || job.report === null) throw notPassed(['report']);
  const { report } = job;
  const base = { workspaceId, policyHash: asked.policy_hash, reportId: asked.report_id };
  const begun = await findBegun(context, { base, inForce, tags: asked.tags });
  if (begun === null) requireMatch(asked.tags, inForce.policy_hash);
  const policy = await passGate(context, { asked, caller, inForce, isBegun: begun !== null });
  const activation =
    begun ??
    (await context.transaction((tx) =>
      beginActivation(tx, {
        ...base,
        ...{ id: newActivationId(), reportHash: report.report_hash, askedBy: caller.userId },
        ...{ baseHash: inForce.policy_hash, epoch: inForce.next_epoch, createdAt: context.now() },
      }),
    ));
  const { requestId } = asked;
  const made = await putIntoForce(context, activation, { caller, policy, widens: widens(report), requestId });
  return { ...made, reportHash: activation.reportHash };
}

type Base = Parameters<typeof findInterrupted>[1];
type Looked = { base: Omit<Base, 'epoch'>; inForce: PolicyInForce; tags: readonly string[] | null };

/** One that was allowed from the base that is named, and is in force already or may still come. */
async function findBegun({ database }: Context, { base, inForce, tags }: Looked): Promise<StoredActivation | null> {
  const isOurs = inForce.owner === String(base.workspaceId) && inForce.policy_hash === base.policyHash;
  const epoch = isOurs ? inForce.epoch : inForce.next_epoch;
  const begun = await findInterrupted(database.reader, { ...base, epoch });
  return begun !== null && tags?.includes(begun.baseHash) === true ? begun : null;
}

type Gate = { asked: Asked; caller: WorkspaceCaller; inForce: PolicyInForce; isBegun: boolean };

/** An active policy has passed already; all others are checked against the current state. */
async function passGate(context: Context, { asked, caller, inForce, isBegun }: Gate) {
  if (isBegun && inForce.policy_hash === asked.policy_hash) return await compileAgain(inForce.bundle);
  const { workspaceId } = caller;
  const { reader } = context.database;
  const draft = await findDraft(reader, workspaceId);
  if (draft === null) throw new AppError('NOT_FOUND', 'There is no draft');
  const now = context.now();
  const job = await findJob(reader, workspaceId, asked.report_id);
  const acknowledged = asked.acknowledge_widened;
  const missing = missingAtGate({ draft, job, policyHash: asked.policy_hash, acknowledged, now });
  if (missing.length > 0) throw notPassed(missing);
  const owners = await ownersOf(context, caller);
  const { policy } = await compileDraft(draft.text, { workspaceId, owners, now, inForce, signal: asked.signal });
  if (policy?.hash !== asked.policy_hash) throw notPassed(['compiled_draft']);
  return policy;
}

function notPassed(missing: string[]): AppError {
  return new AppError('GATE_NOT_PASSED', `The policy in force stays: ${missing.join(', ')} is missing`, {
    details: { missing },
  });
}
