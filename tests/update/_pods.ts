import { randomBytes } from 'node:crypto';
import { migrate } from '@countersign/database';
import { removeTopology } from '@countersign/messaging/testing';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { gatewayPart, kernelPart, mainOf, type Wired } from '../chaos/_parts.ts';
import { newKeys, ofGateway, ofKernel, ownDatabases, serviceDirs, type ServiceDirs } from '../e2e/_environments.ts';
import type { Installation } from '../chaos/_installation.ts';

/** A kernel beside a gateway. The gateway serves requests and works on runs. */
type Pod = { kernel: Wired; gateway: Wired };

/** Pods that share one broker and one database for each service. */
export type Pods = Pick<Installation, 'databases' | 'broker' | 'adminApiKey' | 'assertLives'> & {
  readonly model: ScriptedModel;
  readonly notes: NoteServer;
  /** Starts one more pod from the build of a checkout. */
  add(name: string, dirs: ServiceDirs): Promise<Pod>;
  /** Applies this version's migrations while all pods run. Returns the names of the migrations. */
  migrate(): Promise<string[]>;
  /** Stops a pod as Kubernetes does, the gateway first, and starts this version in its place. */
  update(pod: Pod): Promise<void>;
  stop(): Promise<void>;
};

const workersEach = '20';

/** The databases start with the migrations of `before`. */
export async function startPods(scratch: string, before: ServiceDirs): Promise<Pods> {
  const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
  const [databases, model, notes, keys] = [
    await ownDatabases(before),
    await startScriptedModel(),
    await startNoteServer(),
    newKeys(),
  ];
  const exchange = `countersign-test-${randomBytes(6).toString('hex')}`;
  const shared = { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange, GOV_LOG_LEVEL: 'warn' };
  const ofKernels = { ...ofKernel({ keys, databaseUrl: databases.kernel.url, model, notes }), ...shared };
  const pods: Pod[] = [];
  const deps = () => pods.flatMap(({ kernel, gateway }) => [kernel.component, gateway.component]);
  const names = ['gateway.runs', 'gateway.approvals', 'governance-kernel.fences', 'governance-kernel.members'];
  const queues = names.map((name) => `${exchange}.${name}`);
  return {
    ...{ databases, model, notes, adminApiKey: keys.adminApiKey, broker: { url: amqpUrl, queues } },
    add: async (name, dirs) => {
      const kernel = await kernelPart({ scratch, dirs, name: `${name}-kernel`, env: ofKernels });
      const ofGateways = ofGateway({ keys, databaseUrl: databases.gateway.url, kernelUrl: kernel.url });
      const env = { ...ofGateways, ...shared };
      const gateway = await gatewayPart({ scratch, dirs, name: `${name}-gateway`, env, workers: workersEach });
      pods.push({ kernel, gateway });
      await kernel.component.start();
      await gateway.component.start();
      return { kernel, gateway };
    },
    migrate: async () => {
      const applied: string[] = [];
      const dirs = { kernel: serviceDirs['governance-kernel'], gateway: serviceDirs.gateway };
      for (const service of ['kernel', 'gateway'] as const) {
        const { adminUrl: url, schema, role } = databases[service];
        applied.push(...(await migrate({ url, schema, role, serviceDir: dirs[service] })));
      }
      return applied;
    },
    update: async ({ kernel, gateway }) => {
      // The kernel beside the gateway decides the gateway's last calls, so it stops after the gateway.
      await gateway.component.end();
      await kernel.component.end();
      await kernel.component.startAs(mainOf(serviceDirs['governance-kernel']));
      await gateway.component.startAs(mainOf(serviceDirs.gateway));
    },
    assertLives: () => deps().forEach((component) => component.assertLives()),
    stop: async () => {
      await Promise.allSettled(deps().map((component) => component.kill()));
      await Promise.all([model.close(), notes.close()]);
      await removeTopology(amqpUrl, { exchange, queues });
      await Promise.all([databases.kernel.drop(), databases.gateway.drop()]);
    },
  };
}
