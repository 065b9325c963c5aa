import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal } from './_seal.ts';

const day = 86_400_000;

let nowMs = Date.now();
let test: TestKernel;
beforeAll(async () => {
  const endpoint = 'http://watcher:planted-password@127.0.0.1:1/otlp?token=planted-token';
  test = await startTestKernel({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=planted-header' },
    overrides: { clock: () => new Date(nowMs) },
  });
});
afterAll(() => test.close());

/** Sets up a policy and a budget. */
async function furnish(tenant: string): Promise<void> {
  await test.activate(tenant, starterPolicy);
  const terms = { params: { budget_id: 'reads' }, body: { subject: 'tenant', window: '1h', tool_call_limit: 9 } };
  await test.as(tenant).putBudget(terms as never); // the schema fills in the defaults
}

const statusOf = async (tenant: string) => (await test.as(tenant).getBoundaryStatus()).body;

describeStory('the status of a boundary', () => {
  it('for an unused tenant on an unused kernel is closed and empty', async () => {
    const untouched = await startTestKernel();
    const { body } = await untouched
      .as('nobody')
      .getBoundaryStatus()
      .finally(() => untouched.close());
    const { policy, counts, fences, last_checkpoint, last_proven_fail_closed, ...status } = body;
    expect(status).toMatchObject({ tenant_id: 'nobody', status: 'closed', mode: 'enforce', more_fences: false });
    expect(policy).toEqual({
      state: 'missing',
      owner: null,
      policy_hash: null,
      policy_epoch: null,
      confirmed_at: null,
      fresh_until: null,
    });
    expect(counts).toMatchObject({ budgets: 0, pending_approvals: 0, open_dispatches: 0 });
    expect([fences, last_checkpoint, last_proven_fail_closed]).toEqual([[], null, null]);
    expect(status.gates.proven).toHaveLength(new Set(status.gates.proven).size);
    expect(status.gates.proven).toContain('fence');
  });

  it('reports policy, approvals, budgets and log of the tenant, and nothing of another', async () => {
    await furnish('acme');
    await seal(test, { tenant: 'acme' });
    const request = { action: 'tool.call', tool: 'pay.now', session_id: newSession(), effect_level: 'E1' } as never;
    await test.as('acme').evaluate({ body: request });
    const checkpoint = (await test.as('acme').createCheckpoint()).body;
    const status = await statusOf('acme');
    expect(status).toMatchObject({ status: 'ready', policy: { state: 'fresh', owner: 'acme', policy_epoch: 1 } });
    expect(status.counts).toMatchObject({ budgets: 1, pending_approvals: 1, open_dispatches: 0 });
    expect(status.last_checkpoint?.root_hash).toBe(checkpoint.root_hash);
    expect(status.log.size).toBeGreaterThanOrEqual(checkpoint.tree_size);
    expect((await statusOf('other')).counts).toMatchObject({ budgets: 0, pending_approvals: 0 });
  });

  it('shows only fences that concern the tenant, and is closed when a fence stops all its calls', async () => {
    await test.activate('a_b', starterPolicy);
    const shown = async () => (await statusOf('a_b')).fences.map(({ scope }) => scope);
    // These fences belong to another tenant, `axb`. In LIKE, `a_b` would match it, because `_` matches any character.
    await test.setFence('agent:axb/alice', 'freeze');
    await test.setFence('tool:axb/mail.send', 'freeze');
    await test.setFence('tenant:axb', 'freeze');
    expect(await shown()).toEqual([]);
    await test.setFence('agent:a_b/alice', 'freeze');
    await test.setFence('tool:*/disk.wipe', 'quarantine');
    await test.setFence('server:axb/notes', 'quarantine');
    await test.setFence('server:a_b/notes', 'quarantine');
    await test.setFence('server:shared', 'quarantine');
    const around = ['agent:a_b/alice', 'server:a_b/notes', 'server:shared', 'tool:*/disk.wipe'];
    expect((await shown()).sort()).toEqual(around);
    expect((await statusOf('a_b')).status).toBe('ready');
    await test.setFence('tenant:a_b', 'freeze');
    expect((await statusOf('a_b')).status).toBe('closed');
    await test.setFence('tenant:a_b', 'open');
    expect((await statusOf('a_b')).status).toBe('ready');
  });

  it('is closed when the policy is stale', async () => {
    await test.activate('late', starterPolicy);
    expect((await statusOf('late')).status).toBe('ready');
    nowMs += 2 * day;
    expect(await statusOf('late')).toMatchObject({ status: 'closed', policy: { state: 'stale' } });
    nowMs -= 2 * day;
  });
});

describe('the data for a console', () => {
  it('contains the counts and the latest receipts of the tenant', async () => {
    await furnish('console-1');
    const first = await seal(test, { tenant: 'console-1' });
    const { body } = await test.as('console-1').getConsoleBootstrap();
    expect(body).toMatchObject({
      workspace: { tenant_id: 'console-1', mode: 'enforce' },
      health: { kernel: 'ready', policy: 'fresh', conformance: 'not_run' },
      counts: { budgets: 1, mcp_tools: 0 },
    });
    expect(body.receipts[0]?.payload.receipt_id).toBe(first.receipt_id);
    expect(new Set(body.receipts.map(({ payload }) => payload.tenant_id))).toEqual(new Set(['console-1']));
    expect((await test.as('empty').getConsoleBootstrap()).body).toMatchObject({ receipts: [], counts: { budgets: 0 } });
  });

  it('has a surface for each group of routes, which is empty if the tenant has no data', async () => {
    await furnish('console-2');
    await seal(test, { tenant: 'console-2' });
    const statusesOf = async (tenant: string) =>
      Object.fromEntries(
        (await test.as(tenant).listConsoleSurfaces()).body.surfaces.map(({ id, status, routes }) => [
          id,
          routes.length > 0 ? status : 'without a route',
        ]),
      );
    expect(await statusesOf('console-2')).toMatchObject({ budgets: 'ready', receipts: 'ready', policies: 'ready' });
    expect(await statusesOf('empty')).toMatchObject({ budgets: 'empty', receipts: 'empty', mcp: 'empty' });
    const one = (await test.as('console-2').getConsoleSurface({ params: { surface_id: 'budgets' } })).body;
    expect(one).toMatchObject({ id: 'budgets', summary: { budgets: 1 } });
    expect(one.routes).toContain('GET /api/v1/budgets');
    const unknown = test.as('console-2').getConsoleSurface({ params: { surface_id: 'constructor' } });
    await expect(unknown).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the reported configuration', () => {
  it('names the collector without its credentials', async () => {
    const { body } = await test.as('acme').getOtelConfig();
    expect(body).toMatchObject({
      service_name: 'governance-kernel',
      authoritative: false,
      exporting: true,
      endpoint: 'http://127.0.0.1:1/otlp',
      header_names: ['authorization'],
    });
    expect(JSON.stringify(body)).not.toContain('planted');
  });

  it('states what is configured and what is not', async () => {
    const { capabilities } = (await test.as('acme').listBoundaryCapabilities()).body;
    const statement = Object.fromEntries(capabilities.map(({ capability_id: id, status }) => [id, status]));
    expect(statement).toMatchObject({
      decisions: 'active',
      'model-boundary': 'not_configured',
      'mcp-firewall': 'not_configured',
      'telemetry-coexistence': 'active',
    });
    expect(capabilities.filter(({ public_routes: routes }) => routes.length === 0)).toEqual([]);
    const { body } = await test.as('acme').getCoexistenceCapabilities();
    expect(body.export_surfaces).toContain('otel-genai');
    expect(body.supported_inputs).not.toContain('openai-compatible-proxy');
  });
});
