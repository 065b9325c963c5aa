import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WhatIfReport, type CompiledDraft } from '@countersign/contracts/control-plane';
import {
  GovernedChange,
  type BoundaryRecord,
  type PolicyBundle,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, decideAgain, parsePolicyBundle } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyReceipt, verifyRecord } from '@countersign/verifier';
import { untilAnswered } from '@countersign/testkit/until';
import { joined, personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, type KernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, tagOf, type Report } from './_tab.ts';

const address = addressBook();

let system: SharedSystem;
let ada: Person;
let bob: Person;
let key: string;
let ledger: KernelClient;
let workspaces = 0;

type Members = Record<string, unknown>;

beforeAll(async () => {
  system = await sharedSystem();
});
beforeEach(async () => {
  workspaces += 1;
  ada = await personAt(system.gatewayUrl, address(`ada-${workspaces}`));
  bob = await joined(ada, await personAt(system.gatewayUrl, address(`bob-${workspaces}`)), 'partner');
  key = (await ada.client.createApiKey({ body: { name: 'crawler' } as never })).body.key;
  ledger = kernelClient(system, ada.workspaceId);
  for (const [tool, effect_level] of [
    ['crm.read', 'E1'],
    ['mail.send', 'E3'],
    ['shell.run', 'E4'],
    ['crm.read', 'E1'],
  ])
    await call({ tool, effect_level });
});

async function call(members: object): Promise<Members> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ action: 'tool.call', session_id: 'crawl', args: {}, ...members });
  const response = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), { method: 'POST', headers, body });
  return (await response.json()) as Members;
}

const place = (path: string) => `/api/v1/workspaces/${ada.workspaceId}/policy/${path}`;
const read = (path: string, who = ada) => who.tab.send(place(path));
const ask = (path: string, body?: object, headers: Record<string, string> = {}, who = ada) =>
  who.tab.send(place(path), { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
const missingOf = ({ body }: Report) => (body['error'] as { details?: { missing?: string[] } }).details?.missing;

async function write(bundle: object, who = ada): Promise<CompiledDraft> {
  const written = await who.tab.send(place('draft'), {
    ...{ method: 'PUT', body: { text: JSON.stringify(bundle) } },
    headers: { 'if-match': tagOf(await read('draft', who)) },
  });
  expect(written.status).toBe(200);
  const compiled = await ask('compile', undefined, {}, who);
  expect(compiled.status).toBe(200);
  return compiled.body as CompiledDraft;
}

async function reportOn(policy_hash: string | null): Promise<{ id: string; report: WhatIfReport }> {
  const { status, body } = await ask('what-if', { policy_hash });
  expect(status).toBe(202);
  const id = String(body['report_id']);
  const done = await untilAnswered(async () => {
    const { body: job } = await read(`what-if/${id}`);
    return ['done', 'failed'].includes(String(job['state'])) && job;
  });
  expect(done['failure']).toBeNull();
  return { id, report: WhatIfReport.parse(done['report']) };
}

async function activate(
  policy_hash: string | null,
  { id, report }: Awaited<ReturnType<typeof reportOn>>,
  more: Members = {},
) {
  const { base = tagOf(await read('active')), who = ada, ...rest } = more as { base?: string; who?: Person };
  const body = { policy_hash, report_id: id, acknowledge_widened: report.widened.length, ...rest };
  return await ask('activate', body, { 'if-match': base }, who);
}

const inForce = async () => (await read('active')).body;
const bundleInForce = async () => (await inForce())['bundle'] as PolicyBundle;
const loosened = async (name: string): Promise<PolicyBundle> => {
  const { rules, ...bundle } = await bundleInForce();
  return {
    ...bundle,
    name,
    rules: rules.filter(({ id }) => id !== 'deny-destructive' && id !== 'escalate-hard-to-undo'),
    tests: [],
  };
};

describe('a draft', () => {
  it('starts with the bundle in force, and is written only under its current version', async () => {
    const first = await read('draft', bob);
    expect(first.body).toMatchObject({ draft: null, templates: [{ name: 'in-force' }, { name: 'two-person' }] });
    const [template] = first.body['templates'] as { text: string }[];
    const put = (text: string, tag: string) =>
      bob.tab.send(place('draft'), { method: 'PUT', body: { text }, headers: { 'if-match': tag } });
    expect((await put(template?.text ?? '', tagOf(first))).body).toMatchObject({ version: 1, state: 'editing' });
    const late = await put('other', tagOf(first));
    expect(codeOf(late)).toEqual([412, 'PRECONDITION_FAILED']);
    expect(late.body['error']).toMatchObject({ details: { current_version: 1, sent_versions: ['0'] } });
    const compiled = await ask('compile', undefined, {}, bob);
    expect(compiled.body).toMatchObject({
      ...{ policy_hash: (await inForce())['policy_hash'], diagnostics: [], tests: { failed: 0 } },
      diff: { added: [], removed: [], changed: [] },
    });
  });

  verifies(
    'cp.policy.lockout',
    'is rejected if it locks every person out of the policy, or if it fails a test',
    async () => {
      const bundle = await bundleInForce();
      const denied = { id: 'never', effect: 'deny', match: { action: ['policy.*'] } };
      const tests = [
        { name: 'reads', intent: { action: 'tool.call', tool: 'shell.run' }, expect: { verdict: 'ALLOW' } },
      ];
      const { policy_hash, diagnostics } = await write({ ...bundle, rules: [...bundle.rules, denied], tests });
      expect([policy_hash, diagnostics.map(({ code }) => code)]).toEqual([null, ['TEST_FAILED', 'LOCK_OUT']]);
      expect(await write({ ...bundle, rules: [{ id: 'x', effect: 'allow', when: 'args.x +' }] })).toMatchObject({
        diagnostics: [{ severity: 'error', path: '/rules/0/when' }],
      });
      expect(codeOf(await ask('what-if', { policy_hash: (await inForce())['policy_hash'] }))).toEqual([
        409,
        'ILLEGAL_TRANSITION',
      ]);
    },
  );
});

describe('a report', () => {
  verifies('cp.policy.whatif', 'equals a new decision of each record, and is reproducible', async () => {
    const draft = await loosened('reported');
    const { policy_hash } = await write(draft);
    const { report } = await reportOn(policy_hash);
    const { data } = (await ledger.listRecords({ query: { limit: 200 } })).body; // the schema brands its strings
    const records = data.filter(({ kind }) => kind === 'decision');
    const recorded = compilePolicy(parsePolicyBundle(JSON.stringify(await bundleInForce())), nodeProvider);
    const again = records.map((record) => ({
      before: record.verdict,
      again: decideAgain(record, {
        draft: compilePolicy(parsePolicyBundle(JSON.stringify(draft)), nodeProvider),
        recorded,
        ceilings: [],
      }),
    }));
    const count = (before: string, after: string) =>
      again.filter(
        (each) =>
          each.before === before && (each.again.kind === 'decided' ? each.again.verdict : each.again.kind) === after,
      ).length;
    for (const before of ['ALLOW', 'DENY', 'ESCALATE'] as const)
      for (const after of ['ALLOW', 'DENY', 'ESCALATE', 'UNREPLAYABLE'] as const)
        expect([before, after, report.matrix[before][after]]).toEqual([before, after, count(before, after)]);
    expect(report).toMatchObject({ decisions: records.length, is_whole: true, unverifiable: { count: 0 } });
    expect((await reportOn(policy_hash)).report.report_hash).toBe(report.report_hash);
    expect(codeOf(await read(`what-if/wif_${'0'.repeat(26)}`))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('an activation', () => {
  verifies('cp.policy.gate', 'needs every condition of the gate, and otherwise changes nothing', async () => {
    const before = await inForce();
    const { policy_hash } = await write(await loosened('gated'));
    const earlier = await reportOn(policy_hash);
    const second = await write(await loosened('gated otherwise'));
    expect(codeOf(await activate(second.policy_hash, { ...earlier, id: `wif_${'0'.repeat(26)}` }))).toEqual([
      409,
      'GATE_NOT_PASSED',
    ]);
    expect(missingOf(await activate(second.policy_hash, earlier))).toEqual(['report_of_this_policy']);
    const reported = await reportOn(second.policy_hash);
    const body = { policy_hash: second.policy_hash, report_id: reported.id };
    expect(codeOf(await ask('activate', body))).toEqual([428, 'PRECONDITION_REQUIRED']);
    expect(codeOf(await activate(second.policy_hash, reported, { base: `"sha256:${'0'.repeat(64)}"` }))).toEqual([
      412,
      'PRECONDITION_FAILED',
    ]);
    expect(codeOf(await activate(second.policy_hash, reported, { who: bob }))).toEqual([403, 'PERMISSION_DENIED']);
    await write(await loosened('edited since'));
    expect(missingOf(await activate(second.policy_hash, reported))).toEqual(['compiled_draft']);
    expect(await inForce()).toEqual(before);
  });

  verifies(
    'cp.policy.activate',
    'is decided, sealed and in force for the next decision, and the report that was read is signed',
    async () => {
      const { policy_hash } = await write(await loosened('in force'));
      await call({ tool: 'shell.run', effect_level: 'E4' });
      const reported = await reportOn(policy_hash);
      const base = tagOf(await read('active'));
      const { status, body } = await activate(policy_hash, reported, { base });
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ policy_hash, epoch: 1, report_hash: reported.report.report_hash }),
      ]);
      expect(await call({ tool: 'crm.read', effect_level: 'E1' })).toMatchObject({ policy_hash, policy_epoch: 1 });
      const trust = parseKeySet((await ledger.listTrustKeys()).body);
      const sealed = async (id: unknown): Promise<{ receipt: StoredReceipt; record: BoundaryRecord }> => {
        const { body: receipt } = await ledger.getReceipt({ params: { receipt_id: id as never } });
        const { data } = (await ledger.listRecords({ query: { receipt_id: id } as never })).body;
        return { receipt, record: data[0] as BoundaryRecord };
      };
      const decision = await sealed(body['decision_receipt_id']);
      const policy = await sealed(body['policy_receipt_id']);
      for (const { receipt, record } of [decision, policy]) {
        verifyReceipt(receipt, trust, nodeProvider);
        verifyRecord(record, receipt, nodeProvider);
      }
      expect(decision.receipt.payload).toMatchObject({
        ...{ kind: 'decision', verdict: 'ALLOW', action: 'policy.change', session_id: 'console:policy' },
        resource: `policy/${policy_hash}?report=${reported.report.report_hash}`,
        principal_id: String((await ada.tab.send('/api/session')).body['user_id']),
      });
      expect(policy.receipt.payload).toMatchObject({ kind: 'policy', policy_hash, policy_epoch: 1 });
      // The same request again returns the same activation. Another activation from the old base fails.
      expect((await activate(policy_hash, reported, { base })).body).toEqual(body);
      const late = await write(await loosened('too late'));
      expect(codeOf(await activate(late.policy_hash, await reportOn(late.policy_hash), { base }))).toEqual([
        412,
        'PRECONDITION_FAILED',
      ]);
      expect((await read('draft')).body).toMatchObject({ draft: { state: 'reported' } });
    },
  );

  verifies(
    'cp.policy.activate',
    'waits for a second person if the policy requires one, and then acts once',
    async () => {
      const bundle = await loosened('loosened');
      const asks = { id: 'two', effect: 'escalate', match: { action: GovernedChange.options } };
      const strict = await write({ ...bundle, name: 'two people', rules: [...bundle.rules, asks] });
      expect((await activate(strict.policy_hash, await reportOn(strict.policy_hash))).status).toBe(200);
      const next = await write({ ...bundle, name: 'after two people' });
      const reported = await reportOn(next.policy_hash);
      const answer = await activate(next.policy_hash, reported);
      expect(codeOf(answer)).toEqual([403, 'APPROVAL_NEEDED']);
      expect((await inForce())['policy_hash']).toBe(strict.policy_hash);
      const { approval_id: id } = (answer.body['error'] as { details: { approval_id: string } }).details;
      const list = await bob.tab.send(`/api/v1/workspaces/${ada.workspaceId}/approvals?approval_id=${id}`);
      const [shown] = list.body['data'] as Members[];
      const vote = (who: Person) =>
        who.tab.send(`/api/v1/workspaces/${ada.workspaceId}/approvals/${id}/resolve`, {
          ...{ method: 'POST', body: { decision: 'approve' } },
          headers: { 'if-match': `"${String(shown?.['ceremony_hash'])}"` },
        });
      expect((await vote(ada)).status).not.toBe(200);
      expect((await vote(bob)).status).toBe(200);
      expect((await activate(next.policy_hash, reported)).status).toBe(200);
      expect(await inForce()).toMatchObject({ policy_hash: next.policy_hash, epoch: 2 });
    },
  );

  verifies('cp.operator', 'changes nothing when the policy denies it, and cannot be proposed by a key', async () => {
    const bundle = await bundleInForce();
    // Parsed in this realm, since values of fetch belong to another realm in tests.
    const unwanted = parsePolicyBundle(JSON.stringify({ ...bundle, name: 'unwanted' }));
    const { hash } = compilePolicy(unwanted, nodeProvider);
    const denies = {
      id: 'unwanted',
      effect: 'deny',
      match: { action: ['policy.change'], resource: [`policy/${hash}*`] },
    };
    const refusing = await write({ ...bundle, name: 'refusing', rules: [...bundle.rules, denies] });
    expect((await activate(refusing.policy_hash, await reportOn(refusing.policy_hash))).status).toBe(200);
    const before = await inForce();
    const { policy_hash } = await write(unwanted);
    expect(policy_hash).toBe(hash);
    const refused = await activate(policy_hash, await reportOn(policy_hash));
    expect(codeOf(refused)).toEqual([403, 'POLICY_DENIED']);
    expect(await inForce()).toEqual(before);
    expect(await call({ action: 'policy.change', tool: undefined, effect_level: 'E3' })).toMatchObject({
      error: { code: 'PERMISSION_DENIED' },
    });
  });
});
