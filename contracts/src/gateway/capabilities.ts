import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';

/**
 * `planned`: no promise of it has a test. `prototype`: some have. `implemented`: all have. `production_ready`: all passed in a recorded run
 * of the code that answers. `blocked`: one failed there.
 */
export const CapabilityState = z.enum(['planned', 'prototype', 'implemented', 'blocked', 'production_ready']);
export type CapabilityState = z.infer<typeof CapabilityState>;

const PromiseName = z.string().regex(/^[a-z]+(\.[a-z0-9]+)*$/);
const Commit = z.string().regex(/^[0-9a-f]{40}$/);
const EvalResult = z.enum(['passed', 'failed']);

/** The result of each promise in one whole run of the tests. */
export const EvalRecord = z.strictObject({
  recordedAt: Instant,
  /** The commit that was tested, with nothing changed beside it. */
  commit: Commit,
  promises: z.record(PromiseName, EvalResult),
});
export type EvalRecord = z.infer<typeof EvalRecord>;

export const Capability = z.strictObject({
  key: z.string(),
  name: z.string(),
  state: CapabilityState,
  /** The reasons why it is not production_ready, for people. Empty when nothing does. */
  blockers: z.array(z.string()),
  /** The service that answers for it. */
  owner: z.string(),
  /** The promises that must pass, each proven by tests that `command` runs. */
  evalGate: z.strictObject({ command: z.string(), promises: z.array(PromiseName).min(1) }),
  /** The result of a recorded run; `null` when none is recorded for this code. */
  evidence: z.strictObject({ ...EvalRecord.shape }).nullable(),
  updatedAt: Instant,
});
export type Capability = z.infer<typeof Capability>;

export const listCapabilities = defineRoute({
  operation: 'list-capabilities',
  summary:
    'The capabilities that this system claims, how far each is proven, and the reasons why it is not proven further.',
  method: 'GET',
  path: '/api/capabilities',
  auth: 'public',
  reply: z.strictObject({
    summary: z.strictObject({ total: z.int(), byState: z.record(CapabilityState, z.int()) }),
    capabilities: z.array(Capability),
  }),
});

export const getCapability = defineRoute({
  operation: 'get-capability',
  summary: 'One claim: its state, blockers, owner and eval gate.',
  method: 'GET',
  path: '/api/capabilities/{key}',
  auth: 'public',
  params: z.strictObject({ key: z.string().min(1).max(64) }),
  reply: Capability,
  errors: ['NOT_FOUND'],
});
