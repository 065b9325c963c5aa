import { getEventListeners, once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, isAppError } from '@countersign/contracts';
import { createLogger, serveHttp, type HttpServer } from '@countersign/service-kit';
import { holdTimers, type HeldTimers } from '@countersign/testkit/held-timers';
import { until } from '@countersign/testkit/until';
import { createForwardSocket } from '../src/forwarding/forward-socket.ts';

const [openMs, lastWordMs, answerMaxMs] = [10_000, 500, 3_600_000];
const unavailable = (cause: unknown) => new AppError('CONTROL_PLANE_UNAVAILABLE', 'It does not answer', { cause });

/** A gateway that forwards sockets of callers to `otherServer` over the connections of `agent`. */
let agent: Agent;
let otherServer: Server;
let gateway: HttpServer;
let timers: HeldTimers;
/** Upgraded connections at the other service, and the function that answers one. */
let upstreams: Socket[];
let answer: (socket: Socket) => void;
let callers: Socket[];
let leaving: AbortController;
let over: AbortController;
/** The result of the forwarding: `over`, or the code of the thrown error. */
let end: { of: string | null };

const accept = (socket: Socket) =>
  void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');

beforeEach(async () => {
  [upstreams, callers, answer] = [[], [], accept];
  const ending: typeof end = (end = { of: null });
  [leaving, over] = [new AbortController(), new AbortController()];
  const signals = { signal: leaving.signal, over: over.signal };
  otherServer = createServer().on('upgrade', (_req, socket: Socket) => {
    // The service ends its side when the other side ends.
    socket
      .on('error', () => undefined)
      .on('end', () => socket.end())
      .resume();
    upstreams.push(socket);
    answer(socket);
  });
  await once(otherServer.listen(0, '127.0.0.1'), 'listening');
  const { port } = otherServer.address() as AddressInfo; // it listens on TCP
  agent = new Agent();
  const forward = createForwardSocket({ url: `http://127.0.0.1:${port}`, agent, answerMaxMs, unavailable });
  const log = createLogger({ service: 'gateway', silent: true });
  gateway = await serveHttp(
    {
      ...{ log, socketPaths: new Set(['/live']), drain: () => undefined },
      listener: (req, res) =>
        void forward({ req, res, headers: {}, ...signals }).then(
          () => (ending.of = 'over'),
          (error: unknown) => {
            ending.of = isAppError(error) ? error.code : String(error);
            res.writeHead(503).end();
          },
        ),
    },
    { port: 0 },
  );
  timers = holdTimers([openMs, lastWordMs, answerMaxMs]);
});

afterEach(async () => {
  timers.release();
  agent.destroy();
  for (const socket of [...callers, ...upstreams]) socket.destroy();
  otherServer.closeAllConnections();
  await gateway.close();
  await new Promise((resolve) => otherServer.close(resolve));
});

/** Requests a socket. `text` contains everything that the caller has read. */
function call() {
  const socket = connect(gateway.port, '127.0.0.1').setEncoding('utf8');
  callers.push(socket);
  const caller = { socket, text: '', isCut: false };
  socket.on('error', () => undefined);
  socket.on('data', (text: string) => (caller.text += text));
  socket.on('close', () => (caller.isCut = true));
  const lines = ['GET /live HTTP/1.1', `Host: 127.0.0.1:${gateway.port}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  socket.write(
    [...lines, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '\r\n'].join('\r\n'),
  );
  return caller;
}

async function joined() {
  const caller = call();
  await until(() => caller.text.endsWith('\r\n\r\n'));
  expect(caller.text).toMatch(/^HTTP\/1\.1 101 /);
  const [upstream] = upstreams;
  if (upstream === undefined) throw new Error('Nothing was forwarded');
  return { caller, upstream };
}

/** Expects that messages arrive in both directions. */
async function expectOpen({ caller, upstream }: Awaited<ReturnType<typeof joined>>): Promise<void> {
  let heard = '';
  upstream.on('data', (bytes: Buffer) => (heard += bytes.toString()));
  caller.socket.write('to the service');
  upstream.write('to the caller');
  await until(() => heard.endsWith('to the service') && caller.text.endsWith('to the caller'));
}

/**
 * Waits until no timer is left. The cut side notices the cut before the gateway does. The time of held timers never
 * passes, so a remaining timer would wait for ever.
 */
const noneWaits = () => until(() => timers.waitingMs().length === 0);

describe('a forwarded socket', () => {
  it('stays open until one side ends it, and leaves no timer and no listener', async () => {
    const pair = await joined();
    await expectOpen(pair);
    expect(timers.waitingMs()).toEqual([answerMaxMs]);
    pair.upstream.end();
    await until(() => pair.caller.isCut);
    await until(() => end.of === 'over');
    await noneWaits();
    for (const { signal } of [leaving, over]) expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends at the other service when its caller ends it', async () => {
    const { caller, upstream } = await joined();
    caller.socket.destroy();
    await until(() => upstream.readableEnded);
    await until(() => end.of === 'over');
    await noneWaits();
  });

  it('that is not opened within ten seconds is refused', async () => {
    answer = () => undefined;
    const caller = call();
    await until(() => upstreams.length === 1);
    timers.pass(openMs - 1);
    expect(end.of).toBeNull();
    timers.pass(1);
    await until(() => end.of === 'CONTROL_PLANE_UNAVAILABLE');
    await until(() => caller.text.startsWith('HTTP/1.1 503 '));
    await until(() => caller.isCut);
    await noneWaits();
  });

  it('outlives the time limit of the handshake', async () => {
    const pair = await joined();
    timers.pass(openMs);
    await expectOpen(pair);
    timers.pass(answerMaxMs - openMs - 1);
    await expectOpen(pair);
    timers.pass(1);
    await until(() => pair.caller.isCut && pair.upstream.readableEnded);
    expect(end.of).toBe('over');
  });

  it('is cut at once when the process drains', async () => {
    const { caller, upstream } = await joined();
    leaving.abort();
    await until(() => caller.isCut && upstream.readableEnded);
    await until(() => end.of === 'over');
    await noneWaits();
  });
});

describe('a socket whose session has ended', () => {
  it('still forwards the closing reason of the other service', async () => {
    const { caller, upstream } = await joined();
    over.abort();
    timers.pass(lastWordMs - 1);
    upstream.end('your session is over');
    await until(() => caller.isCut);
    expect(caller.text).toMatch(/your session is over$/);
    await until(() => end.of === 'over');
    await noneWaits();
  });

  it('is cut after half a second when the other service does not close it', async () => {
    const pair = await joined();
    over.abort();
    timers.pass(lastWordMs - 1);
    await expectOpen(pair);
    timers.pass(1);
    await until(() => pair.caller.isCut && pair.upstream.readableEnded);
    expect([end.of, timers.waitingMs()]).toEqual(['over', []]);
  });
});
