import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createForeignGuard } from '@countersign/service-kit';
import {
  envelopeOf,
  followDirectives,
  scriptedModelName,
  toolCallId,
  usageOf,
  type ScriptedAnswer,
  type ScriptedRequest,
} from './scripted-answer.ts';

export { directives, followDirectives } from './scripted-answer.ts';

type ReceivedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

type Answering = ScriptedAnswer | ((res: ServerResponse) => void);

/**
 * Answers one request. If it returns a function, that function writes the response itself, to simulate a faulty
 * upstream.
 */
export type ModelScript = (request: ScriptedRequest) => Answering | Promise<Answering>;

export type ScriptedModel = {
  /** Base URL in the sense of OpenAI, ending in /v1. */
  readonly url: string;
  /** All received requests, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Replaces the script for later requests. */
  follow(script: ModelScript): void;
  close(): Promise<void>;
};

/** Short, so that clients have to assemble fragments. */
const fragmentLength = 7;

type ScriptedModelOptions = {
  port?: number;
  host?: string;
  /** Accepted host names, in addition to those of the local computer. */
  names?: readonly string[];
  script?: ModelScript;
};

/**
 * An OpenAI-compatible server without a model. Equal requests have equal answers, including token counts. Each answer
 * of a script has the `system_fingerprint` `countersign-scripted-model`.
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { port = 0, host = '127.0.0.1', names = [] } = options;
  const guardForeign = createForeignGuard({ hosts: names, origins: [] });
  const requests: ReceivedRequest[] = [];
  let script = options.script ?? followDirectives;
  const server = createServer((req, res) => {
    try {
      guardForeign(req);
    } catch {
      return sendError(res, 403, 'This server refuses requests from pages of other origins');
    }
    void receive(req)
      .then((received) => {
        requests.push(received);
        return answer(received, res, script);
      })
      .catch(() => res.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    url: `http://${host}:${boundPort(server)}/v1`,
    requests,
    follow: (next) => {
      script = next;
    },
    close: () => close(server),
  };
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The scripted model has no port');
  return address.port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function receive(req: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk); // without an encoding, chunks are buffers
  return {
    method: req.method ?? '',
    path: req.url ?? '',
    headers: req.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

async function answer(
  { method, path, body }: ReceivedRequest,
  res: ServerResponse,
  script: ModelScript,
): Promise<void> {
  if (method === 'GET' && path === '/v1/models') return sendJson(res, 200, { object: 'list', data: [modelEntry()] });
  if (method !== 'POST' || path !== '/v1/chat/completions') return sendError(res, 404, 'Unknown path');
  const request = parseRequest(body);
  if (request === null) return sendError(res, 400, 'messages must be an array');
  const answer = await script(request);
  if (typeof answer === 'function') return answer(res);
  if (request.stream === true) return sendStream(res, request, answer);
  sendJson(res, 200, completion(request, answer));
}

function modelEntry() {
  return { id: scriptedModelName, object: 'model', created: 0, owned_by: 'countersign' };
}

function parseRequest(body: string): ScriptedRequest | null {
  try {
    const value: unknown = JSON.parse(body);
    const isRequest =
      typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages);
    return isRequest ? (value as ScriptedRequest) : null; // this test double does not validate the rest
  } catch {
    return null;
  }
}

function completion(request: ScriptedRequest, answer: ScriptedAnswer) {
  const envelope = envelopeOf(request, 'chat.completion');
  const choices = choiceIndices(request).map((index) => ({
    index,
    message: {
      role: 'assistant',
      content: answer.text ?? null,
      refusal: null,
      ...(answer.toolCalls ? { tool_calls: toolCalls(envelope.id, index, answer) } : {}),
    },
    logprobs: null,
    finish_reason: answer.toolCalls ? 'tool_calls' : 'stop',
  }));
  return { ...envelope, choices, usage: usageOf(request, answer) };
}

function choiceIndices(request: ScriptedRequest): number[] {
  return Array.from({ length: request.n ?? 1 }, (_, index) => index);
}

function toolCalls(envelopeId: string, choice: number, answer: ScriptedAnswer) {
  return (answer.toolCalls ?? []).map((call, index) => ({
    id: toolCallId(envelopeId, choice, index),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
}

function sendStream(res: ServerResponse, request: ScriptedRequest, answer: ScriptedAnswer): void {
  const envelope = envelopeOf(request, 'chat.completion.chunk');
  const chunk = (members: object) => void res.write(`data: ${JSON.stringify({ ...envelope, ...members })}\n\n`);
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const index of choiceIndices(request)) {
    const delta = (value: object, finish: string | null = null) =>
      chunk({ choices: [{ index, delta: value, finish_reason: finish }] });
    delta({ role: 'assistant', content: '' });
    for (const piece of fragments(answer.text ?? '')) delta({ content: piece });
    for (const value of toolCallDeltas(toolCalls(envelope.id, index, answer))) delta(value);
    delta({}, answer.toolCalls ? 'tool_calls' : 'stop');
  }
  if (request.stream_options?.include_usage === true) chunk({ choices: [], usage: usageOf(request, answer) });
  res.end('data: [DONE]\n\n');
}

/** First the heads of all parallel calls, then their arguments in turn. This order is the hardest one to assemble. */
function toolCallDeltas(calls: ReturnType<typeof toolCalls>): object[] {
  const heads = calls.map((call, index) => ({
    tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }],
  }));
  const pieces = calls.map((call) => fragments(call.function.arguments));
  const rounds = Math.max(0, ...pieces.map((list) => list.length));
  const rest = Array.from({ length: rounds }, (_, round) =>
    pieces.flatMap((list, index) => {
      const piece = list[round];
      return piece === undefined ? [] : [{ tool_calls: [{ index, function: { arguments: piece } }] }];
    }),
  );
  return [...heads, ...rest.flat()];
}

function fragments(text: string): string[] {
  const letters = [...text];
  const count = Math.ceil(letters.length / fragmentLength);
  return Array.from({ length: count }, (_, index) =>
    letters.slice(index * fragmentLength, (index + 1) * fragmentLength).join(''),
  );
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(res: ServerResponse, status: number, message: string): void {
  sendJson(res, status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}
