import { beforeAll, expect } from '@jest/globals';
import type { ServiceName } from '@countersign/services';
import { describeStory } from '@countersign/testkit/describe-story';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { OpenAPIClientAxios, type Document, type OpenAPIClient } from 'openapi-client-axios';
import { readRelease } from '../spec/released-contract.ts';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();
const { documents } = readRelease();
let system: SharedSystem;

beforeAll(async () => {
  system = await sharedSystem();
});

/**
 * A client with one method for each operation of the released document, made by a library without any code of this
 * product.
 */
async function clientOf(service: ServiceName, headers: Record<string, string> = {}): Promise<OpenAPIClient> {
  const definition = structuredClone(documents[service]) as unknown as Document; // the library has its own OpenAPI type
  const urls = { gateway: system.gatewayUrl, 'governance-kernel': system.kernelUrl };
  const baseURL = urls[service as keyof typeof urls] ?? system.gatewayUrl;
  const api = new OpenAPIClientAxios({ definition, axiosConfigDefaults: { baseURL, headers } });
  return await api.init();
}

describeStory('a client of the last released contract', () => {
  let gateway: OpenAPIClient;
  let commercial: OpenAPIClient;
  let controlPlane: OpenAPIClient;
  let workspaceId: string;

  verifies('sys.additive', 'signs in, works on a task and reads its results', async () => {
    const stranger = await clientOf('gateway');
    const email = address('released');
    const { code } = (await call(stranger, 'request-email-code', {}, { email })) as { code: string };
    const session = (await call(stranger, 'verify-email-code', {}, { email, code })) as Session;
    workspaceId = session.workspace.id;
    const headers = { authorization: `Bearer ${session.token}`, 'x-workspace-id': workspaceId };
    [gateway, controlPlane, commercial] = [
      await clientOf('gateway', headers),
      await clientOf('control-plane', headers),
      await clientOf('commercial-gateway', headers),
    ];
    const task = (await call(gateway, 'create-task', {}, { title: 'A task', description: 'hello' })) as {
      id: string;
    };
    await call(gateway, 'run-task', { id: task.id }, {});
    const run = await untilAnswered(async () => {
      const { data } = (await call(gateway, 'list-runs', { id: task.id })) as Listed<{ status: string }>;
      return data[0]?.status === 'completed' && data[0];
    });
    expect(run).toMatchObject({ status: 'completed' });
    const { data } = (await call(gateway, 'list-audit', {})) as Listed<{ action: string }>;
    expect(data.map(({ action }) => action)).toContain('task.created');
  });

  verifies('sys.additive', 'has calls decided, and reads their receipts', async () => {
    const kernel = await clientOf('governance-kernel', {
      authorization: `Bearer ${system.adminApiKey}`,
      'x-gov-tenant-id': workspaceId,
      'x-gov-principal-id': 'agent-1',
    });
    const body = { action: 'tool.call', tool: 'crm.read', session_id: 'released', effect_level: 'E1' };
    const decision = (await call(kernel, 'evaluate', {}, body)) as { verdict: string; receipt_id: string };
    expect(decision.verdict).toBe('ALLOW');
    const { receipt_id } = decision;
    expect(await call(kernel, 'get-receipt', { receipt_id })).toMatchObject({ payload: { receipt_id } });
  });

  verifies('sys.additive', 'makes an organisation, and reads its plan and usage', async () => {
    const { org_id } = (await call(controlPlane, 'bootstrap-org', {}, { name: 'Released' })) as { org_id: string };
    const params = { tenant_id: org_id };
    const account = await untilAnswered(() => call(commercial, 'get-billing-account', params).catch(() => null));
    expect(account).toMatchObject({ org_id });
    expect(await call(commercial, 'get-usage', params)).toHaveProperty('meters');
  });
});

type Session = { token: string; workspace: { id: string } };
type Listed<Row> = { data: Row[] };

async function call(client: OpenAPIClient, operation: string, params: object, body?: object): Promise<unknown> {
  const method = client[operation];
  if (method === undefined) throw new Error(`The released contract has no operation ${operation}`);
  return (await method(params as never, body)).data; // the parameters of the operation
}
