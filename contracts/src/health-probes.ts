import { z } from 'zod';
import { defineRoute } from './route.ts';

/** Every check of every service. A service has some of them. */
export const ProbeName = z.enum([
  'database',
  'clock',
  'queue',
  'dead_letters',
  /** The background work of this process. */
  'workers',
  /** Gateway: some gateway takes runs. */
  'orchestrator',
  /** Gateway: the kernel answers, where it is required. */
  'governance',
  /** Gateway: the kernel can decide now. */
  'kernel',
  /** Control plane: the gateway answers. */
  'gateway',
  /** Kernel: each gate was seen to deny when the process started. */
  'gates',
  /** Kernel: a policy is fresh. */
  'policy',
  /** Kernel: the signing keys count. */
  'signer',
  /** Kernel: libsodium makes signatures. `none` where it has no build: OpenSSL makes the same ones in twice the time. */
  'native_signatures',
  /** Kernel: the last conformance run passed. */
  'conformance',
]);
export type ProbeName = z.infer<typeof ProbeName>;

/** `none`: it works, and there is nothing yet. */
export const ProbeState = z.enum(['up', 'none', 'down']);
export type ProbeState = z.infer<typeof ProbeState>;

export const Liveness = z.strictObject({ status: z.literal('live') });

export const Readiness = z.strictObject({
  status: z.enum(['ready', 'not_ready', 'stopping']),
  /** Also checks that do not decide `status`. Empty while the process stops. */
  checks: z.partialRecord(ProbeName, ProbeState),
});

/** Every service serves both, on its port and on its health port. */
export const getLiveness = defineRoute({
  operation: 'get-liveness',
  summary: 'The process runs. Restart it when this fails.',
  method: 'GET',
  path: '/health/live',
  auth: 'public',
  reply: Liveness,
});

export const getReadiness = defineRoute({
  operation: 'get-readiness',
  summary: 'The process can do its work. Send it no traffic while this answers 503; do not restart it for that.',
  method: 'GET',
  path: '/health/ready',
  auth: 'public',
  alsoStatus: [503],
  reply: Readiness,
});
