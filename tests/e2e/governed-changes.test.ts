import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GovernedChange } from '@countersign/contracts/governance-kernel';
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { verifies } from '@countersign/testkit/verifies';
import { connectorsAt, newCatalogueKey, writeCatalogue } from './_catalogue.ts';
import { serviceDirs } from './_environments.ts';
import { PolicyDesk, type Members } from './_policy-desk.ts';
import { useOperated } from './_operated.ts';
import type { Person } from './_signed-in.ts';
import { scratchDataDir } from './_system.ts';
import { codeOf, detailsOf, type Report } from './_tab.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: changes
version: '1'
rules:
${rules}
  - { id: all, effect: allow }
tools:
  crm.read: { effect_level: E1 }
`;
const open = policy('');
const onChanges = (effect: string) =>
  policy(`  - { id: changes, effect: ${effect}, match: { action: [${GovernedChange.options.join(', ')}] } }`);
const notes = await startNoteServer();
const catalogueDir = scratchDataDir();
mkdirSync(catalogueDir.path, { recursive: true });
const connectors = ['pinboard', 'shelf'];
const catalogue = writeCatalogue(
  join(catalogueDir.path, 'catalogue.json'),
  connectorsAt(Object.fromEntries(connectors.map((id) => [id, notes.url]))),
  newCatalogueKey(),
);
const on = useOperated(open, { ofKernels: { GOV_MCP_PRIVATE: '1' }, ofControlPlanes: catalogue });
let desk: PolicyDesk;
let second: Person;
let owner: string;
let desks = 0;

beforeEach(async () => {
  desks += 1;
  desk = await PolicyDesk.open(on.site.gateway.url, `ada-${desks}@example.org`);
  // The rules of the previous test may require two people for this change.
  await rule(open, 'ALLOW');
  second = await desk.colleague(`bob-${desks}@example.org`, 'partner');
  owner = String((await desk.owner.tab.send('/api/session')).body['user_id']);
});

afterAll(async () => {
  await notes.close();
  catalogueDir.remove();
});

const send = (path: string, body: Members) =>
  desk.owner.tab.send(path, { method: 'POST', headers: { 'x-workspace-id': desk.owner.workspaceId }, body });
const fences = async () => (await on.site.system.listFences({ query: {} })).body.data;
const reason = 'the vault leaks';

/** A pending change, and the state of its object as other people see it. */
type Change = { act(): Promise<Report>; object(): Promise<unknown> };
/**
 * How to make one kind of change. `chain` is the session of the decisions on it. `prepare` runs while the policy allows
 * the change.
 */
type Row = { chain: string; prepare(nth: number): Promise<Change> };

/** Every governed change that a person can propose, by its action. */
const table: Partial<Record<GovernedChange, Row>> = {
  'connector.approve': {
    chain: 'console:connectors',
    prepare: async (nth) => {
      const id = connectors[nth % connectors.length] ?? '';
      const { status, body } = await send(`/api/v1/marketplace/connectors/${id}/install`, { version: '1.2.0' });
      expect([status, body]).toMatchObject([200, { state: 'quarantined' }]);
      const { install_id, definitions_hash } = body;
      const path = `/api/connectors/${String(install_id)}/approve`;
      return {
        act: async () => {
          const once = () => send(path, { definitions_hash: String(definitions_hash), reason: 'it was read' });
          const answer = await once();
          // The kernel requires an approval of the server itself, by a person other than the proposer.
          if (detailsOf(answer)?.['vote'] !== 'PERMISSION_DENIED') return answer;
          await approve(detailsOf(answer)?.['approval_id']);
          return await once();
        },
        object: async () => (await installs()).find((install) => install.install_id === install_id)?.state,
      };
    },
  },
  'fence.lift': {
    chain: 'console:fences',
    prepare: async (nth) => {
      const target = `agent:carol-${nth}`;
      expect((await send('/api/ops/freeze', { target, reason })).status).toBe(200);
      return { act: () => send('/api/ops/resume', { target, reason }), object: fences };
    },
  },
  'plan.commit': {
    chain: 'console:plan',
    prepare: async (nth) => {
      const steps = [{ kind: 'freeze', target: `agent:dave-${nth}`, reason }];
      const { plan_id, plan_hash } = (await send('/api/ops/plans', { steps })).body;
      const path = `/api/ops/plans/${String(plan_id)}`;
      expect((await send(`${path}/approve`, { plan_hash })).body).toMatchObject({ state: 'approved' });
      return { act: () => send(`${path}/commit`, { plan_hash }), object: fences };
    },
  },
  'evidence.publish': {
    chain: 'console:evidence',
    prepare: async () => {
      const object_id = String((await desk.call({ tool: 'crm.read' }))['receipt_id']);
      const published = async () =>
        (await fetch(new URL(`/api/public/verify/${object_id}`, on.site.gateway.url))).status;
      return { act: () => send('/api/audit/handles', { object_id, public: true }), object: published };
    },
  },
  'policy.change': {
    chain: 'console:policy',
    prepare: async (nth) => {
      const { bundle } = await desk.inForce();
      const { policy_hash } = await desk.draft({ ...bundle, name: `changed ${nth}` });
      const reported = await desk.report(policy_hash);
      return { act: () => desk.activate(policy_hash, reported), object: async () => ownBundle() };
    },
  },
};
const installs = async () => {
  const { body } = await desk.owner.tab.send('/api/connectors', {
    headers: { 'x-workspace-id': desk.owner.workspaceId },
  });
  return body['data'] as { install_id: string; state: string }[];
};
const rows = Object.entries(table) as [GovernedChange, Row][]; // the keys of `table` are the actions

/** The policy heads that belong to this workspace alone. */
const ownBundle = async () =>
  on.site.inKernels('SELECT policy_hash, epoch FROM policy_heads WHERE tenant_id = $1', [desk.owner.workspaceId]);

const rule = (text: string, verdict: string) => on.rule(desk.owner, text, verdict);

/** The newest sealed decision on the action. */
async function sealed(action: GovernedChange, chain: string) {
  const [agent] = on.site.agents(desk.owner.workspaceId);
  const { data } = (await agent.listReceipts({ query: { action, session_id: chain, limit: 1 } })).body;
  return data[0]?.payload;
}

async function approve(approvalId: unknown): Promise<void> {
  const inbox = `/api/v1/workspaces/${desk.owner.workspaceId}/approvals`;
  const { body } = await second.tab.send(`${inbox}?approval_id=${String(approvalId)}`);
  const [shown] = body['data'] as { ceremony_hash: string }[];
  const headers = { 'if-match': `"${String(shown?.ceremony_hash)}"` };
  const vote = { method: 'POST', headers, body: { decision: 'approve' } };
  expect((await second.tab.send(`${inbox}/${String(approvalId)}/resolve`, vote)).status).toBe(200);
}

describe('a governed change', () => {
  it('is in this table if a person can propose it', () => {
    const src = join(serviceDirs['control-plane'], 'src');
    const texts = (readdirSync(src, { recursive: true }) as string[]) // without file types, readdir returns paths
      .filter((path) => path.endsWith('.ts') && !path.startsWith('generated'))
      .map((path) => readFileSync(join(src, path), 'utf8'));
    const proposed = GovernedChange.options.filter((action) => texts.some((text) => text.includes(`'${action}'`)));
    expect(rows.map(([action]) => action).sort()).toEqual([...proposed].sort());
  });

  for (const [nth, [action, { chain, prepare }]] of rows.entries())
    verifies(
      'cp.operator',
      `${action}: a denial is 403 and changes nothing, an escalated call acts after its approval, and each decision names the person`,
      async () => {
        await rule(open, 'ALLOW');
        const [denied, request] = [
          await prepare(2 * nth),
          action === 'policy.change' ? null : await prepare(2 * nth + 1),
        ];
        await rule(onChanges('deny'), 'DENY');
        const before = await denied.object();
        const refused = await denied.act();
        expect(codeOf(refused)).toEqual([403, 'POLICY_DENIED']);
        expect(await denied.object()).toEqual(before);
        const decided = { action, principal_id: owner, session_id: chain, tenant_id: desk.owner.workspaceId };
        const denial = await sealed(action, chain);
        expect(denial).toMatchObject({ ...decided, verdict: 'DENY', receipt_id: detailsOf(refused)?.['receipt_id'] });

        await rule(onChanges('escalate'), 'ESCALATE');
        // A workspace has only one draft.
        const { act, object } = request ?? denied;
        const stored = await object();
        const waiting = await act();
        expect(codeOf(waiting)).toEqual([403, 'APPROVAL_NEEDED']);
        expect(await object()).toEqual(stored);
        expect(await sealed(action, chain)).toMatchObject({ ...decided, verdict: 'ESCALATE' });
        await approve(detailsOf(waiting)?.['approval_id']);
        expect(await object()).toEqual(stored);
        const done = await act();
        expect([done.status, done.text]).toEqual([done.status < 300 ? done.status : 200, done.text]);
        expect(await object()).not.toEqual(stored);
        expect(await sealed(action, chain)).toMatchObject({ ...decided, verdict: 'ALLOW' });
      },
    );
});

describe('a change of roles', () => {
  verifies(
    'cp.operator',
    'waits for a second person if the policy requires two: an owner cannot create a second voter with another mailbox',
    async () => {
      await rule(onChanges('escalate'), 'ESCALATE');
      const members = `/api/workspaces/${desk.owner.workspaceId}/members`;
      const invited = (role: string) => send(members, { email: `mailbox-${desks}@example.org`, role });
      const another = `${members}/${String((await second.tab.send('/api/session')).body['user_id'])}`;
      const raised = () => desk.owner.tab.send(another, { method: 'PUT', body: { role: 'owner' } });
      const waiting = await invited('partner');
      expect(codeOf(waiting)).toEqual([403, 'APPROVAL_NEEDED']);
      expect(codeOf(await raised())).toEqual([403, 'APPROVAL_NEEDED']);
      expect((await invited('member')).status).toBe(201);
      await approve(detailsOf(waiting)?.['approval_id']);
      expect((await invited('partner')).status).toBe(201);
      expect(codeOf(await raised())).toEqual([403, 'APPROVAL_NEEDED']);
    },
  );
});
