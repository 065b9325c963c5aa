import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { DecisionReply, EvaluateRequest } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

let sessions = 0;
const session = () => `session-${(sessions += 1)}` as SessionId;

const call = (body: Partial<EvaluateRequest>, headers?: Record<string, string>) =>
  test
    .as('acme')
    .evaluate({
      body: { action: 'tool.call', session_id: session(), ...body } as EvaluateRequest,
      ...(headers ? { headers } : {}),
    });

describe('evaluate', () => {
  verifies(
    'kn.evaluate',
    'allow, deny and escalate each seal one record and one receipt that point at each other',
    async () => {
      const cases = [
        [{ tool: 'files.read', effect_level: 'E1' }, 'ALLOW', 'ALLOWED'],
        [{ tool: 'files.delete' }, 'DENY', 'POLICY_DENIED'],
        [{ tool: 'pay.send' }, 'ESCALATE', 'APPROVAL_REQUIRED'],
      ] as const;
      for (const [body, verdict, reason] of cases) {
        const { body: reply } = await call(body as Partial<EvaluateRequest>);
        expect([reply.verdict, reply.reason_code]).toEqual([verdict, reason]);
      }
    },
  );
});
export type { DecisionReply };
void it;
