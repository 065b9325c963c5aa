import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Bench } from './bench.ts';
import { closingAfter } from './closing.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { signIn, type Installation, type Person } from './installation.ts';
import type { Measured } from './measured.ts';
import type { Member } from './member.ts';
import { ask } from './processes.ts';
import { receiptsOfRun, runDirective } from './run-script.ts';
import { withAdmin } from './with-admin.ts';

const workerCount = 2;
const askersCount = 16;
const pollMs = 100;
/** Far more time than the drain needs. The bench fails if a run is still open after this time. */
const drainMsMax = 600_000;

type DrainMember = Member & {
  /** The number of calls of the drained runs that reached their tool. */
  toolCalls(): number;
};

/** Runs that one gateway accepted into the queue, and that two other gateways work off. */
export async function drainingRuns(bench: Bench, installation: Installation): Promise<DrainMember> {
  await installation.declareRuns();
  let toolCalls = 0;
  return {
    servers: [],
    isWhole: true,
    toolCalls: () => toolCalls,
    tryOnce: async () => {},
    measure: async () => {
      await closingAfter(async (briefly) => {
        const door = await installation.openGateway(briefly, { GOV_RUN_WORKERS: '0' });
        await queueRuns(await signIn(installation, door), bench.queuedRuns);
      });
      const callsBefore = await ask<number>(bench.tools, {});
      const cpu = await workOff(installation);
      toolCalls = (await ask<number>(bench.tools, {})) - callsBefore;
      installation.kernelDatabase.countSealed(bench.queuedRuns * receiptsOfRun.length);
      return measuredOf(await readTimes(installation), cpu);
    },
  };
}

async function queueRuns({ client }: Person, runs: number): Promise<void> {
  let remaining = runs;
  const askOn = async () => {
    while (remaining > 0) {
      remaining -= 1;
      const { body: task } = await client.createTask({ body: { title: 'Fill', description: runDirective } });
      await client.runTask({ params: { id: task.id } });
    }
  };
  await Promise.all(Array.from({ length: askersCount }, askOn));
}

/** The CPU seconds of the workers. `null` where the platform does not report them. */
async function workOff(installation: Installation): Promise<number | null> {
  return await closingAfter(async (during) => {
    const starting = Array.from({ length: workerCount }, () => installation.openGateway(during));
    const pids = (await Promise.all(starting)).map(({ pid }) => pid);
    const before = cpuSeconds(pids);
    await untilDrained(installation);
    const after = cpuSeconds(pids);
    return before === null || after === null ? null : after - before;
  });
}

async function untilDrained({ database }: Installation): Promise<void> {
  const deadline = Date.now() + drainMsMax;
  await withAdmin(
    database.adminUrl,
    async (client) => {
      while (await hasLiveRun(client)) {
        if (Date.now() > deadline) throw new Error(`Runs are still open after ${drainMsMax / 1_000} s`);
        await delay(pollMs);
      }
    },
    'gateway',
  );
}

async function hasLiveRun(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ live: boolean }>(
    'SELECT EXISTS (SELECT FROM runs WHERE ended_at IS NULL) AS live',
  );
  return rows[0]?.live === true;
}

type Times = Record<'runs' | 'seconds' | 'p50Ms' | 'p99Ms', number>;

/** The time from the first claim to the last ending, and the work time of each run. */
async function readTimes({ database }: Installation): Promise<Times> {
  const { rows } = await withAdmin(
    database.adminUrl,
    (client) =>
      client.query<Times>(
        `WITH worked AS (SELECT started_at, ended_at, extract(epoch FROM ended_at - started_at) * 1000 AS ms FROM runs)
         SELECT count(*)::float8 AS runs, extract(epoch FROM max(ended_at) - min(started_at))::float8 AS seconds,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS "p50Ms", percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS "p99Ms"
           FROM worked`,
      ),
    'gateway',
  );
  const [times] = rows;
  if (times === undefined) throw new Error('The aggregate query returned no row');
  return times;
}

function measuredOf({ runs, seconds, p50Ms, p99Ms }: Times, cpu: number | null): Measured {
  const cpuMicros = cpu === null ? null : (cpu * 1e6) / runs;
  return { answers: runs, perSecond: runs / seconds, p50Ms, p99Ms, cpuMicros, generatorBusy: null };
}
