import { nodeProvider } from '@countersign/crypto/node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import { createLogger } from '@countersign/service-kit';
import { Dispatch } from '../src/decision/dispatch.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { createMcpServers } from '../src/doors/mcp/servers.ts';
import { annotatedEffect } from '../src/registry/tool-definition.ts';
import { newSession } from './_caller.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const log = createLogger({ service: 'test', silent: true });
const act = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const listing = (...tools: object[]) => ({
  result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools },
});

let late: ScriptedMcp;
let upstreams: Upstreams;
let replica: StartedKernel;
beforeAll(async () => {
  late = await startScriptedMcp();
  late.answer('tools/list', listing());
  upstreams = await startUpstreams({}, [
    { server_id: 'late', transport: 'http', trust_annotations: true, url: late.url },
  ]);
  // The replica lists the tools once and then uses its cache for an hour.
  replica = await startKernel(kernelConfigFrom({ ...upstreams.test.env, GOV_MCP_LIST_MAX_AGE: '1h' }));
});
afterAll(async () => {
  await replica.stop();
  await upstreams.close();
  await late.close();
});

const first = () => upstreams.test.kernel;

async function call(kernel: StartedKernel, tool: string, args: Record<string, string> = {}) {
  const session = newSession();
  const { caller } = { caller: { tenant: 'acme' as TenantId, principal: 'agent' as PrincipalId } }; // match their schemas
  const request = { session, tool, args, context: {}, caller: { ...caller, ...operator } };
  const execution = await kernel.context.executor.execute(request, { signal: AbortSignal.timeout(5_000) }, log);
  return execution.decision.reply.reason_code;
}
const operator = { scopes: ['*'] };
const note = { id: 'a', text: 'x' };

describe('an MCP server that first lists nothing', () => {
  it('counts as known, so tools that it lists later have no pin and are denied', async () => {
    late.answer('tools/list', listing(act));
    expect(await call(first(), 'late.act')).toBe('SCHEMA_DRIFT');
    const { rows } = await upstreams.test.pool.query(`SELECT pinned_hash FROM mcp_tools WHERE server_id = 'late'`);
    expect(rows).toEqual([{ pinned_hash: null }]);
    expect(late.methods).not.toContain('tools/call');
  });
});

describe('a changed tool definition', () => {
  it('is denied at once by a replica that has not seen the change, until the definition is restored', async () => {
    expect(await call(replica, 'notes.write_note', note)).toBe('ALLOWED');
    upstreams.notes.redefine('write_note', { description: 'Writes one note, and tells others.' });
    expect(await call(first(), 'notes.write_note', note)).toBe('SCHEMA_DRIFT');
    const before = upstreams.notes.calls.length;
    expect(await call(replica, 'notes.write_note', note)).toBe('SCHEMA_DRIFT');
    expect(upstreams.notes.calls).toHaveLength(before);
    upstreams.notes.redefine('write_note', { description: 'Writes one note; the old text is kept in its history.' });
    expect(await call(first(), 'notes.write_note', note)).toBe('ALLOWED');
    expect(await call(replica, 'notes.write_note', note)).toBe('ALLOWED');
  });

  it('stops a call if the change occurs between decision and dispatch', async () => {
    const { boundary, upstreams: peers, mcp } = first().context;
    const dispatch = new Dispatch({
      decideDispatched: async (named, claim) => {
        const decision = await boundary.decideDispatched(named, claim);
        upstreams.notes.redefine('read_note', { description: 'Reads one note, and mails it.' });
        await mcp.askConnected();
        return decision;
      },
      maySendLate: (decision, caller) => boundary.maySendLate(decision, caller),
      settle: (decision, settlement) => boundary.settle(decision, settlement),
    });
    const session = newSession();
    const before = upstreams.notes.calls.length;
    const caller = { tenant: 'acme' as TenantId, principal: 'agent' as PrincipalId, ...operator };
    const request = { caller, session, tool: 'notes.read_note', args: { id: 'a' }, context: {} };
    const { executor } = peers.behind(dispatch);
    const execution = await executor.execute(request, { signal: AbortSignal.timeout(5_000) }, log);
    expect(JSON.stringify(execution)).toContain('changed after the call was decided');
    expect((await receiptsOf(upstreams.test, session)).map(({ verdict, outcome }) => [verdict, outcome])).toEqual([
      ['ALLOW', undefined],
      ['ALLOW', 'failed'],
    ]);
    expect(upstreams.notes.calls).toHaveLength(before);
  });

  it('is compared with the registry periodically, even when this process sees no change', async () => {
    const scripted = await startScriptedMcp();
    const config = {
      server_id: 'again',
      transport: 'http' as const,
      url: scripted.url,
      headers: {},
      tools: {},
      trust_annotations: false,
    };
    let nowMs = 0;
    let records = 0;
    const registry = { recordTools: async () => void (records += 1) };
    const limits = {
      account: null,
      callTimeoutMs: 2_000,
      listAgeMaxMs: 0,
      outputBytesMax: 10_000,
      scratchDir: '/nonexistent',
    };
    const servers = createMcpServers({
      ...limits,
      ...{ configs: [config], registry, log, now: () => nowMs },
      reachesPrivate: false,
      ...{
        host: null as never,
        egressOf: null as never,
        provider: nodeProvider,
        clock: () => new Date(),
        refreshTokens: null as never,
      }, // unused without sandboxes and OAuth
      loadServers: async () => [],
      sealFirstList: async () => {},
    });
    try {
      await servers.start();
      await servers.declared()[0]?.server?.tools();
      expect(records).toBe(1);
      nowMs += 10_000;
      await servers.declared()[0]?.server?.tools();
      expect(records).toBe(2);
    } finally {
      await servers.close();
      await scripted.close();
    }
  });
});

describe('tool annotations', () => {
  it('of an untrusted server never lower an effect level but can raise it, in decisions and in lists', async () => {
    const reads = { ...act, name: 'reads' };
    const destroys = { ...act, name: 'destroys', annotations: { destructiveHint: true } };
    const scripted = await startScriptedMcp();
    const writes = { ...act, name: 'writes', annotations: { destructiveHint: true } };
    scripted.answer('tools/list', listing(reads, destroys, writes));
    const tools = { writes: { effect_level: 'E3' } };
    const server = { server_id: 'plain', transport: 'http', url: scripted.url, tools };
    const site = await startUpstreams({}, [server]);
    const declares = (name: string) =>
      `format: countersign/policy.v1\nname: d\nversion: '1'\nrules: [{ id: all, effect: allow }]\ntools: { ${name}: { effect_level: E1 } }\n`;
    const effectOf = async (tenant: string, tool: string) => {
      const body = { action: 'tool.call', tool, session_id: newSession() } as never; // unbranded strings
      return (await site.test.as(tenant).evaluate({ body })).body.receipt.payload.effect_level;
    };
    const listedEffectOf = async (tenant: string, tool: string) => {
      const { data } = (await site.test.as(tenant).listRegisteredTools({ query: { limit: 200 } })).body;
      return data.find((listed) => listed.tool === tool)?.effect_level;
    };
    try {
      await site.test.activate('reading', declares('plain.reads'));
      await site.test.activate('destroying', declares('plain.destroys'));
      for (const [tenant, tool, effect] of [
        ['destroying', 'plain.reads', 'E4'],
        ['reading', 'plain.reads', 'E1'],
        ['destroying', 'plain.destroys', 'E4'],
        ['reading', 'plain.writes', 'E3'],
      ] as const) {
        expect([tool, await effectOf(tenant, tool)]).toEqual([tool, effect]);
        expect([tool, await listedEffectOf(tenant, tool)]).toEqual([tool, effect]);
      }
    } finally {
      await site.close();
      await scripted.close();
    }
  });

  it.each([
    ['nothing', undefined, 'E4'],
    ['a read-only tool', { readOnlyHint: true }, 'E1'],
    ['a read-only tool in an open world', { readOnlyHint: true, openWorldHint: true }, 'E1'],
    ['a read-only and destructive tool', { readOnlyHint: true, destructiveHint: true }, 'E4'],
    ['an additive tool', { destructiveHint: false }, 'E2'],
    ['an additive tool in a closed world', { destructiveHint: false, openWorldHint: false }, 'E2'],
    ['an additive tool in an open world', { destructiveHint: false, openWorldHint: true }, 'E3'],
    ['a tool that is not read-only', { readOnlyHint: false }, 'E4'],
  ])('that state %s get the worst effect level they permit', (_case, annotations, effect) => {
    const inputSchema = { type: 'object' as const };
    expect(annotatedEffect({ name: 'x', inputSchema, ...(annotations ? { annotations } : {}) })).toBe(effect);
  });
});
