import { afterEach, expect, it } from '@jest/globals';
import { AppError, type TenantId } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import type { ApprovalRow } from '../src/approvals/approval-row.ts';
import type { DeskParts } from '../src/server-registry/registry-desk.ts';
import type { GivenQuery } from '../src/server-registry/request-approval.ts';
import { startServerApprover } from '../src/workers/server-approver.ts';

const hash = `sha256:${'0'.repeat(64)}`;
const given = (tenant: string, nth: number) =>
  ({
    ...{ tenant, id: `${tenant}-${nth}`, resource: `mcp_server:s${nth}?definitions=${hash}` },
    ...{ receiptId: 'r', approvedBy: ['ada'], brokenBy: null, requestedBy: 'mcp-registry' },
  }) as unknown as ApprovalRow; // the members that the worker reads

let close: () => Promise<void> = async () => undefined;
let release: () => void = () => undefined;
afterEach(async () => {
  release();
  await close();
});

/** The worker over these approvals. A server of `silent` does not answer, and a server of any other tenant is gone. */
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
    desk: { loadServers } as unknown as DeskParts, // the first part that a look needs
    listGiven: async (query) => {
      queries.push(query);
      return approvals.filter(({ id }) => !query.except.includes(id));
    },
    clock: () => new Date(nowMs),
    clockGuard: { isNear: async () => true } as never, // the member that repeat reads
    log: { warn: () => undefined } as never,
  }));
  return { looks, queries, pass: (ms: number) => (nowMs += ms) };
}

it('looks at the server of another tenant while two of a tenant do not answer', async () => {
  const { looks } = worker([given('silent', 1), given('silent', 2), given('silent', 3), given('other', 1)]);
  await until(() => looks.includes('other'));
  expect(looks).toEqual(['silent', 'silent', 'other']);
});

it('looks at a server again after a while, and not at each pass', async () => {
  const { looks, queries, pass } = worker([given('other', 1)]);
  await until(() => queries.length >= 3);
  expect([looks, queries[2]?.except]).toEqual([['other'], ['other-1']]);
  pass(30_000);
  await until(() => looks.length === 2);
});
