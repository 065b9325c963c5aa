import type { BenchDatabase } from './bench-database.ts';
import type { CommitFloor } from './commit-floor.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import type { Load, LoadRequest, LoadResult } from './load.ts';
import type { Measured } from './measured.ts';
import { ask, type Running } from './processes.ts';
import type { RequestKind } from './requests.ts';

/** One side of a ratio. */
export type Member = {
  /** Throws unless the first answer is of the kind to be measured. */
  tryOnce(): Promise<void>;
  measure(seconds: number): Promise<Measured>;
  /** The processes whose CPU is counted. Services among them can be profiled. */
  servers: readonly Running[];
  /** Whether the member is one piece of work that is measured once, from beginning to end. */
  isWhole?: boolean;
};

type LoadMember = {
  generator: Running;
  /** The connections are distributed over these servers in turn. */
  servers: readonly Running[];
  path: string;
  kind: RequestKind;
  headers?: Record<string, string>;
  connections: number;
  /** The database of the receipts, and their number per answer. Absent where answers leave no receipts. */
  sealing?: { database: BenchDatabase; receiptsPerAnswer: number };
};

export function loadMember(deps: LoadMember): Member {
  const { generator, servers, sealing } = deps;
  const { requests, headers } = trafficOf(deps);
  const pids = servers.map(({ pid }) => pid);
  return {
    servers,
    tryOnce: async () => {
      for (const request of requests.slice(0, servers.length)) {
        await tryRequest(request, { headers, expected: deps.kind.expected });
        sealing?.database.countSealed(sealing.receiptsPerAnswer);
      }
    },
    measure: async (seconds) => {
      const cpuBefore = cpuSeconds(pids);
      const { statuses, ...result } = await generate(generator, { requests, headers, seconds });
      const cpuAfter = cpuSeconds(pids);
      sealing?.database.countSealed(result.answers * sealing.receiptsPerAnswer);
      const isKnown = cpuBefore !== null && cpuAfter !== null;
      return { ...result, cpuMicros: isKnown ? ((cpuAfter - cpuBefore) * 1e6) / result.answers : null };
    },
  };
}

/** Sends the request of each connection `timesPerConnection` times, without a measurement. */
export async function answerTimes(deps: LoadMember, timesPerConnection: number): Promise<void> {
  const { generator, sealing } = deps;
  // Far more time than needed. The count ends the load.
  const secondsMax = 60;
  const load = { ...trafficOf(deps), seconds: secondsMax, answersPerConnectionMax: timesPerConnection };
  const { answers } = await generate(generator, load);
  sealing?.database.countSealed(answers * sealing.receiptsPerAnswer);
}

/** Inserts and commits rows on the bench's own connection, without any server of ours or load generator. */
export function commitMember(floor: CommitFloor): Member {
  return {
    servers: [],
    tryOnce: async () => {},
    measure: async (seconds) => ({ ...(await floor.measure(seconds)), cpuMicros: null, generatorBusy: null }),
  };
}

/** One piece of work after another: its latency is the sum of the medians of its pieces. */
export function inSequence(pieces: readonly Member[]): Member {
  return {
    servers: [],
    tryOnce: async () => {
      for (const piece of pieces) await piece.tryOnce();
    },
    measure: async (seconds) => {
      const measured: Measured[] = [];
      for (const piece of pieces) measured.push(await piece.measure(seconds / pieces.length));
      const sum = (of: (window: Measured) => number) => measured.reduce((total, window) => total + of(window), 0);
      const p50Ms = sum((window) => window.p50Ms);
      return {
        answers: Math.min(...measured.map(({ answers }) => answers)),
        perSecond: 1_000 / p50Ms,
        p50Ms,
        p99Ms: sum((window) => window.p99Ms),
        cpuMicros: null,
        generatorBusy: null,
      };
    },
  };
}

function trafficOf({ servers, path, kind, headers, connections }: LoadMember): Pick<Load, 'requests' | 'headers'> {
  const requests = Array.from({ length: connections }, (_, connection) => {
    const server = servers[connection % servers.length];
    if (server === undefined) throw new Error('A load needs a server');
    return { method: kind.method, url: new URL(path, server.url).href, body: kind.bodyOf(connection) };
  });
  return { requests, headers: { ...kind.headers, ...headers } };
}

async function generate(generator: Running, load: Load): Promise<LoadResult> {
  const result = await ask<LoadResult>(generator, load);
  const refused = Object.entries(result.statuses).filter(([status]) => status !== '200');
  if (refused.length === 0) return result;
  const message = refused.map(([status, count]) => `${count} × ${status}`).join(', ');
  throw new Error(`${load.requests[0]?.url} rejected a request of the load: ${message}`);
}

type FirstAnswer = { headers: Record<string, string>; expected: string };

async function tryRequest({ method, url, body }: LoadRequest, { headers, expected }: FirstAnswer): Promise<void> {
  const sent = method === 'GET' ? { headers } : { headers: { 'content-type': 'application/json', ...headers }, body };
  const answer = await fetch(url, { method, ...sent });
  const text = await answer.text();
  if (answer.ok && text.includes(expected)) return;
  throw new Error(`${url} does not answer as expected: ${answer.status} ${text.slice(0, 500)}`);
}
