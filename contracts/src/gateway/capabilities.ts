import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';

/**
 * `planned`: none of its promises has a test. `prototype`: some have one. `implemented`: all have one.
 * `production_ready`: all passed in a recorded run of the running code. `blocked`: one failed in it.
 */
export const CapabilityState = z.enum(['planned', 'prototype', 'implemented', 'blocked', 'production_ready']);
export type CapabilityState = z.infer<typeof CapabilityState>;

const PromiseName = z.string().regex(/^[a-z]+(\.[a-z0-9]+)*$/);
const Commit = z.string().regex(/^[0-9a-f]{40}$/);
const EvalResult = z.enum(['passed', 'failed']);

/** The result of each promise in one complete run of the tests. */
export const EvalRecord = z.strictObject({
  recordedAt: Instant,
  /** The commit that was tested, without uncommitted changes. */
  commit: Commit,
  promises: z.record(PromiseName, EvalResult),
});
export type EvalRecord = z.infer<typeof EvalRecord>;

export const Capability = z.strictObject({
  key: z.string(),
  name: z.string(),
  state: CapabilityState,
  /** The reasons why it is not production_ready, as text. Empty when it is. */
  blockers: z.array(z.string()),
  /** The responsible service. */
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
  summary: 'List the capabilities of this system with their state, and the reasons why they are not production-ready.',
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
  summary: 'Get a capability with its state, blockers, owner and required tests.',
  method: 'GET',
  path: '/api/capabilities/{key}',
  auth: 'public',
  params: z.strictObject({ key: z.string().min(1).max(64) }),
  reply: Capability,
  errors: ['NOT_FOUND'],
});
