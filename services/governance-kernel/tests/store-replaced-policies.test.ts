import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApprovalId, TenantId } from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';
import { policyReplaced } from '../src/controls/approvals/expire.ts';
import { getApproval, listApprovals, listOutdatedApprovals } from '../src/store/approval-store.ts';
import { digest, instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const apr = (nth: number) => `apr_${ulid(nth)}` as ApprovalId;
const [replaced, shared, own] = [digest(7), digest(1), digest(2)];
const now = minute(30);

/** `acme` has its own policy. `plain` uses the policy of all tenants. */
let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  await store.insert(
    'policy_bundles',
    { tenant_id: '*', epoch: 1, policy_hash: shared },
    { tenant_id: 'acme', epoch: 1, policy_hash: own },
  );
  await store.insert('policy_heads', { tenant_id: '*', policy_hash: shared }, { tenant_id: 'acme', policy_hash: own });
  const [acme, plain] = [{ tenant_id: 'acme' }, { tenant_id: 'plain' }];
  await store.insert(
    'approvals',
    ...[
      { ...acme, policy_hash: own },
      { ...acme, policy_hash: replaced, expires_at: instant(40) },
      { ...acme, policy_hash: shared, state: 'approved', expires_at: instant(39) },
      { ...acme, policy_hash: replaced, state: 'consumed' },
      { ...acme, policy_hash: replaced, state: 'denied' },
      { ...acme, policy_hash: replaced, expires_at: instant(29) },
      { ...acme, policy_hash: null },
      { ...plain, policy_hash: shared },
      { ...plain, policy_hash: replaced, expires_at: instant(38) },
      { ...acme, policy_hash: own, state: 'approved' },
    ].map((row, nth) => ({ ...row, approval_id: apr(nth) })),
  );
});
afterAll(() => store?.close());

const listed = async (tenant: string, state?: ApprovalState) => {
  const item = ({
    id,
    state: shown,
    rejectionReason,
  }: {
    id: string;
    state: string;
    rejectionReason: string | null;
  }) => [Number(id.slice(4)), shown, rejectionReason];
  const terms = { page: { limit: 20 }, now, item };
  return (await listApprovals(store.database.reader, { tenant: tenant as TenantId, state }, terms)).data;
};
const nthsOf = async (tenant: string, state: ApprovalState) => (await listed(tenant, state)).map(([nth]) => nth);

it('pending and unused approvals of a replaced policy are found, each by the policy of its own tenant', async () => {
  const found = await listOutdatedApprovals(store.database.reader, now, 10);
  expect(found).toEqual([
    { tenant: 'plain', id: apr(8), session: 's' },
    { tenant: 'acme', id: apr(2), session: 's' },
    { tenant: 'acme', id: apr(1), session: 's' },
  ]);
  expect(await listOutdatedApprovals(store.database.reader, now, 1)).toEqual(found.slice(0, 1));
});

it('approvals of a replaced policy are shown as expired, with that reason, before the expiry is stored', async () => {
  expect(await nthsOf('acme', 'pending')).toEqual([6, 0]);
  expect(await nthsOf('acme', 'approved')).toEqual([9]);
  expect(await listed('acme', 'expired')).toEqual([
    [5, 'expired', policyReplaced],
    [2, 'expired', policyReplaced],
    [1, 'expired', policyReplaced],
  ]);
  expect(await nthsOf('plain', 'pending')).toEqual([7]);
  const one = await getApproval(store.database.reader, { tenant: 'acme' as TenantId, id: apr(2) });
  expect(one).toMatchObject({ state: 'expired', rejectionReason: policyReplaced });
});
