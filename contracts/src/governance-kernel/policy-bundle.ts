import { z } from 'zod';
import { CallMembers, EffectLevel, ToolName, Verdict } from '../scalars.ts';
import { ReasonCode } from '../reason-codes.ts';

/** `*` matches any run of characters, `?` one; no other wildcard. */
const Glob = z.string().min(1).max(256);

export const RuleId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/);

export const PolicyRule = z.strictObject({
  id: RuleId,
  effect: z.enum(['allow', 'deny', 'escalate']),
  match: z
    .strictObject({
      action: z.array(Glob).min(1).optional(),
      tool: z.array(Glob).min(1).optional(),
      resource: z.array(Glob).min(1).optional(),
      principal: z.array(Glob).min(1).optional(),
      effect_level: z.array(EffectLevel).min(1).optional(),
    })
    .default({}),
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
    })
    .optional(),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

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
    relations: z.array(z.string()).default([]),
  }),
  expect: z.strictObject({ verdict: Verdict, reason_code: ReasonCode.optional(), rule: RuleId.optional() }),
});

/** `countersign/policy.v1`. Its policy_hash is the SHA-256 of its canonical JSON after defaults are filled in. */
export const PolicyBundle = z.strictObject({
  format: z.literal('countersign/policy.v1'),
  name: z.string().min(1).max(128),
  version: z.string().min(1).max(64),
  rules: z.array(PolicyRule).max(5000),
  /** The effects of tools, by name. A tool that neither the registry nor this declares is E4; of two declarations the graver counts. */
  tools: z
    .record(ToolName, z.strictObject({ effect_level: EffectLevel }))
    .refine((tools) => Object.keys(tools).length <= 5000, 'may name 5000 tools')
    .optional(),
  tests: z.array(PolicyTest).max(1000).default([]),
});
export type PolicyBundle = z.infer<typeof PolicyBundle>;
