import { AppError, ResourceName, type ApprovalId, type SessionId } from '@countersign/contracts';
import type { Caller, NamedCall } from '../../call/governed-call.ts';
import type { ModelFacts } from './model-facts.ts';

type ModelCallRequest = {
  caller: Caller;
  session: SessionId;
  facts: ModelFacts;
  approvalGrant: ApprovalId | null;
  /** The maximum cost of the call; `null` when its price is unknown. */
  worstCaseMicros: bigint | null;
  idempotency: NamedCall['idempotency'];
};

/** The governed call of the model itself. */
export function modelCall(request: ModelCallRequest): NamedCall {
  const { caller, session, facts, approvalGrant, worstCaseMicros, idempotency } = request;
  return {
    kind: 'model',
    caller,
    session,
    model: modelName(facts),
    args: facts,
    context: {},
    approvalGrant: approvalGrant ?? undefined,
    demand: { spend_micros: worstCaseMicros, egress_bytes: facts.body_bytes },
    idempotency,
  };
}

function modelName({ model }: ModelFacts): string {
  const name = ResourceName.safeParse(model);
  if (!name.success) throw new AppError('INVALID_REQUEST', 'model must be a printable name', { param: 'model' });
  return name.data;
}
