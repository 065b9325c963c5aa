import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { gateOrder, type GateName } from '@countersign/contracts';
import { preflightSandbox } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { evaluateRules, failClosedCodes, type Facts } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import type { Judgeable } from '../src/decision/conclude-call.ts';
import { newEvidenceKey } from './_evidence-key.ts';
import { ledgerOf, movableClock } from './_caller.ts';
import { activateRules, causes, type At } from './_causes.ts';
import { attempt, connectMcp, doors, type Door, type Site } from './_doors.ts';
import type { TestKernel } from './_kernel.ts';
import { allRoutes, rawCall } from './_raw.ts';
import { newRoot } from './_trust.ts';
import { ungovernedCalls } from './_ungoverned-calls.ts';
import { startUpstreams } from './_upstreams.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const approver = createSigner(generateSigningKey().privateKeyPem);
const prices = {
  scripted: { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 },
};

/** The gate that a test makes unable to judge, and the action of the calls that it cannot judge. `null` for no gate. */
let spoiled: { gate: GateName; action: string } | null = null;
let site: Site;

const carol = { tenant_id: 'acme', principal_id: 'carol', key_id: 'carol-key' };
const env = {
  GOV_PUBLIC_URL: 'https://kernel.example',
  GOV_MODEL_PRICES: JSON.stringify(prices),
  GOV_APPROVER_KEYS: JSON.stringify([{ ...carol, public_key: encodeBase64Url(approver.publicKey) }]),
};

beforeAll(async () => {
  const upstreams = await startUpstreams(env, [], {
    contradicted: 'its policies are written by hand',
    clock: time.clock,
    spoil: (judged) => (spoiled?.action === judged.intent.action ? spoilers[spoiled.gate](judged) : judged),
    askRules: (policy, intent, environment) => {
      if (spoiled?.gate === 'rules' && spoiled.action === intent.action) throw new Error('spoiled by a test');
      return evaluateRules(policy, intent, environment);
    },
  });
  site = { ...upstreams, mcp: await connectMcp(upstreams.test.kernel.url) };
  for (const door of doors) await activateRules(at(door), 'allow');
});
afterAll(async () => {
  await site.mcp.close();
  await site.close();
});

const at = (door: Door): At => ({ site, door, advance: time.advance });

const lost = { state: 'unavailable', detail: 'spoiled by a test' } as const;
const without =
  (fact: keyof Facts) =>
  ({ intent, facts }: Judgeable): Judgeable => ({ intent, facts: { ...facts, [fact]: lost } });

/**
 * For each gate, a function that changes a call so that the gate cannot judge it. The changed call has lost facts,
 * malformed arguments or a broken schema.
 */
const spoilers: Record<GateName, (judged: Judgeable) => Judgeable> = {
  request: ({ intent, facts }) => ({ facts, intent: { ...intent, args: null as never } }), // a value that the type excludes
  fence: without('fence'),
  policy: without('policy'),
  identity: without('identity'),
  relationship: without('relationship'),
  registry: without('registry'),
  arguments: ({ intent, facts }) => ({ intent, facts: { ...facts, registry: pinnedTo({ type: 'no such type' }) } }),
  scopes: without('scopes'),
  sandbox: without('sandbox'),
  egress: without('egress'),
  provenance: without('provenance'),
  // The call stays unchanged. The evaluator of the rules fails instead: see askRules above.
  rules: (judged) => judged,
  budget: without('budgets'),
  approval: without('approval'),
};

function pinnedTo(input_schema: Record<string, unknown>): Facts['registry'] {
  const tool = { pinned_hash: 'same', current_hash: 'same', input_schema };
  return { state: 'known', value: { server_id: 'spoiled', state: 'approved', tool } };
}

type Seen = Awaited<ReturnType<typeof attempt>>;

/**
 * The ledger entry of an attempt: its receipt and record, its gates with their outcomes, and the number of
 * settlements.
 */
async function sealedOf({ session, receiptId }: Seen) {
  const entries = await ledgerOf(site.test, session);
  const entry = entries.find(({ payload }) => payload.receipt_id === receiptId);
  if (entry === undefined || entry.record === null) return { receipt: 'none', order: [], trace: [], settled: 0 };
  const { payload, record } = entry;
  const paired = payload.record_hash === record.record_hash && record.receipt_id === receiptId;
  const kind = payload.shadow ? 'shadow' : payload.kind;
  const text = `${payload.verdict} ${payload.reason_code}`;
  return {
    receipt: paired ? receiptOf(payload.action, text, kind) : 'of another record',
    order: record.gates.map(({ gate }) => gate),
    trace: record.gates,
    settled: entries.filter((later) => later.payload.decision_receipt_id === receiptId).length,
  };
}

const receiptOf = (action: string, text: string, kind = 'decision') => `${kind} of ${action}: ${text}`;

async function expectStopped(door: Door, seen: Seen, stop: { gate: GateName; text: string }): Promise<void> {
  const { receipt, order, trace, settled } = await sealedOf(seen);
  const reached = trace.filter(({ outcome }) => outcome !== 'not_reached');
  const last = reached.at(-1);
  const [verdict = '', code = ''] = stop.text.split(' ');
  expect({
    door: door.name,
    said: `${seen.verdict} ${seen.code}`,
    stoppedBy: `${last?.gate}: ${last?.outcome} ${last?.reason_code}`,
    stoppedEarlier: reached.slice(0, -1).filter(({ outcome }) => outcome === 'deny'),
    notReached: trace.length - reached.length,
    executed: seen.executed,
    settled,
    receipt,
    order,
  }).toEqual({
    door: door.name,
    said: stop.text,
    stoppedBy: `${stop.gate}: ${verdict.toLowerCase()} ${code}`,
    stoppedEarlier: [],
    notReached: gateOrder.length - gateOrder.indexOf(stop.gate) - 1,
    executed: false,
    settled: 0,
    receipt: receiptOf(door.action, stop.text),
    order: gateOrder,
  });
}

/**
 * Gates that have no facts in these tests. No rule reads relations, no approval is requested, and nothing limits
 * scopes, sandboxes or destinations.
 */
const idle: GateName[] = ['relationship', 'scopes', 'sandbox', 'egress', 'approval'];
const idleAt = ({ route, registered, dispatched }: Door): GateName[] => [
  ...idle.filter((gate) => gate !== 'sandbox' || route !== preflightSandbox),
  ...(registered ? [] : (['registry', 'arguments'] as const)),
  ...(dispatched ? [] : (['provenance'] as const)),
];

async function expectOpen(door: Door): Promise<void> {
  const seen = await attempt(site, door);
  const { receipt, order, trace } = await sealedOf(seen);
  const passed = trace.filter(({ outcome }) => outcome === 'pass').map(({ gate }) => gate);
  expect({ door: door.name, executed: seen.executed, receipt, order, passed }).toEqual({
    door: door.name,
    executed: true,
    receipt: receiptOf(door.action, 'ALLOW ALLOWED'),
    order: gateOrder,
    passed: gateOrder.filter((gate) => !idleAt(door).includes(gate)),
  });
}

describe('governed routes', () => {
  const governed = allRoutes.filter((route) => route.governed);

  verifies('kn.gates', 'all have a door in this test and run all gates in order', async () => {
    const tested = doors.map(({ route }) => route.operation);
    expect(governed.map(({ operation }) => operation).filter((operation) => !tested.includes(operation))).toEqual([]);
    expect(doors.filter(({ route }) => !route.governed)).toEqual([]);
    for (const door of doors) await expectOpen(door);
  });

  verifies('kn.gates', 'are the only routes that decide calls', async () => {
    // The calls need their own kernel: they enrol agents and set budgets, which would affect the other tests.
    const root = newRoot();
    const issuer = { GOV_OAUTH_ISSUER: 'https://issuer.example' };
    const proofs = { GOV_TRUST_ROOT: root.publicKey, GOV_EVIDENCE_KEY: newEvidenceKey() };
    const started = { ...env, ...issuer, ...proofs, GOV_MCP_PRIVATE: '1' };
    const { test, notes, close } = await startUpstreams(started, [], { clock: time.clock });
    const calls = await ungovernedCalls(test, { approver, root, notesUrl: notes.url });
    expect(calls.length).toBeGreaterThan(20);
    const before = await decisionsSealed(test);
    for (const call of calls) {
      const { status } = await rawCall(test.kernel.url, call);
      const answered = [call.route.operation, status < 300, await decisionsSealed(test)];
      expect(answered).toEqual([call.route.operation, true, before]);
    }
    await close();
  });
});

/** The number of sealed decisions. Those of conformance runs do not count, because runs call governed doors. */
async function decisionsSealed({ pool }: TestKernel): Promise<number> {
  const { rows } = await pool.query(
    `SELECT 1 FROM ledger WHERE kind = 'decision' AND tenant_id NOT LIKE 'conformance:%'`,
  );
  return rows.length;
}

describe('a gate that cannot judge', () => {
  for (const gate of gateOrder) {
    verifies('kn.gates', `denies on every governed route: ${gate}`, async () => {
      for (const door of doors) {
        spoiled = { gate, action: door.action };
        const seen = await attempt(site, door).finally(() => (spoiled = null));
        await expectStopped(door, seen, { gate, text: `DENY ${failClosedCodes[gate]}` });
      }
    });
  }
});

describe('a gate with a reason to refuse', () => {
  afterAll(async () => {
    for (const door of doors) await expectOpen(door);
  });

  verifies('kn.gates', 'is tested with at least one real cause', () => {
    const tested = new Set(causes.map(({ gate }) => gate));
    expect(gateOrder.filter((gate) => !tested.has(gate))).toEqual([]);
  });

  for (const [nth, { gate, name, text, meetsAt = () => true, arises, attempt: input, ends }] of causes.entries()) {
    verifies('kn.gates', `refuses on every governed route that the cause affects: ${name}`, async () => {
      const reached = doors.filter(meetsAt);
      expect(reached.length).toBeGreaterThan(0);
      for (const door of reached) {
        const call = (await input?.(at(door))) ?? {};
        const meeting = { ...call, meanwhile: async () => await arises?.(at(door)) };
        const seen = await attempt(site, door, meeting).finally(() => ends?.(at(door)));
        await expectStopped(door, seen, { gate, text });
      }
      // After each cause, another one of the doors is tested to be open again. After the last cause, all doors are
      // tested.
      const door = reached[nth % reached.length];
      if (door !== undefined) await expectOpen(door);
    });
  }
});
