import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readMcpServers } from '../src/doors/mcp/read-mcp-servers.ts';

const read = (document: unknown) => readMcpServers(JSON.stringify(document));
const named = (entry: object, name = 'files') => read({ mcpServers: { [name]: entry } });

function refusalOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    return String(error);
  }
  throw new Error('it was not refused');
}

const stdio = { args: [], env: {}, tools: {}, trust_annotations: false };
const claude = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/data'], env: { KEY: 'x' } };

describe('MCP servers in the JSON format of MCP clients', () => {
  it('are read like servers in our own format', async () => {
    const tools = { write: { effect_level: 'E3' } };
    const own = { server_id: 'files', transport: 'stdio', ...claude, tools, trust_annotations: false };
    expect(named({ ...claude, tools })).toEqual([own]);
    expect(named({ type: 'stdio', ...claude, cwd: '/srv', tools })).toEqual([{ ...own, cwd: '/srv' }]);
    expect(read({ servers: { files: { ...claude, tools } } })).toEqual([own]);
    const http = {
      server_id: 'hub',
      transport: 'http',
      url: 'https://hub.example/mcp',
      headers: { a: 'b' },
      tools: {},
      trust_annotations: false,
    };
    const { url, headers } = http;
    for (const type of [{}, { type: 'http' }, { type: 'streamable-http' }, { type: 'streamableHttp' }])
      expect(named({ ...type, url, headers }, 'hub')).toEqual([http]);
    const folder = await mkdtemp(join(tmpdir(), 'countersign-servers-'));
    const file = join(folder, 'mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { files: { ...claude, tools }, hub: { url, headers } } }));
    expect(readMcpServers(file)).toEqual([own, http]);
    expect(read({ servers: [own], mcpServers: { hub: { url, headers } } })).toEqual([own, http]);
    await rm(folder, { recursive: true });
  });

  it.each<[string, unknown, RegExp]>([
    [
      'the name "My Server"',
      { 'My Server': claude },
      /^mcpServers\.My Server: the name may hold .*; write "my-server"$/,
    ],
    ['the name "GitHub"', { GitHub: claude }, /write "github"/],
    ['a name without any permitted character', { 日本: claude }, /^mcpServers\.日本: the name may hold [^;]*$/],
    ['the reserved name "countersign"', { countersign: claude }, /^mcpServers\.countersign: the name is reserved$/],
    [
      'the transport SSE',
      { a: { type: 'sse', url: 'https://x.example/sse' } },
      /^mcpServers\.a\.type: the transport "sse" ended/,
    ],
    ['an unknown type', { a: { type: 'ws', url: 'https://x.example' } }, /^mcpServers\.a\.type: /],
    ['no command', { a: {} }, /^mcpServers\.a\.command: /],
    ['a text instead of a server', { a: 'npx' }, /^mcpServers\.a: /],
    ['both a command and a URL', { a: { command: 'x', url: 'https://x.example' } }, /^mcpServers\.a: .*"command"/],
    ['an unknown member', { a: { ...claude, disabled: true } }, /^mcpServers\.a: .*"disabled"/],
    [
      'an unknown effect',
      { a: { ...claude, tools: { t: { effect_level: 'E9' } } } },
      /^mcpServers\.a\.tools\.t\.effect_level: /,
    ],
    ['a number as an argument', { a: { command: 'x', args: [1] } }, /^mcpServers\.a\.args\.0: /],
    ['a file URL', { a: { url: 'file:///etc/passwd' } }, /^mcpServers\.a\.url: must be an http or https/],
    [
      'a variable reference',
      { a: { command: 'x', env: { K: '${TOKEN}' } } },
      /^mcpServers\.a\.env\.K: holds \$\{…\}, which is not replaced/,
    ],
    [
      'a variable reference in an argument',
      { a: { command: 'x', args: ['a', '${env:HOME}/b'] } },
      /^mcpServers\.a\.args\.1: holds/,
    ],
    [
      'a variable reference in a header',
      { a: { url: 'https://x.example', headers: { h: 'Bearer ${K}' } } },
      /\.headers\.h: holds/,
    ],
    ['a path in the home folder', { a: { command: 'x', args: ['~/files'] } }, /^mcpServers\.a\.args\.0: begins with ~/],
    ['a relative command', { a: { command: './server' } }, /^mcpServers\.a\.command: is a relative path/],
    ['a relative working folder', { a: { command: 'x', cwd: 'files' } }, /^mcpServers\.a\.cwd: is a relative path/],
  ])('with %s are rejected, and the error names the member', (_what, mcpServers, words) => {
    expect(() => read({ mcpServers })).toThrow(words);
  });

  it('are rejected when two share a name or a member is unknown', () => {
    const own = { server_id: 'files', transport: 'stdio', command: 'x' };
    expect(() => read({ servers: [own], mcpServers: { files: claude } })).toThrow('two servers are named "files"');
    expect(() => read({ servers: [own, own] })).toThrow('two servers are named "files"');
    expect(() => readMcpServers('{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}')).toThrow(/a/);
    expect(() => read({ mcpServers: {}, inputs: [] })).toThrow('"inputs"');
    expect(() => read({ servers: [{ ...own, extra: 1 }] })).toThrow(/^servers\.0: .*"extra"/);
    expect(() => readMcpServers('{"mcpServers": ')).toThrow();
    expect(() => readMcpServers('/no/such/file.json')).toThrow('ENOENT');
    expect(read({ servers: [] })).toEqual([]);
    expect(read({ servers: [own] })).toEqual([{ ...stdio, ...own }]);
  });

  it('never have their values in an error', () => {
    const secret = 'hunter2-of-the-declaration';
    for (const entry of [
      { command: 'x', env: { KEY: [secret] } },
      { command: 'x', env: { KEY: `\${${secret}}` } },
      { url: `ftp://${secret}@x.example` },
      { type: secret, url: 'https://x.example' },
    ])
      expect(refusalOf(() => named(entry))).not.toContain(secret);
  });
});
