import type { Digest, ReceiptId } from '@countersign/contracts';
import type { SignedTrustList } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, json, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** There is one list for the whole installation. */
export const trustScope = 'installation';

export type TrustListRow = {
  readonly scope: typeof trustScope;
  readonly hash: Digest;
  readonly version: number;
  readonly document: SignedTrustList;
  readonly receiptId: ReceiptId;
  readonly acceptedAtMs: number;
};

/** Every version of the trust list that was accepted. A row counts only if the root key signed its document. */
export const trustLists: Control<typeof trustScope, TrustListRow> = {
  name: 'trust_lists',
  guard: 'epoch',
  ...selectByKey('trust_lists', ['scope']),
  ...columnsOf<TrustListRow>({
    scope: text('scope'),
    hash: text('trust_hash'),
    version: integer('version'),
    document: json('document'),
    receiptId: text('receipt_id'),
    acceptedAtMs: instantMs('accepted_at'),
  }),
  writes: { table: 'trust_lists', primaryKey: ['trust_hash'], put: { kind: 'insert_once' } },
  keyValues: (scope) => [scope],
  keyText: (scope) => scope,
  idOf: ({ hash }) => hash,
  setsOf: ({ scope }) => [scope],
};
