import { describe, expect, it } from '@jest/globals';
import { keyHeaders } from '../src/siblings/answer-of.ts';

describe('an Idempotency-Key that a sibling keeps', () => {
  it('is sent in quotes, since a key without them may contain no spaces', () => {
    const claim = { key: 'once more', fingerprint: 'sha256:0' };
    expect(keyHeaders(claim)).toEqual({ 'idempotency-key': '"once more"' });
  });

  it('is not sent when the request has none', () => {
    expect(keyHeaders(null)).toEqual({});
  });
});
