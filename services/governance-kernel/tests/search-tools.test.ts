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

it('more than a hundred tools are listed whole, with a tool that searches them', async () => {
  const { tools } = await client.listTools();
  expect(tools[0]?.name).toBe(search);
  expect(tools.filter(({ name }) => name.startsWith('large__report_'))).toHaveLength(100);
});

it('a search finds tools by words of names and descriptions, the best match first, with their schemas', async () => {
  const { names, schemas } = await found({ query: 'report 42', limit: 3 });
  expect(names[0]).toBe('large__report_42');
  expect(schemas).toHaveLength(3);
  expect((await found({ query: 'department' })).matches).toBe(100);
  expect(await found({ query: 'xyzzy' })).toEqual({ names: [], schemas: [], matches: 0 });
});

it('a search shows no tool that the caller is not listed', async () => {
  // The policy of the test denies the tool to every caller.
  expect((await found({ query: 'delete note', limit: 20 })).names).not.toContain('notes__delete_note');
});

it('a malformed search is refused by the name of its member', async () => {
  await expect(client.callTool({ name: search, arguments: { query: '', extra: 1 } })).rejects.toThrow(
    /params\.arguments/,
  );
});

it('a short list has no search', async () => {
  const small = await startUpstreams();
  const other = await mcpClient(small.test.kernel);
  try {
    expect((await other.listTools()).tools.map(({ name }) => name)).not.toContain(search);
  } finally {
    await other.close();
    await small.close();
  }
});
