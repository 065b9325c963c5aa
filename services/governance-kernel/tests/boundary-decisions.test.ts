import { describe, expect, it } from '@jest/globals';
import type { ApprovalId, BudgetId, PrincipalId } from '@countersign/contracts';
import { installationCeiling, type OrgId } from '@countersign/contracts/governance-kernel';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import { approvals } from '../src/controls/approvals/approvals.ts';
import { answers } from '../src/decision/answers.ts';
import { dispatches } from '../src/decision/dispatches.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import type { FenceRow } from '../src/controls/fences/fence-row.ts';
import { fences } from '../src/controls/fences/fences.ts';
import { tenantOrgs } from '../src/controls/fences/tenant-orgs.ts';
import { put } from '../src/ledger/control.ts';
import { toolBlocks } from '../src/controls/policy/tool-blocks.ts';
import { registry } from '../src/registry/registry.ts';
import type { ToolResolution, ToolResolver } from '../src/registry/tool-resolver.ts';
import { acme, agent, session } from './_batch.ts';
import { newBudget, none } from './_budget-row.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { decidedMs, governed, latestRecord, loaded, memoryBoundary, saidBy } from './_memory-boundary.ts';

const pay = governed({ tool: 'pay.send' });
const bob = 'bob' as PrincipalId; // matches the schema
const noLimits = { tool_calls: null, spend_minor: null, egress_bytes: null, writes: null };
const calls = (id: string, changes: object = {}) =>
  put(
    budgets,
    newBudget({ id, window: 'total', resetsAtMs: null, limits: { ...noLimits, tool_calls: 4 }, ...changes }),
  );

/** One tool of a server that is in this state. */
function serverIn(state: 'approved' | 'discovered', name = 'files.read') {
  const [serverId = '', toolName] = name.split('.');
  const tool = { pinned_hash: 'one', current_hash: 'one', input_schema: {} };
  const existing = { kind: 'registered', tool: name, effectLevel: 'E1', host: null } as const;
  const resolution: ToolResolution = {
    ...existing,
    registry: { state: 'known', value: { server_id: serverId, state, tool } },
  };
  const tools: ToolResolver = {
    resolve: (named) => (named === name ? Promise.resolve(resolution) : null),
    forOneAnswer: () => tools,
  };
  const row = { serverId, toolName, state, pinnedHash: 'one', currentHash: 'one' };
  return { tools, rows: [put(registry, row as never)] };
}

/** A boundary with an approved call of `pay.send`. */
async function approvedBoundary(changes: Partial<ApprovalRow> = {}) {
  const memory = memoryBoundary({ rows: [calls('all')] });
  await memory.boundary.decide(pay);
  const [row] = memory.ledger.of(approvals);
  if (row === undefined) throw new Error('it was not asked');
  const approved = { ...row, state: 'approved', approvedBy: [bob], approvedWith: ['claim'], ...changes } as const;
  memory.ledger.rows = memory.ledger.rows.map((one) =>
    (one.control as unknown) === approvals ? put(approvals, approved) : one,
  );
  const remaining = () => memory.ledger.of(approvals).map(({ state, usesRemaining }) => [state, usesRemaining]);
  return { ...memory, id: row.id, left: remaining };
}
const used = (memory: Pick<ReturnType<typeof memoryBoundary>, 'ledger'>) =>
  memory.ledger.of(budgets).map(({ id, used: { tool_calls: now }, reserved }) => [id, now, reserved.tool_calls]);

describe('an approval request', () => {
  it('is created once per call, returned for its repetitions, and named in each of their records', async () => {
    const { boundary, ledger } = memoryBoundary();
    const first = await boundary.decide(pay);
    const [row] = ledger.of(approvals);
    expect(first.reply.approval).toMatchObject({
      ...{ approval_id: row?.id, approve_url: `https://kernel.example/approvals/${row?.id}` },
    });
    const again = await boundary.decide(pay);
    expect([saidBy(again), again.reply.approval]).toEqual(['ESCALATE APPROVAL_REQUIRED', first.reply.approval]);
    expect([ledger.of(approvals), ledger.events.length]).toEqual([[row], 1]);
    expect(latestRecord(ledger)['approval_id']).toBe(row?.id);
  });

  it('is created again when the pending approval demands less than the rule', async () => {
    const { boundary, ledger } = memoryBoundary();
    await boundary.decide(pay);
    ledger.rows = ledger.rows.map((one) =>
      (one.control as unknown) === approvals ? put(approvals, { ...(one.row as ApprovalRow), quorum: 0 }) : one,
    );
    await boundary.decide(pay);
    expect(ledger.of(approvals).map(({ quorum }) => quorum)).toEqual([0, 1]);
  });

  it.each<[string, Partial<GovernedCall>]>([
    ['is in shadow mode', { mode: 'shadow' }],
    ['has no approver, as in the demo', { asksNobody: true }],
  ])('is not created for a call that %s', async (_case, change) => {
    const { boundary, ledger } = memoryBoundary();
    const { reply } = await boundary.decide(governed({ ...pay, ...change }));
    expect([reply.verdict, reply.approval, ledger.of(approvals), ledger.events]).toEqual([
      'ESCALATE',
      undefined,
      [],
      [],
    ]);
    expect(latestRecord(ledger)['approval_id']).toBeNull();
  });

  it('is created for a call that the kernel performs itself', async () => {
    const { boundary, ledger } = memoryBoundary(serverIn('approved', 'pay.send'));
    await decideAndDie(boundary, pay);
    expect(ledger.of(approvals)).toMatchObject([{ state: 'pending', tool: 'pay.send' }]);
  });

  it('is not created for a call of an unapproved server', async () => {
    const { boundary, ledger } = memoryBoundary(serverIn('discovered'));
    const { reply } = await boundary.decide(governed());
    expect([reply.verdict, reply.reason_code, reply.approval]).toEqual(['ESCALATE', 'SERVER_QUARANTINED', undefined]);
    expect(ledger.of(approvals)).toEqual([]);
  });
});

describe('an approval', () => {
  it('is consumed by the call that it allows, and named in its record', async () => {
    const { boundary, ledger, id, left } = await approvedBoundary();
    expect(saidBy(await boundary.decide(pay))).toBe('ALLOW ALLOWED');
    expect([latestRecord(ledger)['approval_id'], left()]).toEqual([id, [['consumed', 0]]]);
  });

  it('is not consumed by a shadow call', async () => {
    const { boundary, ledger, left } = await approvedBoundary();
    const decision = await boundary.decide({ ...pay, mode: 'shadow' });
    expect(decision.reply).toMatchObject({ verdict: 'ALLOW', allow: false, shadow: true });
    expect([latestRecord(ledger)['approval_id'], left()]).toEqual([null, [['approved', 1]]]);
  });

  it('is not consumed by a call that needs none, although it is presented', async () => {
    const { boundary, ledger, id, left } = await approvedBoundary();
    expect(saidBy(await boundary.decide(governed({ approvalGrant: id })))).toBe('ALLOW ALLOWED');
    expect([latestRecord(ledger)['approval_id'], left()]).toEqual([null, [['approved', 1]]]);
  });

  it('is named in the record of a denial when the call presented it, even if it is unknown', async () => {
    const { boundary, ledger } = await approvedBoundary();
    const grant = 'apr_unknown' as ApprovalId; // matches the schema
    expect(saidBy(await boundary.decide({ ...pay, approvalGrant: grant }))).toBe('DENY APPROVAL_MISMATCH');
    expect(latestRecord(ledger)['approval_id']).toBe(grant);
    const denied = await approvedBoundary({ state: 'denied', rejectionReason: 'no' });
    expect(saidBy(await denied.boundary.decide(pay))).toBe('DENY APPROVAL_REJECTED');
    expect(latestRecord(denied.ledger)['approval_id']).toBeNull();
  });
});

describe('the usage of a call', () => {
  it('is spent at once when its caller executes it, and reports a reached threshold', async () => {
    const memory = memoryBoundary({ rows: [calls('all', { used: { ...none, tool_calls: 2 } })] });
    const decision = await memory.boundary.decide(governed());
    expect(decision.reply.budget).toEqual({
      ...{ budget_id: 'all', tool_calls_remaining: 1, spend_remaining_minor: null, currency: 'EUR' },
    });
    expect([used(memory), decision.reserved, memory.ledger.of(dispatches)]).toEqual([[['all', 3, 0]], [], []]);
    expect(memory.ledger.events.map(({ event }) => event.data)).toMatchObject([{ budget_id: 'all', percent: 75 }]);
  });

  it('is reserved when the kernel executes it, until its deadline', async () => {
    const memory = memoryBoundary({ rows: [calls('all')] });
    const call = spawnedAgent({ session });
    const decision = await decideAndDie(memory.boundary, call);
    expect([used(memory), decision.reserved]).toEqual([[['all', 0, 1]], ['all']]);
    expect(memory.ledger.of(dispatches)).toEqual([
      {
        ...{ ulid: decision.reply.decision_id.slice(4), tenant: 'acme', tools: [], deadlineAtMs: decidedMs + 30_000 },
        reservations: [{ budget_id: 'all', demand: { tool_calls: 1, spend_micros: '0', egress_bytes: 2, writes: 1 } }],
      },
    ]);
  });

  it('is nothing for a shadow call, and its budgets are reported unchanged', async () => {
    const memory = memoryBoundary({ rows: [calls('all')] });
    const { reply } = await memory.boundary.decide(governed({ mode: 'shadow' }));
    expect([reply.verdict, reply.budget?.tool_calls_remaining, used(memory)]).toEqual(['ALLOW', 4, [['all', 0, 0]]]);
  });

  it('is nothing for a proposed call of a registered tool, and its decision has the definition hash', async () => {
    const { tools, rows } = serverIn('approved');
    const memory = memoryBoundary({ tools, rows: [...rows, calls('all')] });
    const decision = await memory.boundary.decide(governed({ dispatchedBy: 'owner' }));
    expect([saidBy(decision), decision.definitionHash, used(memory)]).toEqual([
      'ALLOW ALLOWED',
      'one',
      [['all', 0, 0]],
    ]);
    const own = await memory.boundary.decide(governed({ dispatchedBy: 'owner', tool: 'files.list' }));
    expect([own.definitionHash, used(memory)]).toEqual([null, [['all', 1, 0]]]);
  });

  it('counts once in a throttle, and not in shadow mode', async () => {
    const set = { reason: '', epoch: 1, effectiveAtMs: 0, expiresAtMs: null, setBy: agent, revision: 1 };
    const throttle = { callLimit: 1, windowSeconds: 60, callsTaken: 0, windowEndsAtMs: null };
    const row = { ...set, ...throttle, kind: 'throttle', scope: 'tenant:acme' } as FenceRow; // matches the schema
    const { boundary, ledger } = memoryBoundary({ rows: [put(fences, row)] });
    expect(saidBy(await boundary.decide(governed({ mode: 'shadow' })))).toBe('ALLOW ALLOWED');
    expect(saidBy(await boundary.decide(governed()))).toBe('ALLOW ALLOWED');
    expect(saidBy(await boundary.decide(governed()))).toBe('DENY THROTTLED');
    expect(ledger.of(fences)).toMatchObject([{ callsTaken: 1 }]);
  });
});

describe('the budgets of a call', () => {
  const everybody = { tenant: '*' as never, id: installationCeiling as BudgetId };

  it('are listed by ID, including those for its tool, and not those for other tools', async () => {
    const rows = ['d', 'b', 'e', 'a', 'c'].map((id) => calls(id));
    rows.push(
      calls('0', { subject: 'tool:files.read' }),
      calls('1', { subject: 'tool:files.list' }),
      calls('', everybody),
    );
    const { boundary, ledger } = memoryBoundary({ rows });
    const { reply } = await boundary.decide(governed());
    const recorded = (latestRecord(ledger)['budgets'] as { budget_id: string }[]).map(({ budget_id }) => budget_id);
    expect([reply.budget?.budget_id, recorded]).toEqual(['0', ['0', 'a', 'b', 'c', 'd', 'e']]);
    const turned = memoryBoundary({ rows: [...rows].reverse() });
    await turned.boundary.decide(governed());
    expect(latestRecord(turned.ledger)['budgets']).toEqual(latestRecord(ledger)['budgets']);
  });

  const model = { ...spawnedAgent({ session }), kind: 'model', model: 'm' } as never;
  it('list the installation budget last for a model call by the kernel, and the reply does not report that budget', async () => {
    for (const ids of [['zz'], ['0'], []]) {
      const rows = [calls('', everybody), ...ids.map((id) => calls(id))];
      for (const ordered of [rows, [...rows].reverse()]) {
        const { boundary, ledger } = memoryBoundary({ rows: ordered });
        const decision = await decideAndDie(boundary, model);
        expect([decision.reserved, decision.reply.budget?.budget_id]).toEqual([[...ids, installationCeiling], ids[0]]);
        expect(latestRecord(ledger)['budgets']).toHaveLength(ids.length + 1);
      }
    }
  });

  it('exclude the installation budget when the caller calls the model itself, and when the kernel makes another kind of call', async () => {
    const rows = [calls('own'), calls('', everybody)];
    const { boundary, ledger } = memoryBoundary({ rows });
    await boundary.decide({ ...(model as GovernedCall), mode: 'enforce', dispatchedBy: 'caller' });
    expect(latestRecord(ledger)['budgets']).toHaveLength(1);
    expect((await decideAndDie(boundary, spawnedAgent({ session }))).reserved).toEqual(['own']);
  });
});

describe('a decision', () => {
  it('uses the fences of the tenant’s current organisation', async () => {
    const frozen = { kind: 'freeze', scope: 'org:north', reason: '', epoch: 1, effectiveAtMs: 0, expiresAtMs: null };
    const org = { tenant: acme, org: 'north' as OrgId, version: 1, updatedAtMs: 0 };
    const { boundary } = memoryBoundary({ rows: [put(tenantOrgs, org), put(fences, frozen as FenceRow)] });
    expect((await boundary.decide(governed())).reply.verdict).toBe('DENY');
  });

  it('reloads the active rules when the kernel lacks them, and learns their confirmation', async () => {
    let current: typeof loaded | null = null;
    const reloaded: string[] = [];
    const reload = async (tenant: string) => {
      reloaded.push(tenant);
      current = loaded;
    };
    const { boundary, confirmations } = memoryBoundary({ policies: { current: () => current, reload } });
    expect(confirmations.newest('*')).toBeNull();
    expect(saidBy(await boundary.decide(governed()))).toBe('ALLOW ALLOWED');
    expect([reloaded, confirmations.newest('*')?.epoch]).toEqual([['acme'], 1]);
  });

  it('is a denial without active rules', async () => {
    const { boundary, ledger } = memoryBoundary({ policies: { current: () => null, reload: async () => undefined } });
    ledger.rows = [];
    const decision = await boundary.decide(governed());
    expect([saidBy(decision), decision.reply.policy_hash]).toEqual(['DENY POLICY_MISSING', null]);
    expect(decision.headers['x-gov-policy-hash']).toBe('none');
    expect(JSON.parse(decision.json)).toEqual(decision.reply);
  });

  it('denies the tools that the tenant blocks, and no others', async () => {
    const blocked = put(toolBlocks, { tenant: acme, version: 1, tools: ['files.read'], updatedAtMs: 0 });
    const { boundary } = memoryBoundary({ rows: [blocked] });
    expect(saidBy(await boundary.decide(governed()))).toBe('DENY TOOL_BLOCKED');
    expect(saidBy(await boundary.decide(governed({ tool: 'files.list' })))).toBe('ALLOW ALLOWED');
    expect((await decideAndDie(boundary, spawnedAgent({ session }))).reply.verdict).toBe('ALLOW');
  });
});

describe('a stored answer', () => {
  const keyed = governed({ idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
  const dayMs = 86_400_000;

  it('is replayed until it is a day old, and then its key is free', async () => {
    const { boundary, ledger, time } = memoryBoundary();
    const first = await boundary.decide(keyed);
    time.nowMs += dayMs - 1;
    const again = await boundary.decide(keyed);
    expect([again.replayed, again.json, ledger.log.length]).toEqual([true, first.json, 1]);
    expect([again.intent, again.definitionHash, again.reserved, again.concludedAtMs]).toEqual([null, null, [], 0]);
    expect([again.reply, again.headers]).toEqual([first.reply, { ...first.headers, 'idempotency-replayed': 'true' }]);
    time.nowMs += 1;
    const later = await boundary.decide(keyed);
    expect([later.replayed, later.reply.log_index, ledger.of(answers).length]).toEqual([false, 1, 1]);
    expect(ledger.of(answers)).toMatchObject([
      { fingerprint: 'print', createdAtMs: decidedMs + dayMs, ulid: later.reply.decision_id.slice(4) },
    ]);
  });

  it('contains the log index that the database returns', async () => {
    const { boundary, ledger } = memoryBoundary();
    await boundary.decide(keyed);
    ledger.rows = ledger.rows.map((one) => {
      return (one.control as unknown) === answers ? { ...one, row: { ...(one.row as object), place: 70 } } : one;
    });
    const { reply } = await boundary.decide(keyed);
    expect([reply.log_index, reply.receipt.log_index]).toEqual([70, 70]);
  });

  it('is not returned for a different request, nor before it is stored', async () => {
    const { boundary, ledger } = memoryBoundary();
    await boundary.decide(keyed);
    const second = { ...keyed, idempotency: { key: 'key', route: 'evaluate', fingerprint: 'other' } };
    await expect(boundary.decide(second)).rejects.toMatchObject({
      ...{ code: 'IDEMPOTENCY_KEY_REUSED', message: 'Idempotency-Key was used for a different request. Use a new key' },
    });
    const rows = ledger.rows;
    for (const missing of [{ answer: null }, { place: null }]) {
      ledger.rows = rows.map((one) => {
        return (one.control as unknown) === answers ? { ...one, row: { ...(one.row as object), ...missing } } : one;
      });
      await expect(boundary.decide(keyed)).rejects.toMatchObject({
        ...{
          code: 'IDEMPOTENCY_IN_FLIGHT',
          message: 'A request with this Idempotency-Key is still running. Repeat it later',
        },
      });
    }
    expect(ledger.log).toHaveLength(1);
  });
});
