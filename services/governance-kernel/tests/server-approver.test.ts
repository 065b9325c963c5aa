import { afterEach, expect, it } from '@jest/globals';
import { AppError, type TenantId } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import type { DeskDeps } from '../src/doors/server-registry/registry-desk.ts';
import type { GivenQuery } from '../src/doors/server-registry/request-approval.ts';
import { startServerApprover } from '../src/workers/server-approver.ts';

const hash = `sha256:${'0'.repeat(64)}`;
const grant = (tenant: string, nth: number) =>
  ({
    ...{ tenant, id: `${tenant}-${nth}`, resource: `mcp_server:s${nth}?definitions=${hash}` },
    ...{ receiptId: 'r', approvedBy: ['ada'], brokenBy: null, requestedBy: 'mcp-registry' },
  }) as unknown as ApprovalRow; // only the members that the worker reads

let close: () => Promise<void> = async () => undefined;
let release: () => void = () => undefined;
afterEach(async () => {
  release();
  await close();
});

/**
 * The worker with these approvals. The servers of the tenant `silent` never answer. The servers of other tenants no
 * longer exist.
 */
function worker(approvals: ApprovalRow[]) {
  let nowMs = 0;
  const looks: string[] = [];
  const queries: GivenQuery[] = [];
  const silence = new Promise<never>((_, refuse) => (release = () => refuse(new AppError('UPSTREAM_FAILED', 'ended'))));
  silence.catch(() => undefined);
  const loadServers = async (tenant: TenantId) => {
    looks.push(tenant);
    if (tenant === ('silent' as string)) await silence;
    return [];
  };
  ({ close } = startServerApprover({
    desk: { loadServers } as unknown as DeskDeps, // the only member that is used here
    listGiven: async (query) => {
      queries.push(query);
      return approvals.filter(({ id }) => !query.except.includes(id));
    },
    clock: () => new Date(nowMs),
    clockGuard: { isNear: async () => true } as never, // the member that `repeat` reads
    log: { warn: () => undefined } as never,
  }));
  return { looks, queries, pass: (ms: number) => (nowMs += ms) };
}

it('the worker checks the server of another tenant while two servers of one tenant do not answer', async () => {
  const { looks } = worker([grant('silent', 1), grant('silent', 2), grant('silent', 3), grant('other', 1)]);
  await until(() => looks.includes('other'));
  expect(looks).toEqual(['silent', 'silent', 'other']);
});

it('the worker checks a server again after a while, but not on each pass', async () => {
  const { looks, queries, pass } = worker([grant('other', 1)]);
  await until(() => queries.length >= 3);
  expect([looks, queries[2]?.except]).toEqual([['other'], ['other-1']]);
  pass(30_000);
  await until(() => looks.length === 2);
});
