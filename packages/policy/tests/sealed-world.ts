import fc from 'fast-check';
import type { EffectLevel, PlainJson } from '@countersign/contracts';
import { installationCeiling, leastEffectOf, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import {
  decide,
  destinationNamed,
  egressFact,
  graverEffect,
  mistakenFor,
  neededRelations,
  provenanceFact,
  readFacts,
  sandboxFact,
  writesOf,
} from '../src/index.ts';
import type { BudgetFact, CompiledPolicy, Decision, Facts, HeldGrant, IdentityFact, Intent } from '../src/index.ts';
import { budgetOf, factsFor, frozenNow, identityOf, intentOf, knownFact, toolOf } from './situation.ts';

/** Everything around a call that no policy changes. */
export type World = {
  call: Pick<Intent, 'action' | 'tool' | 'resource' | 'args' | 'context'>;
  /** The effect and the writes that the caller declared. `null` when there is no declaration. */
  claim: { effect: EffectLevel | null; writes: number | null };
  /** The server that lists the tool. `null` when the tool belongs to its caller. */
  server: Server | null;
  fence: Facts['fence'];
  settings: Facts['settings'];
  identity: IdentityFact;
  scopes: Facts['scopes'];
  /** A number that decides which relations hold. */
  relatedBy: number;
  snapshotAgeMs: number;
  isBlocked: boolean;
  budgets: BudgetFact[];
  demand: Omit<Facts['demand'], 'writes'>;
  dispatchedBy: 'kernel' | 'caller' | 'nobody';
  grant: HeldGrant | null;
};
type Server = {
  host: string;
  effect: EffectLevel;
  state: 'approved' | 'quarantined' | 'revoked' | 'silent';
  isDrifted: boolean;
  takesArguments: boolean;
};

const notApplicable = { state: 'not_applicable' } as const;
const unavailable = { state: 'unavailable', detail: 'it did not answer' } as const;
const hasTool = ({ call }: World) => call.tool !== null;

/** The kernel's decision on the call under a policy, and the record that it seals. */
export function decideIn(world: World, policy: CompiledPolicy): { decision: Decision; record: BoundaryRecord } {
  const intent = intentOf({ ...world.call, effect_level: effectIn(world, policy) });
  const facts = factsIn(world, policy, intent);
  const decision = decide(policy, intent, facts, undefined, {
    validateArguments: () => (world.server?.takesArguments === false ? 'they are not those of the schema' : null),
  });
  return { decision, record: recordOf(world, { policy, intent, facts, decision }) };
}

/**
 * The effect of the call. An undeclared tool is E4. No declaration lowers another one, or the least effect of the
 * action.
 */
function effectIn({ call: { tool, action }, claim, server }: World, { tools }: CompiledPolicy): EffectLevel {
  const least = leastEffectOf(action);
  if (tool === null) return graverEffect(least, claim.effect ?? (action === 'model.call' ? 'E0' : 'E4'));
  const byBundle = tools.effects.get(tool);
  const declared = server === null ? (byBundle ?? 'E4') : graverEffect(server.effect, byBundle ?? 'E0');
  return graverEffect(graverEffect(least, declared), claim.effect ?? 'E0');
}

function factsIn(world: World, policy: CompiledPolicy, intent: Intent): Facts {
  const { call, server, claim, dispatchedBy } = world;
  const looksLike = call.tool === null || server !== null ? null : mistakenFor(policy.tools, call.tool);
  const destination = call.action === 'data.egress' ? destinationNamed(call.resource) : null;
  return factsFor(policy, {
    request: knownFact({
      fault: looksLike === null ? null : `The name looks like "${looksLike}" but is a different name.`,
    }),
    fence: world.fence,
    settings: world.settings,
    identity: knownFact(world.identity),
    relationship: relationshipIn(world, policy, intent),
    registry: server === null ? notApplicable : registryIn(server),
    scopes: world.scopes,
    sandbox: sandboxFact(policy, intent, hasTool(world) ? world.grant : null),
    egress: egressFact(policy, server === null ? destination : { host: server.host }),
    provenance: provenanceFact(policy, intent, { dispatchedBy, isClaimed: dispatchedBy === 'kernel' }),
    block: knownFact({ tool_blocked: world.isBlocked && hasTool(world) }),
    budgets: knownFact(world.budgets),
    demand: { ...world.demand, writes: claim.writes ?? writesOf(intent) },
  });
}

function registryIn({ state, isDrifted }: Server): Facts['registry'] {
  if (state === 'silent') return unavailable;
  return knownFact({ server_id: 'files', state, tool: toolOf(isDrifted ? { current_hash: 'sha256:other' } : {}) });
}

function relationshipIn(world: World, policy: CompiledPolicy, intent: Intent): Facts['relationship'] {
  const needed = neededRelations(policy, intent);
  if (needed === null) return notApplicable;
  const relations: Record<string, boolean> = {};
  for (const [name, question] of needed.questions)
    if (question !== null) relations[name] = (Object.values(question).join().length + world.relatedBy) % 2 === 0;
  const age = { age_ms: world.snapshotAgeMs, age_max_ms: 1_000 };
  return knownFact({ snapshot_hash: '', ...age, relations, required: needed.required });
}

type Decided = { policy: CompiledPolicy; intent: Intent; facts: Facts; decision: Decision };

/** The members from which a decision is repeated. */
function recordOf(world: World, { policy, intent, facts, decision }: Decided): BoundaryRecord {
  const { tenant, principal, session, action, tool, resource, effect_level, args_hash, intent_hash } = intent;
  const relations = facts.relationship.state === 'known' ? facts.relationship.value.relations : {};
  const read = readFacts(policy, intent, { now: frozenNow, relations });
  const recorded = { action, tool, resource, effect_level, args_hash, intent_hash, facts: asStored(read) };
  const { spend_micros: spend, ...counts } = facts.demand;
  return {
    ...{ kind: 'decision', tenant_id: tenant, principal_id: principal, session_id: session, created_at: frozenNow },
    ...{ intent: recorded, gates: decision.trace, verdict: decision.verdict, reason_code: decision.reason_code },
    ...{ matched_rules: decision.matched_rules, approval_id: null, identity: world.identity, judged_hash: '' },
    mcp_server_id: world.server === null || world.server.state === 'silent' ? null : 'files',
    budgets: world.budgets.map(asSeen),
    demand: { ...counts, spend_micros: spend === null ? null : String(spend) },
    ...(world.isBlocked && hasTool(world) ? { tool_blocked: true } : {}),
    dispatched_by: world.dispatchedBy,
    sandbox_grant_hash: facts.sandbox.state === 'known' ? facts.sandbox.value.grant_hash : null,
  } as unknown as BoundaryRecord;
}

/** The remainder of the installation's ceiling is hidden from tenants. */
function asSeen(budget: BudgetFact): object {
  const { spend_remaining_micros: spend } = budget;
  const seen = { ...budget, spend_remaining_micros: spend === null ? null : String(spend) };
  if (budget.budget_id !== installationCeiling) return seen;
  return Object.fromEntries(Object.entries(seen).map(([name, value]) => [name, name === 'budget_id' ? value : null]));
}

function asStored(facts: Record<string, PlainJson>): Record<string, PlainJson> {
  return JSON.parse(JSON.stringify(facts)) as Record<string, PlainJson>; // it was plain JSON before
}

const levels = fc.constantFrom('E0' as const, 'E1' as const, 'E2' as const, 'E4' as const);
/** Returns mostly the first value, so that most calls reach the later gates. */
const mostly = <Value>(usual: Value, ...rare: Value[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, ...rare.map((value) => fc.constant(value)));

export const toolNames = ['files.read', 'files.write', 'pay.send', 'FILES.read', 'web.get'] as const;

const calls = fc.oneof(
  fc.record({ action: fc.constant('tool.call'), tool: fc.constantFrom(...toolNames), resource: fc.constant(null) }),
  fc.record({
    action: fc.constant('data.egress'),
    tool: fc.constant(null),
    resource: fc.constantFrom('https://a.example.org/x', 'example.net', 'nowhere at all', null),
  }),
  fc.record({
    action: fc.constantFrom('model.call', 'agent.spawn'),
    tool: fc.constant(null),
    resource: fc.constant(null),
  }),
);
const argumentsOf = fc.constantFrom<Record<string, PlainJson>[]>(
  {},
  { amount: 5 },
  { amount: 500, to: { country: 'CH' } },
  { amount: 'many' },
  { to: null, id: '7' },
  { hosted_tools: ['pay.send', 'web.get'] },
);
const identities = mostly(
  identityOf({}),
  identityOf({ credential: 'operator_key' }),
  identityOf({ enrolment: 'none' }),
  identityOf({ enrolment: 'revoked' }),
);
const budgets = fc.constantFrom<BudgetFact[][]>(
  [],
  [],
  [budgetOf({})],
  [budgetOf({ writes_remaining: 0 })],
  [budgetOf({ spend_remaining_micros: 1n })],
  [budgetOf({ approval_required_above_minor: 1 })],
  [budgetOf({}), budgetOf({ budget_id: installationCeiling })],
  [budgetOf({ budget_id: installationCeiling, writes_remaining: 0 })],
);

const anyWorlds: fc.Arbitrary<World> = fc.record({
  call: fc
    .tuple(calls, argumentsOf, fc.constantFrom<Intent['context'][]>({}, { channel: 'web' }))
    .map(([call, args, context]) => ({ ...call, args, context })),
  claim: fc.record({ effect: fc.option(levels), writes: mostly<number | null>(null, 0, 1, 2) }),
  server: fc.option(
    fc.record({
      host: fc.constantFrom('a.example.org', 'example.net'),
      effect: levels,
      state: mostly<Server['state']>('approved', 'quarantined', 'revoked', 'silent'),
      isDrifted: mostly(false, true),
      takesArguments: mostly(true, false),
    }),
  ),
  fence: mostly<Facts['fence']>(
    knownFact([]),
    knownFact([{ scope: 'tenant:a', level: 'tenant', kind: 'freeze', epoch: 1, reason: 'r', calls_remaining: null }]),
    unavailable,
  ),
  settings: mostly<Facts['settings']>(knownFact({ received: true }), knownFact({ received: false }), notApplicable),
  identity: identities,
  scopes: mostly<Facts['scopes']>(
    notApplicable,
    knownFact({ required: ['a'], granted: ['a'] }),
    knownFact({ required: ['a'], granted: [] }),
  ),
  relatedBy: fc.nat(1),
  snapshotAgeMs: mostly(10, 5_000),
  isBlocked: mostly(false, true),
  budgets,
  demand: fc.record({
    tool_calls: fc.constant(1),
    spend_micros: fc.constantFrom(0n, 10_000_000n, null),
    egress_bytes: fc.constant(100),
  }),
  dispatchedBy: fc.constantFrom('kernel', 'caller', 'nobody'),
  grant: mostly<HeldGrant | null>(
    null,
    ...[true, false].flatMap((has_expired) =>
      [true, false].map((always) => ({ grant_hash: 'sha256:grant', has_expired, always, overgrants: [] })),
    ),
    { grant_hash: 'sha256:grant', has_expired: false, always: false, overgrants: ['network'] },
  ),
});

/** Only a tool has a server, and only a model lets its provider run tools. */
export const worlds = anyWorlds
  .map((world) => (hasTool(world) ? world : { ...world, server: null }))
  .filter(({ call }) => !('hosted_tools' in call.args) || call.action === 'model.call');

/** A call that every policy without demands allows. */
export function worldOf(changes: Partial<World>): World {
  return {
    call: { action: 'tool.call', tool: 'files.read', resource: null, args: {}, context: {} },
    claim: { effect: null, writes: null },
    server: null,
    fence: knownFact([]),
    settings: knownFact({ received: true }),
    identity: identityOf({}),
    scopes: { state: 'not_applicable' },
    relatedBy: 0,
    snapshotAgeMs: 10,
    isBlocked: false,
    budgets: [],
    demand: { tool_calls: 1, spend_micros: 0n, egress_bytes: 0 },
    dispatchedBy: 'caller',
    grant: null,
    ...changes,
  };
}
