import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@countersign/contracts';
import { createKernelClient, kernelRoutes } from '@countersign/contracts/routes';
import { controlPlaneConfigFrom, startControlPlane, type StartedControlPlane } from '@countersign/control-plane';
import type { TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { kernelConfigFrom, startKernel, type StartedKernel } from '@countersign/governance-kernel';
import { freePort } from '@countersign/local';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import pg from 'pg';
import { Part } from '../chaos/_part.ts';
import {
  newKeys,
  ofControlPlane,
  ofGateway,
  ofKernel,
  ownDatabase,
  ownDatabases,
  serviceDirs,
  throughProxy,
} from './_environments.ts';
import { haltAt, type Halt, type HaltAt } from './_halt.ts';
import type { KernelClient } from './_system.ts';

/** Two kernels over one database, a gateway, and a control plane that is a process of its own and reaches one kernel through a proxy. */
export type Replicas = {
  readonly gateway: StartedGateway;
  readonly kernels: readonly [StartedKernel, StartedKernel];
  readonly notes: NoteServer;
  readonly controlPlane: Part;
  /** Between control plane and kernel. */
  readonly toKernel: TcpProxy;
  /** The services beside a kernel, as they call it. */
  readonly system: Client<typeof kernelRoutes>;
  /** An agent of a workspace at each kernel. */
  agents(tenant: string, principal?: string): readonly [KernelClient, KernelClient];
  /** Runs a statement as an administrator of the control plane's database, without the service. */
  inControlPlane(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** The same in the database of the kernels. */
  inKernels(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Holds up what a service writes; for the test's end, or until it is let go. */
  halt(at: HaltAt): Promise<Halt>;
  /** Starts another control plane over the same database, in this process and with short passes; it is stopped with the others. */
  startAnother(): Promise<Pick<StartedControlPlane, 'stop'>>;
  /** All kernels keep to it from now on. */
  writePolicy(text: string): void;
  stop(): Promise<void>;
};

/** Beside what each of them is given anyway; `clock` is that of the kernels. */
type Variables = {
  ofKernels?: Record<string, string>;
  ofControlPlanes?: Record<string, string>;
  ofAll?: Record<string, string>;
  clock?: () => Date;
};

export async function startReplicas(
  policy: string,
  { ofKernels = {}, ofControlPlanes = {}, ofAll = {}, clock = () => new Date() }: Variables = {},
): Promise<Replicas> {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-replicas-'));
  const policyFile = join(scratch, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const [own, model, notes, keys] = [
    await ownDatabases(),
    await startScriptedModel(),
    await startNoteServer(),
    newKeys(),
  ];
  const database = await ownDatabase('control-plane');
  const forKernels = {
    ...ofKernel({ keys, databaseUrl: own.kernel.url, model, notes }),
    GOV_POLICY_FILE: policyFile,
    GOV_POLICY_FILE_INTERVAL: '500ms',
    GOV_MCP_TIMEOUT: '60s',
    ...ofKernels,
    ...ofAll,
  };
  const kernels = [
    await startKernel(kernelConfigFrom(forKernels), { clock }),
    await startKernel(kernelConfigFrom(forKernels), { clock }),
  ] as const;
  const [first] = kernels;
  const toKernel = await createTcpProxy({ host: '127.0.0.1', port: Number(new URL(first.url).port) });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const forGateway = ofGateway({ keys, databaseUrl: own.gateway.url, kernelUrl: first.url });
  const gateway = await startGateway(
    gatewayConfigFrom({ ...forGateway, ...ofAll, GOV_CONTROL_PLANE_URL: url, GOV_RUN_WORKERS: '0' }),
  );
  const kernelUrl = throughProxy(first.url, toKernel);
  const forControlPlane = (at: number) => ({
    ...ofControlPlane({ keys, databaseUrl: database.url, gatewayUrl: gateway.url, kernelUrl }),
    ...ofAll,
    GOV_CONTROL_PLANE_PORT: String(at),
    ...ofControlPlanes,
  });
  const controlPlane = new Part({
    name: 'control plane',
    main: `${serviceDirs['control-plane']}/dist/main.js`,
    readyUrl: `http://127.0.0.1:${port}/health/ready`,
    logFile: join(scratch, 'control-plane.log'),
    env: forControlPlane(port),
  });
  const others: StartedControlPlane[] = [];
  await controlPlane.start();
  const system = createClient(kernelRoutes, {
    baseUrl: first.url,
    headers: () => ({ authorization: `Bearer ${keys.serviceApiKey}` }),
  });
  const agentAt = ({ url: baseUrl }: StartedKernel, tenant: string, principal?: string) =>
    createKernelClient({ baseUrl, apiKey: keys.adminApiKey }).as({
      tenant,
      ...(principal === undefined ? {} : { principal }),
    });
  return {
    ...{ gateway, kernels, notes, controlPlane, toKernel, system },
    agents: (tenant, principal) => [agentAt(kernels[0], tenant, principal), agentAt(kernels[1], tenant, principal)],
    inControlPlane: (statement, values) => rowsOf(database, { schema: 'control_plane', statement, values }),
    inKernels: (statement, values) => rowsOf(own.kernel, { schema: 'kernel', statement, values }),
    halt: (at) => haltAt(at.schema === 'kernel' ? own.kernel : database, at),
    startAnother: async () => {
      const another = await startControlPlane(controlPlaneConfigFrom(forControlPlane(0)), { passMs: 100 });
      others.push(another);
      return another;
    },
    writePolicy: (text) => writeFileSync(policyFile, text),
    stop: async () => {
      await controlPlane.kill().catch(() => undefined);
      for (const another of others) await another.stop();
      await gateway.stop();
      for (const kernel of kernels) await kernel.stop();
      await Promise.all([toKernel.close(), model.close(), notes.close()]);
      await Promise.all([own.kernel.drop(), own.gateway.drop(), database.drop()]);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

type Asked = { schema: string; statement: string; values?: unknown[] | undefined };

async function rowsOf({ adminUrl }: TestDatabase, { schema, statement, values = [] }: Asked) {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement, values).finally(() => client.end());
  return rows;
}
