import type { DecisionId, Digest, TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

type SignatureKey = { readonly tenant: TenantId; readonly decisionId: DecisionId };

/**
 * The activation that was signed for a decision. It is stored permanently, so no second activation is signed for this
 * decision.
 */
export type SignatureRow = SignatureKey & {
  readonly policyHash: Digest;
  readonly epoch: number;
  readonly reportHash: Digest;
  readonly confirmedAtMs: number;
  readonly keyId: string;
  readonly signature: string;
};

const idOf = ({ tenant, decisionId }: SignatureKey) => `${tenant}\n${decisionId}`; // ids contain no line feed

export const activationSignatures: Control<SignatureKey, SignatureRow> = {
  name: 'activation_signatures',
  guard: 'epoch',
  ...selectByKey('activation_signatures', ['tenant_id', 'decision_id']),
  ...columnsOf<SignatureRow>({
    tenant: text('tenant_id'),
    decisionId: text('decision_id'),
    policyHash: text('policy_hash'),
    epoch: integer('epoch'),
    reportHash: text('report_hash'),
    confirmedAtMs: instantMs('confirmed_at'),
    keyId: text('key_id'),
    signature: text('signature'),
  }),
  writes: { table: 'activation_signatures', primaryKey: ['tenant_id', 'decision_id'], put: { kind: 'insert' } },
  keyValues: ({ tenant, decisionId }) => [tenant, decisionId],
  keyText: idOf,
  idOf,
  setsOf: (row) => [idOf(row)],
};
