import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readMcpServers } from '../src/doors/mcp/read-mcp-servers.ts';
import { providerName } from '../src/doors/mcp/provider-names.ts';
import { Caller, newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, toolPolicy, type Upstreams } from './_upstreams.ts';

let site: Upstreams;
let nested: NoteServer;
beforeAll(async () => {
  nested = await startNoteServer();
  const server = { server_id: 'notes_read', transport: 'http', trust_annotations: true, url: nested.url };
  site = await startUpstreams({}, [server]);
  const description = 'Has a name that no model provider accepts.';
  const shape = { inputSchema: { type: 'object' as const }, annotations: { readOnlyHint: true }, description };
  nested.addTool({ ...shape, name: 'dotted.name' });
  nested.addTool({ ...shape, name: 'note' });
});
afterAll(async () => {
  await site.close();
  await nested.close();
});

type Sealed = { tool: string | null; code: string | null };
type Door = (tenant: string, name: string) => Promise<Sealed>;

const args = { id: 'a', text: 'x' };

async function sealedIn(session: string): Promise<Sealed> {
  const receipts = await receiptsOf(site.test, session);
  const decision = receipts.find(({ kind, action }) => kind === 'decision' && action === 'tool.call');
  return { tool: decision?.tool ?? null, code: decision?.reason_code ?? null };
}

async function overMcp(tenant: string, session: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant, 'x-gov-session-id': session };
  const url = new URL(`${site.test.kernel.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const doors: Record<string, Door> = {
  evaluate: async (tenant, name) => {
    const session_id = newSession();
    await new Caller(site.test, tenant).decide({ tool: name, args, session_id });
    return sealedIn(session_id);
  },
  execute: async (tenant, name) => {
    const session_id = newSession();
    const body = { tool: name, args, session_id } as never; // unbranded strings
    await site.test
      .as(tenant)
      .executeMcp({ body })
      .catch(() => undefined);
    return sealedIn(session_id);
  },
  'tools/call': async (tenant, name) => {
    const session = newSession();
    const client = await overMcp(tenant, session);
    await client.callTool({ name, arguments: args });
    await client.close();
    return sealedIn(session);
  },
  chat: async (tenant, name) => {
    const session = newSession();
    const content = `call:${name} ${JSON.stringify(args)}`;
    const request = { model: 'scripted', messages: [{ role: 'user' as const, content }] };
    await site.openai({ tenant, headers: { 'x-gov-session-id': session } }).chat.completions.create(request);
    return sealedIn(session);
  },
};
const aliases = ['notes.write_note', 'notes__write_note', 'mcp__notes__write_note', 'notes_write_note'];
const table = Object.keys(doors).flatMap((door) => aliases.map((alias) => [door, alias] as const));
const through = (door: string, tenant: string, alias: string): Promise<Sealed> => {
  const opened = doors[door];
  if (opened === undefined) throw new Error(`There is no door ${door}`);
  return opened(tenant, alias);
};

describe('an alias of a registered tool', () => {
  verifies('kn.gates', 'is sealed under the name of the tool, on each route', async () => {
    for (const [door, alias] of table) {
      const { tool } = await through(door, 'acme', alias);
      expect([door, alias, tool]).toEqual([door, alias, 'notes.write_note']);
    }
  });

  it('gets an approval under the name of the tool', async () => {
    for (const tool of aliases) {
      const body = { action: 'tool.call', tool, args, session_id: newSession(), reason: 'Ask first' } as never; // unbranded
      expect((await site.test.as('acme').createApproval({ body })).body.tool).toBe('notes.write_note');
    }
  });

  verifies('kn.gates', 'does not bypass a block or a stop of the tool in any spelling', async () => {
    let nth = 0;
    for (const written of aliases) {
      const [blocking, stopping] = [`blocking-${(nth += 1)}`, `stopping-${nth}`];
      await site.test.system.putToolBlocks({
        params: { tenant: blocking },
        body: { version: 1, tools: [written] },
      });
      await site.test.setFence(`tool:${stopping}/${written}`, 'quarantine');
      for (const [door, alias] of table) {
        expect([written, door, alias, (await through(door, blocking, alias)).code]).toEqual([
          ...[written, door, alias, 'TOOL_BLOCKED'],
        ]);
        expect([written, door, alias, (await through(door, stopping, alias)).code]).toEqual([
          ...[written, door, alias, 'TOOL_QUARANTINED'],
        ]);
      }
    }
  });

  verifies('kn.gates', 'does not bypass a stop of its server, or a budget', async () => {
    await site.test.setFence('server:closed/notes', 'freeze');
    for (const alias of aliases)
      expect([alias, (await through('evaluate', 'closed', alias)).code]).toEqual([alias, 'SYSTEM_FROZEN']);
    for (const [nth, written] of aliases.entries()) {
      const none = { spend_limit_minor: null, egress_limit_bytes: null, write_limit: null, currency: null };
      const body = { ...none, subject: `tool:${written}`, window: 'total', tool_call_limit: 0 };
      const terms = { ...body, approval_required_above_minor: null } as never; // unbranded strings
      await site.test.as(`spent-${nth}`).putBudget({ params: { budget_id: 'none' }, body: terms });
      for (const alias of aliases)
        expect([written, alias, (await through('execute', `spent-${nth}`, alias)).code]).toEqual([
          ...[written, alias, 'BUDGET_EXCEEDED'],
        ]);
    }
  });

  it.each(['notes__write_note', 'mcp__notes__write_note'])(
    'has the effect that a bundle declares for %s',
    async (written) => {
      const tenant = `declared-${written.length}`;
      await site.test.activate(tenant, `${toolPolicy}tools: { ${written}: { effect_level: E3 } }\n`);
      for (const alias of ['notes.write_note', 'notes__write_note', 'mcp__notes__write_note'])
        expect([alias, (await doors['execute']?.(tenant, alias))?.code]).toEqual([alias, 'NO_MATCHING_RULE']);
      expect(await doors['execute']?.('acme', 'notes.write_note')).not.toMatchObject({ code: 'NO_MATCHING_RULE' });
    },
  );

  it('is refused when two servers could have it, and is a tool of the caller when none has it', async () => {
    await learned('notes_read.note', 'notes_read__note');
    expect(await through('evaluate', 'acme', 'notes_read_note')).toMatchObject({ code: 'MALFORMED_ARGUMENTS' });
    expect(await through('evaluate', 'acme', 'notes_search')).toEqual({
      tool: 'notes_search',
      code: 'NO_MATCHING_RULE',
    });
    expect(await through('evaluate', 'acme', 'Notes_write_note')).toMatchObject({ code: 'MALFORMED_ARGUMENTS' });
    expect(await through('evaluate', 'acme', 'MCP__notes__write_note')).toMatchObject({ code: 'MALFORMED_ARGUMENTS' });
  });

  it.each([
    [
      'declares',
      '{ id: other, effect: deny, match: { tool: [other] } }\ntools: { notes_write_note: { effect_level: E1 } }',
    ],
    ['denies', '{ id: apart, effect: deny, match: { tool: [notes_write_note] } }'],
    ['denies by a pattern', "{ id: apart, effect: deny, match: { tool: ['notes_w*'] } }"],
  ])('is refused when the policy %s it separately from the tool', async (what, rule) => {
    const tenant = `apart-${what.length}`;
    await site.test.activate(tenant, `${toolPolicy}  - ${rule}\n`);
    expect(await through('evaluate', tenant, 'notes_write_note')).toMatchObject({ code: 'MALFORMED_ARGUMENTS' });
    expect(await through('evaluate', tenant, 'notes__write_note')).toMatchObject({ code: 'ALLOWED' });
  });
});

describe('the names in tools/list', () => {
  it('have a form that model providers accept', async () => {
    const client = await overMcp('acme', newSession());
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['notes__write_note', 'notes_read__write_note']));
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    await client.close();
  });

  it('are shortened when they are too long or contain other characters', async () => {
    for (const tool of [`notes.${'x'.repeat(70)}`, 'notes.dotted.name', `${'s'.repeat(40)}.${'t'.repeat(40)}`]) {
      expect(providerName(tool)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(providerName(`${tool}y`)).not.toBe(providerName(tool));
    }
    expect(providerName('notes.read')).toBe('notes__read');
    expect(providerName(`${'s'.repeat(63)}.read`)).toBe(`${'s'.repeat(63)}.read`);
    const short = providerName('notes_read.dotted.name');
    expect(short).not.toContain('.');
    await learned('notes_read.dotted.name', short);
  });
});

describe('a server', () => {
  it('cannot have the reserved ID mcp, which prefixes tool names in clients', () => {
    const servers = JSON.stringify({ mcpServers: { mcp: { type: 'http', url: 'https://hub.example/mcp' } } });
    expect(() => readMcpServers(servers)).toThrow(/reserved/);
  });
});

/** Waits until the kernel knows a new tool, which it learns when the server is listed again. */
async function learned(tool: string, alias: string): Promise<void> {
  await reaching(
    () => through('evaluate', 'acme', alias),
    (sealed) => sealed.tool === tool,
  );
}
