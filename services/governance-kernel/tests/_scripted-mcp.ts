import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';

type Message = { id?: number; method: string; params?: Record<string, unknown> };
type Reply =
  | { result: object }
  | { error: { code: number; message: string } }
  | { status: number }
  /** The result as text, sent as one message or as an event stream. `bodyOf` turns the message into the body. */
  | { resultText: string; isStreamed?: boolean; bodyOf?: (message: string) => string };

export type ScriptedMcp = {
  readonly url: string;
  /** Methods of the received messages, oldest first. */
  readonly methods: readonly string[];
  /** Sets the reply to all later messages of `method`. With `null` they get no reply. */
  answer(method: string, reply: Reply | null): void;
  /** Sets the reply to the next `times` messages of `method` (default 1). */
  answerOnce(method: string, reply: Reply | null, times?: number): void;
  close(): Promise<void>;
};

const tool = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' } };
const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** An MCP server of revision 2026-07-28 with one tool. It sends the replies that a test sets, even invalid ones. */
export async function startScriptedMcp(definition: object = {}): Promise<ScriptedMcp> {
  const methods: string[] = [];
  const info = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const next: [method: string, reply: Reply | null][] = [];
  const replies = new Map<string, Reply | null>([
    ['server/discover', { result: { ...complete, ...info, serverInfo: { name: 'scripted', version: '1' } } }],
    ['tools/list', { result: { ...complete, tools: [{ ...tool, ...definition }] } }],
    ['tools/call', { result: { ...complete, content: [{ type: 'text', text: 'done' }] } }],
  ]);
  const http = createServer((req, res) => {
    if (req.method !== 'POST') return void res.writeHead(405).end();
    void readMessage(req).then(({ id, method }) => {
      methods.push(method);
      if (id === undefined) return void res.writeHead(202).end();
      const at = next.findIndex(([of]) => of === method);
      const [, reply] = at === -1 ? [method, replies.get(method)] : (next.splice(at, 1)[0] ?? []);
      if (reply !== null) send(res, id, reply ?? { error: { code: -32_601, message: 'no such method' } });
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The scripted server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    methods,
    answer: (method, reply) => void replies.set(method, reply),
    answerOnce: (method, reply, times = 1) => {
      for (let nth = 0; nth < times; nth += 1) next.push([method, reply]);
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function readMessage(req: AsyncIterable<Buffer>): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Message; // written by the kernel's client
}

function send(res: ServerResponse, id: number, reply: Reply): void {
  if ('status' in reply) return void res.writeHead(reply.status).end();
  if ('resultText' in reply) return sendText(res, id, reply);
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
}

type ResultText = Extract<Reply, { resultText: string }>;

function sendText(res: ServerResponse, id: number, { resultText, isStreamed = false, bodyOf }: ResultText) {
  const text = `{"jsonrpc":"2.0","id":${id},"result":${resultText}}`;
  const body = bodyOf ?? (isStreamed ? (message: string) => `event: message\ndata: ${message}\n\n` : String);
  res.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' }).end(body(text));
}
