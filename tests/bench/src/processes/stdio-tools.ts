// An MCP server over stdio with the tool that the bench calls. It imports only modules of Node. Its text can be passed
// to Node, and a sandbox needs no file of this repository.
import { createInterface } from 'node:readline';

type Message = { id?: number; method?: string; params?: { arguments?: { bytes?: number } } };

const fill = {
  name: 'fill',
  description: 'Answers with that many bytes.',
  inputSchema: { type: 'object', properties: { bytes: { type: 'integer', minimum: 0, maximum: 65_536 } } },
  annotations: { readOnlyHint: true },
};
const about = { capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } };
const results: Record<string, (params: Message['params']) => object> = {
  initialize: () => ({ protocolVersion: '2025-11-25', ...about }),
  'tools/list': () => ({ tools: [fill] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: 'x'.repeat(params?.arguments?.bytes ?? 0) }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method = '', params } = JSON.parse(line) as Message; // its only caller sends such messages
  if (id === undefined) return;
  const result = results[method]?.(params);
  const answer = result === undefined ? { error: { code: -32_601, message: 'There is no such method' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
