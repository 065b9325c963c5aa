import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  anonymous,
  createLifecycle,
  createLogger,
  listenConfigOf,
  listenVariables,
  readConfig,
  serviceConfigOf,
  serviceVariables,
  startStandardService,
  type Telemetry,
} from '../src/index.ts';

const listening = listenVariables({ prefix: 'GOV_ECHO', title: 'echo', port: 3900 });
const variables = z.object({ ...serviceVariables, ...listening });

function configOf(env: Record<string, string> = {}) {
  const fullEnv = { DATABASE_URL: 'postgres://localhost/db', GOV_ECHO_PORT: '0', ...env };
  const read = readConfig(variables, fullEnv, { prefix: 'GOV_' });
  return { ...serviceConfigOf(read), ...listenConfigOf('GOV_ECHO', read) };
}

/** A service that records the order in which its components start and close. */
function echoService(notes: string[], env: Record<string, string> = {}) {
  const config = configOf(env);
  const log = createLogger({ service: 'echo', silent: true });
  const lifecycle = createLifecycle(log);
  const note = (name: string) => ({
    stop: () => Promise.resolve(void notes.push(`close ${name}`)),
  });
  const service = {
    ...{ name: 'echo', title: 'echo', config, lifecycle },
    createContext: (telemetry: Telemetry) => {
      notes.push('context');
      const relay = { start: () => void notes.push('relay') };
      return { config, log, telemetry, relay, close: note('context').stop };
    },
    prepare: () => void notes.push('prepare'),
    workers: () => ({
      first: () => (notes.push('first'), note('first')),
      absent: null,
      second: () => (notes.push('second'), { ...note('second'), subscribed: Promise.resolve() }),
    }),
    app: () => ({
      ...{ endpoints: [], guards: { public: anonymous } },
      ready: { database: () => Promise.resolve() },
      informational: { queue: () => Promise.reject(new Error('away')) },
    }),
  };
  return { service, lifecycle };
}

const statusOf = async (url: string) => (await fetch(url)).status;

describe('a standard service', () => {
  it('starts its parts in order, serves probes and metrics on the health port, and closes in reverse', async () => {
    const notes: string[] = [];
    const { service, lifecycle } = echoService(notes, { GOV_ECHO_HEALTH_PORT: '0' });
    const started = await startStandardService(service);
    await started.subscribed;
    expect(notes).toEqual(['context', 'prepare', 'relay', 'first', 'second']);
    expect(started.workers.absent).toBeNull();
    const ready = await fetch(`${started.healthUrl}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', checks: { database: 'up', queue: 'down' } },
    ]);
    expect(await statusOf(`${started.healthUrl}/metrics`)).toBe(200);
    expect(await statusOf(`${started.url}/metrics`)).toBe(404);
    expect(lifecycle.noticeMs).toBe(5_000);
    notes.length = 0;
    expect(await started.stop()).toBe(true);
    expect(notes).toEqual(['close second', 'close first', 'close context']);
    await expect(fetch(started.url)).rejects.toThrow();
    await expect(fetch(started.healthUrl)).rejects.toThrow();
  });

  it('answers probes on its main port when it has no health port', async () => {
    const { service } = echoService([]);
    const started = await startStandardService(service);
    expect(started.healthUrl).toBe(started.url);
    expect(await statusOf(`${started.url}/health/live`)).toBe(200);
    await started.stop();
  });

  it('serves the same app on additional ports, and skips unconfigured ones', async () => {
    const notes: string[] = [];
    const { service, lifecycle } = echoService(notes);
    const names: string[] = [];
    const onClose = lifecycle.onClose;
    const watched = {
      ...lifecycle,
      onClose: (...args: Parameters<typeof onClose>) => (names.push(args[0]), onClose(...args)),
    };
    const started = await startStandardService({
      ...service,
      lifecycle: watched,
      morePorts: { console: 0, other: null },
    });
    expect(names).toEqual(['context', 'first', 'second', 'http', 'console']);
    await started.stop();
  });

  it('registers each worker at once, so that a failed start stops the running workers', async () => {
    const notes: string[] = [];
    const { service, lifecycle } = echoService(notes);
    const { first } = service.workers();
    const failing = () => {
      throw new Error('no queue');
    };
    await expect(startStandardService({ ...service, workers: () => ({ first, failing }) })).rejects.toThrow('no queue');
    await lifecycle.stop();
    expect(notes.slice(-2)).toEqual(['close first', 'close context']);
  });

  it('closes the telemetry when the context cannot be built', async () => {
    const { service } = echoService([]);
    let opened: Telemetry | null = null;
    const createContext = (telemetry: Telemetry) => {
      opened = telemetry;
      throw new Error('no database');
    };
    await expect(startStandardService({ ...service, createContext })).rejects.toThrow('no database');
    await expect((opened as Telemetry | null)?.prometheus()).rejects.toThrow();
  });
});

describe('the variables of a port', () => {
  it('are named from the prefix of the service, with a health port that is off by default', () => {
    expect(Object.keys(listening)).toEqual(['GOV_ECHO_HOST', 'GOV_ECHO_PORT', 'GOV_ECHO_HEALTH_PORT']);
    expect(configOf({ GOV_ECHO_PORT: '' })).toMatchObject({ host: '127.0.0.1', port: 3900, healthPort: null });
    const addresses = { GOV_ECHO_HOST: '0.0.0.0', GOV_ECHO_PORT: '1', GOV_ECHO_HEALTH_PORT: '2' };
    expect(configOf(addresses)).toMatchObject({ host: '0.0.0.0', port: 1, healthPort: 2 });
    expect(() => configOf({ GOV_ECHO_HEALTH_PORT: 'x' })).toThrow('GOV_ECHO_HEALTH_PORT is malformed');
  });
});
