import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BlastRadius, Plan } from '@countersign/contracts/control-plane';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { useOperated } from './_operated.ts';
import type { Person } from './_signed-in.ts';
import { type KernelClient } from './_system.ts';
import { codeOf, detailsOf, type Report } from './_tab.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: plans
version: '1'
rules:
${rules}
  - { id: letters, effect: escalate, match: { tool: [mail.send] } }
  - { id: all, effect: allow }
tools:
  crm.read: { effect_level: E1 }
  crm.list: { effect_level: E1 }
  mail.send: { effect_level: E3 }
`;
const open = policy('');
const on = useOperated(open);
const { newPerson, newSession } = on;
let ada: Person;

type Step = { kind: string; target: string } & Record<string, unknown>;

beforeEach(async () => {
  ada = await newPerson();
});

const post = (path: string, body: object, who: Person = ada): Promise<Report> => on.operate(who, path, body);
const freeze = (target: string): Step => ({ kind: 'freeze', target, reason: 'the vault leaks' });

async function radiusOf(steps: Step[]): Promise<BlastRadius> {
  const { status, body } = await post('blast-radius', { steps });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as BlastRadius;
}

async function drafted(steps: Step[], more: object = {}): Promise<Plan> {
  const { status, body } = await post('plans', { steps, ...more });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body as Plan;
}

const ask = ({ plan_id, plan_hash }: Plan, what: 'approve' | 'commit', who: Person = ada) =>
  post(`plans/${plan_id}/${what}`, { plan_hash }, who);

async function approved(steps: Step[], more: object = {}): Promise<Plan> {
  const plan = await drafted(steps, more);
  expect((await ask(plan, 'approve')).body).toMatchObject({ state: 'approved' });
  return plan;
}

const agent = (principal: string): KernelClient => on.site.agents(ada.workspaceId, principal)[0];
const statementOf = async (principal: string, tool: string, session_id = newSession()) =>
  (await on.decisionBy(agent(principal), { tool, session_id })).reason_code;
const commandsOf = ({ plan_id }: Pick<Plan, 'plan_id'>) =>
  on.site.inControlPlane('SELECT scope, state FROM stop_commands WHERE plan_id = $1 ORDER BY scope', [plan_id]);
const current = async () =>
  (await on.operations(ada))['fences'] as {
    target: string;
    open_dispatches: { decision_id: string }[];
  }[];

describe('a plan', () => {
  verifies(
    'cp.plan',
    'lists in its dry run exactly what its commit then affects, gets the same result from a second dry run, and commits once',
    async () => {
      for (const [who, tool] of [
        ['alice', 'crm.read'],
        ['bob', 'crm.list'],
        ['carol', 'crm.read'],
      ] as const)
        expect(await statementOf(who, tool)).toBe('ALLOWED');
      const run = `run_${'0'.repeat(26)}`;
      expect(await statementOf('carol', 'mail.send', run)).toBe('APPROVAL_REQUIRED');
      let release = (): void => undefined;
      on.site.notes.hold(() => new Promise<void>((resolve) => (release = resolve)));
      const call = { tool: 'notes.read_note', args: { id: 'under-way' }, session_id: newSession() } as never; // unbranded names
      const underWay = agent('dave').executeMcp({ body: call });
      await untilAnswered(() => Promise.resolve(on.site.notes.calls.some(({ args }) => args['id'] === 'under-way')));

      const steps = [freeze('agent:carol'), { ...freeze('connector:notes'), kind: 'quarantine' }];
      const [first, second] = [await radiusOf(steps), await radiusOf(steps)];
      expect(second).toEqual(first);
      const { data: questions } = (await agent('carol').listApprovals({ query: { state: 'pending' } })).body;
      expect(first.affected).toMatchObject({
        agents: ['carol', 'dave'],
        runs: [run],
        tools: ['crm.read', 'mail.send', 'notes.read_note'],
        connectors: ['notes'],
        approvals: questions.map(({ approval_id }) => approval_id),
        relations: [],
      });
      expect(first).toMatchObject({ is_whole: true, unverifiable: 0, denials: { count: 3 }, reversibility: 'partial' });
      expect(first.affected.dispatches).toHaveLength(1);
      expect(first.tree_size).toBeGreaterThan(4);
      expect((await radiusOf([freeze('agent:nobody')])).affected.agents).toEqual([]);

      const plan = await approved(steps);
      expect(plan.dry_run.affected).toEqual(first.affected);
      const committed = await ask(plan, 'commit');
      expect(committed.body).toMatchObject({ state: 'committed', decision_id: expect.stringMatching(/^dec_/) });
      const again = await ask(plan, 'commit');
      expect([again.status, again.body]).toEqual([200, committed.body]);
      expect(await commandsOf(plan)).toEqual([
        { scope: `agent:${ada.workspaceId}/carol`, state: 'effective' },
        { scope: `server:${ada.workspaceId}/notes`, state: 'effective' },
      ]);

      expect([await statementOf('alice', 'crm.read'), await statementOf('bob', 'crm.list')]).toEqual([
        'ALLOWED',
        'ALLOWED',
      ]);
      expect([await statementOf('carol', 'crm.read'), await statementOf('dave', 'notes.read_note')]).toEqual([
        'SYSTEM_FROZEN',
        'TOOL_QUARANTINED',
      ]);
      const [{ approval_id, ceremony_hash } = { approval_id: '', ceremony_hash: '' }] = questions;
      const vote = {
        params: { approval_id, action: 'approve' },
        body: {},
        headers: { 'if-match': `"${ceremony_hash}"` },
      };
      await agent('approver').transitionApproval(vote as never); // as above
      expect(await statementOf('carol', 'mail.send', run)).toBe('SYSTEM_FROZEN');
      const open_dispatches = (await current()).flatMap((fence) => fence.open_dispatches);
      expect(open_dispatches.map(({ decision_id }) => decision_id)).toEqual(first.affected.dispatches);
      release();
      on.site.notes.hold(() => Promise.resolve());
      await underWay;
    },
  );

  verifies(
    'cp.plan',
    'is committed only with its approved hash, and only while it affects the same calls',
    async () => {
      expect(await statementOf('eve', 'crm.read')).toBe('ALLOWED');
      const plan = await approved([freeze('agent:eve')]);
      const another = { ...plan, plan_hash: `sha256:${'0'.repeat(64)}` } as Plan;
      expect(codeOf(await ask(another, 'commit'))).toEqual([409, 'PLAN_STALE']);
      expect(await statementOf('eve', 'crm.list')).toBe('ALLOWED');
      const stale = await ask(plan, 'commit');
      expect(codeOf(stale)).toEqual([409, 'PLAN_STALE']);
      expect(detailsOf(stale)).toEqual({ further: { tools: ['crm.list'] } });
      expect(await commandsOf(plan)).toEqual([]);
      expect(await statementOf('eve', 'crm.read')).toBe('ALLOWED');
      const fresh = await approved([freeze('agent:eve')]);
      expect(await statementOf('eve', 'crm.read')).toBe('ALLOWED');
      expect((await ask(fresh, 'commit')).body).toMatchObject({ state: 'committed' });
      expect(await statementOf('eve', 'crm.read')).toBe('SYSTEM_FROZEN');
    },
  );

  verifies('cp.plan', 'expires, and belongs to its workspace', async () => {
    const plan = await approved([freeze('agent:frank')], { ttl_seconds: 90 });
    expect(Date.parse(plan.expires_at) - Date.parse(plan.created_at)).toBe(90_000);
    const remaining = await drafted([freeze('agent:frank')]);
    await on.site.inControlPlane('UPDATE plans SET expires_at = now() WHERE id = $1', [plan.plan_id]);
    const late = await ask(plan, 'commit');
    expect([codeOf(late), detailsOf(late)]).toEqual([[409, 'ILLEGAL_TRANSITION'], { state: 'expired', allowed: [] }]);
    expect(codeOf(await ask(remaining, 'commit'))).toEqual([409, 'ILLEGAL_TRANSITION']);
    expect([await commandsOf(plan), await commandsOf(remaining)]).toEqual([[], []]);
    const stranger = await newPerson();
    for (const what of ['approve', 'commit'] as const)
      expect(codeOf(await ask(remaining, what, stranger))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await post('plans', { steps: [freeze(`workspace:${stranger.workspaceId}`)] }))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(codeOf(await post('plans', { steps: [freeze('tool:.')] }))).toEqual([400, 'INVALID_REQUEST']);
    await post('freeze', { target: 'agent:gina', reason: 'stands already' });
    const loose = { ...freeze('agent:gina'), kind: 'throttle', limit: 5 };
    expect(codeOf(await post('plans', { steps: [loose] }))).toEqual([409, 'ILLEGAL_TRANSITION']);
  });

  it('waits for a second person if the policy escalates it, and is rejected if the policy denies it', async () => {
    on.site.writePolicy(policy('  - { id: two, effect: escalate, match: { action: [plan.commit] } }'));
    const plan = await untilAnswered(async () => {
      const drawn = await drafted([freeze('agent:heidi')]);
      const { body } = await ask(drawn, 'approve');
      return body['state'] === 'pending' && (body as Plan);
    });
    expect(codeOf(await ask(plan, 'commit'))).toEqual([409, 'ILLEGAL_TRANSITION']);
    const [approver] = on.site.agents(ada.workspaceId, 'approver');
    const query = { approval_id: plan.approval_id } as never; // a pending plan has an approval
    const [question] = (await approver.listApprovals({ query })).body.data;
    expect(question?.resource).toBe(`plan/${plan.plan_id}?hash=${plan.plan_hash}`);
    await approver.transitionApproval({
      ...{ params: { approval_id: plan.approval_id, action: 'approve' }, body: {} },
      headers: { 'if-match': `"${question?.ceremony_hash}"` },
    } as never); // as above
    expect((await ask(plan, 'approve')).body).toMatchObject({ state: 'approved' });
    const { body } = await ask(plan, 'commit');
    const approvals = await on.site.inKernels(
      'SELECT approval_id, state, policy_hash, judged_hash, intent_hash, approved_by, updated_at FROM approvals WHERE tenant_id = $1',
      [ada.workspaceId],
    );
    // Both values are compared at once. If the commit requests a second approval, a failure shows why the first did
    // not match.
    expect({ body, approvals }).toMatchObject({
      body: { state: 'committed' },
      approvals: [{ approval_id: plan.approval_id, state: 'consumed' }],
    });

    on.site.writePolicy(policy('  - { id: never, effect: deny, match: { action: [plan.commit] } }'));
    const denied = await untilAnswered(async () => {
      const drawn = await drafted([freeze('agent:ivan')]);
      const answer = await ask(drawn, 'approve');
      return answer.status === 403 && { ...drawn, answer };
    });
    expect(codeOf(denied.answer)).toEqual([403, 'POLICY_DENIED']);
    expect(codeOf(await ask(denied, 'commit'))).toEqual([409, 'ILLEGAL_TRANSITION']);
    expect(await commandsOf(denied)).toEqual([]);
    on.site.writePolicy(open);
    await untilAnswered(async () => (await ask(await drafted([freeze('agent:ivan')]), 'approve')).status === 200);
  });

  verifies('cp.plan', 'issues its commands once when two people commit it at the same moment', async () => {
    const plan = await approved([freeze('agent:olga'), freeze('agent:pat')]);
    const halt = await on.site.halt({ schema: 'control_plane', table: 'stop_commands', when: 'true' });
    const both = [ask(plan, 'commit'), ask(plan, 'commit')];
    await halt.reached(2);
    await halt.release();
    expect((await Promise.all(both)).map(({ status, body }) => [status, body['state']])).toEqual([
      [200, 'committed'],
      [200, 'committed'],
    ]);
    expect(await commandsOf(plan)).toHaveLength(2);
  });

  verifies(
    'cp.plan',
    'issues all its commands or none when its control plane is killed between two steps or before the delivery',
    async () => {
      const plan = await approved([freeze('agent:judy'), freeze('agent:kim'), freeze('agent:lars')]);
      // The transaction of the commit is halted between the first command and the last.
      const halt = await on.site.halt({
        ...{ schema: 'control_plane', table: 'stop_commands' },
        when: `NEW.scope LIKE '%/kim'`,
      });
      const killed = ask(plan, 'commit').catch(() => null);
      await halt.reached();
      await on.site.controlPlane.kill();
      await killed;
      await halt.release();
      expect(await commandsOf(plan)).toEqual([]);
      await on.site.controlPlane.start();
      expect((await ask(plan, 'commit')).body).toMatchObject({ state: 'committed' });
      expect(await commandsOf(plan)).toHaveLength(3);

      const next = await approved([freeze('agent:mia'), freeze('agent:nora')]);
      const swallowed = untilAnswered(async () => (await commandsOf(next)).length > 0).then(() =>
        on.site.controlPlane.kill(),
      );
      await Promise.all([ask(next, 'commit').catch(() => null), swallowed]);
      expect(await commandsOf(next)).toHaveLength(2);
      await on.site.controlPlane.start();
      await untilAnswered(async () => (await commandsOf(next)).every(({ state }) => state === 'effective'));
      expect([await statementOf('mia', 'crm.read'), await statementOf('nora', 'crm.read')]).toEqual([
        'SYSTEM_FROZEN',
        'SYSTEM_FROZEN',
      ]);
      expect((await ask(next, 'commit')).body).toMatchObject({ state: 'committed' });
      expect(await commandsOf(next)).toHaveLength(2);
    },
  );
});
