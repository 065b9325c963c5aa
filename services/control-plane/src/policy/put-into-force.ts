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

type Deps = Pick<Context, 'kernel' | 'transaction' | 'now' | 'newEvent'>;
type Input = { caller: WorkspaceCaller; policy: CompiledPolicy; widens: boolean; requestId: string };
type InForce = Allowance & { epoch: number; policyReceiptId: ReceiptId };

/**
 * Runs the steps of an activation: decided, signed, in force, recorded. Each can be repeated safely, so a repeated
 * request after a crash continues with the first open step. Throws POLICY_DENIED, APPROVAL_NEEDED, PRECONDITION_FAILED
 * when another activation was first, and GOVERNANCE_UNAVAILABLE.
 */
export async function putIntoForce(deps: Deps, activation: StoredActivation, input: Input): Promise<InForce> {
  const allowance = activation.decided ?? (await allowedNow(deps, activation, input));
  await activate(deps, { activation, allowance }, input);
  await noteActivation(deps, activation, input.requestId);
  const policyReceiptId = await getPolicyReceipt(deps, activation, input);
  return { ...allowance, epoch: activation.epoch, policyReceiptId };
}

/** A refusal is final for its attempt. The next request begins a new attempt, which is decided again. */
async function allowedNow(deps: Deps, activation: StoredActivation, { caller, widens }: Input): Promise<Allowance> {
  const { id, attempt, policyHash, reportHash } = activation;
  const change = {
    ...({ action: 'policy.change', object: 'policy', key: `${id}.${attempt}` } as const),
    resource: `policy/${policyHash}?report=${reportHash}`,
    effectLevel: widens ? ('E3' as const) : ('E2' as const),
  };
  try {
    const { decision_id: decisionId, receipt_id: receiptId } = await proposeChange(deps, change, caller);
    const allowance = { decisionId, receiptId };
    await deps.transaction((tx) => noteAllowed(tx, activation, allowance));
    return allowance;
  } catch (error) {
    if (isAppError(error) && (error.code === 'POLICY_DENIED' || error.code === 'APPROVAL_NEEDED'))
      await deps.transaction((tx) => proposeAnew(tx, activation));
    throw error;
  }
}

type Allowed = { activation: StoredActivation; allowance: Allowance };

async function activate(deps: Deps, allowed: Allowed, { policy }: Input): Promise<void> {
  const { activation, allowance } = allowed;
  const { workspaceId, policyHash, epoch } = activation;
  if (await isInForce(deps, activation)) return;
  const client = deps.kernel.own({ createActivationSignature, putPolicyBundle });
  const params = { tenant: tenantOf(workspaceId) };
  const terms = {
    decision_id: allowance.decisionId,
    policy_hash: policyHash,
    epoch,
    report_hash: activation.reportHash,
  };
  try {
    const signed = await answerOf('kernel', () => client.createActivationSignature({ params, body: terms }));
    const { confirmed_at, signature, decision_id } = signed;
    const body = { bundle: policy.bundle, epoch, confirmed_at, signature, decision_id };
    await answerOf('kernel', () => client.putPolicyBundle({ params, body }));
  } catch (error) {
    // The kernel accepts only one activation per base. A refusal may concern a repetition of the accepted activation.
    if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION' && (await isInForce(deps, activation))) return;
    throw await refusalOf(deps, activation, error);
  }
}

async function refusalOf(deps: Deps, activation: StoredActivation, error: unknown): Promise<unknown> {
  if (!isAppError(error)) return error;
  if (error.code === 'ILLEGAL_TRANSITION') return overtaken(error);
  if (!error.code.startsWith('DECISION_')) return error;
  // The kernel returns the same code for an expired decision and for one from before another activation won.
  const { next_epoch: free } = await getInForce(deps, activation.workspaceId);
  if (free !== activation.epoch) return overtaken(error);
  // A decision that expired, or was made before a stop, is requested again.
  await deps.transaction((tx) => proposeAnew(tx, activation));
  return error;
}

export async function isInForce(
  deps: Pick<Context, 'kernel'>,
  { workspaceId, policyHash, epoch }: StoredActivation,
): Promise<boolean> {
  const inForce = await getInForce(deps, workspaceId);
  return inForce.owner === String(workspaceId) && inForce.policy_hash === policyHash && inForce.epoch === epoch;
}

function overtaken(cause?: unknown): AppError {
  return new AppError(
    'PRECONDITION_FAILED',
    'Another policy was activated after you read this one. Read the active policy again',
    {
      param: 'If-Match',
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/** Records the active policy once. Throws PRECONDITION_FAILED when another activation already has this epoch. */
export async function noteActivation(
  { transaction, now, newEvent }: Omit<Deps, 'kernel'>,
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

/** The receipt that sealed the activation. It is among the newest policy receipts. */
async function getPolicyReceipt({ kernel }: Deps, activation: StoredActivation, { caller }: Input): Promise<ReceiptId> {
  const client = kernel.as(caller.assertion, { listReceipts });
  const query = { kind: 'policy', action: 'policy.change' as never, limit: 10 } as const; // a valid name of an action
  const { data } = await answerOf('kernel', () => client.listReceipts({ query }));
  const found = data.find(({ payload }) => isOf(activation, payload));
  if (found === undefined)
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel returned no receipt for the activation');
  return found.payload.receipt_id;
}

type Payload = { policy_hash: Digest | null; policy_epoch: number };

function isOf({ policyHash, epoch }: StoredActivation, { policy_hash, policy_epoch }: Payload): boolean {
  return policy_hash === policyHash && policy_epoch === epoch;
}
