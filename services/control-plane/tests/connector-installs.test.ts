import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, UserId, WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { readPublicKeys } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { disableConnector } from '../src/connectors/disable.ts';
import { installConnector } from '../src/connectors/install.ts';
import { signCatalogue } from '../src/connectors/sign-catalogue.ts';
import type { Context } from '../src/context.ts';
import type { WorkspaceCaller } from '../src/guards.ts';
import { listAuditEntries } from '../src/store/audit.ts';
import * as installs from '../src/store/connector-installs.ts';
import { putEntitlement } from '../src/store/entitlements.ts';
import { insertOrgWorkspace } from '../src/store/orgs.ts';
import { openStoreContext } from './_store-context.ts';

const ada = UserId.parse(`usr_${'7'.repeat(26)}`);
const dir = mkdtempSync(join(tmpdir(), 'countersign-installs-'));
const path = join(dir, 'connectors.json');
let opened: Awaited<ReturnType<typeof openStoreContext>>;
let kernel: ScriptedKernel;
let context: Context;
let caller: WorkspaceCaller;
let orgId: OrgId;
let nth = 0;

/** The registry of a kernel, limited to the routes that installs use. */
class ScriptedKernel {
  readonly servers = new Map<string, Record<string, unknown>>();
  /** While it is set, every change fails with this error and leaves the registry unchanged. */
  problem: AppError | null = null;

  as = () => ({
    compareMcpServerAddress: this.#compare,
    registerMcpServer: this.#register,
    disableMcpServer: this.#disable,
  });

  readonly #compare = ({ params, body }: { params: { server_id: string }; body: { url: string } }) => {
    const server = this.servers.get(params.server_id);
    if (server === undefined)
      return Promise.reject(new AppError('NOT_FOUND', 'The tenant has no MCP server with this ID'));
    return Promise.resolve({ body: { ...server, has_address: server['address'] === body.url } });
  };

  readonly #register = ({ body }: { body: { server_id: string; server_json: { remotes: { url: string }[] } } }) => {
    if (this.problem !== null) return Promise.reject(this.problem);
    this.put(body.server_id, { state: 'quarantined', address: body.server_json.remotes[0]?.url });
    return Promise.resolve({ body: { servers: [] } });
  };

  readonly #disable = ({ params }: { params: { server_id: string } }) => {
    if (this.problem !== null) return Promise.reject(this.problem);
    this.put(params.server_id, { ...this.servers.get(params.server_id), state: 'revoked' });
    return Promise.resolve({ body: {} });
  };

  put(id: string, more: object) {
    const detail = { definitions_hash: null, approval_request: null, tools: [] };
    this.servers.set(id, { server_id: id, owner: 'tenant', transport: 'http', ...detail, ...more });
  }
}

beforeAll(async () => {
  opened = await openStoreContext();
  const entries = ['one', 'two', 'three'].map((id) => {
    const remotes = [{ type: 'streamable-http', url: `https://mcp.example/${id}` }];
    const server_json = { name: `org.example/${id}`, version: '1', remotes };
    return { connector_id: id, title: id, summary: id, server_json };
  });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const signed = signCatalogue(entries, (bytes) => sign(null, bytes, privateKey));
  writeFileSync(path, signed.catalogue);
  writeFileSync(`${path}.sig`, signed.signature);
  const catalogue = { path, keys: readPublicKeys([publicKey.export({ format: 'jwk' }).x ?? '']) };
  context = { ...opened.context, config: { ...opened.context.config, catalogue } };
});
afterAll(async () => {
  await opened?.close();
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(async () => {
  nth += 1;
  kernel = new ScriptedKernel();
  context = { ...context, kernel: kernel as never }; // only the kernel is called
  orgId = OrgId.parse(`org_${String(nth).padStart(26, '0')}`);
  const adminId = UserId.parse(`usr_${String(nth).padStart(26, '0')}`);
  await context.transaction((tx) => tx.org.create({ data: { id: orgId, name: 'x', adminId, createdAt: new Date() } }));
  caller = await inWorkspace(nth * 10);
});

async function inWorkspace(number: number): Promise<WorkspaceCaller> {
  const workspaceId = WorkspaceId.parse(`wsp_${String(number).padStart(26, '0')}`);
  await context.transaction((tx) => insertOrgWorkspace(tx, { workspaceId, orgId }, new Date()));
  return { workspaceId, userId: ada, assertion: 'none' } as WorkspaceCaller; // no other member is read
}

function limitTo(connectors: number): Promise<void> {
  const none = { tool_calls: null, concurrent_runs: null, members: null, workspaces: null };
  const limits = { ...none, shadow_lanes: null, retention_days: null, connectors };
  const event = { time: new Date().toISOString(), data: { org_id: orgId, limits } };
  return context.transaction((tx) => putEntitlement(tx, event as never)); // the members that the store reads
}

const install = (connectorId: string, by = caller, version = '1') =>
  installConnector(context, { connectorId, version, headers: {}, requestId: 'req_1' }, by);
const disable = (connectorId: string, by = caller) =>
  disableConnector(context, { connectorId, reason: 'not needed', requestId: 'req_1' }, by);
const outcome = (work: Promise<{ state: string }>) =>
  work.then(
    ({ state }) => state,
    (error: { code: string }) => error.code,
  );
const rows = async (by = caller) =>
  (await installs.listInstalls(context.database.reader, by.workspaceId, { limit: 9 })).map(
    ({ connectorId, disabledAt }) => `${connectorId} ${disabledAt === null ? 'installed' : 'disabled'}`,
  );
const acts = async () =>
  (await listAuditEntries(context.database.reader, caller.workspaceId, { limit: 9 })).data.map(({ action }) => action);

describe('an install', () => {
  verifies(
    'cg.entitlement',
    'takes the last place of an organisation once, in a race and across workspaces',
    async () => {
      await limitTo(1);
      const beside = await inWorkspace(nth * 10 + 1);
      const messages = await Promise.all([install('one'), install('two'), install('three', beside)].map(outcome));
      expect(messages.toSorted()).toEqual(['LIMIT_REACHED', 'LIMIT_REACHED', 'quarantined']);
      expect([...(await rows()), ...(await rows(beside))]).toHaveLength(1);
    },
  );

  it('takes one place for repeated requests, and releases it when it is disabled', async () => {
    await limitTo(1);
    expect(await Promise.all([install('one'), install('one')].map(outcome))).toEqual(['quarantined', 'quarantined']);
    expect(await outcome(disable('one'))).toBe('revoked');
    expect(await outcome(install('two'))).toBe('quarantined');
    expect(await outcome(install('one'))).toBe('LIMIT_REACHED');
    expect(await rows()).toEqual(['one disabled', 'two installed']);
  });

  it('is removed if the kernel refuses it, but stays and is repeated if the kernel may have accepted it', async () => {
    kernel.problem = new AppError('INVALID_REQUEST', 'The server needs a header');
    expect(await outcome(install('one'))).toBe('INVALID_REQUEST');
    expect(await rows()).toEqual([]);
    expect(await acts()).toEqual(['connector.refused', 'connector.installed']);
    kernel.problem = new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer');
    expect(await outcome(install('one'))).toBe('GOVERNANCE_UNAVAILABLE');
    expect(await rows()).toEqual(['one installed']);
    await limitTo(1);
    expect(await outcome(install('two'))).toBe('LIMIT_REACHED');
    kernel.problem = null;
    expect(await outcome(install('one'))).toBe('quarantined');
  });

  it('is recorded without the path of its address', async () => {
    await install('one');
    const { data } = await listAuditEntries(context.database.reader, caller.workspaceId, { limit: 9 });
    expect(data).toMatchObject([{ action: 'connector.installed', details: { url: 'https://mcp.example' } }]);
  });

  it('does not replace a server of the same name that an owner added', async () => {
    kernel.put('one', { state: 'approved', address: 'https://own.example/mcp' });
    expect(await outcome(install('one'))).toBe('ALREADY_EXISTS');
    expect(kernel.servers.get('one')).toMatchObject({ state: 'approved' });
    expect(await rows()).toEqual([]);
    expect(await outcome(install('one', caller, '2'))).toBe('PRECONDITION_FAILED');
    expect(await outcome(install('none'))).toBe('NOT_FOUND');
  });
});

describe('a disabled connector', () => {
  it('is recorded as disabled only after the kernel has revoked it', async () => {
    await install('one');
    kernel.problem = new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer');
    expect(await outcome(disable('one'))).toBe('GOVERNANCE_UNAVAILABLE');
    expect(await rows()).toEqual(['one installed']);
    kernel.problem = null;
    expect(await outcome(disable('one'))).toBe('revoked');
    expect(await rows()).toEqual(['one disabled']);
    expect(await outcome(disable('one'))).toBe('revoked');
    expect(await acts()).toEqual(['connector.disabled', 'connector.installed']);
    expect(await outcome(disable('two'))).toBe('NOT_FOUND');
  });

  it('is revoked even if its server was registered again with another address', async () => {
    await install('one');
    kernel.put('one', { state: 'approved', address: 'https://own.example/mcp' });
    await disable('one');
    expect(kernel.servers.get('one')).toMatchObject({ state: 'revoked' });
  });

  it('of another workspace is not found', async () => {
    await install('one');
    const beside = await inWorkspace(nth * 10 + 1);
    expect(await outcome(disable('one', beside))).toBe('NOT_FOUND');
    const own = await installs.findInstall(context.database.reader, { ...caller, connectorId: 'one' });
    if (own === null) throw new Error('It was not installed');
    const { workspaceId } = beside;
    expect(await installs.findInstallById(context.database.reader, { workspaceId, id: own.id })).toBeNull();
  });
});
