import { z } from 'zod';
import { CallMembers, EffectLevel, ToolName, Verdict } from '../scalars.ts';
import { ReasonCode } from '../reason-codes.ts';
import { CallSentence } from './call-sentence.ts';
import { RelationName } from './relation-names.ts';

/** `*` matches any number of characters, `?` matches one. There are no other wildcards. */
const Glob = z.string().min(1).max(256);

/**
 * A condition on the caller. `proven`: the caller used a credential of its own. The operator key is not enough, since
 * it only claims a name. `enrolled`: an agent of this name is in the registry of the tenant and is not revoked.
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
      /** Seconds until the pending approval expires. Expiry denies the call. */
      timeout: z.int().min(1).max(604_800).default(900),
      scope: z
        .string()
        .regex(/^(once|uses:[1-9]\d{0,3}|session|until)$/)
        .default('once'),
      /**
       * Seconds from the last vote until the approved call may be made. In this time, the approval can be withdrawn.
       */
      timelock: z.int().min(1).max(604_799).optional(),
      /**
       * Conditions that must not change between the request of the approval and the call. The call, the policy and the
       * tool's pin are always included. `budgets`: no budget that limits the call has less left.
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

/** A relation that a bundle reads. It is read for calls that `required` or a rule with this relation covers. */
export const PolicyRelation = z.strictObject({
  object: NameTemplate,
  relation: RelationName,
  subject: NameTemplate,
  /** Calls that are denied (`RELATION_MISSING`) when the relation does not hold. */
  required: CallMatch.optional(),
});
export type PolicyRelation = z.infer<typeof PolicyRelation>;

/** The most relations of a bundle. Few, because each relation costs look-ups before the decision. */
const relationsMax = 16;

/** A host or a pattern of hosts, in the form of a URL. */
const HostGlob = z
  .string()
  .regex(/^[a-z0-9*?.:[\]-]{1,253}$/, 'must be a lower-case host; * matches any characters and ? matches one');

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
    /** The relations of the bundle that hold. Omitted relations do not hold. */
    relations: z.record(RelationAlias, z.boolean()).default({}),
  }),
  expect: z.strictObject({ verdict: Verdict, reason_code: ReasonCode.optional(), rule: RuleId.optional() }),
});
export type PolicyTest = z.infer<typeof PolicyTest>;

/** Room for four times 5,000 rules of ordinary length. */
export const bundleBytesMax = 4 * 1024 * 1024;
/** The most containers and values. 5,000 rules of ordinary length fit, and are parsed within 50 ms. */
export const bundleValuesMax = 100_000;

/** A policy bundle, `countersign/policy.v1`. Its policy_hash is the SHA-256 of its canonical JSON with all defaults. */
export const PolicyBundle = z.strictObject({
  format: z.literal('countersign/policy.v1'),
  name: z.string().min(1).max(128),
  version: z.string().min(1).max(64),
  rules: z.array(PolicyRule).max(5000),
  /** The conditions on the caller of every call. A tool may have further conditions. */
  identity: IdentityDemands.optional(),
  /**
   * The effects of tools by name, their conditions on the caller, and their sentences for approvers. A tool without any declaration is E4. If the
   * registry and the bundle declare a tool, the higher effect applies.
   */
  tools: z
    .record(
      ToolName,
      z.strictObject({
        effect_level: EffectLevel,
        identity: IdentityDemands.optional(),
        /** The tool requires a sandbox grant in force. Without one, it is denied. */
        sandbox: z.literal(true).optional(),
        /** Only the kernel may send the call. A call that the caller would execute itself is denied. */
        dispatched_by: z.literal('kernel').optional(),
        /** The sentence about a call, for the people who approve it: `transfer {money amount_minor currency} to {creditor.name}`. */
        says: CallSentence.optional(),
      }),
    )
    .refine((tools) => Object.keys(tools).length <= 5000, 'may name at most 5000 tools')
    .optional(),
  /**
   * The permitted destinations of calls: hosts of servers over HTTP, and resources of `data.egress`. If absent, all
   * destinations are permitted. If empty, none is. A destination that cannot be determined is denied.
   */
  egress: z.array(HostGlob).max(100).optional(),
  /** The relations, by their names in rules: `relations.viewer`. */
  relations: z
    .record(RelationAlias, PolicyRelation)
    .refine((relations) => Object.keys(relations).length <= relationsMax, `may name at most ${relationsMax} relations`)
    .optional(),
  tests: z.array(PolicyTest).max(1000).default([]),
});
export type PolicyBundle = z.infer<typeof PolicyBundle>;
