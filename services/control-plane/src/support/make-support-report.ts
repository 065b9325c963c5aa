import { build } from '@countersign/service-kit';
import { isAppError, type DecisionId } from '@countersign/contracts';
import type { SupportReport } from '@countersign/contracts/control-plane';
import { getReport, type CallReport } from '@countersign/contracts/gateway';
import {
  getBoundaryStatus,
  getReceipt,
  type BoundaryStatus,
  type ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import { receiptIdOf, ulidOf } from '@countersign/receipts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { checkReceipt } from '../trust/check-receipt.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { witnessed } from '../trust/witnessed.ts';
import { supportText } from './support-text.ts';

type Deps = Pick<Context, 'gateway' | 'kernel' | 'keyRing'>;
type OfReceipt = { decision: NonNullable<SupportReport['decision']>; policy: SupportReport['policy'] };

/**
 * Joins the gateway's report of a failed request with the data of the kernel. The result excludes all caller-controlled
 * text that is not in the gateway's report, such as names in a receipt. Throws NOT_FOUND and GATEWAY_UNAVAILABLE.
 */
export async function makeSupportReport(
  deps: Deps,
  requestId: string,
  caller: WorkspaceCaller,
): Promise<SupportReport> {
  const { workspaceId } = caller;
  const asPerson = deps.gateway.as(caller.delegation, { getReport });
  const input = { params: { requestId }, query: { workspaceId } };
  const { text, ...call } = await answerOf('gateway', () => asPerson.getReport(input));
  const [active, sealed] = await Promise.all([
    orAway(() => standingOf(deps, caller)),
    call.decisionId === null ? null : orAway(() => decisionOf(deps, call.decisionId, caller)),
  ]);
  const report = {
    ...viewOf(call),
    versions: { gateway: call.version, control_plane: build.version, kernel: active?.version ?? null },
    mode: active === null ? null : { mode: active.mode, boundary: active.status },
    decision: sealed?.decision ?? null,
    policy: sealed?.policy ?? inForce(active),
  };
  return { ...report, text: supportText(report, text) };
}

/** `null` when the kernel refuses or is unavailable, since that may be the cause of the failure. */
async function orAway<Told>(ask: () => Promise<Told>): Promise<Told | null> {
  try {
    return await ask();
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

function standingOf({ kernel }: Deps, { assertion }: WorkspaceCaller): Promise<BoundaryStatus> {
  const client = kernel.as(assertion, { getBoundaryStatus });
  return answerOf('kernel', () => client.getBoundaryStatus());
}

async function decisionOf(deps: Deps, id: DecisionId | null, caller: WorkspaceCaller): Promise<OfReceipt | null> {
  if (id === null) return null;
  const client = deps.kernel.as(caller.assertion, { getReceipt });
  const receipt = await answerOf('kernel', () =>
    client.getReceipt({ params: { receipt_id: receiptIdOf(ulidOf(id)) } }),
  );
  const { payload, receipt_hash } = receipt;
  const keys = await trustedKeys(deps);
  const shown = await witnessed(deps, receipt, { keys, ...caller });
  const { verified, fault } = checkReceipt(shown, keys, { tenant: caller.workspaceId });
  const { decision_id, receipt_id, verdict, reason_code } = payload;
  return {
    decision: { decision_id, receipt_id, receipt_hash, verdict, reason_code, verified, fault },
    policy: policyOf(payload),
  };
}

function policyOf({ policy_hash, policy_epoch }: ReceiptPayload): SupportReport['policy'] {
  return policy_hash === null ? null : { policy_hash, policy_epoch, of: 'decision' };
}

function inForce(current: BoundaryStatus | null): SupportReport['policy'] {
  const { policy_hash = null, policy_epoch = null } = current?.policy ?? {};
  return policy_hash === null || policy_epoch === null ? null : { policy_hash, policy_epoch, of: 'in_force' };
}

type View = Omit<SupportReport, 'versions' | 'mode' | 'decision' | 'policy' | 'text'>;

function viewOf({ query, body, method, path, pathIds, operation, ...call }: CallReport): View {
  return {
    type: 'countersign.support-report.v1',
    request_id: call.requestId,
    workspace_id: call.workspaceId,
    failed_at: call.createdAt,
    endpoint: { method, path, path_ids: pathIds, operation },
    auth: call.auth,
    principal: call.principal,
    status: call.status,
    error_code: call.errorCode,
    reason_code: call.reasonCode,
    task_id: call.taskId,
    run_id: call.runId,
    request: {
      query: shapeView(query),
      body: { ...shapeView(body), content_type: body.contentType, bytes: body.bytes },
    },
  };
}

function shapeView({ state, members, unknownMembers: unknown_members, isCut: is_cut }: CallReport['query']) {
  return { state, members, unknown_members, is_cut };
}
