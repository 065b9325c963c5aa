import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import { listAccessKeys } from '../src/store/access-key-store.ts';
import { listApprovals } from '../src/store/approval-store.ts';
import { listBudgets } from '../src/store/budget-store.ts';
import { listFences } from '../src/store/fence-store.ts';
import { listIdentities } from '../src/store/identity-store.ts';
import type { Page, PageRequest } from '../src/store/page.ts';
import { listPasskeys } from '../src/store/passkey-store.ts';
import { listDriftedTools, listRegisteredTools } from '../src/store/registered-tools.ts';
import { listSnapshots } from '../src/store/relation-store.ts';
import { digest, instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;
const principal = 'p' as PrincipalId;
const now = minute(0);

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.empty());
afterAll(() => store.close());

type List = {
  name: string;
  list(page: PageRequest): Promise<Page<unknown>>;
  /** Inserts the three rows of the tenant that the list returns, and others that it must omit. */
  fill(): Promise<void>;
  keys: [string, string, string];
  /** Malformed keys, which are not a position in the list. */
  strange: string[];
};

const plainUlids: [string, string, string] = [ulid(3), ulid(2), ulid(1)];
const strangeUlids = [ulid(1).slice(1), `0${ulid(1)}`, `${ulid(1)}0`, ulid(1).replace('1', 'I'), `\n${ulid(1)}`];
const prefixed = (prefix: string) => plainUlids.map((text) => `${prefix}${text}`) as [string, string, string];
const strangePrefixed = (prefix: string) => [...strangeUlids.map((text) => `${prefix}${text}`), `x${prefix}${ulid(1)}`];

async function fillTools(): Promise<void> {
  await store.insert('mcp_servers', ...['a-1', 'b_2', 'off'].map((server_id) => ({ server_id })));
  const drifted = { current_hash: digest(1), drifted_at: instant(0) };
  const names = [
    ['b_2', 'read'],
    ['a-1', 'x.y'],
    ['a-1', 'find it'],
    ['b_2', 'é'.repeat(513)],
  ];
  await store.insert('mcp_tools', ...names.map(([server_id, tool_name]) => ({ server_id, tool_name, ...drifted })));
}

const lists: List[] = [
  {
    name: 'access keys',
    list: (page) => listAccessKeys(store.database.reader, tenant, { page, item: ({ id }) => id }),
    fill: () =>
      store.insert(
        'access_keys',
        ...[1, 3, 2].map((nth) => ({ key_id: `key_${ulid(nth)}`, secret_hash: `hash-${nth}` })),
        { key_id: `key_${ulid(4)}`, secret_hash: 'hash-4', tenant_id: 'umbrella' },
      ),
    keys: prefixed('key_'),
    strange: strangePrefixed('key_'),
  },
  {
    name: 'approvals',
    list: (page) => listApprovals(store.database.reader, { tenant }, { page, now, item: ({ id }) => id }),
    fill: () =>
      store.insert('approvals', ...[1, 3, 2].map((nth) => ({ approval_id: `apr_${ulid(nth)}` })), {
        approval_id: `apr_${ulid(4)}`,
        tenant_id: 'umbrella',
      }),
    keys: prefixed('apr_'),
    strange: strangePrefixed('apr_'),
  },
  {
    name: 'budgets',
    list: (page) => listBudgets(store.database.reader, tenant, { page, item: ({ row }) => row.id }),
    fill: () =>
      store.insert('budgets', ...['b:3', 'A.1', 'b_2'].map((budget_id) => ({ budget_id })), {
        budget_id: 'a',
        tenant_id: 'umbrella',
      }),
    keys: ['A.1', 'b:3', 'b_2'],
    strange: ['', 'a'.repeat(129), ' a', 'a '],
  },
  {
    name: 'fences',
    list: (page) => listFences(store.database.reader, { page, item: ({ scope }) => scope }),
    fill: () => store.insert('fences', { scope: 'tool:*/c' }, { scope: 'system' }, { scope: 'tenant:b' }),
    keys: ['system', 'tenant:b', 'tool:*/c'],
    strange: ['', 'a'.repeat(401)],
  },
  {
    name: 'identities',
    list: (page) =>
      listIdentities(store.database.reader, { tenant, kind: 'agent' }, { page, item: (identity) => identity.ulid }),
    fill: () =>
      store.insert(
        'identities',
        ...[1, 3, 2].map((nth) => ({ ulid: ulid(nth), principal_id: `p${nth}` })),
        { ulid: ulid(4), principal_id: 'p', kind: 'operator' },
        { ulid: ulid(5), principal_id: 'p', tenant_id: 'umbrella' },
      ),
    keys: plainUlids,
    strange: strangeUlids,
  },
  {
    name: 'passkeys',
    list: (page) => listPasskeys(store.database.reader, { tenant, principal }, { page, item: (row) => row.ulid }),
    fill: () =>
      store.insert(
        'passkeys',
        ...[1, 3, 2].map((nth) => ({ ulid: ulid(nth), credential_id: `c${nth}` })),
        { ulid: ulid(4), credential_id: 'c4', principal_id: 'q' },
        { ulid: ulid(5), credential_id: 'c5', tenant_id: 'umbrella' },
      ),
    keys: plainUlids,
    strange: strangeUlids,
  },
  {
    name: 'snapshots',
    list: (page) => listSnapshots(store.database.reader, tenant, { page, item: ({ version }) => String(version) }),
    fill: () =>
      store.insert(
        'relation_snapshots',
        ...[9, 123, 1_000_000_000].map((version) => ({
          ...{ version, snapshot_id: `snp_${version}`, snapshot_hash: digest(version) },
        })),
        { version: 500, snapshot_id: 'snp_500', snapshot_hash: digest(500), tenant_id: 'umbrella' },
      ),
    keys: ['1000000000', '123', '9'],
    strange: ['', '0', '01', '10000000000', 'a1', '1a'],
  },
  {
    name: 'registered tools',
    list: async (page) => {
      const { data, next_cursor } = await listRegisteredTools(store.database.reader, tenant, {
        page,
        now,
        effectOf: () => 'E4',
      });
      return { data: data.map(({ tool }) => tool), next_cursor };
    },
    fill: fillTools,
    keys: ['a-1.find it', 'a-1.x.y', 'b_2.read'],
    strange: ['', 'a', 'a.', '.a', 'A.b', ' a.b', 'a.b\0', 'a.\0'],
  },
  {
    name: 'drifted tools',
    list: async (page) => {
      const { data, next_cursor } = await listDriftedTools(store.database.reader, page, new Date());
      return { data: data.map(({ tool }) => tool), next_cursor };
    },
    fill: async () => {
      await fillTools();
      await store.client.query(`UPDATE mcp_servers SET state = 'revoked' WHERE server_id = 'off'`);
      const away = { server_id: 'off', tool_name: 'read', current_hash: digest(1), drifted_at: instant(0) };
      await store.insert('mcp_tools', away, {
        ...away,
        server_id: 'a-1',
        tool_name: 'y',
        current_hash: digest(0),
        drifted_at: null,
      });
    },
    keys: ['a-1.find it', 'a-1.x.y', 'b_2.read'],
    strange: ['a'],
  },
];

const cursorOf = (key: string) => Buffer.from(key).toString('base64url');

it.each(lists)('$name are paged in order, each page after its cursor', async ({ list, fill, keys }) => {
  await fill();
  const [first, second, third] = keys;
  expect(await list({ limit: 4 })).toEqual({ data: keys, next_cursor: null });
  expect(await list({ limit: 3 })).toEqual({ data: keys, next_cursor: null });
  expect(await list({ limit: 1 })).toEqual({ data: [first], next_cursor: cursorOf(first) });
  expect(await list({ limit: 1, cursor: cursorOf(first) })).toEqual({ data: [second], next_cursor: cursorOf(second) });
  expect(await list({ limit: 1, cursor: cursorOf(second) })).toEqual({ data: [third], next_cursor: null });
});

it.each(lists)('$name are not paged from a malformed cursor', async ({ list, strange }) => {
  for (const key of strange)
    expect([key, await list({ limit: 1, cursor: cursorOf(key) }).catch((error: unknown) => error)]).toEqual([
      key,
      expect.objectContaining({ code: 'INVALID_REQUEST', param: 'cursor' }),
    ]);
});
