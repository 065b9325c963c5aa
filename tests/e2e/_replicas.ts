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
import { patienceMs } from '@countersign/testkit/until';
import pg from 'pg';
import { Component } from '../chaos/_part.ts';
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

/**
 * Two kernels over one database, a gateway, and a control plane in its own process. The control plane reaches one
 * kernel through a proxy.
 */
export type Replicas = {
  readonly gateway: StartedGateway;
  readonly kernels: readonly [StartedKernel, StartedKernel];
  readonly notes: NoteServer;
  readonly controlPlane: Component;
  /** The proxy between control plane and kernel. */
  readonly toKernel: TcpProxy;
  /** The kernel client of sibling services. */
  readonly system: Client<typeof kernelRoutes>;
  /** A client for an agent of a workspace, at each kernel. */
  agents(tenant: string, principal?: string): readonly [KernelClient, KernelClient];
  /** Runs a statement as an administrator of the control plane's database, without the service. */
  inControlPlane(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Runs a statement as an administrator of the kernels' database. */
  inKernels(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Halts writes of a service until the release, or the end of the test. */
  halt(at: HaltAt): Promise<Halt>;
  /**
   * Starts another control plane over the same database, in this process and with short intervals. It stops with the
   * others.
   */
  startAnother(): Promise<Pick<StartedControlPlane, 'stop'>>;
  /** Writes the policy of all kernels. */
  writePolicy(text: string): void;
  stop(): Promise<void>;
};

/** Variables besides the usual ones. */
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
  const controlPlane = new Component({
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
    createKernelClient({ baseUrl, apiKey: keys.adminApiKey, timeoutMs: patienceMs }).as({
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

type Input = { schema: string; statement: string; values?: unknown[] | undefined };

async function rowsOf({ adminUrl }: TestDatabase, { schema, statement, values = [] }: Input) {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement, values).finally(() => client.end());
  return rows;
}
