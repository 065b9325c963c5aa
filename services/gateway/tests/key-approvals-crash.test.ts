import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { keyPrincipal } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { gatewayConfigFrom, type StartedGateway } from '../src/index.ts';
import { serviceDir, signInAs, startTestGateway, testDatabase, testEnv, testExchange } from './_gateway.ts';
import { callAt, kernelAsks, makeKey } from './_key-calls.ts';
import { KernelStub } from './_kernel-stub.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

let database: TestDatabase;
/** Without workers, so that only the other process handles the events of the kernel. */
let gateway: StartedGateway;
let env: Record<string, string>;
const broker = testExchange(amqpUrl);
const kernel = new KernelStub();
const listeners: ChildProcess[] = [];

beforeAll(async () => {
  // The listener is the real program in its own process, so it must be built.
  await promisify(execFile)(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', 'services/gateway'], {
    cwd: repository,
  });
  database = await testDatabase();
  await kernel.start();
  env = testEnv(database, {
    AMQP_URL: amqpUrl,
    GOV_AMQP_EXCHANGE: broker.exchange,
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_FAIL_CLOSED: '1',
  });
  gateway = await startTestGateway(gatewayConfigFrom({ ...env, GOV_RUN_WORKERS: '0' }));
});

afterAll(async () => {
  for (const listener of listeners) listener.kill('SIGKILL');
  await gateway?.stop();
  await kernel.kill();
  await broker.remove();
  await database?.drop();
});

function startListener(): void {
  const { PATH = '' } = process.env;
  const place = { cwd: serviceDir, env: { ...env, PATH } };
  listeners.push(spawn(process.execPath, ['dist/main.js'], { ...place, stdio: ['ignore', 'ignore', 'inherit'] }));
}

async function killListener(): Promise<void> {
  const listener = listeners.at(-1);
  const died = new Promise((resolve) => listener?.once('exit', resolve));
  listener?.kill('SIGKILL');
  await died;
}

/** Starting a process takes seconds, so this test has its own timeout. */
verifies(
  'gw.approvals',
  'kill -9 between the event of the kernel and the commit loses no approval request and duplicates none',
  async () => {
    kernel.verdictOf = () => 'ESCALATE';
    const person = await signInAs(gateway.url, 'ada@example.org');
    const key = await makeKey(person);
    const ask = async (sessionId: string) => {
      const { decision } = await callAt(gateway, key, { session_id: sessionId });
      const approvalId = decision.approval?.approval_id ?? '';
      return { approvalId, principal: keyPrincipal(key.id), workspaceId: person.workspace.id, sessionId };
    };
    const listed = async () => (await person.client.listWorkspaceApprovals({ query: {} })).body.data;
    const isListed = async (id: string) => (await listed()).some((approval) => approval.id === id);
    startListener();
    const first = await ask('first');
    // The message is repeated until the queue exists, because the broker drops unrouted messages.
    await until(async () => {
      await kernelAsks(gateway, first);
      return isListed(first.approvalId);
    });
    let isKilled = false;
    kernel.beforeApprovals = async () => {
      if (isKilled) return;
      isKilled = true;
      await killListener();
      startListener();
    };
    const second = await ask('second');
    await kernelAsks(gateway, second);
    await until(() => isListed(second.approvalId));
    expect(isKilled).toBe(true);
    const { body } = await person.client.listAudit({ query: { action: 'approval.requested' } });
    expect(body.data.map(({ subject }) => subject)).toEqual([second.approvalId, first.approvalId]);
    expect((await listed()).map(({ id }) => id)).toEqual([second.approvalId, first.approvalId]);
  },
);
