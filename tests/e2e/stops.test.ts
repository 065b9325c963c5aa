import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { useOperated } from './_operated.ts';
import { joined, type Person } from './_signed-in.ts';
import { type KernelClient } from './_system.ts';
import { codeOf, type Report } from './_tab.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: stops
version: '1'
rules:
${rules}
tools:
  crm.read: { effect_level: E1 }
  crm.list: { effect_level: E1 }
  mail.send: { effect_level: E3 }
`;
const open = policy(`
  - { id: letters, effect: escalate, match: { tool: [mail.send] } }
  - { id: all, effect: allow }`);
const on = useOperated(open);
const { newPerson, newSession } = on;
let ada: Person;

const newWorkspace = async () => (ada = await newPerson());
const stop = (kind: string, target: string, more: object = {}, who: Person = ada): Promise<Report> =>
  on.operate(who, kind, { target, reason: 'the vault leaks', ...more });
const ops = (who: Person = ada) => on.operations(who);
const whole = () => `workspace:${ada.workspaceId}`;

async function statementOf(agent: KernelClient, more: object = {}): Promise<string> {
  const { verdict, reason_code } = await on.decisionBy(agent, more);
  return `${verdict} ${reason_code}`;
}
const agents = (principal?: string, workspaceId = ada.workspaceId) => on.site.agents(workspaceId, principal);
const saidBy = (principal?: string, more?: object, workspaceId?: string) =>
  Promise.all(agents(principal, workspaceId).map((agent) => statementOf(agent, more)));
const allowed = ['ALLOW ALLOWED', 'ALLOW ALLOWED'];
const both = (code: string) => [`DENY ${code}`, `DENY ${code}`];
const read = (agent: KernelClient, id: string) =>
  agent.executeMcp({ body: { tool: 'notes.read_note', args: { id }, session_id: newSession() } as never });
const fenceAt = async (scope: string) => (await on.site.system.getFence({ params: { scope } })).body;

describe('a freeze', () => {
  verifies(
    'cp.freeze',
    'applies on every kernel within a second, even to parked calls, and lists open calls until they are settled',
    async () => {
      await newWorkspace();
      const [first, second] = agents();
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      on.site.notes.hold(() => released);
      const underWay = read(second, 'before');
      await untilAnswered(() => Promise.resolve(on.site.notes.calls.some(({ args }) => args['id'] === 'before')));
      on.site.notes.hold(() => Promise.resolve());

      const run = `run_${'0'.repeat(26)}`;
      const letter = { tool: 'mail.send', session_id: run };
      const approved = { tool: 'mail.send', session_id: newSession() };
      for (const call of [letter, approved]) expect(await statementOf(first, call)).toBe('ESCALATE APPROVAL_REQUIRED');
      await approve(approved.session_id);

      let answered: 'before' | 'after' = 'before';
      const sent = { before: 0, after: 0 };
      let isOver = false;
      const storm = agents('storm').map(async (agent) => {
        while (!isOver) await read(agent, `storm ${answered} ${(sent[answered] += 1)}`).catch(() => null);
      });
      await untilAnswered(() =>
        Promise.resolve(on.site.notes.calls.some(({ args }) => String(args['id']).startsWith('storm'))),
      );
      const { status, body } = await stop('freeze', whole());
      answered = 'after';
      expect([status, body]).toMatchObject([200, { kind: 'freeze', epoch: 1, state: 'effective', parked_runs: [run] }]);
      expect(body).toMatchObject({ known: true, calls_last_7d: expect.any(Number) });
      const listed = body['open_dispatches'] as { tool: string; principal_id: string }[];
      expect(listed.filter(({ principal_id: who }) => who !== 'storm')).toMatchObject([{ tool: 'notes.read_note' }]);
      await untilAnswered(() => Promise.resolve(sent.after > 20));
      isOver = true;
      await Promise.all(storm);
      // This is faster than the promised second: no call that began after the answer has reached the tool.
      expect(on.site.notes.calls.filter(({ args }) => String(args['id']).startsWith('storm after'))).toEqual([]);

      expect(await saidBy()).toEqual(both('SYSTEM_FROZEN'));
      expect(await statementOf(second, approved)).toBe('DENY SYSTEM_FROZEN');
      const shown = async () => ((await ops())['fences'] as Record<string, unknown>[])[0];
      expect(await shown()).toMatchObject({ target: whole(), kind: 'freeze', reason: 'the vault leaks' });
      expect((await shown())?.['open_dispatches']).toHaveLength(1);
      release();
      await underWay;
      await untilAnswered(async () => ((await shown())?.['open_dispatches'] as unknown[]).length === 0);
    },
  );

  it("takes effect although the policy denies everything, and is shown with the kernel's state", async () => {
    await newWorkspace();
    on.site.writePolicy(policy('  - { id: nothing, effect: deny, reason: closed }'));
    await untilAnswered(async () => (await saidBy()).every((verdict) => verdict === 'DENY POLICY_DENIED'));
    expect((await stop('freeze', 'agent:carrol')).body).toMatchObject({ state: 'effective', known: false });
    expect((await stop('freeze', 'agent:carol')).body).toMatchObject({ state: 'effective' });
    expect(await saidBy('carol')).toEqual(both('SYSTEM_FROZEN'));
    on.site.writePolicy(open);
    await untilAnswered(async () => (await saidBy()).every((verdict) => verdict === 'ALLOW ALLOWED'));
    expect(await saidBy('carol')).toEqual(both('SYSTEM_FROZEN'));
    expect(await ops()).toMatchObject({ kernel: 'ok', boundary: { status: 'ready' }, unconfirmed: [] });
  });

  it('is set by partners in their own workspace, and weakens no other stop', async () => {
    await newWorkspace();
    const [partner, member] = [
      await joined(ada, await newPerson(), 'partner'),
      await joined(ada, await newPerson(), 'member'),
    ];
    expect(codeOf(await stop('freeze', whole(), {}, member))).toEqual([403, 'PERMISSION_DENIED']);
    expect((await ops(member))['fences']).toEqual([]);
    const stranger = await newPerson();
    expect(codeOf(await stop('freeze', `workspace:${stranger.workspaceId}`, {}, partner))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await stop('freeze', 'workspace:wsp_nobody', {}, partner))).toEqual([404, 'NOT_FOUND']);
    const away = await stop('freeze', whole(), {}, { ...stranger, workspaceId: ada.workspaceId });
    expect(codeOf(away)).toEqual([404, 'NOT_FOUND']);
    expect((await stop('freeze', 'agent:bob', { ttl_seconds: 600 }, partner)).status).toBe(200);
    const loose = [
      await stop('throttle', 'agent:bob', { limit: 5 }, partner),
      await stop('freeze', 'agent:bob', { ttl_seconds: 1 }, partner),
    ];
    expect(loose.map(codeOf)).toEqual([409, 409].map((status) => [status, 'ILLEGAL_TRANSITION']));
    expect(await saidBy('bob')).toEqual(both('SYSTEM_FROZEN'));
    expect((await stop('quarantine', 'agent:bob', {}, partner)).body).toMatchObject({ epoch: 2, expires_at: null });
    expect(codeOf(await stop('freeze', 'tool:.', {}, partner))).toEqual([400, 'INVALID_REQUEST']);
    expect(codeOf(await stop('freeze', 'org:acme', {}, partner))).toEqual([400, 'INVALID_REQUEST']);
  });
});

describe('a quarantine', () => {
  verifies(
    'cp.quarantine',
    'stops one agent, tool or connector in one workspace, and a throttle allows exactly its limit',
    async () => {
      const another = await newWorkspace();
      await newWorkspace();
      const elsewhere = (more?: object) => saidBy('carol', more, another.workspaceId);
      await stop('quarantine', 'agent:carol');
      expect(await saidBy('carol')).toEqual(both('AGENT_QUARANTINED'));
      expect([await saidBy('dan'), await elsewhere()]).toEqual([allowed, allowed]);

      await stop('quarantine', 'tool:CRM__Read');
      expect(await saidBy('dan')).toEqual(both('TOOL_QUARANTINED'));
      const list = { tool: 'crm.list' };
      expect([await saidBy('dan', list), await elsewhere()]).toEqual([allowed, allowed]);

      await stop('quarantine', 'connector:notes');
      const note = { tool: 'notes.read_note', args: { id: 'a' } };
      expect(await saidBy('dan', note)).toEqual(both('TOOL_QUARANTINED'));
      expect([await saidBy('dan', list), await elsewhere(note)]).toEqual([allowed, allowed]);
      const fences = (await ops())['fences'] as { target: string }[];
      expect(fences.map(({ target }) => target).sort()).toEqual(['agent:carol', 'connector:notes', 'tool:crm.read']);
      expect((await ops(another))['fences']).toEqual([]);

      await stop('throttle', 'agent:eve', { limit: 12, window_seconds: 86_400 });
      const [first, second] = agents('eve');
      const calls = Array.from({ length: 50 }, (_, index) => statementOf(index % 2 === 0 ? first : second, list));
      const verdicts = await Promise.all(calls);
      expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(12);
      expect(verdicts.filter((verdict) => verdict === 'DENY THROTTLED')).toHaveLength(38);
    },
  );
});

describe('while the kernel is unreachable', () => {
  verifies(
    'cp.freeze.order',
    'commands are shown as unconfirmed and arrive in the order of their epochs, and an older one never undoes a newer one',
    async () => {
      await newWorkspace();
      const [first] = agents('frank');
      on.site.toKernel.cut();
      const values = [
        await stop('throttle', 'agent:frank', { limit: 3, window_seconds: 60, ttl_seconds: 900 }),
        await stop('freeze', 'agent:frank', { ttl_seconds: 1_200 }),
        await stop('quarantine', 'agent:frank'),
      ];
      expect(values.map(({ status, body }) => [status, body['state'], body['epoch'], body['effective_at']])).toEqual(
        [1, 2, 3].map((epoch) => [202, 'unconfirmed', epoch, null]),
      );
      const shown = await ops();
      expect(shown).toMatchObject({ kernel: 'unreachable', boundary: null, fences: [] });
      expect((shown['unconfirmed'] as { epoch: number }[]).map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
      expect(await statementOf(first)).toBe('ALLOW ALLOWED');

      on.site.toKernel.restore();
      await untilAnswered(async () => {
        const { kernel, unconfirmed } = await ops();
        return kernel === 'ok' && (unconfirmed as unknown[]).length === 0;
      });
      expect(await statementOf(first)).toBe('DENY AGENT_QUARANTINED');
      const scope = `agent:${ada.workspaceId}/frank`;
      const delivered = await on.site.inControlPlane(
        'SELECT epoch, state, effective_at FROM stop_commands WHERE scope = $1 ORDER BY effective_at, epoch',
        [scope],
      );
      expect(delivered.map(({ epoch, state }) => [epoch, state])).toEqual(
        [1, 2, 3].map((epoch) => [epoch, 'effective']),
      );

      // The confirmation was lost, and a later command is in force.
      await on.site.inControlPlane(
        `UPDATE stop_commands SET state = 'unconfirmed', effective_at = NULL WHERE scope = $1 AND epoch = 1`,
        [scope],
      );
      await untilAnswered(async () => ((await ops())['unconfirmed'] as unknown[]).length === 0);
      expect(await fenceAt(scope)).toMatchObject({ kind: 'quarantine', epoch: 3 });
      const [old] = await on.site.inControlPlane('SELECT state FROM stop_commands WHERE scope = $1 AND epoch = 1', [
        scope,
      ]);
      expect(old).toEqual({ state: 'outdated' });
    },
  );

  it('a command arrives although its control plane was killed between commit and delivery', async () => {
    await newWorkspace();
    const scope = `agent:${ada.workspaceId}/grace`;
    on.site.toKernel.swallow();
    const answered = stop('freeze', 'agent:grace').then(
      ({ status }) => status,
      () => 0,
    );
    await untilAnswered(
      async () => (await on.site.inControlPlane('SELECT 1 FROM stop_commands WHERE scope = $1', [scope])).length === 1,
    );
    await on.site.controlPlane.kill();
    expect(await answered).not.toBe(200);
    on.site.toKernel.cut();
    on.site.toKernel.restore();
    await expect(fenceAt(scope)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await on.site.controlPlane.start();
    await untilAnswered(async () => (await fenceAt(scope).catch(() => null))?.kind === 'freeze');
    expect(await saidBy('grace')).toEqual(both('SYSTEM_FROZEN'));
  });
});

describe('a fence of another source', () => {
  it('rejects a weaker command of the console, and accepts a stronger one', async () => {
    await newWorkspace();
    const set = (scope: string, kind: string, epoch: number) =>
      on.site.system.putFence({
        params: { scope },
        body: { kind, epoch, reason: 'operator', set_by: 'olga' },
      } as never);
    const scope = `agent:${ada.workspaceId}/heidi`;
    await set(scope, 'open', 7);
    expect((await stop('freeze', 'agent:heidi')).body).toMatchObject({ state: 'effective', epoch: 8 });
    expect(await fenceAt(scope)).toMatchObject({ kind: 'freeze', epoch: 8 });
    const snapshot = `agent:${ada.workspaceId}/ivan`;
    await set(snapshot, 'quarantine', 4);
    expect(codeOf(await stop('throttle', 'agent:ivan', { limit: 9 }))).toEqual([409, 'ILLEGAL_TRANSITION']);
    expect(await fenceAt(snapshot)).toMatchObject({ kind: 'quarantine', epoch: 4 });
    expect((await stop('freeze', 'agent:ivan')).body).toMatchObject({ state: 'effective', epoch: 5 });
  });
});

async function approve(session: string): Promise<void> {
  const [approver] = agents('approver');
  const { data } = (await approver.listApprovals({ query: { session_id: session } })).body;
  const [{ approval_id, ceremony_hash } = { approval_id: '', ceremony_hash: '' }] = data;
  await approver.transitionApproval({
    ...{ params: { approval_id, action: 'approve' }, body: {} },
    headers: { 'if-match': `"${ceremony_hash}"` },
  } as never);
}
