import type { SessionId } from '@countersign/contracts';
import type { DecisionReply, EvaluateRequest } from '@countersign/contracts/governance-kernel';
import type { TestKernel } from './_kernel.ts';

let sessions = 0;

/** A new session name. */
export function newSession(): SessionId {
  sessions += 1;
  return `session-${process.pid}-${sessions}` as SessionId; // within its schema
}

export type Sealing = Partial<EvaluateRequest> & { tenant?: string; principal?: string };

/** Seals one decision; a read that the starter policy allows, unless told otherwise. */
export async function seal(test: TestKernel, sealing: Sealing = {}): Promise<DecisionReply> {
  const { tenant = 'acme', principal, ...call } = sealing;
  const body = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id: newSession(), ...call };
  const answer = await test.as(tenant, principal).evaluate({ body: body as EvaluateRequest }); // its defaults are the kernel's to fill in
  return answer.body;
}

/** The most requests at once that a busy machine answers in time. */
const atOnceMax = 50;

/** Seals that many, most of them at once; the replies stand in no particular order of the log. */
export async function sealMany(test: TestKernel, count: number, sealing: Sealing = {}): Promise<DecisionReply[]> {
  const replies: DecisionReply[] = [];
  for (let left = count; left > 0; left -= atOnceMax)
    replies.push(...(await Promise.all(Array.from({ length: Math.min(left, atOnceMax) }, () => seal(test, sealing)))));
  return replies;
}
