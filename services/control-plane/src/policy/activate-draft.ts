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

type Deps = Pick<Context, 'database' | 'newEvent' | 'gateway' | 'kernel' | 'now' | 'transaction'>;

type Input = {
  policy_hash: Digest;
  report_id: WhatIfId;
  acknowledge_widened?: number | undefined;
  tags: readonly string[] | null;
  requestId: string;
  signal: AbortSignal;
};

/** Activates the draft if it passes the gate and the kernel allows it, or continues an interrupted activation. */
export async function activateDraft(context: Deps, input: Input, caller: WorkspaceCaller) {
  const { workspaceId } = caller;
  const { reader } = context.database;
  const inForce = await getInForce(context, workspaceId);
  const job = await findJob(reader, workspaceId, input.report_id);
  if (job === null || job.report === null) throw notPassed(['report']);
  const { report } = job;
  const base = { workspaceId, policyHash: input.policy_hash, reportId: input.report_id };
  const begun = await findBegun(context, { base, inForce, tags: input.tags });
  if (begun === null) requireMatch(input.tags, inForce.policy_hash);
  const policy = await passGate(context, { input, caller, inForce, isBegun: begun !== null });
  const activation =
    begun ??
    (await context.transaction((tx) =>
      beginActivation(tx, {
        ...base,
        ...{ id: newActivationId(), reportHash: report.report_hash, askedBy: caller.userId },
        ...{ baseHash: inForce.policy_hash, epoch: inForce.next_epoch, createdAt: context.now() },
      }),
    ));
  const { requestId } = input;
  const made = await putIntoForce(context, activation, { caller, policy, widens: widens(report), requestId });
  return { ...made, reportHash: activation.reportHash };
}

type Base = Parameters<typeof findInterrupted>[1];
type Looked = { base: Omit<Base, 'epoch'>; inForce: PolicyInForce; tags: readonly string[] | null };

/** An allowed activation whose base is a policy that If-Match names. It is in force or may still be put into force. */
async function findBegun(
  { database }: Pick<Context, 'database'>,
  { base, inForce, tags }: Looked,
): Promise<StoredActivation | null> {
  const isOurs = inForce.owner === String(base.workspaceId) && inForce.policy_hash === base.policyHash;
  const epoch = isOurs ? inForce.epoch : inForce.next_epoch;
  const begun = await findInterrupted(database.reader, { ...base, epoch });
  return begun !== null && tags?.includes(begun.baseHash) === true ? begun : null;
}

type Gate = { input: Input; caller: WorkspaceCaller; inForce: PolicyInForce; isBegun: boolean };

/**
 * A begun activation whose policy is already in force has passed the gate. All others are checked against the current
 * state.
 */
async function passGate(
  context: Pick<Context, 'database' | 'gateway' | 'now'>,
  { input, caller, inForce, isBegun }: Gate,
) {
  if (isBegun && inForce.policy_hash === input.policy_hash) return await compileAgain(inForce.bundle);
  const { workspaceId } = caller;
  const { reader } = context.database;
  const draft = await findDraft(reader, workspaceId);
  if (draft === null) throw new AppError('NOT_FOUND', 'The workspace has no policy draft. Save one first');
  const now = context.now();
  const job = await findJob(reader, workspaceId, input.report_id);
  const acknowledged = input.acknowledge_widened;
  const missing = missingAtGate({ draft, job, policyHash: input.policy_hash, acknowledged, now });
  if (missing.length > 0) throw notPassed(missing);
  const owners = await ownersOf(context, caller);
  const { policy } = await compileDraft(draft.text, { workspaceId, owners, now, inForce, signal: input.signal });
  if (policy?.hash !== input.policy_hash) throw notPassed(['compiled_draft']);
  return policy;
}

function notPassed(missing: string[]): AppError {
  return new AppError(
    'GATE_NOT_PASSED',
    `The active policy stays in force, because these conditions are not met: ${missing.join(', ')}`,
    {
      details: { missing },
    },
  );
}
