import { describe, expect, it } from '@jest/globals';
import {
  EntitlementCheck,
  EntitlementName,
  EntitlementOverride,
  Entitlements,
  LimitName,
  NeverLimited,
  PlanCapability,
  PlanTerms,
  selfHostedPlanId,
} from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { checkEntitlement } from '../src/entitlements/check-entitlement.ts';
import { computeEntitlements, type EntitlementFacts } from '../src/entitlements/compute-entitlements.ts';
import { startTrial } from '../src/entitlements/start-trial.ts';

const now = new Date('2026-12-31T23:00:00.000Z');
const day = 86_400_000;
const inDays = (days: number) => new Date(now.getTime() + days * day);
const planOf = (plan_id: string, limits: object = {}, capabilities: string[] = []) =>
  PlanTerms.parse({ plan_id, plan_version: 1, limits, capabilities });
const [base, pro, business] = [
  planOf('free', { members: 2, concurrent_runs: 1 }),
  planOf('pro', { members: 10, concurrent_runs: 5 }, ['notifications']),
  planOf('business', { members: 50 }, ['sso', 'scim', 'notifications']),
];
const selfHosted = planOf(selfHostedPlanId, {}, PlanCapability.options);
const noUsage = {
  tool_calls: 0,
  concurrent_runs: 0,
  workspaces: 0,
  members: 0,
  connectors: 0,
  shadow_lanes: 0,
  retention_days: 0,
};
const nothing: EntitlementFacts = {
  basePlan: base,
  subscription: null,
  trial: null,
  licence: null,
  overrides: [],
  isSuspended: false,
  usage: noUsage,
};
const overrideOf = (over: object) =>
  EntitlementOverride.parse({
    ...{ limits: {}, capabilities: [] },
    ...{ created_at: inDays(-1).toISOString(), expires_at: inDays(1).toISOString(), ...over },
  });
const compute = (over: Partial<EntitlementFacts> = {}, at = now) =>
  Entitlements.parse(computeEntitlements({ ...nothing, ...over }, at));
const check = (name: EntitlementName, over: Partial<EntitlementFacts> = {}, amount = 1) =>
  EntitlementCheck.parse(checkEntitlement(compute(over), { name, amount }, [base, pro, business]));

const limits = fc.dictionary(fc.constantFrom(...LimitName.options), fc.nat({ max: 5 }));
const anyPlan = fc.record({
  plan_id: fc.constantFrom('a', 'b', 'c'),
  limits,
  capabilities: fc.subarray([...PlanCapability.options]),
});
const terms = anyPlan.map((plan) => PlanTerms.parse({ ...plan, plan_version: 1 }));
const timed = fc.option(fc.record({ plan: terms, endsAt: fc.integer({ min: -2, max: 2 }).map(inDays) }));
const override = fc
  .record({
    limits: fc.dictionary(fc.constantFrom(...LimitName.options), fc.option(fc.nat({ max: 5 }))),
    capabilities: fc.subarray([...PlanCapability.options]),
    from: fc.integer({ min: -3, max: 1 }),
    days: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ from, days, ...rest }) =>
    overrideOf({ ...rest, created_at: inDays(from).toISOString(), expires_at: inDays(from + days).toISOString() }),
  );
const facts: fc.Arbitrary<EntitlementFacts> = fc.record({
  basePlan: terms,
  subscription: fc.option(
    fc.record({
      plan: terms,
      status: fc.constantFrom('incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'canceled'),
    }),
  ),
  trial: timed,
  licence: timed,
  isSuspended: fc.constant(false),
  overrides: fc.uniqueArray(override, { maxLength: 3, selector: ({ created_at }) => created_at }),
  usage: fc.record(Object.fromEntries(LimitName.options.map((name) => [name, fc.nat({ max: 8 })]))),
});

describe('entitlements', () => {
  it('come from the licence, else the subscription, else the trial, else the base plan', () => {
    const [licence, trial] = [business, pro].map((plan) => ({ plan, endsAt: inDays(1) }));
    const active = { plan: pro, status: 'active' as const };
    expect(compute({ licence, subscription: active, trial })).toMatchObject({
      plan_id: 'business',
      source: 'licence',
      valid_until: inDays(1).toISOString(),
    });
    expect(compute({ subscription: active, trial })).toMatchObject({
      plan_id: 'pro',
      source: 'plan',
      valid_until: null,
    });
    expect(compute({ subscription: { plan: business, status: 'trialing' }, trial })).toMatchObject({
      plan_id: 'pro',
      source: 'trial',
    });
    expect(compute()).toMatchObject({ plan_id: 'free', source: 'plan', valid_until: null });
  });

  it('of a trial or licence end with it, and the previous plan applies again', () => {
    for (const name of ['trial', 'licence'] as const) {
      const over = { [name]: { plan: business, endsAt: inDays(1) } };
      expect(compute(over, new Date(inDays(1).getTime() - 1))).toMatchObject({ plan_id: 'business', source: name });
      expect(compute(over, inDays(1))).toMatchObject({ plan_id: 'free', source: 'plan', capabilities: [] });
    }
  });

  it.each([
    ['active', 'pro', 5],
    ['past_due', 'pro', 5],
    ['unpaid', 'pro', 0],
    ['canceled', 'free', 1],
    ['incomplete', 'free', 1],
  ] as const)('depend on the subscription: %s gives %s with %d concurrent runs', (status, plan_id, runs) => {
    const found = compute({ subscription: { plan: pro, status } });
    expect(found).toMatchObject({ plan_id, limits: { concurrent_runs: { limit: runs } } });
  });

  it('use the newest override in force, and are valid until the first override ends', () => {
    const old = overrideOf({
      limits: { members: 5, workspaces: 3 },
      created_at: inDays(-3).toISOString(),
      expires_at: inDays(2).toISOString(),
    });
    const fresh = overrideOf({ limits: { members: null }, capabilities: ['scim'] });
    const over = { overrides: [fresh, old, overrideOf({ limits: { members: 1 }, expires_at: now.toISOString() })] };
    expect(compute(over)).toMatchObject({
      ...{ plan_id: 'free', source: 'override', capabilities: ['scim'], valid_until: inDays(1).toISOString() },
      limits: { members: { limit: null, remaining: null }, workspaces: { limit: 3 }, concurrent_runs: { limit: 1 } },
    });
    expect(compute(over, inDays(1))).toMatchObject({ limits: { members: { limit: 5 } }, capabilities: [] });
  });

  it('have every capability and no limit on plan self_hosted, despite any override', () => {
    const found = compute({
      basePlan: selfHosted,
      overrides: [overrideOf({ limits: { members: 0 } })],
      usage: { ...noUsage, members: 99 },
    });
    expect(Object.values(found.limits).map(({ limit }) => limit)).toEqual(LimitName.options.map(() => null));
    expect(found).toMatchObject({
      source: 'plan',
      capabilities: PlanCapability.options,
      limits: { members: { used: 99 } },
    });
    for (const plan of [{ limits: { members: 1 } }, { capabilities: ['sso'] }])
      expect(PlanTerms.safeParse({ ...selfHosted, ...plan }).success).toBe(false);
  });

  it('count monthly calls to the end of the calendar month in UTC', () => {
    expect(compute().limits.tool_calls.resets_at).toBe('2027-01-01T00:00:00.000Z');
    expect(compute().limits.members.resets_at).toBeNull();
  });

  it('use the newest limit of each name, and never have a negative remaining amount', () => {
    fc.assert(
      fc.property(facts, (all) => {
        const found = Entitlements.parse(computeEntitlements(all, now));
        const status = all.subscription?.status ?? '';
        const subscribed = ['active', 'past_due', 'unpaid'].includes(status) ? all.subscription?.plan : undefined;
        const live = (one: { plan: PlanTerms; endsAt: Date } | null) =>
          one !== null && one.endsAt > now ? one.plan : undefined;
        const plan = live(all.licence) ?? subscribed ?? live(all.trial) ?? all.basePlan;
        const isUnpaid = status === 'unpaid' && live(all.licence) === undefined;
        const active = all.overrides.filter((one) => new Date(one.created_at) <= now && new Date(one.expires_at) > now);
        expect(found.plan_id).toBe(plan.plan_id);
        expect(found.source === 'override').toBe(active.length > 0);
        expect(new Set(found.capabilities)).toEqual(
          new Set([plan, ...active].flatMap(({ capabilities }) => capabilities)),
        );
        for (const name of LimitName.options) {
          const setting = active
            .filter((one) => name in one.limits)
            .sort((a, b) => b.created_at.localeCompare(a.created_at))[0];
          const own = isUnpaid && name === 'concurrent_runs' ? 0 : (plan.limits[name] ?? null);
          const limit = setting === undefined ? own : (setting.limits[name] ?? null);
          const used = all.usage[name] ?? 0;
          expect(found.limits[name]).toMatchObject({ limit, used });
          expect(found.limits[name].remaining).toBe(limit === null ? null : Math.max(limit, used) - used);
        }
      }),
    );
  });
});

describe('a check', () => {
  it('allows what stays within the limit and refuses what exceeds it', () => {
    const members = (used: number) => ({ usage: { ...noUsage, members: used } });
    expect(check('members', members(1))).toEqual({
      allowed: true,
      reason_code: 'WITHIN_LIMIT',
      limit: 2,
      used: 1,
      upgrade: null,
    });
    expect(check('members', members(2))).toEqual({
      allowed: false,
      reason_code: 'LIMIT_REACHED',
      limit: 2,
      used: 2,
      upgrade: { plan_id: 'pro' },
    });
    expect(check('members', members(2), 0).allowed).toBe(true);
    expect(check('members', members(0), 11)).toMatchObject({ allowed: false, upgrade: { plan_id: 'business' } });
    expect(check('members', members(0), 51)).toMatchObject({ allowed: false, upgrade: null });
    const unpaid = { subscription: { plan: pro, status: 'unpaid' as const } };
    expect(check('concurrent_runs', unpaid)).toMatchObject({
      reason_code: 'LIMIT_REACHED',
      upgrade: { plan_id: 'business' },
    });
    expect(check('workspaces')).toEqual({
      allowed: true,
      reason_code: 'NO_LIMIT',
      limit: null,
      used: 0,
      upgrade: null,
    });
  });

  it('names the first larger plan that has a capability', () => {
    const none = { limit: null, used: null };
    expect(check('notifications')).toEqual({
      allowed: false,
      reason_code: 'ENTITLEMENT_REQUIRED',
      ...none,
      upgrade: { plan_id: 'pro' },
    });
    expect(check('compliance')).toMatchObject({ allowed: false, upgrade: null });
    const subscription = { plan: business, status: 'active' as const };
    expect(check('scim', { subscription })).toEqual({ allowed: true, reason_code: 'INCLUDED', ...none, upgrade: null });
  });

  it('agrees with the remaining amount', () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(...LimitName.options), fc.nat({ max: 9 }), (all, name, amount) => {
        const found = computeEntitlements(all, now);
        const { remaining, limit } = found.limits[name];
        const used = all.usage[name] ?? 0;
        const isAllowed = remaining === null || (used <= (limit ?? 0) && amount <= remaining);
        expect(checkEntitlement(found, { name, amount }, []).allowed).toBe(isAllowed);
      }),
    );
  });

  it('never refuses stops, proof and export of evidence', () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(...NeverLimited.options), fc.nat(), (all, name, amount) => {
        const { allowed, reason_code } = checkEntitlement(computeEntitlements(all, now), { name, amount }, []);
        expect([allowed, reason_code]).toEqual([true, 'NEVER_LIMITED']);
      }),
    );
  });

  it.each(NeverLimited.options)('is never limited for %s, because no plan or override may name it', (name) => {
    expect(PlanTerms.safeParse({ ...base, limits: { [name]: 1 } }).success).toBe(false);
    expect(PlanTerms.safeParse({ ...base, capabilities: [name] }).success).toBe(false);
    expect(EntitlementOverride.safeParse({ ...overrideOf({}), limits: { [name]: 1 } }).success).toBe(false);
    expect(EntitlementName.options.filter((one) => one === name)).toHaveLength(1);
  });
});

describe('a trial', () => {
  const own = { org: 'org-1', verifiedDomains: ['Example.com.'] };

  it('lasts 14 days', () => {
    const started = { kind: 'started', domains: ['example.com'], startsAt: now, endsAt: inDays(14) };
    expect(startTrial(own, [{ org: 'org-2', domains: ['example.org'] }], now)).toEqual(started);
  });

  it.each([
    ['its organisation already had one', { org: 'org-1', domains: ['old.example'] }],
    ['another organisation of its domain had one', { org: 'org-2', domains: ['other.example', 'EXAMPLE.com'] }],
    ['another organisation had one with a subdomain of it', { org: 'org-2', domains: ['eu.example.com'] }],
  ])('does not begin when %s', (_why, trial) => {
    expect(startTrial(own, [trial], now)).toEqual({ kind: 'refused', reason: 'TRIAL_USED' });
  });

  it.each([
    ['a subdomain', ['eu.example.com', 'us.example.com'], ['example.com']],
    ['a public suffix of two labels', ['shop.example.co.uk'], ['example.co.uk']],
    ['a private suffix with free names', ['acme.github.io'], ['github.io']],
    ['other spellings', ['EXAMPLE.com.'], ['example.com']],
  ])('is counted by registrable domain: %s', (_why, verifiedDomains, domains) => {
    expect(startTrial({ ...own, verifiedDomains }, [], now)).toMatchObject({ kind: 'started', domains });
  });

  it('does not begin for a public suffix', () => {
    const verdict = startTrial({ ...own, verifiedDomains: ['co.uk'] }, [], now);
    expect(verdict).toEqual({ kind: 'refused', reason: 'DOMAIN_NOT_VERIFIED' });
  });

  it('does not begin without a verified domain', () => {
    expect(startTrial({ ...own, verifiedDomains: [] }, [], now)).toEqual({
      kind: 'refused',
      reason: 'DOMAIN_NOT_VERIFIED',
    });
  });
});
