import { Pool } from 'undici';
import type { Closing } from './closing.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { signIn, type Installation } from './installation.ts';
import type { Member } from './member.ts';
import { repeatAlone } from './repeat-alone.ts';
import { rowCopier } from './row-copier.ts';
import { withAdmin } from './with-admin.ts';

/** More tasks than all windows together can accept. Each task runs once here. */
const tasksMax = 20_000;

/** `POST /api/tasks/{id}/run` by the person who made the task, one request at a time on one connection. */
export async function acceptingRuns(installation: Installation, closing: Closing): Promise<Member> {
  await installation.declareRuns();
  const gateway = await installation.openGateway(closing, { GOV_RUN_WORKERS: '0' });
  const { client, headers } = await signIn(installation, gateway);
  await client.createTask({ body: { title: 'Summarise the report', description: 'In three sentences.' } });
  await copyTask(installation);
  const pool = new Pool(gateway.url, { connections: 1 });
  closing.add(() => pool.close());
  let started = 0;
  const accept = async () => {
    started += 1;
    if (started > tasksMax) throw new RangeError('There is no task left to run');
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/api/tasks/${copiedTask(started)}/run`,
      headers,
    });
    const text = await body.text();
    if (statusCode !== 202) throw new Error(`A run was not accepted: ${statusCode} ${text.slice(0, 500)}`);
  };
  return {
    servers: [gateway],
    tryOnce: accept,
    measure: async (seconds) => {
      const cpuBefore = cpuSeconds([gateway.pid]);
      const latencies = await repeatAlone(accept, seconds);
      const cpuAfter = cpuSeconds([gateway.pid]);
      const isKnown = cpuBefore !== null && cpuAfter !== null;
      const cpuMicros = isKnown ? ((cpuAfter - cpuBefore) * 1e6) / latencies.answers : null;
      return { ...latencies, cpuMicros, generatorBusy: null };
    },
  };
}

function copiedTask(nth: number): string {
  return `tsk_${String(nth).padStart(26, '0')}`;
}

async function copyTask({ database }: Installation): Promise<void> {
  const copied = `'tsk_' || lpad(original.nth::text, 26, '0')`;
  const from = `(SELECT tasks.*, nth FROM tasks, generate_series(1, $1::int) nth) original`;
  await withAdmin(
    database.adminUrl,
    async (client) => {
      const copy = await rowCopier(client, { table: 'tasks', own: { id: copied }, from });
      await copy([tasksMax]);
      await client.query('VACUUM (ANALYZE) tasks');
    },
    'gateway',
  );
}
