import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { both, useOperated } from './_operated.ts';
import { joined, type Person } from './_signed-in.ts';
import { type KernelClient } from './_system.ts';
import { codeOf, type Told } from './_tab.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: resumes
version: '1'
rules:
${rules}
  - { id: letters, effect: escalate, match: { tool: [mail.send] } }
  - { id: all, effect: allow }
tools:
  crm.read: { effect_level: E1 }
  mail.send: { effect_level: E3 }
`;
const open = policy('');
const lifts = (effect: string) => policy(`  - { id: lifts, effect: ${effect}, match: { action: [fence.lift] } }`);
const timeoutMs = 120_000;
const on = useOperated(open);
const { newPerson, newSession } = on;
let ada: Person;

const newWorkspace = async () => (ada = await newPerson());

const ask = (kind: string, target: string, who: Person = ada, workspaceId = who.workspaceId): Promise<Told> =>
  who.tab.send(`/api/ops/${kind}`, {
    ...{ method: 'POST', headers: { 'x-workspace-id': workspaceId } },
    body: { target, reason: 'the vault leaks' },
  });
const resume = (target = whole(), who: Person = ada) => ask('resume', target, who);
const ops = () => on.operations(ada);
const whole = () => `workspace:${ada.workspaceId}`;
const fenceAt = async (scope: string) => (await on.site.system.getFence({ params: { scope } })).body;
const ofWhole = () => `tenant:${ada.workspaceId}`;

const said = async (agent: KernelClient, more: object = {}) => (await on.decisionBy(agent, more)).reason_code;
const saidBy = (principal?: string) => on.reasonsBy(ada, principal);
const rule = (text: string, verdict: string) => on.rule(ada, text, verdict);

async function sealed(action: string) {
  const [agent] = on.site.agents(ada.workspaceId);
  const { data } = (await agent.listReceipts({ query: { action, session_id: 'console:fences' } })).body;
  return data.map(({ payload }) => payload);
}

describe('a workspace that was frozen', () => {
  verifies(
    'cp.freeze',
    'is brought back by its owner from inside, on every kernel and for parked calls, with a sealed decision of theirs',
    async () => {
      await newWorkspace();
      const [first, second] = on.site.agents(ada.workspaceId);
      const letter = { tool: 'mail.send', session_id: newSession() };
      expect(await said(first, letter)).toBe('APPROVAL_REQUIRED');
      expect((await ask('freeze', whole())).status).toBe(200);
      expect([...(await saidBy()), await said(second, letter)]).toEqual([...both('SYSTEM_FROZEN'), 'SYSTEM_FROZEN']);
      const { status, body } = await resume();
      expect([status, body]).toMatchObject([200, { kind: 'open', epoch: 2, state: 'effective', target: whole() }]);
      expect([...(await saidBy()), await said(second, letter)]).toEqual([...both('ALLOWED'), 'APPROVAL_REQUIRED']);
      expect((await ops())['fences']).toEqual([]);
      const [decision] = await sealed('fence.lift');
      expect(decision).toMatchObject({
        ...{ receipt_id: body['receipt_id'], verdict: 'ALLOW', session_id: 'console:fences' },
        resource: `fence:${ofWhole()}?epoch=1`,
        principal_id: String((await ada.tab.send('/api/session')).body['user_id']),
      });
      expect(codeOf(await resume())).toEqual([409, 'ILLEGAL_TRANSITION']);
      expect((await ask('freeze', whole())).body).toMatchObject({ state: 'effective', epoch: 3 });
      expect(await saidBy()).toEqual(both('SYSTEM_FROZEN'));
      const headers = { 'x-workspace-id': ada.workspaceId };
      const lift = (epoch: number) =>
        ada.tab.send('/api/ops/resume', {
          method: 'POST',
          headers,
          body: { target: whole(), reason: 'mended', epoch },
        });
      // The fence that was seen is gone; another one is in force in its place.
      expect(codeOf(await lift(1))).toEqual([409, 'ILLEGAL_TRANSITION']);
      expect((await ops())['fences']).toMatchObject([{ epoch: 3 }]);
      expect((await lift(3)).body).toMatchObject({ kind: 'open', epoch: 4 });
    },
    timeoutMs,
  );

  it('is lifted by owners alone, and nothing that is wider, another workspace’s or around themselves is', async () => {
    const other = await newWorkspace();
    await ask('freeze', whole());
    await newWorkspace();
    const [partner, owner] = [
      await joined(ada, await newPerson(), 'partner'),
      await joined(ada, await newPerson(), 'owner'),
    ];
    await ask('freeze', whole(), partner);
    expect(codeOf(await resume(whole(), partner))).toEqual([403, 'PERMISSION_DENIED']);
    const foreign = `workspace:${other.workspaceId}`;
    expect(codeOf(await resume(foreign))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await ask('resume', foreign, ada, other.workspaceId))).toEqual([404, 'NOT_FOUND']);
    const userId = String((await ada.tab.send('/api/session')).body['user_id']);
    await ask('quarantine', `agent:${userId}`, partner);
    expect(codeOf(await resume(`agent:${userId}`))).toEqual([403, 'POLICY_DENIED']);
    expect(codeOf(await resume())).toEqual([403, 'POLICY_DENIED']);
    expect(await fenceAt(ofWhole())).toMatchObject({ kind: 'freeze', epoch: 1 });
    expect((await resume(whole(), owner)).body).toMatchObject({ state: 'effective' });
    expect((await resume(`agent:${userId}`, owner)).body).toMatchObject({ state: 'effective' });
    expect(await saidBy()).toEqual(both('ALLOWED'));
  });
});

describe('to lift a stop', () => {
  verifies(
    'cp.operator',
    'that the policy denies is 403 and leaves the fence as it was; that it asks about waits for a second person',
    async () => {
      await newWorkspace();
      const second = await joined(ada, await newPerson(), 'partner');
      await ask('quarantine', 'agent:carol');
      const scope = `agent:${ada.workspaceId}/carol`;
      const before = await fenceAt(scope);
      await rule(lifts('deny'), 'DENY');
      expect(codeOf(await resume('agent:carol'))).toEqual([403, 'POLICY_DENIED']);
      await rule(lifts('escalate'), 'ESCALATE');
      const asked = await resume('agent:carol');
      expect(codeOf(asked)).toEqual([403, 'APPROVAL_NEEDED']);
      expect(await fenceAt(scope)).toEqual(before);
      expect(
        await on.site.inControlPlane(`SELECT 1 FROM stop_commands WHERE scope = $1 AND kind = 'open'`, [scope]),
      ).toEqual([]);
      const { approval_id: id } = (asked.body['error'] as { details: { approval_id: string } }).details;
      const inbox = `/api/v1/workspaces/${ada.workspaceId}/approvals`;
      const [shown] = (await second.tab.send(`${inbox}?approval_id=${id}`)).body['data'] as { ceremony_hash: string }[];
      const headers = { 'if-match': `"${String(shown?.ceremony_hash)}"` };
      const voted = await second.tab.send(`${inbox}/${id}/resolve`, {
        ...{ method: 'POST', headers, body: { decision: 'approve' } },
      });
      expect(voted.status).toBe(200);
      expect((await resume('agent:carol')).body).toMatchObject({ state: 'effective', epoch: 2 });
      expect((await sealed('fence.lift')).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'ESCALATE', 'DENY']);
      await rule(open, 'ALLOW');
      expect(await saidBy('carol')).toEqual(both('ALLOWED'));
    },
    timeoutMs,
  );

  it(
    'needs the kernel, and never undoes a stop that it has yet to hear of',
    async () => {
      await newWorkspace();
      await ask('freeze', 'agent:dave');
      on.site.toKernel.cut();
      expect(codeOf(await resume('agent:dave'))).toEqual([503, 'GOVERNANCE_UNAVAILABLE']);
      expect((await ask('quarantine', 'agent:dave')).status).toBe(202);
      on.site.toKernel.restore();
      await untilAnswered(async () => ((await ops())['unconfirmed'] as unknown[]).length === 0);
      const scope = `agent:${ada.workspaceId}/dave`;
      expect(await fenceAt(scope)).toMatchObject({ kind: 'quarantine', epoch: 2 });
      const all = await Promise.all([resume('agent:dave'), ask('freeze', 'agent:dave'), resume('agent:dave')]);
      expect(all[1]?.status).toBe(200);
      const { epoch, kind } = await fenceAt(scope);
      const rows = await on.site.inControlPlane(
        'SELECT epoch, kind, state FROM stop_commands WHERE scope = $1 ORDER BY epoch',
        [scope],
      );
      expect(rows.at(-1)).toMatchObject({ epoch, kind, state: 'effective' });
    },
    timeoutMs,
  );

  it(
    'stands when its control plane is killed between the decision and its command, and is lifted by asking again',
    async () => {
      await newWorkspace();
      await ask('freeze', 'agent:erin');
      const scope = `agent:${ada.workspaceId}/erin`;
      const standing = await fenceAt(scope);
      // Its transaction is held up where the command is written that the kernel has just allowed.
      const halt = await on.site.halt({
        ...{ schema: 'control_plane', table: 'stop_commands' },
        when: `NEW.scope LIKE '%/erin' AND NEW.kind = 'open'`,
      });
      const killed = resume('agent:erin').catch(() => null);
      await halt.reached();
      await on.site.controlPlane.kill();
      await killed;
      await halt.release();
      expect((await sealed('fence.lift')).map(({ verdict }) => verdict)).toEqual(['ALLOW']);
      expect(await fenceAt(scope)).toEqual(standing);
      expect(await saidBy('erin')).toEqual(both('SYSTEM_FROZEN'));
      await on.site.controlPlane.start();
      expect(await fenceAt(scope)).toEqual(standing);
      expect((await resume('agent:erin')).body).toMatchObject({ kind: 'open', epoch: 2, state: 'effective' });
      expect(await saidBy('erin')).toEqual(both('ALLOWED'));
      expect((await sealed('fence.lift')).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'ALLOW']);
    },
    timeoutMs,
  );
});
