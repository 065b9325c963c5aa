export const tenant = 'bench';
const requestBytes = 1_024;
const toolAnswerBytes = 256;
const protocolVersion = '2026-07-28';

/** The same call for one connection: a body of 1 KiB, a session of its own. */
function evaluateBody(connection) {
  const call = {
    action: 'tool.call',
    tool: 'files.read',
    resource: 'workspace://bench/docs',
    effect_level: 'E1',
    session_id: `bench-${connection}`,
    args: { path: '/docs/report.md', encoding: 'utf8', offset: 0, limit: 65_536, follow: false, content: '' },
    context: { purpose: 'summarise', run: `run-${connection}` },
  };
  call.args.content = 'a'.repeat(requestBytes - JSON.stringify(call).length);
  return JSON.stringify(call);
}

const chatBody = (connection) =>
  JSON.stringify({
    model: 'countersign-scripted-model',
    user: `bench-chat-${connection}`,
    messages: [
      { role: 'system', content: 'You summarise documents.' },
      { role: 'user', content: 'b'.repeat(requestBytes - 200) },
    ],
  });

const toolBody = (tool) => () =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: tool,
      arguments: { bytes: toolAnswerBytes },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': protocolVersion,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  });

const toolHeaders = (tool) => ({
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
  'mcp-method': 'tools/call',
  'mcp-name': tool,
});

/**
 * Everything that is put under load. `expected` must occur in the first answer: a fast refusal measures nothing. `sealed` is how
 * many receipts each answer of the kernel leaves.
 */
export function loadsOf({ nodeEcho, expressEcho, model, tools, kernel, adminKey }) {
  const governed = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant };
  const load = (url, connections, bodyOf, rest) => ({
    url,
    headers: {},
    bodies: Array.from({ length: connections }, (_, connection) => bodyOf(connection)),
    sealed: 0,
    ...rest,
  });
  const evaluate = { pid: kernel.pid, headers: governed, expected: '"verdict":"ALLOW"', sealed: 1 };
  const mcp = { expected: 'x'.repeat(toolAnswerBytes), headers: toolHeaders('fill') };
  const governedMcp = { ...mcp, pid: kernel.pid, headers: { ...governed, ...toolHeaders('notes.fill') }, sealed: 2 };
  return {
    nodeEcho: load(nodeEcho.url, 64, evaluateBody, { pid: nodeEcho.pid, expected: '"tool.call"' }),
    expressEcho: load(expressEcho.url, 64, evaluateBody, { pid: expressEcho.pid, expected: '"tool.call"' }),
    evaluate: load(`${kernel.url}/api/v1/evaluate`, 64, evaluateBody, evaluate),
    evaluateAlone: load(`${kernel.url}/api/v1/evaluate`, 1, evaluateBody, evaluate),
    chatDirect: load(`${model.url}/chat/completions`, 64, chatBody, { pid: model.pid, expected: 'heard: bbb' }),
    chat: load(`${kernel.url}/v1/chat/completions`, 64, chatBody, {
      pid: kernel.pid,
      headers: governed,
      expected: 'heard: bbb',
      sealed: 2,
    }),
    mcpDirect: load(tools.url, 16, toolBody('fill'), { ...mcp, pid: tools.pid }),
    mcp: load(`${kernel.url}/mcp`, 16, toolBody('notes.fill'), governedMcp),
  };
}

/** Sends one request of a load and looks at its answer. Returns how many receipts that left. */
export async function tryLoad({ url, headers, bodies, expected, sealed }) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: bodies[0] };
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (answer.ok && text.includes(expected)) return sealed;
  throw new Error(`${url} does not answer as expected: ${answer.status} ${text.slice(0, 500)}`);
}
