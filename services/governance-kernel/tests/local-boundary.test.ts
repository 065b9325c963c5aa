import http from 'node:http';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { createLogger } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { serveLocalBoundary } from '../src/local-boundary.ts';
import { keysPathOf, openBoundaryKeys } from '../src/local/boundary-keys.ts';
import { refusal } from './_caller.ts';
import { adminKey, startTestKernel, starterPolicy, type KernelClient, type TestKernel } from './_kernel.ts';

const log = createLogger({ service: 'local-boundary', level: 'error', silent: true, layout: 'json' });

let folder: string;
let path: string;
let policyFile: string;
let kernel: TestKernel;
let served: Awaited<ReturnType<typeof serveLocalBoundary>>;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-boundary-'));
  path = join(folder, 'boundary', 'surfaces.json');
  policyFile = join(folder, 'policy.yaml');
  await writeFile(policyFile, starterPolicy);
  kernel = await startTestKernel({ twins: false });
  await kernel.activate('acme', starterPolicy);
  served = await serveLocalBoundary({ path, policyFile, port: 0, log });
  ({ url } = served);
});

afterAll(async () => {
  await served.stop();
  await kernel.close();
  await rm(folder, { recursive: true, force: true });
});

async function localClient(principal = 'agent-1'): Promise<KernelClient> {
  const { operator_key: apiKey } = await keysOf();
  return createKernelClient({ baseUrl: url, apiKey }).as({ tenant: 'acme', principal });
}

const keysOf = () =>
  openBoundaryKeys(path, {
    now: new Date(),
    generate: () => {
      throw new Error('the keys exist');
    },
  });

const calls: readonly Record<string, unknown>[] = [
  { action: 'tool.call', tool: 'files.read', effect_level: 'E1', args: { path: 'a.md' } },
  { action: 'tool.call', tool: 'files.delete', args: { path: 'a.md' } },
  { action: 'tool.call', tool: 'unknown.tool', args: {} },
  { action: 'tool.call', tool: 'pay.refund', args: { amount: 5 } },
  { action: 'tool.call', tool: 'files.read', args: ['no object'] },
  { action: 'model.call', resource: 'm' },
  { action: 'agent.spawn' },
  { action: 'data.egress', resource: 'https://example.org' },
  { action: 'tool.call', tool: 'files.read', effect_level: 'E1', mode: 'shadow' },
];

/** The members of a reply that depend on no time, no random id and no key. */
const shown = ({ verdict, allow, reason_code, trace, lamport_clock, policy_hash }: DecisionReply) => ({
  ...{ verdict, allow, reason_code, trace, lamport_clock, policy_hash },
});

verifies(
  'kn.serve',
  'the local boundary decides like the kernel: the same verdict, reason code and trace for each call',
  async () => {
    const local = await localClient();
    const remote = kernel.as('acme', 'agent-1');
    const verdicts = new Set<string>();
    for (const [nth, call] of calls.entries()) {
      const body = { session_id: `s${nth}`, ...call } as never; // some are malformed on purpose
      const [here, there] = await Promise.all([local.evaluate({ body }), remote.evaluate({ body })]);
      expect(shown(here.body)).toEqual(shown(there.body));
      verdicts.add(here.body.verdict);
    }
    expect(verdicts).toEqual(new Set(['ALLOW', 'DENY', 'ESCALATE']));
  },
);

verifies(
  'kn.serve',
  'the local boundary refuses what the kernel refuses: a missing credential or tenant, a foreign host or origin',
  async () => {
    const { operator_key: key } = await keysOf();
    const tenant = { 'x-gov-tenant-id': 'acme' };
    const refusals: readonly [(key: string) => Record<string, string>, string][] = [
      [() => tenant, '401 CREDENTIALS_REQUIRED'],
      [() => ({ authorization: 'Bearer other', ...tenant }), '401 CREDENTIALS_INVALID'],
      [(own) => ({ authorization: `Bearer ${own}` }), '403 TENANT_REQUIRED'],
      [(own) => ({ authorization: `Bearer ${own}`, ...tenant, host: 'boundary.example' }), '403 HOST_NOT_ALLOWED'],
      [
        (own) => ({ authorization: `Bearer ${own}`, ...tenant, origin: 'https://page.example' }),
        '403 ORIGIN_NOT_ALLOWED',
      ],
    ];
    for (const [headersFor, expected] of refusals) {
      const here = await posted(url, headersFor(key));
      const there = await posted(kernel.kernel.url, headersFor(adminKey));
      expect([here, there]).toEqual([expected, expected]);
    }
    const sealed = await (await localClient()).listReceipts({ query: { session_id: 'refused' } });
    expect(sealed.body.data).toEqual([]);
  },
);

/** Uses `http.request`, because Node's fetch sets Host itself. */
function posted(base: string, headers: Record<string, string>): Promise<string> {
  const { hostname, port } = new URL(base);
  const body = JSON.stringify({ action: 'agent.spawn', session_id: 'refused' });
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        hostname,
        port,
        method: 'POST',
        path: '/api/v1/evaluate',
        headers: { 'content-type': 'application/json', ...headers },
      },
      async (response) => {
        let text = '';
        for await (const data of response) text += String(data);
        const { error } = JSON.parse(text) as { error: { code: string } };
        resolve(`${response.statusCode} ${error.code}`);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

verifies(
  'kn.serve',
  'the local boundary withholds an escalated call until a person approves it, and allows it once, like the kernel',
  async () => {
    const there = { agent: kernel.as('acme', 'agent-1'), person: kernel.as('acme', 'person') };
    const here = { agent: await localClient(), person: await localClient('person') };
    const seen = await Promise.all(
      [here, there].map(async ({ agent, person }) => {
        const call = { action: 'tool.call', tool: 'pay.refund', args: { amount: 7 }, session_id: 'approved' };
        const decide = async (more: object = {}) =>
          (await agent.evaluate({ body: { ...call, ...more } as never })).body;
        const first = await decide();
        const id = first.approval?.approval_id;
        const { data } = (await person.listApprovals({ query: { state: 'pending', session_id: 'approved' } as never }))
          .body;
        const approve = async (by: KernelClient) =>
          by.transitionApproval({
            params: { approval_id: id, action: 'approve' },
            body: { expected_ceremony_hash: data[0]?.ceremony_hash },
          } as never);
        const own = await refusal(approve(agent));
        const state = (await approve(person)).body.state;
        const replies = [
          first,
          await decide(),
          await decide({ approval_grant: id }),
          await decide({ approval_grant: id, args: { amount: 8 } }),
        ];
        return { pending: data.map(({ args }) => args), own, state, replies: replies.map(shown) };
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({
      pending: [{ amount: 7 }],
      state: 'approved',
      replies: [{ verdict: 'ESCALATE' }, {}, {}, {}],
    });
  },
);

it('the local boundary answers a repeated Idempotency-Key with the sealed reply, in a later process too', async () => {
  const { operator_key: apiKey } = await keysOf();
  const ask = async (base: string) => {
    const answer = await fetch(`${base}/api/v1/evaluate`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-gov-tenant-id': 'acme',
        'idempotency-key': 'one',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ action: 'agent.spawn', session_id: 'once' }),
    });
    return { text: await answer.text(), replayed: answer.headers.get('idempotency-replayed') };
  };
  const first = await ask(url);
  const again = await serveLocalBoundary({ path, policyFile, port: 0, log });
  expect(await ask(again.url)).toEqual({ text: first.text, replayed: 'true' });
  expect(await ask(url)).toEqual({ text: first.text, replayed: 'true' });
  await again.stop();
});

it('other accounts cannot read the registry file and the keys of the local boundary', async () => {
  for (const file of [path, keysPathOf(path)]) expect((await stat(file)).mode & 0o777).toBe(0o600);
});
