import { z } from 'zod';
import { CallMembers, EffectLevel, ToolName, Verdict } from '../scalars.ts';
import { ReasonCode } from '../reason-codes.ts';
import { RelationName } from './relation-names.ts';

/** `*` matches any run of characters, `?` one; no other wildcard. */
const Glob = z.string().min(1).max(256);

/**
 * A condition on the caller. `proven`: it came with a credential of its own, so the key of the operators, which only
 * claims a name, is not enough. `enrolled`: an agent of this name stands in the tenant's registry and was not revoked.
 */
export const IdentityDemand = z.enum(['proven', 'enrolled']);
export type IdentityDemand = z.infer<typeof IdentityDemand>;
const IdentityDemands = z.array(IdentityDemand).min(1).max(IdentityDemand.options.length);

export const RuleId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/);

const CallMatch = z.strictObject({
  action: z.array(Glob).min(1).optional(),
  tool: z.array(Glob).min(1).optional(),
  resource: z.array(Glob).min(1).optional(),
  principal: z.array(Glob).min(1).optional(),
  effect_level: z.array(EffectLevel).min(1).optional(),
});

export const PolicyRule = z.strictObject({
  id: RuleId,
  effect: z.enum(['allow', 'deny', 'escalate']),
  match: CallMatch.default({}),
  /** CEL over action, tool, resource, principal, tenant, session, args, effect_level, context, relations, now. */
  when: z.string().min(1).max(4096).optional(),
  reason: z.string().min(1).max(512).optional(),
  approval: z
    .strictObject({
      quorum: z.int().min(1).max(16).default(1),
      approvers: z.array(z.string().min(1).max(256)).max(64).default([]),
      /** Seconds until the pending approval expires, which denies. */
      timeout: z.int().min(1).max(604_800).default(900),
      scope: z
        .string()
        .regex(/^(once|uses:[1-9]\d{0,3}|session|until)$/)
        .default('once'),
      /** Seconds from the last vote until the approved call may be made: time to think again, and to withdraw it. */
      timelock: z.int().min(1).max(604_799).optional(),
      /**
       * The conditions that must not change after the approval was requested, beside the call, the policy and the pin
       * of its tool. `budgets`: no budget that limits the call has less left. `budgets`: of no budget that limits the
       * call is less left.
       */
      unchanged: z
        .array(z.enum(['budgets']))
        .min(1)
        .max(1)
        .optional(),
    })
    .refine(({ timelock = 0, timeout }) => timelock < timeout, 'timelock must be shorter than timeout')
    .optional(),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

/** A name that CEL reads as a member: `relations.viewer`. */
const RelationAlias = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be lower-case letters, digits and _');

/** Text with `{action}`, `{tool}`, `{resource}`, `{principal}`, `{tenant}`, `{session}` or `{args.<member>}` in it. */
const NameTemplate = z.string().min(1).max(512);

/** One relation that a bundle reads. It is read for calls that a rule which reads it, or `required`, covers. */
export const PolicyRelation = z.strictObject({
  object: NameTemplate,
  relation: RelationName,
  subject: NameTemplate,
  /** Calls that are denied (`RELATION_MISSING`) where the relation does not hold. */
  required: CallMatch.optional(),
});
export type PolicyRelation = z.infer<typeof PolicyRelation>;

/** Each costs look-ups in front of the decision. */
const relationsMax = 16;

/** A host, or a pattern of hosts, as a URL spells it. */
const HostGlob = z.string().regex(/^[a-z0-9*?.:[\]-]{1,253}$/, 'must be a host in lower case, with * and ? for any');

export const PolicyTest = z.strictObject({
  name: z.string().min(1).max(256),
  intent: z.strictObject({
    action: z.string(),
    tool: z.string().optional(),
    resource: z.string().optional(),
    principal: z.string().default('tester'),
    tenant: z.string().default('tester'),
    session: z.string().default('tester'),
    args: CallMembers.default({}),
    effect_level: EffectLevel.default('E4'),
    context: CallMembers.default({}),
    /** Which relations of the bundle hold; those that are not named do not. */
    relations: z.record(RelationAlias, z.boolean()).default({}),
  }),
  expect: z.strictObject({ verdict: Verdict, reason_code: ReasonCode.optional(), rule: RuleId.optional() }),
});
export type PolicyTest = z.infer<typeof PolicyTest>;

/** 5,000 rules of ordinary length fit four times over. */
export const bundleBytesMax = 4 * 1024 * 1024;
/** Containers, and values after a comma. 5,000 rules of ordinary length fit, and are read within 50 ms. */
export const bundleValuesMax = 100_000;

/** `countersign/policy.v1`. Its policy_hash is the SHA-256 of its canonical JSON after defaults are filled in. */
export const PolicyBundle = z.strictObject({
  format: z.literal('countersign/policy.v1'),
  name: z.string().min(1).max(128),
  version: z.string().min(1).max(64),
  rules: z.array(PolicyRule).max(5000),
  /** Demanded of the caller of every call; a tool may demand more. */
  identity: IdentityDemands.optional(),
  /** The effects of tools, by name, and what they demand of their caller. A tool that neither the registry nor this declares is E4; of two declarations the graver counts. */
  tools: z
    .record(
      ToolName,
      z.strictObject({
        effect_level: EffectLevel,
        identity: IdentityDemands.optional(),
        /** The tool runs under a sandbox grant that is in force, or it is denied. */
        sandbox: z.literal(true).optional(),
        /** Sent by the kernel or not at all: an ALLOW that the caller would execute itself, past the boundary, is denied. */
        dispatched_by: z.literal('kernel').optional(),
      }),
    )
    .refine((tools) => Object.keys(tools).length <= 5000, 'may name 5000 tools')
    .optional(),
  /**
   * Where calls may go: to which hosts of servers over HTTP, and which ones a `data.egress` may name as its resource.
   * Absent: anywhere; empty: nowhere. A destination that cannot be determined is denied.
   */
  egress: z.array(HostGlob).max(100).optional(),
  /** The relations by the name under which rules read them: `relations.viewer`. */
  relations: z
    .record(RelationAlias, PolicyRelation)
    .refine((relations) => Object.keys(relations).length <= relationsMax, `may name ${relationsMax} relations`)
    .optional(),
  tests: z.array(PolicyTest).max(1000).default([]),
});
export type PolicyBundle = z.infer<typeof PolicyBundle>;
