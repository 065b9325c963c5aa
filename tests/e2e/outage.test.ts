import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Run } from '@countersign/contracts/gateway';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { kernelConfigFrom, startKernel, type StartedKernel } from '@countersign/governance-kernel';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { verifies } from '@countersign/testkit/verifies';
import { signIn, until, type SignedIn } from './_system.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const serviceKey = { GOV_SERVICE_API_KEY: 'service-key-'.repeat(4) };
const assertionKey = generateSigningKey();
const awayMs = 3_000;

let databases: { kernel: TestDatabase; gateway: TestDatabase };
let toDatabase: TcpProxy;
let toKernel: TcpProxy;
let model: ScriptedModel;
let notes: NoteServer;
let kernel: StartedKernel;
let gateway: StartedGateway;
let owner: SignedIn;

beforeAll(async () => {
  databases = {
    kernel: await createTestDatabase({ serviceDir: `${repository}services/governance-kernel`, schema: 'kernel' }),
    gateway: await createTestDatabase({ serviceDir: `${repository}services/gateway`, schema: 'gateway' }),
  };
  const server = new URL(databases.kernel.url);
  toDatabase = await createTcpProxy({ host: server.hostname, port: Number(server.port || 5432) });
  [model, notes] = [await startScriptedModel(), await startNoteServer()];
  kernel = await startKernel(kernelConfigFrom(kernelEnvironment()));
  toKernel = await createTcpProxy({ host: '127.0.0.1', port: Number(new URL(kernel.url).port) });
  gateway = await startGateway(gatewayConfigFrom(gatewayEnvironment()));
  await gateway.subscribed;
  owner = await signIn({ gatewayUrl: gateway.url }, 'founder@example.com');
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  await kernel?.stop();
  await Promise.all([toKernel?.close(), toDatabase?.close(), model?.close(), notes?.close()]);
  await Promise.all([databases?.kernel.drop(), databases?.gateway.drop()]);
}, 60_000);

function throughProxy(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${toDatabase.port}`;
  return url.href;
}

function kernelEnvironment(): Record<string, string> {
  const price = { input_per_million_minor: 300, output_per_million_minor: 1_500 };
  return {
    ...serviceKey,
    GOV_ADMIN_API_KEY: 'admin-key-'.repeat(4),
    GOV_ASSERTION_KEYS: encodeBase64Url(assertionKey.publicKey),
    NODE_ENV: 'test',
    DATABASE_URL: throughProxy(databases.kernel.url),
    GOV_PORT: '0',
    GOV_HEALTH_PORT: '0',
    ...signingKeys(),
    GOV_TENANT_SALT_SECRET: 'salt-secret-'.repeat(4),
    GOV_LOG_LEVEL: 'silent',
    GOV_RATE_LIMITS: '0',
    GOV_SELF_TEST_DECISIONS: '0',
    GOV_POLICY_FILE: `${repository}infra/local/policy/starter.yaml`,
    GOV_UPSTREAM_URL: model.url,
    GOV_MODEL_PRICES: JSON.stringify({ '*': { ...price, output_tokens_max: 64_000, input_tokens_max: 200_000 } }),
    GOV_MCP_SERVERS: JSON.stringify({
      servers: [{ server_id: 'notes', transport: 'http', trust_annotations: true, url: notes.url }],
    }),
    GOV_MCP_LIST_MAX_AGE: '0',
  };
}

/** One for each thing that is signed. */
function signingKeys(): Record<string, string> {
  const names = ['GOV_SIGNING_KEY', 'GOV_POLICY_KEY', 'GOV_LOG_KEY'];
  return Object.fromEntries(names.map((name) => [name, generateSigningKey().privateKeyPem]));
}

function gatewayEnvironment(): Record<string, string> {
  return {
    ...serviceKey,
    GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
    NODE_ENV: 'development',
    DATABASE_URL: throughProxy(databases.gateway.url),
    GOV_GATEWAY_PORT: '0',
    GOV_SESSION_SECRET: 'session-secret-'.repeat(4),
    GOV_GOVERNANCE_URL: `http://127.0.0.1:${toKernel.port}`,
    GOV_FAIL_CLOSED: '1',
    GOV_RATE_LIMITS: '0',
    GOV_RUN_LEASE: '2s',
    GOV_LOG_LEVEL: 'silent',
  };
}

/** Breaks what `proxy` carries, and lets it through again some seconds later. */
function cutForSeconds(proxy: TcpProxy): void {
  proxy.cut();
  setTimeout(() => proxy.restore(), awayMs);
}

async function endOf(taskId: string): Promise<Run> {
  return await until(async () => {
    const listed = await owner.client.listRuns({ params: { id: taskId } }).catch(() => null); // its database is cut too
    const run = listed?.body.data[0];
    return run !== undefined && !['queued', 'running'].includes(run.status) && run;
  });
}

describe('what is away for some seconds in the middle of a run', () => {
  verifies(
    'gw.run.outage',
    'ends no run, be it the kernel while the model answers, or the database then or while a tool runs: nothing is made twice',
    async () => {
      let asked = 0;
      model.follow(() => {
        asked += 1;
        if (asked === 1) cutForSeconds(toKernel);
        if (asked === 2) cutForSeconds(toDatabase);
        return asked < 4
          ? { toolCalls: [{ name: 'notes__read_note', arguments: JSON.stringify({ id: `note-${asked}` }) }] }
          : { text: 'all read' };
      });
      const { body: task } = await owner.client.createTask({ body: { title: 'Read notes', description: '' } });
      await owner.client.runTask({ params: { id: task.id } });
      const run = await endOf(task.id);
      expect(run).toMatchObject({ status: 'completed', result: 'all read' });
      expect(asked).toBe(4);
      expect(run.steps.map(({ kind, verdict }) => `${kind} ${verdict}`)).toEqual([
        ...Array.from({ length: 3 }, () => ['model_call ALLOW', 'tool_call ALLOW']).flat(),
        'model_call ALLOW',
      ]);
    },
    120_000,
  );
});
