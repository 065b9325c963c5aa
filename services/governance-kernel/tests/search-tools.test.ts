import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import type { Client } from '@modelcontextprotocol/client';
import { mcpClient } from './_added-servers.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const search = 'countersign__search_tools';
let large: NoteServer;
let upstreams: Upstreams;
let client: Client;
beforeAll(async () => {
  large = await startNoteServer();
  for (let nth = 0; nth < 100; nth += 1)
    large.addTool({
      ...{ name: `report_${nth}`, description: `Reads the report of department ${nth}.` },
      ...{ inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    });
  upstreams = await startUpstreams({}, [
    { server_id: 'large', transport: 'http', trust_annotations: true, url: large.url },
  ]);
  client = await mcpClient(upstreams.test.kernel);
});
afterAll(async () => {
  await client.close();
  await upstreams.close();
  await large.close();
});

const found = async (args: Record<string, unknown>) => {
  const { structuredContent } = await client.callTool({ name: search, arguments: args });
  const { tools, matches } = structuredContent as { tools: { name: string; inputSchema: object }[]; matches: number };
  return { names: tools.map(({ name }) => name), schemas: tools.map(({ inputSchema }) => inputSchema), matches };
};

it('more than a hundred tools are all listed, with an additional search tool', async () => {
  const { tools } = await client.listTools();
  expect(tools[0]?.name).toBe(search);
  expect(tools.filter(({ name }) => name.startsWith('large__report_'))).toHaveLength(100);
});

it('a search matches words of names and descriptions, best match first, and returns schemas', async () => {
  const { names, schemas } = await found({ query: 'report 42', limit: 3 });
  expect(names[0]).toBe('large__report_42');
  expect(schemas).toHaveLength(3);
  expect((await found({ query: 'department' })).matches).toBe(100);
  expect(await found({ query: 'xyzzy' })).toEqual({ names: [], schemas: [], matches: 0 });
});

it('a search does not show tools that the caller cannot list', async () => {
  // The policy of this test denies the tool to every caller.
  expect((await found({ query: 'delete note', limit: 20 })).names).not.toContain('notes__delete_note');
});

it('a malformed search is rejected with the name of its invalid member', async () => {
  await expect(client.callTool({ name: search, arguments: { query: '', extra: 1 } })).rejects.toThrow(
    /params\.arguments/,
  );
});

it('a short list of tools has no search tool', async () => {
  const small = await startUpstreams();
  const second = await mcpClient(small.test.kernel);
  try {
    expect((await second.listTools()).tools.map(({ name }) => name)).not.toContain(search);
  } finally {
    await second.close();
    await small.close();
  }
});
