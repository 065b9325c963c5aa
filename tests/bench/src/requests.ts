export const tenant = 'bench';

const requestBytes = 1_024;
const toolAnswerBytes = 256;
const protocolVersion = '2026-07-28';

/** One kind of call: what is sent on the n-th connection, and what its first answer must contain. */
export type RequestKind = {
  method: 'GET' | 'POST';
  bodyOf(connection: number): string;
  headers: Record<string, string>;
  /** Occurs in every good answer: a fast refusal measures nothing. */
  expected: string;
};

/** A decision: a body of 1 KiB, a session for each connection. */
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

/** The request of a person's page: the tasks of a workspace, which are about 1 KiB here. */
export const tasksRead: RequestKind = { method: 'GET', headers: {}, expected: '"data":[{"id":"tsk_', bodyOf: () => '' };

/** The same bytes to a server that only gives them back. */
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

/** `tools/call` of the revision that has no session, which is a single request. */
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
