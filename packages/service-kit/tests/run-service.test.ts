import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';

const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));

// A separate process runs the build and not the sources that Jest transforms, so the build must be current.
beforeAll(() => {
  spawnSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', 'packages/service-kit'], { cwd: root });
});

/** Runs `start` in a real process. Resolves with its lines and exit code after the signals were sent. */
async function runProcess(start: string, signals: NodeJS.Signals[]) {
  const source = `
    import { createLogger, runService } from ${JSON.stringify(entry)};
    const log = createLogger({ service: 'child' });
    await runService({ log, start: async (lifecycle) => { ${start} } });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source]);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  for (const [index, signal] of signals.entries()) {
    const wanted = index === 0 ? 'service.started' : 'service.stopping';
    while (!text.includes(wanted)) await once(child.stdout, 'data');
    child.kill(signal);
  }
  const closed: unknown[] = await once(child, 'close');
  const events = [...text.matchAll(/"event":"([^"]+)"/g)].map((match) => match[1]);
  return { events, text, code: Number(closed[0]) };
}

const keepAlive = 'const timer = setInterval(() => {}, 1000); lifecycle.onClose("timer", () => clearInterval(timer));';

describe('a service process', () => {
  it('is unready before it closes, closes in reverse order, and exits 0 on SIGTERM', async () => {
    const start = `${keepAlive}
      lifecycle.onClose('first', () => log.info('closed.first'));
      lifecycle.onClose('second', () => log.info(lifecycle.isStopping() ? 'closed.second' : 'wrong'));`;
    const { events, code } = await runProcess(start, ['SIGTERM']);
    expect(events).toEqual(['service.started', 'service.stopping', 'closed.second', 'closed.first', 'service.stopped']);
    expect(code).toBe(0);
  });

  it('notifies its components before it closes any of them', async () => {
    const start = `${keepAlive}
      lifecycle.onClose('first', () => log.info('closed.first'));
      lifecycle.beforeClose(() => log.info('told'));
      lifecycle.onClose('second', () => log.info('closed.second'));`;
    const { events } = await runProcess(start, ['SIGTERM']);
    expect(events.slice(2, 5)).toEqual(['told', 'closed.second', 'closed.first']);
  });

  it('continues to serve while it reports unready, for the time that load balancers need', async () => {
    const start = `${keepAlive}
      lifecycle.giveNotice(150);
      lifecycle.giveNotice(50);
      const told = performance.now.bind(performance);
      let stoppingAtMs = 0;
      const look = setInterval(() => { if (lifecycle.isStopping() && stoppingAtMs === 0) stoppingAtMs = told(); }, 5);
      lifecycle.onClose('look', () => {
        clearInterval(look);
        log.info(told() - stoppingAtMs >= 100 && stoppingAtMs > 0 ? 'closed.later' : 'closed.at_once');
      });`;
    const { events, code } = await runProcess(start, ['SIGTERM']);
    expect({ code, events: events.filter((event) => event?.startsWith('closed.')) }).toEqual({
      code: 0,
      events: ['closed.later'],
    });
  });

  it('exits at once on a second signal', async () => {
    const start = `${keepAlive} lifecycle.onClose('stuck', () => new Promise(() => undefined));`;
    expect((await runProcess(start, ['SIGTERM', 'SIGINT'])).code).toBe(1);
  });

  it('closes all opened resources and exits 2 when it cannot start, even if something still runs', async () => {
    const start = `lifecycle.onClose('first', () => log.info('closed.first'));
      setInterval(() => {}, 1000);
      throw new Error('The port is taken', { cause: new AggregateError([new Error('EADDRINUSE')], '') });`;
    const { events, code, text } = await runProcess(start, []);
    expect(events).toEqual(['service.start_failed', 'closed.first']);
    expect(text).toContain('"problem":"The port is taken: EADDRINUSE"');
    expect(code).toBe(2);
  });

  it.each([
    ['fails because of the stop', "fail(new Error('The database does not answer'))"],
    ['completes', 'done()'],
  ])('that is stopped during its start reports only that, when the start %s', async (_how, ends) => {
    const start = `${keepAlive}
      let [done, fail] = [];
      const closed = new Promise((resolve, reject) => { [done, fail] = [resolve, reject]; });
      lifecycle.onClose('last', () => new Promise((resolve) => setImmediate(resolve)));
      lifecycle.onClose('database', () => ${ends});
      process.kill(process.pid, 'SIGTERM');
      await closed;`;
    const { events, code } = await runProcess(start, []);
    expect(events).toEqual(['service.stopping', 'service.start_interrupted', 'service.stopped']);
    expect(code).toBe(0);
  });

  it('logs an unhandled rejection and exits 1', async () => {
    const { events, code } = await runProcess(
      `${keepAlive} setTimeout(() => { void Promise.reject(new Error('lost')); }, 1);`,
      [],
    );
    expect({ last: events.at(-1), code }).toEqual({ last: 'service.fault', code: 1 });
  });
});
