import { AppError, type DecisionId, type TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { activationSignatures } from './activation-signatures.ts';
import { policyCeilings, type CeilingsReader } from './policy-ceilings.ts';
import type { PolicyHead } from './policy-heads.ts';

type Named = { tenant: string; decisionId?: DecisionId };

/** The cast is safe: with `*`, which has no decisions, the key finds no row. */
const keyOf = ({ tenant, decisionId }: Required<Named>) => ({ tenant: tenant as TenantId, decisionId });

export function wantedDecision({ tenant, decisionId }: Named): Wanted[] {
  return decisionId === undefined ? [] : [wanted(activationSignatures, keyOf({ tenant, decisionId }))];
}

/**
 * If the ceilings require a decision, only the statement that was signed for a decision activates a bundle. Another
 * signature of a policy key does not, even for the same bundle. Throws DECISION_REQUIRED.
 */
export function assertAllowed(
  batch: Pick<LedgerBatch, 'row'>,
  ceilings: CeilingsReader,
  { activation: { tenant, decisionId }, head }: { activation: Named; head: PolicyHead },
): void {
  if (ceilings.row(policyCeilings, tenant)?.needsDecision !== true) return;
  const signed = decisionId === undefined ? null : batch.row(activationSignatures, keyOf({ tenant, decisionId }));
  const isAllowed =
    signed !== null &&
    signed.policyHash === head.hash &&
    signed.epoch === head.epoch &&
    signed.confirmedAtMs === head.confirmedAtMs &&
    signed.keyId === head.keyId &&
    signed.signature === head.signature;
  if (isAllowed) return;
  throw new AppError(
    'DECISION_REQUIRED',
    'This tenant requires a decision for each activation. Send the decision_id that the activation was signed for',
    {
      param: 'decision_id',
    },
  );
}
