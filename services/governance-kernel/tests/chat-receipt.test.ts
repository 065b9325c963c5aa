import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, utf8Text } from '@countersign/crypto';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

async function ask(more: { stream?: boolean; key?: string; tenant?: string }): Promise<Response> {
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': more.tenant ?? 'acme',
      'content-type': 'application/json',
      ...(more.key === undefined ? {} : { 'idempotency-key': more.key }),
    },
    body: JSON.stringify({
      model: 'scripted',
      messages: [{ role: 'user', content: 'hello' }],
      ...(more.stream ? { stream: true } : {}),
    }),
  });
  await response.arrayBuffer();
  return response;
}

function receiptIn({ headers }: Response): StoredReceipt {
  return StoredReceipt.parse(JSON.parse(utf8Text(decodeBase64Url(headers.get('x-gov-receipt') ?? ''))));
}

describe('the answer to a chat request', () => {
  it('contains the receipt of its decision when it is whole, streamed or replayed', async () => {
    const answers = [await ask({ key: 'chat-1' }), await ask({ stream: true }), await ask({ key: 'chat-1' })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const answer of answers) {
      const receipt = receiptIn(answer);
      const kept = await upstreams.test.as('acme').getReceipt({ params: { receipt_id: receipt.payload.receipt_id } });
      expect(receipt).toEqual(kept.body);
      expect(receipt.payload.decision_id).toBe(answer.headers.get('x-gov-decision-id'));
    }
  });

  it('contains the receipt of a denial too', async () => {
    await upstreams.test.activate('strict', denyModels);
    const refused = await ask({ tenant: 'strict' });
    expect([refused.status, receiptIn(refused).payload.verdict]).toEqual([403, 'DENY']);
  });
});

const denyModels = `
format: countersign/policy.v1
name: no-models
version: '1'
rules:
  - id: no-models
    effect: deny
    match: { action: [model.call] }
    reason: No models here.
`;
