import { describe, expect, it } from '@jest/globals';
import { installationCeiling, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../src/index.ts';
import { policyWith } from './sealed-policies.ts';
import { decideIn, worldOf } from './sealed-world.ts';
import { budgetOf, identityOf } from './situation.ts';
import { again, allowing, outcome, tools, traceWith } from './under-a-draft.ts';

const listed = {
  host: 'a.example.org',
  effect: 'E1',
  state: 'approved',
  isDrifted: false,
  takesArguments: true,
} as const;
const call = { action: 'tool.call', tool: 'files.read', resource: null, args: {}, context: {} } as const;
const [own, ofServer] = [worldOf({}), worldOf({ server: listed })];
const open = allowing();
const renamed = allowing({ name: 'm' });

/** The verdict of the draft on a call whose record has a different outcome of one gate. */
function sealedWith(gate: string, changes: object, rest: Partial<BoundaryRecord> = {}, [was, draft] = [open, renamed]) {
  const record = { ...traceWith(own, was, outcome(gate, changes)), ...rest };
  return again(own, [was, draft], { record });
}

describe('a gate that no policy changes', () => {
  const gates = ['fence', 'registry', 'arguments', 'scopes'];
  const refused = { outcome: 'deny', reason_code: 'SERVER_REVOKED' };

  it.each(gates)('keeps its recorded result: %s', (gate) => {
    expect(sealedWith(gate, { outcome: 'pass' })).toBe('ALLOW ALLOWED');
    expect(sealedWith(gate, { outcome: 'not_applicable' })).toBe('ALLOW ALLOWED');
    expect(sealedWith(gate, refused)).toBe('DENY SERVER_REVOKED');
    expect(sealedWith(gate, { ...refused, outcome: 'escalate' })).toBe('ESCALATE SERVER_REVOKED');
  });

  it.each(gates)('is missing if it was not reached, has no code, or is not in the record: %s', (gate) => {
    const gone = decideIn(own, open).record.gates.filter((one) => one.gate !== gate);
    expect(sealedWith(gate, { outcome: 'not_reached' })).toContain(`gates.${gate}`);
    expect(sealedWith(gate, { outcome: 'deny' })).toBe(`gates.${gate}`);
    expect(sealedWith(gate, { outcome: 'escalate' })).toBe(`gates.${gate}`);
    expect(again(own, [open, renamed], { record: { gates: gone } })).toContain(`gates.${gate}`);
  });

  it('does not apply to a call without a tool, whatever its result was', () => {
    const spawn = worldOf({ call: { ...call, action: 'agent.spawn', tool: null } });
    for (const gate of ['registry', 'arguments']) {
      const record = traceWith(spawn, open, outcome(gate, refused));
      expect([gate, again(spawn, [open, renamed], { record })]).toEqual([gate, 'ALLOW ALLOWED']);
    }
  });
});

describe('the name of a tool', () => {
  const misspelt = worldOf({ call: { ...call, tool: 'FILES.read' } });
  const declaring = allowing(tools('E1'));
  const refused = outcome('request', { outcome: 'deny', reason_code: 'MALFORMED_ARGUMENTS' });

  it('is rejected by a draft that declares a look-alike', () => {
    expect(again(misspelt, [open, declaring])).toBe('DENY MALFORMED_ARGUMENTS');
    expect(again(misspelt, [declaring, declaring])).toBe('DENY MALFORMED_ARGUMENTS');
    expect(again(misspelt, [declaring, declaring], { recorded: 'unknown' })).toBe('DENY MALFORMED_ARGUMENTS');
  });

  it('is not refused if a server listed it, and cannot be judged if a server may have listed it', () => {
    const server = worldOf({ ...misspelt, server: listed });
    expect(again(server, [open, declaring])).toBe('ALLOW ALLOWED');
    const mayBe = traceWith(misspelt, open, outcome('registry', { outcome: 'not_reached' }));
    expect(again(misspelt, [open, declaring], { record: mayBe })).toBe('gates.registry');
    expect(again(misspelt, [open, open], { record: mayBe })).toBe('gates.registry');
    const record = { ...mayBe, mcp_server_id: 'countersign' as never };
    expect(again(misspelt, [open, declaring], { record })).toBe('DENY MALFORMED_ARGUMENTS');
    const silent = traceWith(misspelt, open, outcome('registry', { outcome: 'deny', reason_code: 'SERVER_REVOKED' }));
    expect(again(misspelt, [open, declaring], { record: silent })).toBe('DENY SERVER_REVOKED');
  });

  it('did not cause the refusal of a call if it resembles no declared name', () => {
    const denied = 'DENY MALFORMED_ARGUMENTS';
    const record = traceWith(misspelt, open, refused);
    expect(again(misspelt, [open, open], { record })).toBe(denied);
    expect(again(misspelt, [declaring, open])).toBe('gates.fence');
    expect(again(misspelt, [open, open], { record, recorded: 'none' })).toBe(denied);
    expect(again(misspelt, [open, open], { record, recorded: 'unknown' })).toBe('gates.fence');
    const ofServer = { ...record, mcp_server_id: 'files' as never };
    expect(again(misspelt, [declaring, open], { record: ofServer })).toBe(denied);
    const spawn = worldOf({ call: { ...call, action: 'agent.spawn', tool: null } });
    const nameless = traceWith(spawn, open, refused);
    expect(again(spawn, [open, open], { record: nameless, recorded: 'unknown' })).toBe(denied);
  });
});

describe('the identity of a caller', () => {
  const unproven = worldOf({ identity: identityOf({ credential: 'operator_key' }) });

  it('is judged by the demands of the draft', () => {
    expect(again(unproven, [open, allowing({ identity: ['proven'] })])).toMatch(/^DENY /);
    expect(again(own, [open, allowing({ identity: ['proven'] })])).toBe('ALLOW ALLOWED');
    const unknown = { record: { identity: undefined as never } };
    expect(again(own, [open, allowing({ identity: ['proven'] })], unknown)).toMatch(/^DENY /);
    expect(again(own, [open, renamed], unknown)).toMatch(/^DENY /);
  });

  it('cannot be judged if the hosted tools of a model call are unknown', () => {
    const model = worldOf({ call: { ...call, action: 'model.call', tool: null } });
    const demands = [
      tools('E1', { identity: ['proven'] }),
      tools('E1', { sandbox: true }),
      tools('E1', { dispatched_by: 'kernel' }),
      { relations: { reader: { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' } } },
    ];
    for (const demand of demands) {
      expect(again(model, [open, allowing(demand)])).toBe('args.hosted_tools');
      expect(again(own, [open, allowing({ ...demand, tools: {} })])).not.toBe('args.hosted_tools');
    }
    const reading = policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'size(args) < 9' }] });
    for (const demand of demands) expect(again(model, [reading, allowing(demand)])).toBe('ALLOW ALLOWED');
    expect(again(worldOf({ call: { ...call, tool: 'pay.send' } }), [open, allowing(demands[0])])).toBe('ALLOW ALLOWED');
  });
});

describe('the destination of a call', () => {
  const list = (...egress: string[]) => allowing({ egress });
  const leaving = worldOf({
    call: { ...call, action: 'data.egress', tool: null, resource: 'https://a.example.org/x' },
  });

  it('is in the record of a data.egress', () => {
    expect(again(leaving, [list('*.example.org'), list('a.example.org')])).toBe('ALLOW ALLOWED');
    expect(again(leaving, [open, list('a.example.org')])).toBe('ALLOW ALLOWED');
    expect(again(leaving, [open, list('example.net')])).toBe('DENY EGRESS_BLOCKED');
    // The resource of a call is a destination only if the call is a data.egress.
    const named = worldOf({ call: { ...call, resource: 'https://a.example.org/x' } });
    expect(again(named, [open, list('example.net')])).toBe('ALLOW ALLOWED');
  });

  it('is not in the record of a server tool, except by the recorded result', () => {
    expect(again(ofServer, [open, list('*.example.org')])).toBe('egress.host');
    expect(again(ofServer, [list('*.example.org'), list('a.example.org')])).toBe('egress.host');
    expect(again(ofServer, [list('*.example.org'), allowing({ egress: ['*.example.org'], name: 'm' })])).toBe(
      'ALLOW ALLOWED',
    );
    expect(again(ofServer, [list('example.net'), allowing({ egress: ['example.net'], name: 'm' })])).toBe(
      'DENY EGRESS_BLOCKED',
    );
    expect(again(ofServer, [list('example.net'), open])).toBe('ALLOW ALLOWED');
    const unknown = { recorded: 'unknown' } as const;
    expect(again(ofServer, [list('*.example.org'), list('*.example.org')], unknown)).toBe('egress.host');
    const gates = decideIn(ofServer, list('*.example.org')).record.gates.filter(({ gate }) => gate !== 'egress');
    expect(again(ofServer, [list('*.example.org'), list('a.example.org')], { record: { gates } })).toBe('egress.host');
    // A server that is a local process has no destination.
    const later = allowing({ egress: ['a.example.org'] });
    expect(again(ofServer, [list('*.example.org'), later], { record: traceHere() })).toBe('ALLOW ALLOWED');
    expect(again(ofServer, [open, later], { record: traceHere() })).toBe('egress.host');
  });

  const traceHere = () => traceWith(ofServer, list('*.example.org'), outcome('egress', { outcome: 'not_applicable' }));
});

describe('the sender of a call', () => {
  const inside = allowing(tools('E4', { dispatched_by: 'kernel' }));
  const from = (dispatchedBy: 'kernel' | 'caller' | 'nobody') => worldOf({ dispatchedBy });

  it('is judged by the draft unless it was the kernel', () => {
    expect(again(from('caller'), [open, inside])).toBe('DENY DIRECT_UPSTREAM_BYPASS');
    expect(again(from('caller'), [inside, open])).toBe('ALLOW ALLOWED');
    expect(again(from('nobody'), [open, inside])).toBe('ALLOW ALLOWED');
    expect(again(from('kernel'), [open, inside])).toBe('ALLOW ALLOWED');
  });

  it('keeps the recorded refusal if the kernel did not claim the dispatch', () => {
    const bypass = outcome('provenance', { outcome: 'deny', reason_code: 'DIRECT_UPSTREAM_BYPASS' });
    const record = traceWith(from('kernel'), open, bypass);
    expect(again(from('kernel'), [open, renamed], { record })).toBe('DENY DIRECT_UPSTREAM_BYPASS');
  });
});

describe('relations', () => {
  const reader = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
  const asks = (rest: object = {}, when = 'relations.reader') =>
    policyWith({ relations: { reader: { ...reader, ...rest } }, rules: [{ id: 'r0', effect: 'allow', when }] });
  const related = worldOf({ call: { ...call, args: { id: '7' } }, relatedBy: 0 });
  const unrelated = worldOf({ call: { ...call, args: { id: '7' } }, relatedBy: 1 });
  const [yes, no] =
    decideIn(related, asks()).decision.verdict === 'ALLOW' ? [related, unrelated] : [unrelated, related];

  it('keep their recorded results', () => {
    expect(again(yes, [asks(), asks({}, 'relations.reader == true')])).toBe('ALLOW ALLOWED');
    expect(again(no, [asks(), asks({}, 'relations.reader == false')])).toBe('ALLOW ALLOWED');
    expect(again(no, [asks(), asks({}, 'relations.reader == true')])).toBe('DENY NO_MATCHING_RULE');
  });

  it('are missing if they were not queried', () => {
    expect(again(yes, [asks(), asks({ relation: 'owner' })])).toBe('relations.reader');
    expect(again(yes, [open, asks()])).toBe('args.id');
    expect(again(yes, [asks(), asks()], { recorded: 'unknown' })).toBe('args.id');
  });

  it('are required if the draft requires them', () => {
    const required = asks({ required: { tool: ['files.*'] } }, 'size(args) < 9');
    expect(again(no, [asks(), required])).toBe('DENY RELATION_MISSING');
    expect(again(yes, [asks(), required])).toBe('args');
    const reading = policyWith({
      relations: { reader },
      rules: [{ id: 'r0', effect: 'allow', when: 'relations.reader || size(args) < 9' }],
    });
    expect(again(no, [reading, required])).toBe('DENY RELATION_MISSING');
    expect(again(yes, [reading, required])).toBe('ALLOW ALLOWED');
  });

  it('are unknown if the snapshot was stale or the gate was not reached', () => {
    const stale = worldOf({ ...yes, snapshotAgeMs: 5_000 });
    expect(again(stale, [asks(), asks({}, 'relations.reader == true')])).toBe('DENY AUTHZ_SNAPSHOT_STALE');
    // A draft without relations reaches later gates than the recorded decision.
    expect(again(stale, [asks(), open])).toBe('gates.registry');
    const record = traceWith(yes, asks(), outcome('relationship', { outcome: 'not_reached' }));
    expect(again(yes, [asks(), asks({}, 'relations.reader == true')], { record })).toBe('gates.relationship');
  });
});

describe('budgets', () => {
  const spent = { spend_micros: 5n, tool_calls: 1, egress_bytes: 0 };
  const hidden = budgetOf({ budget_id: installationCeiling });
  const withHidden = worldOf({ budgets: [hidden] });
  const under = (world: ReturnType<typeof worldOf>, changes?: object, pair: CompiledPolicy[] = [open, renamed]) =>
    again(world, [pair[0] ?? open, pair[1] ?? renamed], {
      ...(changes === undefined ? {} : { record: traceWith(world, open, outcome('budget', changes)) }),
    });

  it('are compared with the demand of the call', () => {
    const enough = worldOf({ demand: spent, budgets: [budgetOf({ spend_remaining_micros: 5n })] });
    const short = worldOf({ demand: spent, budgets: [budgetOf({ spend_remaining_micros: 4n })] });
    const without = worldOf({ demand: spent, budgets: [budgetOf({ spend_remaining_micros: null })] });
    expect([enough, short, without].map((world) => under(world))).toEqual([
      ...['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED', 'ALLOW ALLOWED'],
    ]);
    const unpriced = worldOf({ demand: { ...spent, spend_micros: null }, budgets: [budgetOf({})] });
    expect(under(unpriced)).toMatch(/^DENY /);
  });

  it('of the installation keep their recorded result, if they were reached', () => {
    expect(under(withHidden, { outcome: 'deny', reason_code: 'BUDGET_EXCEEDED' })).toBe('DENY BUDGET_EXCEEDED');
    expect(under(withHidden, { outcome: 'pass' })).toBe('ALLOW ALLOWED');
    expect(under(withHidden, { outcome: 'not_reached' })).toBe(`budgets.${installationCeiling}`);
    const gone = decideIn(withHidden, open).record.gates.filter(({ gate }) => gate !== 'budget');
    expect(again(withHidden, [open, renamed], { record: { gates: gone } })).toBe(`budgets.${installationCeiling}`);
    // Visible budgets are evaluated again, whatever the record contains.
    const visible = worldOf({ budgets: [budgetOf({})] });
    expect(under(visible, { outcome: 'deny', reason_code: 'BUDGET_EXCEEDED' })).toBe('ALLOW ALLOWED');
  });
});
