import { AppError, isAppError, type Digest, type ReceiptId } from '@countersign/contracts';
import { createActivationSignature, listReceipts, putPolicyBundle } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '@countersign/policy';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { publishPolicyActivated } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import {
  isOvertaken,
  noteAllowed,
  noteInForce,
  proposeAnew,
  type Allowance,
  type StoredActivation,
} from '../store/policy-activations.ts';
import { releaseDraft } from '../store/draft-holds.ts';
import { noteActivated } from '../store/policy-drafts.ts';
import { getInForce } from './in-force.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

type Parts = Pick<Context, 'kernel' | 'transaction' | 'now' | 'newEvent'>;
type Asked = { caller: WorkspaceCaller; policy: CompiledPolicy; widens: boolean; requestId: string };
type InForce = Allowance & { epoch: number; policyReceiptId: ReceiptId };

/**
 * The steps of an activation: decided, signed, in force, noted. Each can be repeated safely, so a repeated request
 * after a crash continues with the first that is not done. Throws POLICY_DENIED, APPROVAL_NEEDED, PRECONDITION_FAILED
 * where another activation was first, and GOVERNANCE_UNAVAILABLE.
 */
export async function putIntoForce(parts: Parts, activation: StoredActivation, asked: Asked): Promise<InForce> {
  const allowance = activation.decided ?? (await allowedNow(parts, activation, asked));
  await activate(parts, { activation, allowance }, asked);
  await noteActivation(parts, activation, asked.requestId);
  const policyReceiptId = await getPolicyReceipt(parts, activation, asked);
  return { ...allowance, epoch: activation.epoch, policyReceiptId };
}

/** A refusal is final for its request: a new request is decided again. */
async function allowedNow(parts: Parts, activation: StoredActivation, { caller, widens }: Asked): Promise<Allowance> {
  const { id, attempt, policyHash, reportHash } = activation;
  const change = {
    ...({ action: 'policy.change', object: 'policy', key: `${id}.${attempt}` } as const),
    resource: `policy/${policyHash}?report=${reportHash}`,
    effectLevel: widens ? ('E3' as const) : ('E2' as const),
  };
  try {
    const { decision_id: decisionId, receipt_id: receiptId } = await proposeChange(parts, change, caller);
    const allowance = { decisionId, receiptId };
    await parts.transaction((tx) => noteAllowed(tx, activation, allowance));
    return allowance;
  } catch (error) {
    if (isAppError(error) && (error.code === 'POLICY_DENIED' || error.code === 'APPROVAL_NEEDED'))
      await parts.transaction((tx) => proposeAnew(tx, activation));
    throw error;
  }
}

type Allowed = { activation: StoredActivation; allowance: Allowance };

async function activate(parts: Parts, allowed: Allowed, { policy }: Asked): Promise<void> {
  const { activation, allowance } = allowed;
  const { workspaceId, policyHash, epoch } = activation;
  if (await isInForce(parts, activation)) return;
  const asked = parts.kernel.own({ createActivationSignature, putPolicyBundle });
  const params = { tenant: tenantOf(workspaceId) };
  const terms = {
    decision_id: allowance.decisionId,
    policy_hash: policyHash,
    epoch,
    report_hash: activation.reportHash,
  };
  try {
    const signed = await answerOf('kernel', () => asked.createActivationSignature({ params, body: terms }));
    const { confirmed_at, signature, decision_id } = signed;
    const body = { bundle: policy.bundle, epoch, confirmed_at, signature, decision_id };
    await answerOf('kernel', () => asked.putPolicyBundle({ params, body }));
  } catch (error) {
    // If two activations share a base, the kernel accepts one.
    if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION' && (await isInForce(parts, activation))) return;
    throw await refusalOf(parts, activation, error);
  }
}

async function refusalOf(parts: Parts, activation: StoredActivation, error: unknown): Promise<unknown> {
  if (!isAppError(error)) return error;
  if (error.code === 'ILLEGAL_TRANSITION') return overtaken(error);
  if (!error.code.startsWith('DECISION_')) return error;
  // The kernel refuses a decision from before the winner's policy with the same word as one that is old.
  const { next_epoch: free } = await getInForce(parts, activation.workspaceId);
  if (free !== activation.epoch) return overtaken(error);
  // A decision that is old, or from before a stop, is made again.
  await parts.transaction((tx) => proposeAnew(tx, activation));
  return error;
}

export async function isInForce(
  parts: Pick<Context, 'kernel'>,
  { workspaceId, policyHash, epoch }: StoredActivation,
): Promise<boolean> {
  const inForce = await getInForce(parts, workspaceId);
  return inForce.owner === String(workspaceId) && inForce.policy_hash === policyHash && inForce.epoch === epoch;
}

function overtaken(cause?: unknown): AppError {
  return new AppError('PRECONDITION_FAILED', 'Another policy was activated in the meantime', {
    param: 'If-Match',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Records the active policy once. Throws PRECONDITION_FAILED where another activation has come to this epoch first. */
export async function noteActivation(
  { transaction, now, newEvent }: Omit<Parts, 'kernel'>,
  activation: StoredActivation,
  requestId: string | null,
): Promise<void> {
  const { workspaceId, policyHash, epoch, reportHash, baseHash, askedBy } = activation;
  await transaction(async (tx) => {
    const noted = await noteInForce(tx, activation, now());
    if (noted === 'overtaken') throw overtaken();
    if (noted === 'known') return;
    await noteActivated(tx, { workspaceId, policyHash });
    await releaseDraft(tx, workspaceId);
    await publishPolicyActivated(tx, { newEvent }, activation);
    const details = { policy_hash: policyHash, base_hash: baseHash, epoch, report_hash: reportHash };
    const act = { action: 'policy.activated', actor: askedBy, verdict: 'allow', subject: policyHash } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, details, requestId }, now());
  }).catch((error: unknown) => {
    throw isOvertaken(error) ? overtaken(error) : error;
  });
}

/** The receipt that sealed the activation: the newest of the few of its kind. */
async function getPolicyReceipt(
  { kernel }: Parts,
  activation: StoredActivation,
  { caller }: Asked,
): Promise<ReceiptId> {
  const asked = kernel.as(caller.assertion, { listReceipts });
  const query = { kind: 'policy', action: 'policy.change' as never, limit: 10 } as const; // within its schema
  const { data } = await answerOf('kernel', () => asked.listReceipts({ query }));
  const found = data.find(({ payload }) => isOf(activation, payload));
  if (found === undefined)
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not show the receipt of the activation');
  return found.payload.receipt_id;
}

type Payload = { policy_hash: Digest | null; policy_epoch: number };

function isOf({ policyHash, epoch }: StoredActivation, { policy_hash, policy_epoch }: Payload): boolean {
  return policy_hash === policyHash && policy_epoch === epoch;
}
