import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import type { HaltAt } from './_halt.ts';
import { PolicyDesk, type Reported } from './_policy-desk.ts';
import { startReplicas, type Replicas } from './_replicas.ts';
import { codeOf, detailsOf, tagOf, type Report } from './_tab.ts';

const policy = `
format: countersign/policy.v1
name: standing
version: '1'
rules:
  - { id: letters, effect: escalate, match: { tool: [mail.send] } }
  - { id: all, effect: allow }
`;
const minuteMs = 60_000;
let kernelsAheadMs = 0;
let site: Replicas;
let desk: PolicyDesk;
let desks = 0;

beforeAll(async () => {
  // The file has its own replicas, because it kills their control plane and sets the clock of their kernels.
  site = await startReplicas(policy, { clock: () => new Date(Date.now() + kernelsAheadMs) });
});
afterAll(() => site?.stop());
beforeEach(async () => {
  desk = await PolicyDesk.open(site.gateway.url, `owner-${(desks += 1)}@example.org`);
  for (const tool of ['crm.read', 'mail.send']) await desk.call({ tool, effect_level: 'E2' });
});

const workspace = () => desk.owner.workspaceId;
const base = async () => tagOf(await desk.send('active'));

/** Writes a draft that differs from the bundle in force in its name and in these rules. */
async function drafted(name: string, more: object = {}): Promise<string> {
  const { policy_hash } = await desk.draft({ ...(await desk.inForce()).bundle, name, ...more });
  return policy_hash ?? '';
}

async function activated(name: string): Promise<void> {
  const hash = await drafted(name);
  expect((await desk.activate(hash, await desk.report(hash))).status).toBe(200);
}

/** The verdict, policy and epoch of each kernel's next decision. */
async function decidedBy() {
  const decisions = site.agents(workspace()).map(
    (agent) => agent.evaluate({ body: { action: 'tool.call', tool: 'crm.read', session_id: 'replicas' } as never }), // unbranded names
  );
  return (await Promise.all(decisions)).map(({ body }) => [body.verdict, body.policy_hash, body.policy_epoch]);
}

/** All records of a policy's activation. Each must exist once. */
async function tracesOf(hash: string) {
  const [agent] = site.agents(workspace());
  const sealed = async (query: object) => (await agent.listReceipts({ query })).body.data;
  const payloads = (await sealed({ action: 'policy.change', limit: 200 })).map(({ payload }) => payload);
  const count = async (statement: string) => Number((await site.inControlPlane(statement, [hash]))[0]?.['count']);
  return {
    decisions: payloads.filter(
      ({ kind, verdict, resource }) =>
        kind === 'decision' && verdict === 'ALLOW' && resource?.startsWith(`policy/${hash}?`) === true,
    ).length,
    activations: payloads.filter(({ kind, policy_hash }) => kind === 'policy' && policy_hash === hash).length,
    audited: await count(`SELECT count(*) FROM audit_entries WHERE action = 'policy.activated' AND subject = $1`),
    active: await count(`SELECT count(*) FROM policy_activations WHERE state = 'active' AND policy_hash = $1`),
  };
}
const once = { decisions: 1, activations: 1, audited: 1, active: 1 };

const ofOurs = { schema: 'control_plane', table: 'policy_activations' };
const notedAsDecided: HaltAt = { ...ofOurs, when: `NEW.state = 'decided'` };
const notedAsActive: HaltAt = { ...ofOurs, when: `NEW.state = 'active'` };
const steps: Record<string, HaltAt> = {
  'decided, and not yet noted': notedAsDecided,
  'noted, and being signed': { schema: 'kernel', table: 'activation_signatures', when: 'true' },
  'signed, and being put into force': { schema: 'kernel', table: 'policy_heads', when: `NEW.tenant_id <> '*'` },
  'in force, and not yet noted': notedAsActive,
};

/** Kills the control plane while the statement of this step is halted, and starts the control plane again. */
async function killedAt(at: HaltAt, asks: () => Promise<Report>): Promise<void> {
  const halt = await site.halt(at);
  const pending = asks().catch(() => null);
  await halt.reached();
  await site.controlPlane.kill();
  await halt.release();
  expect((await pending)?.status).not.toBe(200);
  await site.controlPlane.start();
}

describe('an activation whose process is killed', () => {
  verifies(
    'cp.policy.activate',
    'is completed exactly once when the request is repeated, and applies to the next decision of every kernel',
    async () => {
      for (const [nth, [step, at]] of Object.entries(steps).entries()) {
        const hash = await drafted(step);
        const reported = await desk.report(hash);
        const tag = await base();
        await killedAt(at, () => desk.activate(hash, reported, { base: tag }));
        const again = await desk.activate(hash, reported, { base: tag });
        expect([step, again.status, again.body['epoch']]).toEqual([step, 200, nth + 1]);
        const decided = ['ALLOW', hash, nth + 1];
        expect([step, await decidedBy()]).toEqual([step, [decided, decided]]);
        expect([step, await tracesOf(hash)]).toEqual([step, once]);
        expect((await desk.activate(hash, reported, { base: tag })).body).toEqual(again.body);
        expect([step, await tracesOf(hash)]).toEqual([step, once]);
      }
    },
  );

  verifies(
    'cp.policy.activate',
    'is recorded and kept fresh without a repeated request, if it is in force',
    async () => {
      const hash = await drafted('nobody asks');
      const reported = await desk.report(hash);
      await killedAt(notedAsActive, () => desk.activate(hash, reported));
      expect(await tracesOf(hash)).toEqual({ ...once, audited: 0, active: 0 });
      await site.inControlPlane(
        `UPDATE policy_activations SET created_at = created_at - interval '1 minute' WHERE policy_hash = $1`,
        [hash],
      );
      const another = await site.startAnother();
      await untilAnswered(async () => (await tracesOf(hash)).active === 1);
      expect(await tracesOf(hash)).toEqual(once);
      await another.stop();
    },
  );
});

describe('two activations from one base', () => {
  const together = async (at: HaltAt, [first, second]: [() => Promise<Report>, () => Promise<Report>]) => {
    const halt = await site.halt(at);
    const pending = [first()];
    await halt.reached();
    pending.push(second());
    await halt.reached(2);
    await halt.release();
    return (await Promise.all(pending)).sort((a, b) => a.status - b.status);
  };

  verifies('cp.policy.activate', 'have exactly one winner when they activate one policy with two reports', async () => {
    const hash = await drafted('two reports');
    const [one, neighbour, tag] = [await desk.report(hash), await desk.report(hash), await base()];
    expect(one.id).not.toBe(neighbour.id);
    const asks = (reported: Reported) => () => desk.activate(hash, reported, { base: tag });
    const [won, lost] = await together(notedAsDecided, [asks(one), asks(neighbour)]);
    expect([won?.status, lost && codeOf(lost)]).toEqual([200, [412, 'PRECONDITION_FAILED']]);
    expect(await tracesOf(hash)).toMatchObject({ activations: 1, audited: 1, active: 1 });
  });

  verifies(
    'cp.policy.activate',
    'have exactly one winner when they activate two policies, and only that policy is in force',
    async () => {
      await activated('before');
      const before = await desk.inForce();
      const tag = await base();
      const hashes = [await drafted('one')];
      const one = await desk.report(hashes[0] ?? '');
      const ofOther = async (): Promise<Report> => {
        hashes.push(await drafted('other'));
        return desk.activate(hashes[1] ?? '', await desk.report(hashes[1] ?? ''), { base: tag });
      };
      const answers = await together(notedAsDecided, [
        () => desk.activate(hashes[0] ?? '', one, { base: tag }),
        ofOther,
      ]);
      const [won, lost] = answers;
      expect([won?.status, lost && codeOf(lost)]).toEqual([200, [412, 'PRECONDITION_FAILED']]);
      const inForce = await desk.inForce();
      expect([inForce.policy_hash, inForce.epoch]).toEqual([won?.body['policy_hash'], before.epoch + 1]);
      const loser = hashes.find((hash) => hash !== inForce.policy_hash) ?? '';
      expect(await tracesOf(loser)).toMatchObject({ activations: 0, audited: 0, active: 0 });
    },
  );
});

describe('the activation gate', () => {
  const lacks = async (hash: string, reported: Reported) => {
    const answer = await desk.activate(hash, reported);
    return [...codeOf(answer), detailsOf(answer)?.['missing']];
  };
  const missing = (...names: string[]) => [409, 'GATE_NOT_PASSED', names];

  verifies(
    'cp.policy.gate',
    'rejects a failing test, an unnamed widening, a report of an hour ago and an old sign-in',
    async () => {
      const before = await desk.inForce();
      const rules = before.bundle.rules.filter(({ id }) => id !== 'letters');
      const hash = await drafted('wider', { rules });
      const reported = await desk.report(hash);
      expect(reported.report.widened.length).toBeGreaterThan(0);
      const unread = { ...reported, report: { ...reported.report, widened: [] } };
      expect(await lacks(hash, unread)).toEqual(missing('acknowledge_widened'));

      const back = (interval: string) =>
        site.inControlPlane(
          `UPDATE what_if_jobs SET finished_at = finished_at + interval '${interval}' WHERE id = $1`,
          [reported.id],
        );
      await back('-61 minutes');
      expect(await lacks(hash, reported)).toEqual(missing('recent_report'));
      await back('61 minutes');

      const proven = (interval: string) =>
        site.inControlPlane(`UPDATE sessions SET proven_at = proven_at + interval '${interval}'`);
      await proven('-10 minutes');
      await untilAnswered(async () => codeOf(await desk.activate(hash, unread))[1] === 'REAUTHENTICATION_REQUIRED');
      expect(codeOf(await desk.activate(hash, reported))).toEqual([401, 'REAUTHENTICATION_REQUIRED']);
      await proven('10 minutes');
      await untilAnswered(async () => (await desk.activate(hash, unread)).status === 409);

      const test = { name: 'reads', intent: { action: 'tool.call', tool: 'crm.read' }, expect: { verdict: 'DENY' } };
      expect(await drafted('wider', { rules, tests: [test] })).toBe('');
      expect(await lacks(hash, reported)).toEqual(missing('compiled_draft'));
      expect(await desk.inForce()).toEqual(before);
    },
  );

  verifies(
    'cp.policy.gate',
    'rejects an unverifiable receipt, but accepts one of a revoked key that a checkpoint contained before',
    async () => {
      const before = await desk.inForce();
      const hash = await drafted('verified');
      const unverifiable = async () => {
        const reported = await desk.report(hash);
        const { count, first } = reported.report.unverifiable;
        return { count, codes: new Set(first.map(({ code }) => code)), lacks: () => lacks(hash, reported) };
      };
      const changed = (from: string, to: string) =>
        site.inKernels(`SET session_replication_role = replica;
          UPDATE ledger SET payload = replace(payload, '"tool":"${from}"', '"tool":"${to}"')
            WHERE tenant_id = '${workspace()}' AND payload LIKE '%"tool":"mail.send"%'`);
      await changed('mail.send', 'mail.sent');
      expect(await (await unverifiable()).lacks()).toEqual(missing('verified_receipts'));
      await site.inKernels(`SET session_replication_role = replica;
        UPDATE ledger SET payload = replace(payload, '"tool":"mail.sent"', '"tool":"mail.send"')
          WHERE tenant_id = '${workspace()}'`);
      expect((await unverifiable()).count).toBe(0);

      const [{ context }] = site.kernels;
      const seen = Date.parse((await context.checkpoints.create()).created_at);
      const revoke = (at: Date | null) =>
        site.inKernels(`UPDATE trust_keys SET revoked_at = $1 WHERE purpose = 'receipts'`, [at]);
      await revoke(new Date(seen - 60 * minuteMs));
      const thief = await unverifiable();
      expect([thief.count > 0, thief.codes, await thief.lacks()]).toEqual([
        true,
        new Set(['KEY_REVOKED']),
        missing('verified_receipts'),
      ]);
      await revoke(new Date(seen + 1));
      expect((await unverifiable()).count).toBe(0);
      await revoke(null);
      expect(await desk.inForce()).toEqual(before);
    },
  );
});

describe('the end of a control plane', () => {
  verifies('cp.policy.lockout', 'results in POLICY_STALE at every kernel, and never in an open boundary', async () => {
    await activated('confirmed');
    const { epoch, policy_hash } = await desk.inForce();
    const decided = ['ALLOW', policy_hash, epoch];
    expect(await decidedBy()).toEqual([decided, decided]);
    await site.controlPlane.kill();
    kernelsAheadMs = 24 * 60 * minuteMs + minuteMs;
    const statement = site.agents(workspace()).map(async (agent) => {
      const call = { action: 'tool.call', tool: 'crm.read', session_id: 'stale' } as never; // unbranded names
      const { verdict, reason_code } = (await agent.evaluate({ body: call })).body;
      return `${verdict} ${reason_code}`;
    });
    expect(await Promise.all(statement)).toEqual(['DENY POLICY_STALE', 'DENY POLICY_STALE']);
    kernelsAheadMs = 0;
    await site.controlPlane.start();
  });
});
