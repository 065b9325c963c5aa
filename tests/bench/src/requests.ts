export const tenant = 'bench';

const requestBytes = 1_024;
export const toolAnswerBytes = 256;
const protocolVersion = '2026-07-28';

/** One kind of call: the request on the n-th connection, and a part of its first answer. */
export type RequestKind = {
  method: 'GET' | 'POST';
  bodyOf(connection: number): string;
  headers: Record<string, string>;
  /** A text that every successful answer contains. A fast error must not be measured. */
  expected: string;
};

/** A decision, with a body of 1 KiB and a session for each connection. */
export const evaluateCall: RequestKind = {
  method: 'POST',
  headers: {},
  expected: '"verdict":"ALLOW"',
  bodyOf: (connection) => {
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
  },
};

/** The request of a console page: the tasks of a workspace, about 1 KiB here. */
export const tasksRead: RequestKind = { method: 'GET', headers: {}, expected: '"data":[{"id":"tsk_', bodyOf: () => '' };

/** The request of `evaluateCall`, to a server that only echoes it. */
export const echoedCall: RequestKind = { ...evaluateCall, expected: '"tool.call"' };

export const chatCall: RequestKind = {
  method: 'POST',
  headers: {},
  expected: 'heard: bbb',
  bodyOf: (connection) =>
    JSON.stringify({
      model: 'countersign-scripted-model',
      user: `bench-chat-${connection}`,
      messages: [
        { role: 'system', content: 'You summarise documents.' },
        { role: 'user', content: 'b'.repeat(requestBytes - 200) },
      ],
    }),
};

/**
 * A scan starts the command in a sandbox, lists its tools and ends it. The first call of an MCP server waits for the
 * same work.
 */
export function coldStartScan(command: { command: string; args: readonly string[] }): RequestKind {
  const body = JSON.stringify({ server_id: 'cold', ...command });
  return { method: 'POST', headers: {}, expected: '"tool_count":1', bodyOf: () => body };
}

/** `tools/call` of the MCP revision without sessions, as a single request. */
export function toolCall(tool: string): RequestKind {
  return {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    },
    expected: 'x'.repeat(toolAnswerBytes),
    bodyOf: () =>
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
      }),
  };
}
