import { afterEach, describe, expect, it } from '@jest/globals';
import { gateOrder } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import type { AskRules } from '../src/decision/rule-evaluation.ts';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { Caller, ledgerOf, movableClock, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { ofNoTwin } from './_twins.ts';

const hourMs = 3_600_000;
let test: TestKernel | null = null;
afterEach(async () => {
  await test?.close();
  test = null;
});

const start = async (...options: Parameters<typeof startTestKernel>) => (test = await startTestKernel(...options));
const reads = () => ({ tool: 'files.read', effect_level: 'E1', session_id: newSession() });

/** Expects that the decision has one record and one receipt, which refer to each other and to the reason. */
async function expectSealed(kernel: TestKernel, reply: DecisionReply): Promise<void> {
  const sealed = await ledgerOf(kernel, reply.receipt.payload.session_id);
  expect(sealed).toHaveLength(1);
  const [{ payload, record } = { payload: null, record: null }] = sealed;
  expect(payload).toMatchObject({ receipt_id: reply.receipt_id, reason_code: reply.reason_code, kind: 'decision' });
  expect(record).toMatchObject({ record_hash: payload?.record_hash, receipt_id: reply.receipt_id });
}

describe('without a usable policy', () => {
  verifies('kn.fc.policy.missing', 'every call is denied with a receipt', async () => {
    const kernel = await start();
    const agent = new Caller(kernel);
    for (const call of [
      reads(),
      { action: 'model.call', session_id: newSession() },
      { action: 'data.egress', session_id: newSession() },
    ]) {
      const reply = await agent.decide(call);
      expect([answerOf(reply), reply.policy_hash]).toEqual(['DENY POLICY_MISSING', null]);
      await expectSealed(kernel, reply);
    }
    await kernel.activate('globex', starterPolicy);
    expect(answerOf(await agent.decide(reads()))).toBe('DENY POLICY_MISSING');
    expect(answerOf(await new Caller(kernel, 'globex').decide(reads()))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.fc.policy.stale', 'a policy older than its allowed age denies until it is confirmed', async () => {
    const time = movableClock('2026-11-21T10:00:00.000Z');
    const kernel = await start({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '1h' } });
    await kernel.activate('*', starterPolicy);
    const agent = new Caller(kernel);
    time.advance(hourMs);
    expect(answerOf(await agent.decide(reads()))).toBe('ALLOW ALLOWED');
    time.advance(1);
    const reply = await agent.decide(reads());
    expect(answerOf(reply)).toBe('DENY POLICY_STALE');
    await expectSealed(kernel, reply);
    await kernel.activate('*', starterPolicy);
    expect(answerOf(await agent.decide(reads()))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.fc.policy.missing', 'a damaged bundle denies with a receipt', async () => {
    const kernel = await start({ contradicted: 'its policies are written by hand' });
    await kernel.activate('*', starterPolicy);
    const damage = `UPDATE policy_bundles SET bundle = `;
    for (const bundle of [`'{'`, `replace(bundle, 'E1', 'E4')`, `'{"rules":7}'`]) {
      await asAdministrator(kernel, `${damage}${bundle} WHERE ${ofNoTwin}`);
      await kernel.restart();
      const reply = await new Caller(kernel).decide(reads());
      expect(answerOf(reply)).toBe('DENY POLICY_STALE');
      await expectSealed(kernel, reply);
    }
  });
});

describe('an evaluator', () => {
  const answers: [string, AskRules][] = [
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken');
      },
    ],
    ['never answers', () => new Promise(() => undefined)],
    ['answers nothing', () => undefined],
    ['answers true', () => true],
    ['answers a bare object', () => ({})],
    ['answers a verdict of another language', () => ({ kind: 'permit', rules: ['reads'], reason: '' })],
    ['allows without a rule', () => ({ kind: 'allow', rules: [], reason: '' })],
    ['allows by a rule that does not exist', () => ({ kind: 'allow', rules: ['made-up'], reason: '' })],
    ['allows by a rule that denies', () => ({ kind: 'allow', rules: ['no-deletion'], reason: '' })],
    ['allows by a rule about other calls', async () => ({ kind: 'allow', rules: ['models'], reason: '' })],
    ['answers a thenable', () => ({ then: () => undefined })],
  ];
  verifies(
    'kn.fc.pdp',
    `that throws, hangs or returns an invalid answer denies with a record and a receipt (${answers.length} ways)`,
    async () => {
      let ask: AskRules = () => undefined;
      const kernel = await start({ overrides: { askRules: (...requests) => ask(...requests) } });
      await kernel.activate('*', starterPolicy);
      for (const [name, answer] of answers) {
        ask = answer;
        const reply = await new Caller(kernel).decide(reads());
        expect([name, answerOf(reply)]).toEqual([name, 'DENY PDP_UNAVAILABLE']);
        await expectSealed(kernel, reply);
      }
    },
  );

  verifies('kn.fc.pdp', 'that hangs for one caller does not delay other callers', async () => {
    let hung = false;
    const kernel = await start({
      overrides: {
        askRules: (_policy, { principal }) => {
          hung ||= principal === 'slow';
          return principal === 'slow' ? new Promise(() => undefined) : { kind: 'allow', rules: ['reads'], reason: '' };
        },
      },
    });
    await kernel.activate('*', starterPolicy);
    const order: string[] = [];
    const slow = new Caller(kernel, 'acme', 'slow').decide(reads()).then((reply) => order.push(answerOf(reply)));
    while (!hung) await new Promise(setImmediate);
    order.push(answerOf(await new Caller(kernel, 'acme', 'quick').decide(reads())));
    await slow;
    expect(order).toEqual(['ALLOW ALLOWED', 'DENY PDP_UNAVAILABLE']);
  });
});

describe('the kernel does not start', () => {
  it.each(gateOrder.map((gate) => [gate]))('without the gate %s, and names it', async (gate) => {
    const env = unreachable();
    const wiredGates = gateOrder.filter((wired) => wired !== gate);
    await expect(startKernel(kernelConfigFrom(env), { wiredGates })).rejects.toThrow(
      new RegExp(`not wired.*: ${gate}$`),
    );
  });

  it.each([
    ['an unknown variable', { GOV_FAILCLOSED: '1' }, 'GOV_FAILCLOSED'],
    ['a malformed number', { GOV_CHECKPOINT_RECEIPTS: 'many' }, 'GOV_CHECKPOINT_RECEIPTS'],
    ['a missing key', { GOV_SIGNING_KEY: undefined }, 'GOV_SIGNING_KEY'],
    ['a missing policy key', { GOV_POLICY_KEY: undefined }, 'GOV_POLICY_KEY'],
    ['a missing key of the log', { GOV_LOG_KEY: undefined }, 'GOV_LOG_KEY'],
    ['a deadline below the timeout of a model', { GOV_UPSTREAM_TIMEOUT: '5m' }, 'GOV_DISPATCH_DEADLINE'],
    ['a deadline below the timeout of a tool', { GOV_MCP_TIMEOUT: '5m' }, 'GOV_DISPATCH_DEADLINE'],
    ['a deadline that leaves no time to judge an answer', { GOV_MCP_TIMEOUT: '150s' }, 'GOV_DISPATCH_DEADLINE'],
  ])('with %s, and names the variable', (_when, change, name) => {
    expect(() => kernelConfigFrom({ ...unreachable(), ...change })).toThrow(name);
  });
});

it('the configuration accepts GOV_BOUNDARY_REGISTRY_PATH and rejects a similar unknown name', () => {
  const [existing, unknown] = ['GOV_BOUNDARY_REGISTRY_PATH', 'GOV_BOUNDARY_REGISTRY_PATHS'];
  expect(kernelConfigFrom({ ...unreachable(), [existing]: '/var/lib/boundary.json' }).port).toBeGreaterThan(0);
  expect(() => kernelConfigFrom({ ...unreachable(), [unknown]: '/var/lib/boundary.json' })).toThrow(unknown);
});

it('production runs MCP servers under the account of the kernel only with GOV_MCP_STDIO', () => {
  const strong = (name: string) => `${name}-${'9f2c7a1e'.repeat(5)}`;
  const secrets = ['ADMIN_API_KEY', 'SERVICE_API_KEY', 'SIGNING_KEY', 'POLICY_KEY', 'LOG_KEY', 'TENANT_SALT_SECRET'];
  const production = {
    ...unreachable(),
    ...Object.fromEntries(secrets.map((name, nth) => [`GOV_${name}`, strong(`k${nth}`)])),
    NODE_ENV: 'production',
    GOV_LOG_ORIGIN: 'example.org/log',
    GOV_MCP_STDIO_USER: `${process.getuid?.()}:${process.getgid?.()}`,
    GOV_MCP_SERVERS: JSON.stringify({ servers: [{ server_id: 'files', transport: 'stdio', command: 'node' }] }),
  };
  expect(() => kernelConfigFrom(production)).toThrow('GOV_MCP_SERVERS names files over stdio');
  expect(kernelConfigFrom({ ...production, GOV_MCP_STDIO: '1' }).mcpServers).toHaveLength(1);
  expect(kernelConfigFrom({ ...production, NODE_ENV: 'development' }).mcpServers).toHaveLength(1);
});

function unreachable(): Record<string, string> {
  // The database is unreachable, because the start must fail before any query.
  return {
    NODE_ENV: 'test',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    GOV_ADMIN_API_KEY: 'test-admin-key-0123456789abcdef0123456789',
    GOV_SERVICE_API_KEY: 'test-service-key-0123456789abcdef01234567',
    GOV_SIGNING_KEY: 'a key that is never read, long enough',
    GOV_POLICY_KEY: 'another key that is never read',
    GOV_LOG_KEY: 'a third key that is never read, too',
    GOV_TENANT_SALT_SECRET: 'test-salt-secret-0123456789abcdef012345678',
  };
}
