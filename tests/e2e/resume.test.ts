import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { both, useOperated } from './_operated.ts';
import { joined, type Person } from './_signed-in.ts';
import { type KernelClient } from './_system.ts';
import { codeOf, type Report } from './_tab.ts';

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
const on = useOperated(open);
const { newPerson, newSession } = on;
let ada: Person;

const newWorkspace = async () => (ada = await newPerson());

const ask = (kind: string, target: string, who: Person = ada, workspaceId = who.workspaceId): Promise<Report> =>
  who.tab.send(`/api/ops/${kind}`, {
    ...{ method: 'POST', headers: { 'x-workspace-id': workspaceId } },
    body: { target, reason: 'the vault leaks' },
  });
const resume = (target = whole(), who: Person = ada) => ask('resume', target, who);
const ops = () => on.operations(ada);
const whole = () => `workspace:${ada.workspaceId}`;
const fenceAt = async (scope: string) => (await on.site.system.getFence({ params: { scope } })).body;
const ofWhole = () => `tenant:${ada.workspaceId}`;

const statementOf = async (agent: KernelClient, more: object = {}) => (await on.decisionBy(agent, more)).reason_code;
const saidBy = (principal?: string) => on.reasonsBy(ada, principal);
const rule = (text: string, verdict: string) => on.rule(ada, text, verdict);

async function sealed(action: string) {
  const [agent] = on.site.agents(ada.workspaceId);
  const { data } = (await agent.listReceipts({ query: { action, session_id: 'console:fences' } })).body;
  return data.map(({ payload }) => payload);
}

describe('a frozen workspace', () => {
  verifies(
    'cp.freeze',
    'is resumed by its owner from inside, on every kernel and for parked calls, with a sealed decision',
    async () => {
      await newWorkspace();
      const [first, second] = on.site.agents(ada.workspaceId);
      const letter = { tool: 'mail.send', session_id: newSession() };
      expect(await statementOf(first, letter)).toBe('APPROVAL_REQUIRED');
      expect((await ask('freeze', whole())).status).toBe(200);
      expect([...(await saidBy()), await statementOf(second, letter)]).toEqual([
        ...both('SYSTEM_FROZEN'),
        'SYSTEM_FROZEN',
      ]);
      const { status, body } = await resume();
      expect([status, body]).toMatchObject([200, { kind: 'open', epoch: 2, state: 'effective', target: whole() }]);
      expect([...(await saidBy()), await statementOf(second, letter)]).toEqual([
        ...both('ALLOWED'),
        'APPROVAL_REQUIRED',
      ]);
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
      // The fence that the owner saw is gone, and a newer fence is in force.
      expect(codeOf(await lift(1))).toEqual([409, 'ILLEGAL_TRANSITION']);
      expect((await ops())['fences']).toMatchObject([{ epoch: 3 }]);
      expect((await lift(3)).body).toMatchObject({ kind: 'open', epoch: 4 });
    },
  );

  it('is resumed by owners only, who cannot lift wider fences, those of other workspaces, or fences on themselves', async () => {
    const second = await newWorkspace();
    await ask('freeze', whole());
    await newWorkspace();
    const [partner, owner] = [
      await joined(ada, await newPerson(), 'partner'),
      await joined(ada, await newPerson(), 'owner'),
    ];
    await ask('freeze', whole(), partner);
    expect(codeOf(await resume(whole(), partner))).toEqual([403, 'PERMISSION_DENIED']);
    const foreign = `workspace:${second.workspaceId}`;
    expect(codeOf(await resume(foreign))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await ask('resume', foreign, ada, second.workspaceId))).toEqual([404, 'NOT_FOUND']);
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

describe('lifting a stop', () => {
  verifies(
    'cp.operator',
    'gets 403 and keeps the fence if the policy denies it, and waits for a second person if the policy escalates it',
    async () => {
      await newWorkspace();
      const second = await joined(ada, await newPerson(), 'partner');
      await ask('quarantine', 'agent:carol');
      const scope = `agent:${ada.workspaceId}/carol`;
      const before = await fenceAt(scope);
      await rule(lifts('deny'), 'DENY');
      expect(codeOf(await resume('agent:carol'))).toEqual([403, 'POLICY_DENIED']);
      await rule(lifts('escalate'), 'ESCALATE');
      const answer = await resume('agent:carol');
      expect(codeOf(answer)).toEqual([403, 'APPROVAL_NEEDED']);
      expect(await fenceAt(scope)).toEqual(before);
      expect(
        await on.site.inControlPlane(`SELECT 1 FROM stop_commands WHERE scope = $1 AND kind = 'open'`, [scope]),
      ).toEqual([]);
      const { approval_id: id } = (answer.body['error'] as { details: { approval_id: string } }).details;
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
  );

  it('needs the kernel, and never undoes a stop that the kernel has not received yet', async () => {
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
  });

  it('has no effect when the control plane is killed before it stores the command, and succeeds when the request is repeated', async () => {
    await newWorkspace();
    await ask('freeze', 'agent:erin');
    const scope = `agent:${ada.workspaceId}/erin`;
    const current = await fenceAt(scope);
    // The transaction is halted when it writes the command that the kernel has just allowed.
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
    expect(await fenceAt(scope)).toEqual(current);
    expect(await saidBy('erin')).toEqual(both('SYSTEM_FROZEN'));
    await on.site.controlPlane.start();
    expect(await fenceAt(scope)).toEqual(current);
    expect((await resume('agent:erin')).body).toMatchObject({ kind: 'open', epoch: 2, state: 'effective' });
    expect(await saidBy('erin')).toEqual(both('ALLOWED'));
    expect((await sealed('fence.lift')).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'ALLOW']);
  });
});
