import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateSigningKey } from '@countersign/crypto/signing';
import { reviewReceipts, type Reviewed } from '../src/audit/review-receipts.ts';
import { openAuditChain } from '../src/store/audit.ts';
import { digest, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.clear());
afterAll(() => store?.close());

const document = (number: number) => ({
  payload: {
    ...{ type: 'countersign.receipt.v1', receipt_id: idOf('rcp', number), decision_id: idOf('dec', number) },
    ...{ kind: 'decision', tenant_id: home, principal_id: 'agent', session_id: 's', record_hash: digest },
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', action: 'tool.call', tool: 'a.b', resource: null },
    ...{ effect_level: 'E1', args_hash: digest, policy_hash: digest, policy_epoch: 1 },
    ...{ shadow: false, lamport_clock: 1, prev_hash: null, issued_at: instantAt(0) },
  },
  signature: { alg: 'Ed25519', key_id: 'key', value: 'A'.repeat(86) },
  ...{ receipt_hash: digest, log_index: 6 },
});
const arrived = (number: number, at: number) => ({
  ...{ decision_id: idOf('dec', number), receipt_id: idOf('rcp', number), document: document(number) },
  received_at: instantAt(at),
});
const key = {
  ...{ key_id: 'key', purpose: 'receipts', public_key: generateSigningKey().publicKey },
  ...{ valid_from: instantAt(0), revoked_at: instantAt(0) },
};

describe('the review of receipts after a revocation', () => {
  it('reads all of them, and begins the next pass where the last one ended', async () => {
    await store.insert('workspaces', { id: home });
    const { transaction } = store.database;
    await transaction((tx) => openAuditChain(tx, home));
    const context = {
      transaction,
      kernel: { keyRing: { refresh: async () => [key] } },
      now: () => minute(59),
      log: { warn: () => undefined },
    } as unknown as Parameters<typeof reviewReceipts>[0];
    const failed = async () => (await store.rows('SELECT decision_id FROM receipt_faults')).length;
    const reviewed: Reviewed = new Map();

    await store.insert('receipts', ...Array.from({ length: 250 }, (_, nth) => arrived(nth, 1)));
    await reviewReceipts(context, reviewed);
    expect(await failed()).toBe(250);

    // The receipt of minute 50 may be a late commit, so it is read. Minute 40 is in the reviewed range.
    await store.insert('receipts', arrived(300, 50), arrived(301, 40));
    await reviewReceipts(context, reviewed);
    expect(await failed()).toBe(251);

    // A restarted gateway begins with a full pass.
    await reviewReceipts(context);
    expect(await failed()).toBe(252);
  });
});
