import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { ApprovalId } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { Caller, newSession } from './_caller.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const priced = (minorPerMillion: number) =>
  JSON.stringify({
    scripted: {
      input_per_million_minor: minorPerMillion,
      output_per_million_minor: minorPerMillion,
      output_tokens_max: 4_096,
    },
  });
const request = { model: 'scripted', max_tokens: 101, messages: [{ role: 'user' as const, content: 'hello' }] };

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: priced(1_000) });
  await upstreams.test.as('acme').putBudget({
    params: { budget_id: 'models' },
    body: {
      ...{ subject: 'tenant', window: 'total', currency: 'EUR', spend_limit_minor: 1_000_000 },
      ...{ tool_call_limit: null, egress_limit_bytes: null, write_limit: null, approval_required_above_minor: 0 },
    } as never, // plain strings instead of branded ones
  });
});
afterAll(() => upstreams.close());

type Answer = { code: string; approval: ApprovalId | null };

async function ask(headers: Record<string, string>): Promise<Answer> {
  try {
    await upstreams.openai({ headers }).chat.completions.create(request);
    return { code: 'ALLOWED', approval: null };
  } catch (error) {
    const { error: report } = error as {
      error: { reason_code: string; details?: { approval?: { approval_id: string } } };
    };
    const id = ApprovalId.safeParse(report.details?.approval?.approval_id);
    return { code: report.reason_code, approval: id.data ?? null };
  }
}

describe('an approval of the cost of a model call', () => {
  verifies('kn.approve.loop', 'does not cover the same call at a different price', async () => {
    const session = { 'x-gov-session-id': newSession() };
    const { code, approval } = await ask(session);
    expect(code).toBe('BUDGET_APPROVAL_REQUIRED');
    if (approval === null) throw new Error('it names no approval');
    const alice = new Caller(upstreams.test, 'acme', 'alice');
    const { demand, args } = await alice.approval(approval);
    expect(BigInt(demand.spend_micros ?? 0)).toBeGreaterThan(101_000n);
    expect(args).toMatchObject({ model: 'scripted', max_tokens: 101 });
    await alice.move('approve', approval);

    const granted = { ...session, 'x-gov-approval-grant': approval };
    const requestCount = upstreams.model.requests.length;
    upstreams.test.env['GOV_MODEL_PRICES'] = priced(999_999);
    await upstreams.test.restart();
    expect(await ask(granted)).toMatchObject({ code: 'APPROVAL_MISMATCH' });
    const again = await ask(session);
    expect(again.code).toBe('BUDGET_APPROVAL_REQUIRED');
    expect(again.approval).not.toBe(approval);
    expect(upstreams.model.requests).toHaveLength(requestCount);

    upstreams.test.env['GOV_MODEL_PRICES'] = priced(1_000);
    await upstreams.test.restart();
    expect(await ask(granted)).toMatchObject({ code: 'ALLOWED' });
    expect(upstreams.model.requests).toHaveLength(requestCount + 1);
  });
});
