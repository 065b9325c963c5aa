import { expect, it } from '@jest/globals';
import { createIncident } from '@countersign/contracts/control-plane';
import { withKeys } from '../src/api/with-keys.ts';

it('for two minutes, reuses the key of an act that got no answer, and then uses a new key', async () => {
  let nowMs = 0;
  const keys: unknown[] = [];
  const lost = (input: { headers?: Record<string, string> }) => {
    keys.push(input.headers?.['idempotency-key']);
    return Promise.reject(new TypeError('fetch failed'));
  };
  const calls = withKeys({ createIncident }, { createIncident: lost }, () => nowMs);
  for (const atMs of [0, 119_999, 120_000]) {
    nowMs = atMs;
    await expect(calls.createIncident({})).rejects.toThrow('fetch failed');
  }
  expect(keys[0]).toEqual(expect.any(String));
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});
