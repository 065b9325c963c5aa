import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Run } from '@countersign/contracts/gateway';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { kernelConfigFrom, startKernel, type StartedKernel } from '@countersign/governance-kernel';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { newKeys, ofGateway, ofKernel, ownDatabases, throughProxy, type Databases } from './_environments.ts';
import { signIn, type SignedIn } from './_system.ts';

const keys = newKeys();
const awayMs = 3_000;

let databases: Databases;
let toDatabase: TcpProxy;
let toKernel: TcpProxy;
let model: ScriptedModel;
let notes: NoteServer;
let kernel: StartedKernel;
let gateway: StartedGateway;
let owner: SignedIn;

beforeAll(async () => {
  databases = await ownDatabases();
  const server = new URL(databases.kernel.url);
  toDatabase = await createTcpProxy({ host: server.hostname, port: Number(server.port || 5432) });
  [model, notes] = [await startScriptedModel(), await startNoteServer()];
  kernel = await startKernel(kernelConfigFrom(kernelEnvironment()));
  toKernel = await createTcpProxy({ host: '127.0.0.1', port: Number(new URL(kernel.url).port) });
  gateway = await startGateway(gatewayConfigFrom(gatewayEnvironment()));
  await gateway.subscribed;
  owner = await signIn({ gatewayUrl: gateway.url }, 'founder@example.com');
});

afterAll(async () => {
  await gateway?.stop();
  await kernel?.stop();
  await Promise.all([toKernel?.close(), toDatabase?.close(), model?.close(), notes?.close()]);
  await Promise.all([databases?.kernel.drop(), databases?.gateway.drop()]);
});

function kernelEnvironment(): Record<string, string> {
  return ofKernel({ keys, databaseUrl: throughProxy(databases.kernel.url, toDatabase), model, notes });
}

function gatewayEnvironment(): Record<string, string> {
  const kernelUrl = `http://127.0.0.1:${toKernel.port}`;
  const databaseUrl = throughProxy(databases.gateway.url, toDatabase);
  return { ...ofGateway({ keys, databaseUrl, kernelUrl }), GOV_RUN_LEASE: '2s' };
}

/** Cuts the connections of `proxy`, and restores them some seconds later. */
function cutForSeconds(proxy: TcpProxy): void {
  proxy.cut();
  setTimeout(() => proxy.restore(), awayMs); // the length of the outage is part of the test
}

async function endOf(taskId: string): Promise<Run> {
  return await untilAnswered(async () => {
    const listed = await owner.client.listRuns({ params: { id: taskId } }).catch(() => null); // the database of the gateway is cut too
    const run = listed?.body.data[0];
    return run !== undefined && !['queued', 'running'].includes(run.status) && run;
  });
}

describe('a run during an outage of some seconds', () => {
  verifies(
    'gw.run.outage',
    'survives an outage of the kernel and of the database, during model and tool calls, and makes nothing twice',
    async () => {
      let requestCount = 0;
      model.follow(() => {
        requestCount += 1;
        if (requestCount === 1) cutForSeconds(toKernel);
        if (requestCount === 2) cutForSeconds(toDatabase);
        return requestCount < 4
          ? { toolCalls: [{ name: 'notes__read_note', arguments: JSON.stringify({ id: `note-${requestCount}` }) }] }
          : { text: 'all read' };
      });
      const { body: task } = await owner.client.createTask({ body: { title: 'Read notes', description: '' } });
      await owner.client.runTask({ params: { id: task.id } });
      const run = await endOf(task.id);
      expect(run).toMatchObject({ status: 'completed', result: 'all read' });
      expect(requestCount).toBe(4);
      expect(run.steps.map(({ kind, verdict }) => `${kind} ${verdict}`)).toEqual([
        ...Array.from({ length: 3 }, () => ['model_call ALLOW', 'tool_call ALLOW']).flat(),
        'model_call ALLOW',
      ]);
    },
  );
});
