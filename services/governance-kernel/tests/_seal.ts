import type { SessionId } from '@countersign/contracts';
import type { DecisionReply, EvaluateRequest } from '@countersign/contracts/governance-kernel';
import type { TestKernel } from './_kernel.ts';

let sessions = 0;

/** A new session name. */
export function newSession(): SessionId {
  sessions += 1;
  return `session-${process.pid}-${sessions}` as SessionId; // matches the schema
}

export type Sealing = Partial<EvaluateRequest> & { tenant?: string; principal?: string };

/** Seals one decision. The default call is a read that the starter policy allows. */
export async function seal(test: TestKernel, sealing: Sealing = {}): Promise<DecisionReply> {
  const { tenant = 'acme', principal, ...call } = sealing;
  const body = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: newSession(), ...call };
  const answer = await test.as(tenant, principal).evaluate({ body: body as EvaluateRequest }); // the kernel fills in the defaults
  return answer.body;
}

/** The number of concurrent requests that a busy machine answers in time. */
const atOnceMax = 50;

/** Seals `count` decisions concurrently. The order of the replies may differ from the order of the log. */
export async function sealMany(test: TestKernel, count: number, sealing: Sealing = {}): Promise<DecisionReply[]> {
  const replies: DecisionReply[] = [];
  for (let remaining = count; remaining > 0; remaining -= atOnceMax)
    replies.push(
      ...(await Promise.all(Array.from({ length: Math.min(remaining, atOnceMax) }, () => seal(test, sealing)))),
    );
  return replies;
}
