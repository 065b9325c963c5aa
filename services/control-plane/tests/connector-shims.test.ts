import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { InstallId } from '@countersign/contracts';
import { AppError, UserId, WorkspaceId } from '@countersign/contracts';
import { createShim } from '../src/connectors/create-shim.ts';
import { disableConnector } from '../src/connectors/disable.ts';
import { endShim } from '../src/connectors/end-shims.ts';
import type { Context } from '../src/context.ts';
import type { WorkspaceCaller } from '../src/guards.ts';
import { newInstallId } from '../src/ids.ts';
import { listAuditEntries } from '../src/store/audit.ts';
import { writeInstall } from '../src/store/connector-installs.ts';
import { findShim, listLiveShims, listShims } from '../src/store/connector-shims.ts';
import { openStoreContext } from './_store-context.ts';

type Key = { key_id: string; principal_id: string; tools: string[]; created_at: string; revoked: boolean };

let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;
let caller: WorkspaceCaller;
let installId: InstallId;
let keys: Key[];
/** Runs after the kernel made a key and before its response. */
let afterMaking: () => Promise<void>;
/** The URL of the server with the connector's name. */
let serverUrl: string;
let nth = 0;

const ada = UserId.parse(`usr_${'7'.repeat(26)}`);

/** The routes of gateway and kernel that shims call. */
function scripted(): Pick<Context, 'gateway' | 'kernel'> {
  const tool = (name: string, pin = 'in_sync') => ({ name, pin, pinned_hash: null, observed_hash: null, diff: [] });
  const shown = { state: 'approved', definitions_hash: null, approval_request: null };
  const tools = [tool('read'), tool('write', 'drifted')];
  const server = { server_id: 'one', owner: 'tenant', transport: 'http', tools, ...shown };
  const kernel = {
    compareMcpServerAddress: ({ body: { url } }: { body: { url: string } }) =>
      Promise.resolve({ body: { ...server, has_address: url === serverUrl } }),
    disableMcpServer: () => Promise.resolve({ body: {} }),
    listAccessKeys: () => Promise.resolve({ body: { data: keys, next_cursor: null } }),
    revokeAccessKey: ({ params: { key_id: id } }: { params: { key_id: string } }) => {
      for (const key of keys) if (key.key_id === id) key.revoked = true;
      return Promise.resolve({ body: {} });
    },
  };
  const createAccessKey = async ({ body }: { body: { principal_id: string; tools: string[] } }) => {
    const id = `key_${String(keys.length + 1).padStart(26, '0')}`;
    const made = { ...body, key_id: id, created_at: context.now().toISOString(), revoked: false };
    keys.unshift(made);
    await afterMaking();
    return { body: { ...made, key: 'agk_secret' } };
  };
  return { gateway: { as: () => ({ createAccessKey }) }, kernel: { as: () => kernel } } as never; // nothing else is called
}

beforeAll(async () => {
  opened = await openStoreContext();
});
afterAll(() => opened?.close());

beforeEach(async () => {
  nth += 1;
  keys = [];
  afterMaking = () => Promise.resolve();
  serverUrl = 'https://mcp.example/one';
  context = { ...opened.context, ...scripted() };
  installId = newInstallId();
  const workspaceId = WorkspaceId.parse(`wsp_${String(nth).padStart(26, '0')}`);
  caller = { workspaceId, userId: ada, assertion: 'none', delegation: 'none' } as WorkspaceCaller; // no other is read
  const existing = { connectorId: 'one', version: '1', url: 'https://mcp.example/one', attempt: 'att_1' };
  const serverJsonHash = `sha256:${'0'.repeat(64)}` as never; // a well-formed digest
  const by = { installedBy: ada, installedAt: context.now(), disabledBy: null, disabledAt: null };
  await context.transaction((tx) =>
    writeInstall(tx, { id: installId, workspaceId, ...existing, serverJsonHash, ...by }),
  );
});

const create = () => createShim(context, { installId, client: 'editor', expiresInDays: 1, requestId: 'req_1' }, caller);
const disable = () => disableConnector(context, { connectorId: 'one', reason: 'leak', requestId: 'req_1' }, caller);
const place = () => ({ workspaceId: caller.workspaceId, installId });
const stored = () => listShims(context.database.reader, place(), { limit: 50 });
const codeOf = (work: Promise<unknown>) => work.then(String, ({ code }: { code: string }) => code);

describe('a shim', () => {
  it('is a key for the pinned tools only, and its secret is not stored', async () => {
    expect(await create()).toMatchObject({ credential: 'agk_secret', tools: ['one.read'], state: 'issued' });
    expect(keys).toMatchObject([{ tools: ['one.read'], principal_id: (await stored())[0]?.principal }]);
    const { data } = await listAuditEntries(context.database.reader, caller.workspaceId, { limit: 9 });
    expect(data.map(({ action }) => action)).toEqual(['shim.created']);
    expect(JSON.stringify([await stored(), data])).not.toContain('agk_secret');
  });

  it('whose response was lost is found by its principal and ended', async () => {
    afterMaking = () => Promise.reject(new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'));
    expect(await codeOf(create())).toBe('GOVERNANCE_UNAVAILABLE');
    const [shim] = await listLiveShims(context.database.reader, place());
    if (shim === undefined) throw new Error('there is no shim');
    expect([shim.keyId, keys[0]?.revoked]).toEqual([null, false]);
    await endShim(context, { shim, requestId: 'req_1' }, caller);
    expect(keys[0]?.revoked).toBe(true);
    expect(await findShim(context.database.reader, { ...place(), id: shim.id })).toMatchObject({ revokedBy: ada });
  });

  it('that is refused is removed completely', async () => {
    afterMaking = () => Promise.reject(new AppError('PERMISSION_DENIED', 'No'));
    expect(await codeOf(create())).toBe('PERMISSION_DENIED');
    expect(await stored()).toEqual([]);
  });

  it('is ended and not shown if its connector is disabled while the key is made', async () => {
    afterMaking = () => disable().then(() => undefined);
    expect(await codeOf(create())).toBe('ILLEGAL_TRANSITION');
    expect(keys.map(({ revoked }) => revoked)).toEqual([true]);
    expect(await listLiveShims(context.database.reader, place())).toEqual([]);
    expect(await codeOf(create())).toBe('ILLEGAL_TRANSITION');
    expect(keys).toHaveLength(1);
  });

  it("is ended and not shown if another server gets the connector's name while the key is made", async () => {
    afterMaking = () => Promise.resolve(void (serverUrl = 'https://mcp.example/another'));
    expect(await codeOf(create())).toBe('ILLEGAL_TRANSITION');
    expect(keys.map(({ revoked }) => revoked)).toEqual([true]);
    expect(await listLiveShims(context.database.reader, place())).toEqual([]);
  });

  it('is refused beyond twenty, also in a race', async () => {
    const made = await Promise.all(Array.from({ length: 22 }, () => codeOf(create())));
    expect(made.filter((code) => code === 'LIMIT_REACHED')).toHaveLength(2);
    expect(await listLiveShims(context.database.reader, place())).toHaveLength(20);
  });

  it('that has expired does not count towards the limit of twenty', async () => {
    for (let made = 0; made < 20; made += 1) await create();
    expect(await codeOf(create())).toBe('LIMIT_REACHED');
    const later = new Date(context.now().getTime() + 2 * 86_400_000);
    context = { ...context, now: () => later };
    expect(await create()).toMatchObject({ state: 'issued' });
  });
});
