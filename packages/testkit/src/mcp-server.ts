import { createServer, type IncomingHttpHeaders } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server, type CallToolResult, type Tool } from '@modelcontextprotocol/server';

type NoteCall = { tool: string; args: Record<string, unknown> };

export type NoteServer = {
  /** The streamable HTTP endpoint. */
  readonly url: string;
  /** Headers of all received requests, oldest first. */
  readonly requests: readonly IncomingHttpHeaders[];
  /** Calls that reached a tool. */
  readonly calls: readonly NoteCall[];
  /** Delays the responses of later calls until `work` is done. The effect of a call precedes the delay. */
  hold(work: (call: NoteCall) => Promise<void>): void;
  /** Changes a definition that clients may have pinned. */
  redefine(tool: string, change: Partial<Tool>): void;
  /** Adds a tool that the first listing did not have. */
  addTool(tool: Tool): void;
  close(): Promise<void>;
};

const idProperty = { id: { type: 'string', minLength: 1, maxLength: 64 } } as const;

/** Tools with each kind of annotation, and one tool without annotations. */
const definitions: Tool[] = [
  {
    name: 'read_note',
    description: 'Reads one note.',
    inputSchema: { type: 'object', properties: idProperty, required: ['id'], additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'write_note',
    description: 'Writes one note; the old text is kept in its history.',
    inputSchema: {
      type: 'object',
      properties: { ...idProperty, text: { type: 'string' } },
      required: ['id', 'text'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  {
    name: 'delete_note',
    description: 'Deletes one note for good.',
    inputSchema: { type: 'object', properties: idProperty, required: ['id'], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  {
    name: 'pay',
    description: 'Pays an amount.',
    inputSchema: { type: 'object', properties: { amount: { type: 'integer' } } },
  },
  {
    name: 'fill',
    description: 'Answers with many bytes.',
    inputSchema: { type: 'object', properties: { bytes: { type: 'integer' } } },
    annotations: { readOnlyHint: true },
  },
  { name: 'hang', description: 'Never answers.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];

/** Starts a real MCP server over streamable HTTP, in both protocol eras. It stores notes in memory. */
export async function startNoteServer({
  port = 0,
  host = '127.0.0.1',
}: { port?: number; host?: string } = {}): Promise<NoteServer> {
  const tools = definitions.map((tool) => ({ ...tool }));
  const requests: IncomingHttpHeaders[] = [];
  const state: NoteState = { tools, calls: [], notes: new Map(), hold: async () => undefined };
  const handler = createMcpHandler(() => noteServer(state));
  const serve = toNodeHandler(handler);
  const http = createServer((req, res) => {
    requests.push(req.headers);
    void serve(req, res);
  });
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(port, host, resolve));
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The note server has no port');
  return {
    url: `http://${host}:${address.port}/mcp`,
    requests,
    calls: state.calls,
    hold: (work) => void (state.hold = work),
    redefine: (name, change) => Object.assign(tools.find((tool) => tool.name === name) ?? {}, change),
    addTool: (tool) => void tools.push(tool),
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await handler.close();
    },
  };
}

type NoteState = {
  tools: Tool[];
  calls: NoteCall[];
  notes: Map<string, string>;
  hold: (call: NoteCall) => Promise<void>;
};

function noteServer(state: NoteState): Server {
  const server = new Server({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: state.tools }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const call = { tool: params.name, args: params.arguments ?? {} };
    state.calls.push(call);
    const result = act(call.tool, call.args, state.notes);
    await state.hold(call);
    return result;
  });
  return server;
}

function act(
  tool: string,
  args: Record<string, unknown>,
  notes: Map<string, string>,
): CallToolResult | Promise<CallToolResult> {
  const id = String(args['id']);
  switch (tool) {
    case 'read_note':
      return notes.has(id) ? text(notes.get(id) ?? '') : { ...text(`No note ${id}`), isError: true };
    case 'write_note':
      notes.set(id, String(args['text']));
      return text(`Wrote ${id}`);
    case 'delete_note':
      notes.delete(id);
      return text(`Deleted ${id}`);
    case 'pay':
      return { ...text(`Paid ${String(args['amount'])}`), structuredContent: { paid: Number(args['amount']) } };
    case 'fill':
      return text('x'.repeat(Number(args['bytes'])));
    case 'hang':
      return new Promise(() => undefined);
    default:
      return { ...text(`No tool ${tool}`), isError: true };
  }
}

function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}
