import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { PolicyDesk, type Members } from './_policy-desk.ts';
import { addressBook, kernelClient, type KernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, detailsOf, tagOf, type Report } from './_tab.ts';

const address = addressBook();

let system: SharedSystem;
let desk: PolicyDesk;
let ledger: KernelClient;
let desks = 0;

beforeAll(async () => {
  system = await sharedSystem();
});
beforeEach(async () => {
  desk = await PolicyDesk.open(system.gatewayUrl, address(`ada-${(desks += 1)}`));
  ledger = kernelClient(system, desk.owner.workspaceId);
  for (const [tool, effect_level] of [
    ['crm.read', 'E1'],
    ['mail.send', 'E3'],
    ['shell.run', 'E4'],
  ])
    await desk.call({ tool, effect_level, args: { amount: 12, to: 'secret' } });
});

async function keep(kept: Members, tag?: string): Promise<Report> {
  const headers = { 'if-match': tag ?? tagOf(await desk.send('draft')) };
  return await desk.send('draft/tests', { method: 'POST', body: kept, headers });
}

async function receiptOf(tool: string): Promise<string> {
  const { data } = (await ledger.listRecords({ query: { tool: tool, limit: 1 } })).body; // branded by the schema
  return String(data[0]?.receipt_id);
}

const denied = (receipt_id: string, name = 'no shell') => ({ receipt_id, name, expect: { verdict: 'DENY' } });

describe('a difference that is kept as a test', () => {
  verifies('cp.policy.test', 'fails for the draft, and blocks its activation until the test passes', async () => {
    const before = await desk.inForce();
    const bundle = await desk.loosened('too loose');
    const anything = { id: 'anything', effect: 'allow', match: { action: ['tool.call'] } };
    const { policy_hash } = await desk.draft({ ...bundle, rules: [...bundle.rules, anything] });
    const reported = await desk.report(policy_hash);
    const [widened] = reported.report.widened.filter(({ tool }) => tool === 'shell.run');
    expect(widened).toMatchObject({ before: 'DENY', after: 'ALLOW' });
    const kept = await keep(denied(String(widened?.receipt_id)));
    expect([kept.status, kept.body]).toEqual([
      201,
      expect.objectContaining({ passes: false, draft: expect.objectContaining({ state: 'editing' }) }),
    ]);
    expect((kept.body['test'] as { intent: Members }).intent).toMatchObject({
      ...{ action: 'tool.call', tool: 'shell.run', effect_level: 'E4' },
      ...{ tenant: desk.owner.workspaceId, session: 'crawl', args: {} },
    });
    const failing = await desk.compile();
    expect([failing.policy_hash, failing.tests, failing.diagnostics.map(({ code }) => code)]).toEqual([
      null,
      { total: 1, failed: 1 },
      ['TEST_FAILED'],
    ]);
    expect([codeOf(await desk.activate(policy_hash, reported)), (await desk.inForce()).policy_hash]).toEqual([
      [409, 'GATE_NOT_PASSED'],
      before.policy_hash,
    ]);
    const { draft } = (await desk.send('draft')).body as { draft: { text: string } };
    const mended = JSON.parse(draft.text) as { rules: object[] };
    mended.rules.push({ id: 'no-shell', effect: 'deny', match: { tool: ['shell.*'] } });
    const passing = await desk.draft(mended);
    expect(passing.tests).toEqual({ total: 1, failed: 0 });
    expect((await desk.activate(passing.policy_hash, await desk.report(passing.policy_hash))).status).toBe(200);
  });

  it('is written only under the current version of the draft, and once per name', async () => {
    await desk.write(`# why it is so\n${JSON.stringify(await desk.loosened('in yaml'))}`);
    const stale = tagOf(await desk.send('draft'));
    const receipt = await receiptOf('shell.run');
    expect((await keep(denied(receipt))).status).toBe(201);
    const { draft } = (await desk.send('draft')).body as { draft: { text: string } };
    expect(draft.text).toMatch(/^# why it is so\n/);
    expect((await desk.compile()).tests).toEqual({ total: 1, failed: 0 });
    const late = await keep(denied(receipt, 'late'), stale);
    expect([codeOf(late), detailsOf(late)]).toEqual([
      [412, 'PRECONDITION_FAILED'],
      { current_version: expect.any(Number), sent_versions: [stale.replaceAll('"', '')] },
    ]);
    expect([codeOf(await keep(denied(receipt))), (await desk.compile()).tests.total]).toEqual([
      [409, 'ILLEGAL_TRANSITION'],
      1,
    ]);
  });

  it('is rejected if the record lacks facts that the draft reads, or if no rule decides', async () => {
    const bundle = await desk.loosened('reads more');
    const small = { id: 'small', effect: 'deny', match: { tool: ['mail.*'] }, when: 'args.amount > 10.0' };
    await desk.write({ ...bundle, rules: [...bundle.rules, small] });
    const unread = await keep(denied(await receiptOf('mail.send'), 'amounts'));
    expect([codeOf(unread), detailsOf(unread)]).toEqual([[409, 'ILLEGAL_TRANSITION'], { missing: ['args.amount'] }]);
    await desk.write({ ...bundle, identity: ['enrolled'] });
    const demanded = await keep(denied(await receiptOf('crm.read'), 'enrolled'));
    expect([codeOf(demanded), detailsOf(demanded)]).toEqual([
      [409, 'ILLEGAL_TRANSITION'],
      { reason_code: 'AGENT_UNKNOWN' },
    ]);
  });
});

describe('a draft', () => {
  verifies('cp.policy.lockout', 'is rejected only if no owner could change the policy again', async () => {
    const { bundle } = await desk.inForce();
    const ada = String((await desk.owner.tab.send('/api/session')).body['user_id']);
    const notAda = { id: 'not-ada', effect: 'deny', match: { action: ['policy.change'], principal: [ada] } };
    const draft = { ...bundle, rules: [...bundle.rules, notAda], tests: [] };
    expect((await desk.draft(draft)).diagnostics.map(({ code }) => code)).toEqual(['LOCK_OUT']);
    await desk.makeOwner(await desk.colleague(address('carol'), 'partner'));
    expect((await desk.compile()).diagnostics.map(({ code }) => code)).toEqual(['NO_TESTS']);
  });

  it.each([
    ['draft', 'PUT', () => ({ text: 'name: late' }), 412],
    ['draft/tests', 'POST', async () => denied(await receiptOf('shell.run')), 412],
    ['what-if', 'POST', () => ({ policy_hash: `sha256:${'0'.repeat(64)}` }), 409],
  ] as const)(
    'is reserved for an owner whose request at %s conflicts with an edit',
    async (path, method, body, status) => {
      const bob = await desk.colleague(address(`bo-${path.replace('/', '-')}`), 'member');
      const write = async () => {
        const headers = { 'if-match': tagOf(await desk.send('draft')) };
        return (await desk.send('draft', { method: 'PUT', body: { text: 'name: quick' }, headers }, bob)).status;
      };
      const headers = { 'if-match': tagOf(await desk.send('draft')) };
      expect(await write()).toBe(200);
      expect((await desk.send(path, { method, headers, body: await body() })).status).toBe(status);
      expect(await write()).toBe(409);
      const { policy_hash } = await desk.draft(await desk.loosened('freed'));
      await desk.activate(policy_hash, await desk.report(policy_hash)); // it ends the reservation
      expect(await write()).toBe(200);
    },
  );

  it('is locked for all but the owner who has its report, until its activation', async () => {
    const bob = await desk.colleague(address('bea'), 'member');
    const { policy_hash } = await desk.draft(await desk.loosened('held'));
    const reported = await desk.report(policy_hash);
    const headers = { 'if-match': tagOf(await desk.send('draft')) };
    const ada = String((await desk.owner.tab.send('/api/session')).body['user_id']);
    const test = denied(await receiptOf('shell.run'), 'of a member');
    for (const [path, how] of [
      ['draft', { method: 'PUT', body: { text: 'name: other' }, headers }],
      ['draft/tests', { method: 'POST', body: test, headers }],
      ['what-if', { method: 'POST', body: { policy_hash } }],
    ] as const) {
      const refused = await desk.send(path, how, bob);
      expect([path, codeOf(refused), detailsOf(refused)]).toEqual([
        path,
        [409, 'ILLEGAL_TRANSITION'],
        { held_by: ada, held_until: expect.any(String) },
      ]);
    }
    expect((await desk.activate(policy_hash, reported)).status).toBe(200);
    const edited = await desk.send('draft', { method: 'PUT', body: { text: 'name: other' }, headers }, bob);
    expect(edited.status).toBe(200);
  });
});

describe('the versions of a policy', () => {
  it('name what changed, by whom and on which report, and a version becomes the draft again', async () => {
    const ada = String((await desk.owner.tab.send('/api/session')).body['user_id']);
    const first = await desk.inForce();
    const renamed = await desk.draft({ ...first.bundle, name: 'renamed', tests: [] });
    const firstReport = await desk.report(renamed.policy_hash);
    const { epoch } = (await desk.activate(renamed.policy_hash, firstReport)).body;
    const { policy_hash } = await desk.draft(await desk.loosened('loose'));
    const reported = await desk.report(policy_hash);
    await desk.activate(policy_hash, reported);
    const list = (await desk.send('versions?limit=1')).body;
    expect(list).toMatchObject({
      data: [
        { epoch: Number(epoch) + 1, policy_hash, base_hash: renamed.policy_hash, state: 'active', requested_by: ada },
      ],
      next_cursor: String(Number(epoch) + 1),
    });
    const older = (await desk.send(`versions?cursor=${String(list['next_cursor'])}`)).body;
    expect(older).toMatchObject({ data: [{ epoch, state: 'replaced', report_id: firstReport.id }], next_cursor: null });
    const loose = (await desk.send(`versions/${Number(epoch) + 1}`)).body;
    const changed = loose['change'] as { rules: { rule_id: string; before: Members; after: null }[] };
    expect(changed.rules.map(({ rule_id, before, after }) => [rule_id, before['effect'], after])).toEqual([
      ['deny-destructive', 'deny', null],
      ['escalate-hard-to-undo', 'escalate', null],
    ]);
    expect(loose['change']).toMatchObject({ other_members: ['name'] });
    const { text } = (await desk.send(`versions/${String(epoch)}`)).body;
    expect((await desk.draft(String(text))).policy_hash).toBe(renamed.policy_hash);
    const member = await desk.colleague(address('bell'), 'member');
    expect((await desk.send('versions/99', {}, member)).status).toBe(404);
  });
});

type Lane = { lane: string; policy_hash: string; state: string; hours: Record<string, number>[] };
const lanesShown = async () => (await desk.inForce())['shadows'] as Lane[];
const sumOf = ({ hours }: Lane, count: string) => hours.reduce((sum, hour) => sum + (hour[count] ?? 0), 0);
const setLane = async (lane: string, bundle: object) =>
  await desk.send(`shadows/${lane}`, { method: 'PUT', body: { text: JSON.stringify(bundle) } });

describe('a draft beside the policy in force', () => {
  verifies('cp.policy.shadow', 'changes no verdict, and its divergence is counted over the records', async () => {
    const calls = [
      ['crm.read', 'E1'],
      ['mail.send', 'E3'],
      ['shell.run', 'E4'],
    ].map(([tool, effect_level]) => ({ tool, effect_level }));
    const judge = async () => {
      const messages = [];
      for (const call of calls) messages.push((await desk.call(call))['verdict']);
      return messages;
    };
    const before = await judge();
    const { bundle } = await desk.inForce();
    const all = (effect: string) => ({ ...bundle, tests: [], name: `${effect}-all`, rules: [{ id: 'all', effect }] });
    for (const effect of ['allow', 'deny'])
      expect((await setLane(effect, all(effect))).body).toMatchObject({ lane: effect, state: 'standing' });
    expect([await judge(), await judge()]).toEqual([before, before]);
    const { data } = (await ledger.listRecords({ query: { limit: 200 } })).body;
    const expected = (lane: string) => countOver(data, lane);
    const shown = await untilAnswered(async () => {
      const lanes = await lanesShown();
      return lanes.every((lane) => sumOf(lane, 'decisions') >= expected(lane.lane).decisions) && lanes;
    });
    expect(shown.map(({ lane }) => lane)).toEqual(['allow', 'deny']);
    for (const lane of shown)
      expect({
        decisions: sumOf(lane, 'decisions'),
        ...{ diverged: sumOf(lane, 'diverged'), widened: sumOf(lane, 'widened'), faults: sumOf(lane, 'faults') },
      }).toEqual(expected(lane.lane));
    expect(expected('allow')).toMatchObject({
      decisions: 6,
      diverged: before.filter((one) => one !== 'ALLOW').length * 2,
    });
    expect((await desk.send('shadows/allow', { method: 'DELETE' })).body).toMatchObject({ lane: 'allow' });
    expect(codeOf(await desk.send('shadows/allow', { method: 'DELETE' }))).toEqual([404, 'NOT_FOUND']);
    expect(await judge()).toEqual(before);
    const [last] = (await ledger.listRecords({ query: { limit: 1 } })).body.data;
    expect(last?.shadow.map(({ lane }) => lane)).toEqual(['deny']);
  });

  it('has one of three lanes, and must compile', async () => {
    const { bundle } = await desk.inForce();
    for (const lane of ['one', 'two', 'three']) expect((await setLane(lane, bundle)).status).toBe(200);
    expect(codeOf(await setLane('four', bundle))).toEqual([409, 'ILLEGAL_TRANSITION']);
    expect(codeOf(await setLane('Two!', bundle))).toEqual([400, 'INVALID_REQUEST']);
    const broken = { ...bundle, rules: [{ id: 'x', effect: 'allow', when: 'args.x +' }] };
    expect(detailsOf(await setLane('two', broken))).toMatchObject({ path: '/rules/0/when' });
    expect((await lanesShown()).map(({ lane, state }) => [lane, state])).toEqual([
      ['one', 'standing'],
      ['three', 'standing'],
      ['two', 'standing'],
    ]);
    const bob = await desk.colleague(address('bob'), 'member');
    expect(codeOf(await desk.send('shadows/two', { method: 'DELETE' }, bob))).toEqual([403, 'PERMISSION_DENIED']);
  });
});

const rank = { DENY: 0, ESCALATE: 1, ALLOW: 2 } as const;

function countOver(records: readonly BoundaryRecord[], lane: string) {
  const statements = records.flatMap(({ verdict, shadow }) =>
    shadow.filter((one) => one.lane === lane).map((one) => ({ verdict, after: one.verdict })),
  );
  const values = statements.filter(({ after }) => after !== null) as {
    verdict: keyof typeof rank;
    after: keyof typeof rank;
  }[];
  return {
    decisions: statements.length,
    diverged: values.filter(({ verdict, after }) => verdict !== after).length,
    widened: values.filter(({ verdict, after }) => rank[after] > rank[verdict]).length,
    faults: statements.length - values.length,
  };
}
