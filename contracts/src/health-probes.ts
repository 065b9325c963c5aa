import { z } from 'zod';
import { defineRoute } from './route.ts';

/** The checks of all services. Each service has some of them. */
export const ProbeName = z.enum([
  'database',
  'clock',
  'queue',
  'dead_letters',
  /** The background work of this process. */
  'workers',
  /** Gateway: at least one gateway accepts runs. */
  'orchestrator',
  /** Gateway: the kernel answers, if it is required. */
  'governance',
  /** Gateway: the kernel can decide now. */
  'kernel',
  /** Control plane: the gateway answers. */
  'gateway',
  /** Kernel: each gate denied its test fault when the process started. */
  'gates',
  /** Kernel: a policy is fresh. */
  'policy',
  /** Kernel: the signing keys are valid. */
  'signer',
  /**
   * Kernel: libsodium creates signatures. `none` where it has no build: OpenSSL creates the same signatures in twice
   * the time.
   */
  'native_signatures',
  /** Kernel: the last conformance run passed. */
  'conformance',
  /** Kernel: no witness cosigned a tree that the log does not extend. `none` without witnesses. */
  'witnesses',
]);
export type ProbeName = z.infer<typeof ProbeName>;

/** `none`: the check works, and there is nothing to report yet. */
export const ProbeState = z.enum(['up', 'none', 'down']);
export type ProbeState = z.infer<typeof ProbeState>;

export const Liveness = z.strictObject({ status: z.literal('live') });

export const Readiness = z.strictObject({
  status: z.enum(['ready', 'not_ready', 'stopping']),
  /** Includes checks that do not affect `status`. Empty while the process stops. */
  checks: z.partialRecord(ProbeName, ProbeState),
});

/** Both probes. Every service serves them on its port and on its health port. */
export const getLiveness = defineRoute({
  operation: 'get-liveness',
  summary: 'Get the liveness of the process. Restart it when this fails.',
  method: 'GET',
  path: '/health/live',
  auth: 'public',
  reply: Liveness,
});

export const getReadiness = defineRoute({
  operation: 'get-readiness',
  summary: 'Get the readiness of the process. While this returns 503, send it no traffic, but do not restart it.',
  method: 'GET',
  path: '/health/ready',
  auth: 'public',
  alsoStatus: [503],
  reply: Readiness,
});
